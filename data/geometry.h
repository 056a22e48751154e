// Domains of one to three axes: boxes, balls, polygons, and what set operations make of them. Knows
// no time and draws no points: see geometry_samplers.h; nor configs: see geometry_config.h.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/box.h"

namespace ralimp {

// Coordinates; those beyond a geometry's axes are 0.
using Point = std::array<double, 3>;

struct BoundaryPoint {
    Point point;
    Point normal;  // of length 1, outward
};

// A bounded set with its boundary. Sets count as equal when they differ by less than tolerance():
// what set operations leave of a thinner part (a seam, a line) does not exist.
class Geometry {
public:
    virtual ~Geometry() = default;

    int64_t dims() const { return bounding_box_.dims(); }
    const Box& bounding_box() const { return bounding_box_; }
    // The distance within which a point counts as lying on the boundary: 4e-7 of the largest
    // coordinate, so that rounding to float32 moves no point of the boundary away from it.
    double tolerance() const { return tolerance_; }

    // Distance to the boundary, negative inside. Of a combination: the right sign, and never more
    // than the distance in size; 0 also where boundaries of parts cancel.
    virtual double signed_distance(const Point& point) const = 0;
    // Inside or on the boundary.
    virtual bool contains(const Point& point) const;
    virtual bool on_boundary(const Point& point) const;

    // Number of ends, length or area. Of a combination with more than one axis it is measured on a
    // dense sample, to about 1e-3 of the measure of its parts.
    virtual double boundary_measure() const = 0;
    // Where the boundary is at parameters u in [0, 1]², of which the second matters with three axes
    // only. Uniform u give points uniform on the boundary. Of a combination, nothing where u leads
    // to the boundary of a part that is not the boundary of the whole.
    virtual std::optional<BoundaryPoint> boundary_at(const std::array<double, 2>& u) const = 0;

    // The boxes, balls and polygons it is made of.
    virtual void append_primitives(std::vector<const Geometry*>& primitives) const;

protected:
    // Throws Error unless the box has one to three axes, each an interval that is not empty and
    // wider than the tolerance.
    Geometry(const char* kind, Box bounding_box);

private:
    Box bounding_box_;
    double tolerance_;
};

using GeometryPtr = std::shared_ptr<const Geometry>;

// All throw Error for what has no interior: an empty box, a radius that is not positive, a polygon
// that is not simple, a combination that leaves nothing.
GeometryPtr make_box(const Box& box);
// A disk or a ball: two or three coordinates of the center.
GeometryPtr make_ball(const std::vector<double>& center, double radius);
// Vertices in either orientation, without repeating the first at the end.
GeometryPtr make_polygon(const std::vector<std::array<double, 2>>& vertices);
// What is wrong with the vertices of a polygon ("crosses itself: …"); empty when nothing is.
std::string polygon_problem(const std::vector<std::array<double, 2>>& vertices);
// One part or more, of equally many axes.
GeometryPtr make_union(std::vector<GeometryPtr> parts);
GeometryPtr make_intersection(std::vector<GeometryPtr> parts);
// The first part without the others.
GeometryPtr make_difference(std::vector<GeometryPtr> parts);

}  // namespace ralimp
