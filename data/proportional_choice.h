// One uniform number chooses among pieces of different size and gives the place within the piece.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace ralimp {

struct ProportionalChoice {
    std::size_t index;
    double rest;  // in [0, 1], uniform again
};

// u in [0, 1]; sizes are positive.
inline ProportionalChoice choose_proportionally(const std::vector<double>& sizes, double u) {
    double total = 0;
    for (const double size : sizes) total += size;
    double place = u * total;
    std::size_t index = 0;
    while (index + 1 < sizes.size() && place >= sizes[index]) place -= sizes[index++];
    return {index, std::min(place / sizes[index], 1.0)};
}

}  // namespace ralimp
