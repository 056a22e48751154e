// Solids of which the distance is known exactly, for trying out signed distance fields.
#pragma once
#include <array>
#include <utility>

#include "data/mesh.h"

namespace ralimp {

// sphere: radius 0.7. torus: around the z axis, radii 0.6 and 0.2. torus_and_sphere: that and a
// sphere of radius 0.2 in its hole. All are centred at 0.
enum class SolidKind { torus_and_sphere, torus, sphere };

constexpr auto enum_names(SolidKind) {
    return std::array{std::pair{SolidKind::torus_and_sphere, "torus_and_sphere"},
                      std::pair{SolidKind::torus, "torus"}, std::pair{SolidKind::sphere, "sphere"}};
}

// The distance to the surface, negative inside. points [count, 3] float64; returns [count].
Tensor solid_distance(SolidKind kind, const Tensor& points);

// Points uniform by area on the surface, a pure function of the key.
SurfacePoints sample_solid(SolidKind kind, int64_t count, const RandomKey& key);

}  // namespace ralimp
