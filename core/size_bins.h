// Sizes of cached memory blocks, for the allocators of all backends: each request is rounded up to
// an eighth of its power of two, so that at most 12.5 % is wasted and blocks of nearly equal size
// are handed out in each other's place.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>

namespace ralimp {

struct SizeBin {
    int index;
    std::size_t bytes;  // of the blocks in it
};

namespace size_bins {

// A larger request is a mistake.
constexpr int bits = 46;
constexpr std::size_t largest = (std::size_t{1} << bits) - 1;
constexpr int count = bits * 8;  // eight for each power of two

// Blocks are a multiple of the alignment, a power of two, and never smaller than it.
constexpr SizeBin of(std::size_t bytes, std::size_t alignment) {
    bytes = std::max(bytes, alignment);
    const int exponent = std::bit_width(bytes - 1) - 1;  // 2^exponent < bytes <= 2^(exponent + 1)
    const int shift = exponent > 2 ? exponent - 3 : 0;
    const std::size_t steps = (bytes - 1) >> shift;  // in [8, 15] for bytes > 8
    const std::size_t rounded = (steps + 1) << shift;
    return {shift * 8 + static_cast<int>(steps & 7), (rounded + alignment - 1) & ~(alignment - 1)};
}
static_assert(of(largest, 64).index < count, "the largest request has its bin");

}  // namespace size_bins
}  // namespace ralimp
