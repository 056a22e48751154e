// Points in a box, as pure functions of a random key: the same key gives the same points on every
// machine and for any number of threads. Knows no geometry but boxes: see geometry_samplers.h.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/box.h"
#include "core/random.h"
#include "core/tensor.h"

namespace ralimp {

enum class Sampler { latin_hypercube, uniform, grid, sobol };

constexpr auto enum_names(Sampler) {
    return std::array{std::pair{Sampler::latin_hypercube, "latin_hypercube"},
                      std::pair{Sampler::uniform, "uniform"}, std::pair{Sampler::grid, "grid"},
                      std::pair{Sampler::sobol, "sobol"}};
}

// Points of the box by the sampler, [count, dims] float64. A grid takes the largest one of at most
// `count` points with as many along each axis.
Tensor sample_points(Sampler sampler, const Box& box, int64_t count, const RandomKey& key);

// Independent uniform points, those from number `first` on of an endless sequence. Returns
// [count, dims] float64.
Tensor uniform_points(const RandomKey& key, const Box& box, int64_t count, int64_t first = 0);

// Points number first … first + count - 1 of Sobol's sequence (see sobol.h), their binary digits
// shifted by random ones of each axis: 2^m points have just one in each of the 2^m equal intervals
// of an axis, and, on the first two axes, in each such rectangle. Returns [count, dims] float64; at
// most 10 axes and 2^32 points.
Tensor sobol_points(const RandomKey& key, const Box& box, int64_t count, int64_t first = 0);

inline constexpr int64_t most_latin_hypercube_points = int64_t{1} << 20;

// Latin hypercube (McKay, Beckman and Conover, 1979): when each axis is cut into `count` equal
// intervals, each of them holds exactly one point, uniformly placed in it; the axes are paired by
// independent random permutations. Returns [count, dims] float64; count up to
// most_latin_hypercube_points.
Tensor latin_hypercube_points(const RandomKey& key, const Box& box, int64_t count);

// Every combination of counts[k] equally spaced positions along axis k, both ends included (the
// middle when counts[k] is 1); the last axis changes fastest. Returns [product of counts, dims]
// float64.
Tensor grid_points(const Box& box, const std::vector<int64_t>& counts);

}  // namespace ralimp
