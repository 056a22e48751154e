// Division by products and shifts, and the walk over strided operands inside kernels.
#include "core/cuda/strided.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace ralimp::testing {
namespace {

TEST(Strided, DividesAsTheProcessorDoes) {
    constexpr uint32_t largest = INT32_MAX;
    std::vector<uint32_t> numbers{0, 1, 2, 3, 255, 256, 257, 65535, 65536, largest - 1, largest};
    std::mt19937 generator(5);
    for (int i = 0; i < 300; ++i) numbers.push_back(generator() >> (1 + i % 31));
    for (const uint32_t divisor : numbers) {
        if (divisor == 0) continue;
        const auto divider = gpu::Divider::by(divisor);
        for (const uint32_t x : numbers) {
            ASSERT_EQ(divider.quotient(x), x / divisor) << x << " / " << divisor;
            // Around the multiples, where a rounding would show.
            const uint32_t multiple = x / divisor * divisor;
            ASSERT_EQ(divider.quotient(multiple), multiple / divisor);
            if (multiple == 0) continue;
            ASSERT_EQ(divider.quotient(multiple - 1), (multiple - 1) / divisor);
        }
    }
}

template <int operands>
JoinedLayout<operands> layout_of(const std::vector<int64_t>& sizes,
                                 const std::vector<std::vector<int64_t>>& strides) {
    JoinedLayout<operands> layout;
    layout.dims = static_cast<int>(sizes.size());
    for (int axis = 0; axis < layout.dims; ++axis) {
        const auto at = static_cast<std::size_t>(axis);
        layout.sizes[axis] = sizes[at];
        for (int i = 0; i < operands; ++i)
            layout.strides[i][axis] = strides[static_cast<std::size_t>(i)][at];
    }
    return layout;
}

TEST(Strided, FindsTheElementsOfEachOperand) {
    const auto layout = layout_of<2>({3, 4, 5}, {{20, 5, 1}, {-7, 0, 100}});
    int parts = 0;
    gpu::for_each_part(layout, [&](const auto& part, const auto& first) {
        ++parts;
        EXPECT_EQ(part.elements, 60u);
        EXPECT_EQ(first[0], 0);
        EXPECT_EQ(first[1], 0);
        for (uint32_t i = 0; i < 60; ++i) {
            const auto offsets = part.offsets(i);
            EXPECT_EQ(offsets[0], i);
            EXPECT_EQ(offsets[1], -7 * (int64_t{i} / 20) + 100 * (i % 5));
        }
    });
    EXPECT_EQ(parts, 1);
    gpu::for_each_part(layout_of<1>({}, {{}}), [&](const auto& part, const auto&) {
        EXPECT_EQ(part.elements, 1u);
        EXPECT_EQ(part.offsets(0)[0], 0);
    });
    gpu::for_each_part(layout_of<1>({3, 0}, {{0, 1}}),
                       [&](const auto&, const auto&) { ADD_FAILURE() << "of no element"; });
}

TEST(Strided, CutsWhatIsTooLargeForTheNumbersOfAThread) {
    // Memory is not touched: the parts are looked at, first and last element of each.
    const int64_t rows = 3, columns = (int64_t{1} << 32) + 5;
    const auto layout = layout_of<2>({rows, columns}, {{columns, 1}, {2, -3}});
    struct Part {
        int64_t first, last, elements;
    };
    std::vector<Part> parts;
    gpu::for_each_part(layout, [&](const gpu::StridedLayout<2>& part, const auto& offsets) {
        ASSERT_LE(part.elements, static_cast<uint32_t>(INT32_MAX));
        const auto end = part.offsets(part.elements - 1);
        parts.push_back({offsets[0], offsets[0] + end[0], part.elements});
        const int64_t row = offsets[0] / columns, column = offsets[0] % columns;
        EXPECT_EQ(offsets[1], 2 * row - 3 * column);
        const int64_t last_row = parts.back().last / columns;
        EXPECT_EQ(offsets[1] + end[1], 2 * last_row - 3 * (parts.back().last % columns));
    });
    int64_t elements = 0;
    for (const Part& part : parts) elements += part.elements;
    EXPECT_EQ(elements, rows * columns);
    EXPECT_GT(parts.size(), 5u);
    for (const Part& a : parts)
        EXPECT_EQ(std::count_if(parts.begin(), parts.end(),
                                [&](const Part& b) { return a.first == b.first; }),
                  1);
}

}  // namespace
}  // namespace ralimp::testing
