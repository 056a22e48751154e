// What every mesh that a reader accepts must be.
#pragma once
#include <cmath>

#include "data/mesh.h"
#include "tests/fuzz/fuzz.h"

namespace ralimp::fuzz {

inline void require_sound(const Mesh& mesh) {
    require(!mesh.triangles.empty(), "a mesh without a triangle");
    for (const auto* vectors : {&mesh.vertices, &mesh.normals})
        for (const Vector3& vector : *vectors)
            for (const double x : vector) require(std::isfinite(x), "a coordinate is not finite");
    for (const Triangle& triangle : mesh.triangles) {
        for (const uint32_t index : triangle)
            require(index < mesh.vertices.size(), "a vertex that is not there");
        require(
            triangle[0] != triangle[1] && triangle[1] != triangle[2] && triangle[2] != triangle[0],
            "a triangle that names a vertex twice");
    }
    require(mesh.normal_triangles.empty() || mesh.normal_triangles.size() == mesh.triangles.size(),
            "normals of some triangles");
    for (const Triangle& triangle : mesh.normal_triangles)
        for (const uint32_t index : triangle)
            require(index < mesh.normals.size(), "a normal that is not there");
    defects_of(mesh);
    euler_characteristic(mesh);
}

}  // namespace ralimp::fuzz
