#include "data/geometry.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "data/proportional_choice.h"

namespace ralimp {
namespace {

// Half an ulp of float32 is 6e-8 of the number; three coordinates of a point may be rounded and
// those of the geometry too.
constexpr double relative_tolerance = 4e-7;
// A combination looks this many tolerances to either side of a boundary.
constexpr double least_width = 10;

class BoxGeometry : public Geometry {
public:
    explicit BoxGeometry(const Box& box) : Geometry("box", box) {
        for (std::size_t k = 0; k < axes(); ++k) {
            double face = 1;
            for (std::size_t other = 0; other < axes(); ++other)
                if (other != k) face *= bounding_box().upper[other] - bounding_box().lower[other];
            faces_.insert(faces_.end(), 2, face);
            measure_ += 2 * face;
        }
    }

    double signed_distance(const Point& point) const override {
        const Box& box = bounding_box();
        double outside = 0, nearest = -INFINITY;
        for (std::size_t k = 0; k < axes(); ++k) {
            const double beyond = std::max(box.lower[k] - point[k], point[k] - box.upper[k]);
            nearest = std::max(nearest, beyond);
            if (beyond > 0) outside += beyond * beyond;
        }
        return nearest > 0 ? std::sqrt(outside) : nearest;
    }

    double boundary_measure() const override { return measure_; }

    std::optional<BoundaryPoint> boundary_at(const std::array<double, 2>& u) const override {
        const Box& box = bounding_box();
        const ProportionalChoice face = choose_proportionally(faces_, u[0]);
        const std::array<double, 2> within{face.rest, u[1]};
        BoundaryPoint result{};
        const std::size_t axis = face.index / 2;
        const bool is_upper = face.index % 2 == 1;
        std::size_t parameter = 0;
        for (std::size_t k = 0; k < axes(); ++k)
            result.point[k] = k == axis
                                  ? (is_upper ? box.upper : box.lower)[k]
                                  : std::lerp(box.lower[k], box.upper[k], within[parameter++]);
        result.normal[axis] = is_upper ? 1 : -1;
        return result;
    }

private:
    std::size_t axes() const { return bounding_box().lower.size(); }

    std::vector<double> faces_;  // measures: lower and upper of the first axis, of the second, …
    double measure_ = 0;
};

Box box_around(const std::vector<double>& center, double radius) {
    check(center.size() == 2 || center.size() == 3,
          "ball: a center has two or three coordinates, not {}", center.size());
    check(radius > 0 && std::isfinite(radius), "ball: radius {} is not a positive number", radius);
    Box box{center, center};
    for (double& lower : box.lower) lower -= radius;
    for (double& upper : box.upper) upper += radius;
    return box;
}

class Ball : public Geometry {
public:
    Ball(const std::vector<double>& center, double radius)
        : Geometry("ball", box_around(center, radius)), radius_(radius) {
        std::copy(center.begin(), center.end(), center_.begin());
    }

    double signed_distance(const Point& point) const override {
        return std::hypot(point[0] - center_[0], point[1] - center_[1], point[2] - center_[2]) -
               radius_;
    }

    double boundary_measure() const override {
        return dims() == 2 ? 2 * std::numbers::pi * radius_
                           : 4 * std::numbers::pi * radius_ * radius_;
    }

    // On a sphere the height is uniform (Archimedes' hat-box theorem).
    std::optional<BoundaryPoint> boundary_at(const std::array<double, 2>& u) const override {
        const double angle = 2 * std::numbers::pi * u[dims() == 2 ? 0 : 1];
        const double height = dims() == 2 ? 0 : 2 * u[0] - 1;
        const double ring = std::sqrt(1 - height * height);
        BoundaryPoint result{center_, {ring * std::cos(angle), ring * std::sin(angle), height}};
        for (std::size_t k = 0; k < 3; ++k) result.point[k] += radius_ * result.normal[k];
        return result;
    }

private:
    Point center_{};
    double radius_;
};

}  // namespace

Geometry::Geometry(const char* kind, Box bounding_box) : bounding_box_(std::move(bounding_box)) {
    const auto& [lower, upper] = bounding_box_;
    check(lower.size() == upper.size() && lower.size() >= 1 && lower.size() <= 3,
          "{}: one to three axes, each with a lower and an upper bound, not {} and {} bounds", kind,
          lower.size(), upper.size());
    double largest = 0;
    for (std::size_t k = 0; k < lower.size(); ++k) {
        check(std::isfinite(lower[k]) && std::isfinite(upper[k]) && lower[k] < upper[k],
              "{}: [{}, {}] is not an interval of positive length (axis {})", kind, lower[k],
              upper[k], k);
        largest = std::max({largest, std::abs(lower[k]), std::abs(upper[k])});
    }
    tolerance_ = relative_tolerance * largest;
    for (std::size_t k = 0; k < lower.size(); ++k)
        check(upper[k] - lower[k] > least_width * tolerance_,
              "{}: [{}, {}] (axis {}) is too thin beside a coordinate of {}; rescale the axes",
              kind, lower[k], upper[k], k, largest);
}

bool Geometry::contains(const Point& point) const { return signed_distance(point) <= tolerance_; }

bool Geometry::on_boundary(const Point& point) const {
    return std::abs(signed_distance(point)) <= tolerance_;
}

void Geometry::append_primitives(std::vector<const Geometry*>& primitives) const {
    primitives.push_back(this);
}

GeometryPtr make_box(const Box& box) { return std::make_shared<BoxGeometry>(box); }

GeometryPtr make_ball(const std::vector<double>& center, double radius) {
    return std::make_shared<Ball>(center, radius);
}

}  // namespace ralimp
