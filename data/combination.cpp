// Unions, intersections and differences; see geometry.h. A point of a part's boundary belongs to
// the boundary of the whole when just one of its two sides is inside: this holds for coincident
// boundaries too, which a rule for each operation would get wrong.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "data/geometry.h"
#include "data/proportional_choice.h"
#include "data/sobol.h"

namespace ralimp {
namespace {

enum class Operation { unite, intersect, subtract };

// How far to either side of a boundary the sides are looked at, in tolerances.
constexpr double reach = 4;
// Candidates on the boundary of each primitive when a combination is made; a power of 2.
constexpr uint32_t measured_points = 1 << 14;

const char* kind_of(Operation operation) {
    switch (operation) {
        case Operation::unite:
            return "union";
        case Operation::intersect:
            return "intersection";
        case Operation::subtract:
            return "difference";
    }
    return "";
}

Box box_of(Operation operation, const std::vector<GeometryPtr>& parts) {
    const char* kind = kind_of(operation);
    check(!parts.empty(), "{}: it has no parts", kind);
    for (const GeometryPtr& part : parts)
        check(part->dims() == parts[0]->dims(), "{}: parts with {} and {} axes cannot be combined",
              kind, parts[0]->dims(), part->dims());
    Box box = parts[0]->bounding_box();
    if (operation == Operation::subtract) return box;
    for (const GeometryPtr& part : parts)
        for (std::size_t k = 0; k < box.lower.size(); ++k) {
            const double lower = part->bounding_box().lower[k],
                         upper = part->bounding_box().upper[k];
            if (operation == Operation::unite) {
                box.lower[k] = std::min(box.lower[k], lower);
                box.upper[k] = std::max(box.upper[k], upper);
            } else {
                box.lower[k] = std::max(box.lower[k], lower);
                box.upper[k] = std::min(box.upper[k], upper);
                check(box.lower[k] < box.upper[k], "{}: nothing is left, its parts do not overlap",
                      kind);
            }
        }
    return box;
}

Point moved(const Point& point, const Point& direction, double distance) {
    Point result = point;
    for (std::size_t k = 0; k < 3; ++k) result[k] += distance * direction[k];
    return result;
}

// Unit vectors spread evenly over the circle or (Fibonacci) the sphere. An odd number, and no
// vector along an axis of the plane, where edges often lie.
std::vector<Point> spread_directions(int64_t dims) {
    std::vector<Point> directions;
    if (dims == 1) return {{-1, 0, 0}, {1, 0, 0}};
    const int count = dims == 2 ? 63 : 255;
    for (int i = 0; i < count; ++i) {
        const double part = (i + 0.5) / count;
        if (dims == 2) {
            const double angle = 2 * std::numbers::pi * part + 0.01;
            directions.push_back({std::cos(angle), std::sin(angle), 0});
        } else {
            const double z = 2 * part - 1, ring = std::sqrt(1 - z * z);
            const double angle = 2 * std::numbers::pi * std::numbers::phi * i;
            directions.push_back({ring * std::cos(angle), ring * std::sin(angle), z});
        }
    }
    return directions;
}

class Combination : public Geometry {
public:
    Combination(Operation operation, std::vector<GeometryPtr> parts)
        : Geometry(kind_of(operation), box_of(operation, parts)),
          operation_(operation),
          parts_(std::move(parts)) {
        for (const GeometryPtr& part : parts_) part->append_primitives(primitives_);
        for (const Geometry* primitive : primitives_)
            primitive_measures_.push_back(primitive->boundary_measure());
        measure();
        check(measure_ > 0, "{}: nothing is left of its parts", kind_of(operation_));
    }

    double signed_distance(const Point& point) const override {
        double distance = parts_[0]->signed_distance(point);
        for (std::size_t i = 1; i < parts_.size(); ++i) {
            const double other = parts_[i]->signed_distance(point);
            distance = operation_ == Operation::unite       ? std::min(distance, other)
                       : operation_ == Operation::intersect ? std::max(distance, other)
                                                            : std::max(distance, -other);
        }
        return distance;
    }

    bool contains(const Point& point) const override {
        const double distance = signed_distance(point);
        if (std::abs(distance) > tolerance()) return distance < 0;
        return !is_seam(point) || sides(point).inside;
    }

    bool on_boundary(const Point& point) const override {
        if (std::abs(signed_distance(point)) > tolerance()) return false;
        if (!is_seam(point)) return true;
        const Sides around = sides(point);
        return around.inside && around.outside;
    }

    double boundary_measure() const override { return measure_; }

    std::optional<BoundaryPoint> boundary_at(const std::array<double, 2>& u) const override {
        if (dims() == 1)
            return ends_[std::min(ends_.size() - 1, static_cast<std::size_t>(
                                                        u[0] * static_cast<double>(ends_.size())))];
        const ProportionalChoice choice = choose_proportionally(primitive_measures_, u[0]);
        return visible(choice.index, {choice.rest, u[1]});
    }

    void append_primitives(std::vector<const Geometry*>& primitives) const override {
        for (const GeometryPtr& part : parts_) part->append_primitives(primitives);
    }

private:
    struct Sides {
        bool inside = false;
        bool outside = false;
    };

    // Whether boundaries of several primitives meet at a point where signed_distance() is about 0.
    // With only one of them there, it is the boundary of the whole.
    bool is_seam(const Point& point) const {
        int near = 0;
        for (const Geometry* primitive : primitives_)
            near += std::abs(primitive->signed_distance(point)) <= 2 * tolerance();
        return near > 1;
    }

    // What lies around the point.
    Sides sides(const Point& point) const {
        static const std::array<std::vector<Point>, 3> directions{
            spread_directions(1), spread_directions(2), spread_directions(3)};
        Sides result;
        for (const Point& direction : directions[static_cast<std::size_t>(dims() - 1)])
            (signed_distance(moved(point, direction, reach * tolerance())) < 0 ? result.inside
                                                                               : result.outside) =
                true;
        return result;
    }

    // The point of a primitive's boundary if it is one of the whole's.
    std::optional<BoundaryPoint> visible(std::size_t index, const std::array<double, 2>& u) const {
        BoundaryPoint at = *primitives_[index]->boundary_at(u);
        if (std::abs(signed_distance(at.point)) > tolerance()) return std::nullopt;
        // Where boundaries coincide, the first primitive stands for all.
        for (std::size_t i = 0; i < index; ++i)
            if (std::abs(primitives_[i]->signed_distance(at.point)) <= tolerance())
                return std::nullopt;
        const double distance = reach * tolerance();
        const bool inside_ahead = signed_distance(moved(at.point, at.normal, distance)) < 0;
        const bool inside_behind = signed_distance(moved(at.point, at.normal, -distance)) < 0;
        if (inside_ahead == inside_behind) return std::nullopt;
        if (inside_ahead)
            for (double& component : at.normal) component = 0 - component;
        return at;
    }

    void measure() {
        for (std::size_t i = 0; i < primitives_.size(); ++i) {
            if (dims() == 1) {
                for (const double end : {0.0, 1.0})
                    if (const auto at = visible(i, {end, 0})) ends_.push_back(*at);
                measure_ = static_cast<double>(ends_.size());
                continue;
            }
            int64_t seen = 0;
            for (uint32_t k = 0; k < measured_points; ++k)
                seen += visible(i, {sobol_digits(k, 0) * 0x1p-32 + 0.5 / measured_points,
                                    sobol_digits(k, 1) * 0x1p-32 + 0.5 / measured_points})
                            .has_value();
            measure_ += primitive_measures_[i] * static_cast<double>(seen) / measured_points;
        }
    }

    Operation operation_;
    std::vector<GeometryPtr> parts_;
    std::vector<const Geometry*> primitives_;  // owned by parts_
    std::vector<double> primitive_measures_;
    std::vector<BoundaryPoint> ends_;  // of the boundary, with one axis
    double measure_ = 0;
};

}  // namespace

GeometryPtr make_union(std::vector<GeometryPtr> parts) {
    return std::make_shared<Combination>(Operation::unite, std::move(parts));
}

GeometryPtr make_intersection(std::vector<GeometryPtr> parts) {
    return std::make_shared<Combination>(Operation::intersect, std::move(parts));
}

GeometryPtr make_difference(std::vector<GeometryPtr> parts) {
    return std::make_shared<Combination>(Operation::subtract, std::move(parts));
}

}  // namespace ralimp
