#include "data/sobol.h"

#include <array>

namespace ralimp {
namespace {

constexpr int digits = 32;

// A primitive polynomial over GF(2), x^degree + … + 1 with `inner` holding the coefficients
// between, and the first direction integers. S. Joe and F. Y. Kuo, "Constructing Sobol sequences
// with better two-dimensional projections", SIAM J. Sci. Comput. 30 (2008), table
// new-joe-kuo-6.21201.
struct Direction {
    int degree;
    uint32_t inner;
    uint32_t initial[5];
};
constexpr Direction directions[sobol_axes - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
};

using Columns = std::array<std::array<uint32_t, digits>, sobol_axes>;

constexpr Columns columns_of_all_axes() {
    Columns columns{};
    for (int i = 0; i < digits; ++i) columns[0][static_cast<std::size_t>(i)] = 1u << (31 - i);
    for (std::size_t axis = 1; axis < sobol_axes; ++axis) {
        const Direction& direction = directions[axis - 1];
        auto& column = columns[axis];
        for (int i = 0; i < digits; ++i) {
            uint32_t value = 0;
            if (i < direction.degree) {
                value = direction.initial[i] << (31 - i);
            } else {
                const uint32_t oldest = column[static_cast<std::size_t>(i - direction.degree)];
                value = oldest ^ oldest >> direction.degree;
                for (int k = 1; k < direction.degree; ++k)
                    if (direction.inner >> (direction.degree - 1 - k) & 1)
                        value ^= column[static_cast<std::size_t>(i - k)];
            }
            column[static_cast<std::size_t>(i)] = value;
        }
    }
    return columns;
}

constexpr Columns columns = columns_of_all_axes();

}  // namespace

uint32_t sobol_digits(uint32_t index, int64_t axis) {
    const auto& column = columns[static_cast<std::size_t>(axis)];
    uint32_t result = 0;
    std::size_t i = 0;
    for (uint32_t gray = index ^ index >> 1; gray != 0; gray >>= 1, ++i)
        if (gray & 1) result ^= column[i];
    return result;
}

}  // namespace ralimp
