// A box of inputs, one interval for each axis.
#pragma once
#include <cstdint>
#include <vector>

namespace ralimp {

// The product of the intervals [lower_k, upper_k]; an interval of length 0 is allowed (a side).
struct Box {
    std::vector<double> lower;
    std::vector<double> upper;

    int64_t dims() const { return static_cast<int64_t>(lower.size()); }
};

}  // namespace ralimp
