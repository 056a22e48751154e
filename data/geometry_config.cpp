#include "data/geometry_config.h"

#include <fmt/format.h>

#include "core/error.h"

namespace ralimp {
namespace {

template <std::size_t axes>
GeometryPtr box_of(const std::array<double, axes>& lower, const std::array<double, axes>& upper) {
    return make_box({{lower.begin(), lower.end()}, {upper.begin(), upper.end()}});
}

struct Maker {
    const std::string& path;

    GeometryPtr operator()(const IntervalConfig& config) const {
        return make_box({{config.lower}, {config.upper}});
    }
    GeometryPtr operator()(const RectangleConfig& config) const {
        return box_of(config.lower, config.upper);
    }
    GeometryPtr operator()(const CuboidConfig& config) const {
        return box_of(config.lower, config.upper);
    }
    GeometryPtr operator()(const DiskConfig& config) const {
        return make_ball({config.center.begin(), config.center.end()}, config.radius);
    }
    GeometryPtr operator()(const SphereConfig& config) const {
        return make_ball({config.center.begin(), config.center.end()}, config.radius);
    }
    GeometryPtr operator()(const PolygonConfig& config) const {
        return make_polygon(config.vertices);
    }
    GeometryPtr operator()(const LShapeConfig& config) const {
        const auto& [left, bottom] = config.lower;
        const auto& [right, top] = config.upper;
        const auto& [x, y] = config.corner;
        return make_polygon(
            {{left, bottom}, {right, bottom}, {right, y}, {x, y}, {x, top}, {left, top}});
    }
    GeometryPtr operator()(const UnionConfig& config) const { return make_union(parts(config)); }
    GeometryPtr operator()(const DifferenceConfig& config) const {
        return make_difference(parts(config));
    }
    GeometryPtr operator()(const IntersectionConfig& config) const {
        return make_intersection(parts(config));
    }

    std::vector<GeometryPtr> parts(const auto& config) const;
};

}  // namespace

GeometryPtr make_geometry(const GeometryConfig& config, const std::string& path) {
    try {
        return std::visit(Maker{path}, config);
    } catch (const Error& error) {
        // A part has said already where it is.
        if (error.code() == ExitCode::bad_config) throw;
        fail_with(ExitCode::bad_config, "{}: {}", path, error.what());
    }
}

namespace {

std::vector<GeometryPtr> Maker::parts(const auto& config) const {
    std::vector<GeometryPtr> result;
    for (std::size_t i = 0; i < config.parts.size(); ++i)
        result.push_back(make_geometry(config.parts[i], fmt::format("{}.parts[{}]", path, i)));
    return result;
}

}  // namespace
}  // namespace ralimp
