// Points in a box, as pure functions of a random key: the same key gives the same points on every
// machine and for any number of threads. Knows no geometry but boxes.
#pragma once
#include <cstdint>
#include <vector>

#include "core/box.h"
#include "core/random.h"
#include "core/tensor.h"

namespace ralimp {

// Independent uniform points. Returns [count, dims] float64.
Tensor uniform_points(const RandomKey& key, const Box& box, int64_t count);

// Latin hypercube (McKay, Beckman and Conover, 1979): when each axis is cut into `count` equal
// intervals, each of them holds exactly one point, uniformly placed in it; the axes are paired by
// independent random permutations. Returns [count, dims] float64; count up to 2^20.
Tensor latin_hypercube_points(const RandomKey& key, const Box& box, int64_t count);

// Every combination of counts[k] equally spaced positions along axis k, both ends included (the
// middle when counts[k] is 1); the last axis changes fastest. Returns [product of counts, dims]
// float64.
Tensor grid_points(const Box& box, const std::vector<int64_t>& counts);

}  // namespace ralimp
