// A part of a domain's boundary, named by a comparison such as "x = 1" or "y < 0.5*x".
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/expression.h"
#include "data/geometry_samplers.h"

namespace ralimp {

class BoundaryPart {
public:
    // Two formulas of axes and constants with =, <, <=, > or >= between them, empty for the whole
    // boundary. Sides that differ by less than the geometry's tolerance are equal. Throws
    // Error(bad_config) that begins with the path.
    BoundaryPart(const std::string& text, const std::vector<std::string>& axes,
                 const std::vector<std::pair<std::string, double>>& constants,
                 const std::string& path);

    // `count` points of that part, of a grid the finest that has at most as many there. Throws
    // Error(bad_config) when hardly any point of the boundary belongs to it.
    BoundaryPoints draw(Sampler sampler, const Geometry& geometry, int64_t count,
                        const RandomKey& key, std::optional<TimeInterval> time) const;

private:
    enum class Comparison { equal, less, less_or_equal, greater, greater_or_equal };
    // The rows of points that belong to it, at most so many.
    std::vector<int64_t> chosen(const Tensor& points, double tolerance, int64_t most) const;
    // Those of so many points of the whole boundary.
    BoundaryPoints draw_from(Sampler sampler, const Geometry& geometry, int64_t candidates,
                             int64_t most, const RandomKey& key,
                             std::optional<TimeInterval> time) const;

    std::string text_, path_;
    Comparison comparison_ = Comparison::equal;
    std::vector<Expression> sides_;                           // none: the whole boundary
    std::vector<std::vector<std::pair<int, double>>> names_;  // of a side: axis, or -1 and a value
};

}  // namespace ralimp
