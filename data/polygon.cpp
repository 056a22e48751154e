// Simple polygons; see geometry.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "data/geometry.h"
#include "data/proportional_choice.h"

namespace ralimp {
namespace {

using Vertex = std::array<double, 2>;
using Vertices = std::vector<Vertex>;

double cross(const Vertex& origin, const Vertex& a, const Vertex& b) {
    return (a[0] - origin[0]) * (b[1] - origin[1]) - (a[1] - origin[1]) * (b[0] - origin[0]);
}

double distance_to_segment(const Vertex& point, const Vertex& begin, const Vertex& end) {
    const double x = end[0] - begin[0], y = end[1] - begin[1];
    const double along = ((point[0] - begin[0]) * x + (point[1] - begin[1]) * y) / (x * x + y * y);
    const double part = std::clamp(along, 0.0, 1.0);
    return std::hypot(point[0] - begin[0] - part * x, point[1] - begin[1] - part * y);
}

bool cross_or_touch(const Vertex& a, const Vertex& b, const Vertex& c, const Vertex& d,
                    double distance) {
    if (cross(a, b, c) * cross(a, b, d) < 0 && cross(c, d, a) * cross(c, d, b) < 0) return true;
    return std::min({distance_to_segment(a, c, d), distance_to_segment(b, c, d),
                     distance_to_segment(c, a, b), distance_to_segment(d, a, b)}) <= distance;
}

// Positive when counter-clockwise. From the first vertex, so that a distant polygon loses nothing.
double signed_area(const Vertices& vertices) {
    double twice = 0;
    for (std::size_t i = 1; i + 1 < vertices.size(); ++i)
        twice += cross(vertices[0], vertices[i], vertices[i + 1]);
    return twice / 2;
}

Box box_of(const Vertices& vertices) {
    Box box{{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    for (const Vertex& vertex : vertices)
        for (std::size_t k = 0; k < 2; ++k) {
            box.lower[k] = std::min(box.lower[k], vertex[k]);
            box.upper[k] = std::max(box.upper[k], vertex[k]);
        }
    return box;
}

// Counter-clockwise.
Vertices checked(Vertices vertices) {
    const std::string problem = polygon_problem(vertices);
    check(problem.empty(), "polygon: {}", problem);
    if (signed_area(vertices) < 0) std::reverse(vertices.begin(), vertices.end());
    return vertices;
}

class Polygon : public Geometry {
public:
    explicit Polygon(const Vertices& vertices)
        : Geometry("polygon", box_of(vertices)), vertices_(vertices) {
        for (std::size_t i = 0; i < vertices_.size(); ++i) {
            const auto& [begin, end] = edge(i);
            lengths_.push_back(std::hypot(end[0] - begin[0], end[1] - begin[1]));
            perimeter_ += lengths_.back();
        }
    }

    double signed_distance(const Point& point) const override {
        const Vertex at{point[0], point[1]};
        double distance = INFINITY;
        bool inside = false;
        for (std::size_t i = 0; i < vertices_.size(); ++i) {
            const auto& [begin, end] = edge(i);
            distance = std::min(distance, distance_to_segment(at, begin, end));
            // Does a ray to the right cross the edge?
            const bool upward = begin[1] <= at[1] && at[1] < end[1];
            const bool downward = end[1] <= at[1] && at[1] < begin[1];
            if ((upward && cross(begin, end, at) > 0) || (downward && cross(begin, end, at) < 0))
                inside = !inside;
        }
        return inside ? -distance : distance;
    }

    double boundary_measure() const override { return perimeter_; }

    std::optional<BoundaryPoint> boundary_at(const std::array<double, 2>& u) const override {
        const ProportionalChoice choice = choose_proportionally(lengths_, u[0]);
        const auto& [begin, end] = edge(choice.index);
        const double length = lengths_[choice.index];
        return BoundaryPoint{
            {std::lerp(begin[0], end[0], choice.rest), std::lerp(begin[1], end[1], choice.rest), 0},
            {(end[1] - begin[1]) / length, (begin[0] - end[0]) / length, 0}};
    }

private:
    std::pair<const Vertex&, const Vertex&> edge(std::size_t i) const {
        return {vertices_[i], vertices_[i + 1 < vertices_.size() ? i + 1 : 0]};
    }

    Vertices vertices_;
    std::vector<double> lengths_;
    double perimeter_ = 0;
};

}  // namespace

std::string polygon_problem(const Vertices& vertices) {
    const std::size_t count = vertices.size();
    if (count < 3) return fmt::format("has {} vertices, at least 3 are needed", count);
    for (const Vertex& vertex : vertices)
        if (!std::isfinite(vertex[0]) || !std::isfinite(vertex[1]))
            return fmt::format("[{}, {}] is not a vertex", vertex[0], vertex[1]);
    const Box box = box_of(vertices);
    const double size = std::max(box.upper[0] - box.lower[0], box.upper[1] - box.lower[1]);
    const double rounding = 1e-12 * size;
    const auto next = [&](std::size_t i) { return i + 1 < count ? i + 1 : 0; };
    for (std::size_t i = 0; i < count; ++i) {
        const Vertex &a = vertices[i], &b = vertices[next(i)];
        if (std::hypot(b[0] - a[0], b[1] - a[1]) <= rounding)
            return fmt::format("vertices {} and {} are the same: [{}, {}]", i, next(i), a[0], a[1]);
    }
    // An edge that runs back over the one before it touches the one before that, or the next but
    // one; of a triangle it leaves no area.
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = i + 2; j < count; ++j)
            if (next(j) != i && cross_or_touch(vertices[i], vertices[i + 1], vertices[j],
                                               vertices[next(j)], rounding))
                return fmt::format("crosses or touches itself: its edges from vertices {} and {}",
                                   i, j);
    if (std::abs(signed_area(vertices)) <= rounding * size) return "has no area";
    return "";
}

GeometryPtr make_polygon(const Vertices& vertices) {
    return std::make_shared<Polygon>(checked(vertices));
}

}  // namespace ralimp
