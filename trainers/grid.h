// Samples on a regular grid over [-1, 1]^axes: where they lie, and differences between neighbours.
#pragma once
#include <cstdint>
#include <vector>

#include "autograd/operations.h"

namespace ralimp {

// Samples along each axis, the last one running fastest: {height, width}, {length}.
using Grid = std::vector<int64_t>;

int64_t points_of(const Grid& grid);
// "480x640"
std::string to_string_of(const Grid& grid);

// Coordinates [end - begin, axes] of the points begin … end-1 in row-major order, the fastest axis
// first: (x, y) of an image. The first and last sample of an axis lie at -1 and 1, whatever their
// number, a single one at 0.
Tensor grid_coordinates(const Grid& grid, int64_t begin, int64_t end, DType dtype);

// Distance of neighbours along a coordinate (0 is the fastest axis): 2 / (samples - 1); 0 where
// there is one sample.
double grid_step(const Grid& grid, int64_t coordinate);

// Differences of values [points, channels] between neighbours along a coordinate, in units of one
// sample: derivatives times grid_step^order, as exact as second-order differences are. Order 1 is
// central, (v[i+1] - v[i-1]) / 2, and one-sided at both ends; order 2 is v[i+1] - 2 v[i] + v[i-1],
// and at the ends that of the neighbour. 0 where too few samples are (2 and 3).
Tensor grid_difference(const Tensor& values, const Grid& grid, int64_t coordinate, int order);

}  // namespace ralimp
