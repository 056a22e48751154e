// Sobol's low-discrepancy sequence. No boxes and no randomness: see sobol_points in samplers.h.
#pragma once
#include <cstdint>

namespace ralimp {

inline constexpr int64_t sobol_axes = 10;

// The first 32 binary digits of one coordinate of a point, the most significant bit being 1/2, in
// the order of Joe and Kuo's program (Gray code). axis is in [0, sobol_axes).
uint32_t sobol_digits(uint32_t index, int64_t axis);

}  // namespace ralimp
