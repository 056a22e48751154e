// Points of a geometry, alone or through a time interval, as pure functions of a random key:
// inside, on its boundary, at a fixed time. The last column is the time where there is one.
#pragma once
#include <optional>

#include "data/geometry.h"
#include "data/samplers.h"

namespace ralimp {

struct TimeInterval {
    double start = 0;
    double end = 1;
};

// The candidates of sample_points() in the bounding box (and time), of which the first `count` that
// lie in the geometry are taken; in a box they are sample_points() themselves. A grid is the finest
// one, with as many positions along each axis, of which at most `count` points lie inside.
// Returns [count, axes] float64 (a grid: at most count rows). Throws Error when hardly any
// candidate lies inside.
Tensor interior_points(Sampler sampler, const Geometry& geometry, int64_t count,
                       const RandomKey& key, std::optional<TimeInterval> time = {});

// Points inside, all at one time. Returns [count, geometry's axes + 1] float64.
Tensor initial_points(Sampler sampler, const Geometry& geometry, int64_t count, double time,
                      const RandomKey& key);

struct BoundaryPoints {
    Tensor points;   // [count, axes] float64
    Tensor normals;  // [count, the geometry's axes] float64, outward, of length 1
};

// Uniform on the boundary, the sampler's structure along it and in time: a grid has equal steps of
// arc length, or equal cells of a surface, and time steps that include both ends.
BoundaryPoints boundary_points(Sampler sampler, const Geometry& geometry, int64_t count,
                               const RandomKey& key, std::optional<TimeInterval> time = {});

}  // namespace ralimp
