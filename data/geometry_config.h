// Geometries as configs describe them, set operations nested at will.
#pragma once
#include <array>
#include <string>
#include <variant>
#include <vector>

#include "core/describe.h"
#include "data/geometry.h"

namespace ralimp {

struct IntervalConfig {
    double lower = 0;
    double upper = 1;

    static constexpr const char* kind = "interval";
    static void describe(auto& config, auto& field) {
        field("lower", config.lower, "left end");
        field("upper", config.upper, "right end");
        field.check("upper", config.lower < config.upper, "must be more than lower");
    }
};

// Lower corner below the upper one along every axis.
template <std::size_t axes>
bool is_box(const std::array<double, axes>& lower, const std::array<double, axes>& upper) {
    for (std::size_t k = 0; k < axes; ++k)
        if (!(lower[k] < upper[k])) return false;
    return true;
}

struct RectangleConfig {
    std::array<double, 2> lower{0, 0};
    std::array<double, 2> upper{1, 1};

    static constexpr const char* kind = "rectangle";
    static void describe(auto& config, auto& field) {
        field("lower", config.lower, "corner at the lower ends of the axes");
        field("upper", config.upper, "the opposite corner");
        field.check("upper", is_box(config.lower, config.upper),
                    "must be more than lower along each axis");
    }
};

struct CuboidConfig {
    std::array<double, 3> lower{0, 0, 0};
    std::array<double, 3> upper{1, 1, 1};

    static constexpr const char* kind = "cuboid";
    static void describe(auto& config, auto& field) {
        field("lower", config.lower, "corner at the lower ends of the axes");
        field("upper", config.upper, "the opposite corner");
        field.check("upper", is_box(config.lower, config.upper),
                    "must be more than lower along each axis");
    }
};

struct DiskConfig {
    std::array<double, 2> center{0, 0};
    double radius = 1;

    static constexpr const char* kind = "disk";
    static void describe(auto& config, auto& field) {
        field("center", config.center, "middle");
        field("radius", config.radius, "distance of the boundary from it", more_than(0));
    }
};

struct SphereConfig {
    std::array<double, 3> center{0, 0, 0};
    double radius = 1;

    static constexpr const char* kind = "sphere";
    static void describe(auto& config, auto& field) {
        field("center", config.center, "middle");
        field("radius", config.radius, "distance of the boundary from it", more_than(0));
    }
};

struct PolygonConfig {
    std::vector<std::array<double, 2>> vertices{{0, 0}, {1, 0}, {0, 1}};

    static constexpr const char* kind = "polygon";
    static void describe(auto& config, auto& field) {
        field("vertices", config.vertices, "corners in order, in either orientation");
        const std::string problem = polygon_problem(config.vertices);
        field.check("vertices", problem.empty(), problem);
    }
};

// A rectangle without the part of it that is above and to the right of a point inside.
struct LShapeConfig {
    std::array<double, 2> lower{-1, -1};
    std::array<double, 2> upper{1, 1};
    std::array<double, 2> corner{0, 0};

    static constexpr const char* kind = "l_shape";
    static void describe(auto& config, auto& field) {
        field("lower", config.lower, "lower left corner of the rectangle around it");
        field("upper", config.upper, "upper right corner of that rectangle, outside the shape");
        field("corner", config.corner, "the corner that points inwards");
        field.check("corner",
                    is_box(config.lower, config.corner) && is_box(config.corner, config.upper),
                    "must be between lower and upper along each axis");
    }
};

struct UnionConfig;
struct DifferenceConfig;
struct IntersectionConfig;

using GeometryConfig =
    std::variant<IntervalConfig, RectangleConfig, CuboidConfig, DiskConfig, SphereConfig,
                 PolygonConfig, LShapeConfig, UnionConfig, DifferenceConfig, IntersectionConfig>;

struct UnionConfig {
    std::vector<GeometryConfig> parts;

    static constexpr const char* kind = "union";
    static void describe(auto& config, auto& field) {
        field("parts", config.parts, "geometries of which it holds every point",
              required().items(2));
    }
};

struct DifferenceConfig {
    std::vector<GeometryConfig> parts;

    static constexpr const char* kind = "difference";
    static void describe(auto& config, auto& field) {
        field("parts", config.parts, "a geometry, then those that are cut out of it",
              required().items(2));
    }
};

struct IntersectionConfig {
    std::vector<GeometryConfig> parts;

    static constexpr const char* kind = "intersection";
    static void describe(auto& config, auto& field) {
        field("parts", config.parts, "geometries of which it holds the common points",
              required().items(2));
    }
};

// Throws Error(bad_config) beginning with the place in the config:
//   geometry.parts[1]: union: parts with 2 and 3 axes cannot be combined
GeometryPtr make_geometry(const GeometryConfig& config, const std::string& path = "geometry");

}  // namespace ralimp
