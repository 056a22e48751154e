// The surface where a function is 0, as triangles: marching cubes (Lorensen and Cline, SIGGRAPH
// 1987).
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/box.h"
#include "core/tensor.h"
#include "data/mesh.h"

namespace ralimp {

// Values [points] of a function at points [points, 3], both float64.
using PointFunction = std::function<Tensor(const Tensor& points)>;

// What marching_cubes() needs, known before it starts.
struct MarchingCost {
    int64_t evaluations;  // of the function
    int64_t grid_bytes;   // of the two layers of points that exist at a time
    // Of the mesh and the file made of it, for a surface of the area of the box; it may be more
    // where the surface is crumpled.
    int64_t mesh_bytes;
};
MarchingCost marching_cost(const std::array<int64_t, 3>& cubes);

// A box of equal cuboids, cubes[k] of them along axis k, at most 65535. Vertices lie on their
// edges where linear interpolation gives 0, one for each edge however many triangles meet there;
// triangles are counterclockwise as seen from where the function is positive. The surface is
// closed, with two triangles at every edge, except where it leaves the box.
//
// The function is called for at most 65536 points at a time, plane by plane upwards along z;
// `progress`, when given, is told after each plane how many of the cubes[2] + 1 are done. Error
// when a value is NaN and when no edge crosses the surface: the message tells the range of the
// values.
Mesh marching_cubes(const Box& box, const std::array<int64_t, 3>& cubes,
                    const PointFunction& function,
                    const std::function<void(int64_t planes)>& progress = {});

// The edges of a cube, 12 of them. Corner c lies at x = c & 1, y = c >> 1 & 1, z = c >> 2.
struct CubeEdge {
    uint8_t from, to;  // corners; `to` lies further along the axis
    uint8_t axis;
};
const std::array<CubeEdge, 12>& cube_edges();

// For each set of corners below 0 (bit c for corner c) the triangles inside a cube, each as three
// edges. On a face with two opposite corners below 0 these are kept apart, whichever cube looks at
// it, so that neighbours agree; and no triangle has a side within a face but those that the
// neighbour has too. That leaves no hole and no edge of more than two triangles.
const std::array<std::vector<std::array<uint8_t, 3>>, 256>& cube_triangles();

}  // namespace ralimp
