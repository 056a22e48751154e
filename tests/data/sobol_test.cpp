#include "data/sobol.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "data/samplers.h"

namespace ralimp {
namespace {

// The points that Joe and Kuo's program prints first, times 16: three axes.
TEST(Sobol, BeginsLikeTheReference) {
    constexpr int want[9][3] = {{0, 0, 0},   {8, 8, 8},   {12, 4, 4}, {4, 12, 12}, {6, 6, 10},
                                {14, 14, 2}, {10, 2, 14}, {2, 10, 6}, {3, 5, 15}};
    for (uint32_t i = 0; i < 9; ++i)
        for (int64_t axis = 0; axis < 3; ++axis)
            EXPECT_EQ(sobol_digits(i, axis) * 0x1p-28, want[i][axis]) << i << ", axis " << axis;
}

// The same table in another implementation: scipy.stats.qmc.Sobol(10, scramble=False), times 4096.
TEST(Sobol, AgreesWithScipyOnEveryAxis) {
    struct Row {
        uint32_t index;
        uint32_t want[sobol_axes];
    };
    constexpr Row rows[] = {
        {1, {2048, 2048, 2048, 2048, 2048, 2048, 2048, 2048, 2048, 2048}},
        {2, {3072, 1024, 1024, 1024, 3072, 3072, 1024, 3072, 3072, 3072}},
        {7, {512, 2560, 1536, 512, 512, 1536, 2560, 2560, 2560, 3584}},
        {21, {3968, 2432, 1408, 3200, 2688, 1408, 1664, 2944, 384, 128}},
        {31, {128, 2176, 3712, 3968, 3968, 3200, 1408, 2176, 640, 2432}},
        {1000, {900, 396, 2124, 2772, 1148, 3716, 188, 3684, 2052, 284}},
        {4095, {1, 3855, 1369, 3693, 3851, 323, 3889, 1601, 785, 1009}},
    };
    for (const Row& row : rows)
        for (int64_t axis = 0; axis < sobol_axes; ++axis)
            EXPECT_EQ(sobol_digits(row.index, axis) >> 20, row.want[axis]) << axis;
}

TEST(Sobol, EachAxisHasOnePointInEachStratum) {
    for (const uint32_t count : {8u, 1024u, 8192u})
        for (int64_t axis = 0; axis < sobol_axes; ++axis)
            for (const uint32_t first : {0u, 5 * count}) {
                std::set<uint32_t> strata;
                for (uint32_t i = 0; i < count; ++i)
                    strata.insert(sobol_digits(first + i, axis) /
                                  static_cast<uint32_t>((uint64_t{1} << 32) / count));
                EXPECT_EQ(strata.size(), count) << "axis " << axis;
            }
}

// The generators differ: 2^16 points fill all 32 by 32 cells of every pair of axes. Equal or
// mirrored axes would leave most of them empty.
TEST(Sobol, EveryPairOfAxesCoversTheSquare) {
    for (int64_t a = 0; a < sobol_axes; ++a)
        for (int64_t b = 0; b < a; ++b) {
            std::vector<char> seen(1024);
            for (uint32_t i = 0; i < 1 << 16; ++i)
                seen[(sobol_digits(i, a) >> 27) * 32 + (sobol_digits(i, b) >> 27)] = 1;
            EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 1024) << a << ", " << b;
        }
}

// Sobol's property A, for which Joe and Kuo chose their numbers: of 2^10 points each lies in
// another of the 2^10 cubes that halving every axis makes.
TEST(Sobol, OnePointInEachOrthant) {
    std::set<uint32_t> orthants;
    for (uint32_t i = 0; i < 1 << sobol_axes; ++i) {
        uint32_t orthant = 0;
        for (int64_t axis = 0; axis < sobol_axes; ++axis)
            orthant = orthant << 1 | sobol_digits(i, axis) >> 31;
        orthants.insert(orthant);
    }
    EXPECT_EQ(orthants.size(), 1u << sobol_axes);
}

// A (0, m, 2)-net: every rectangle of 2^-k by 2^-(m-k) has one point, shifted digits or not.
TEST(Sobol, FirstTwoAxesAreANet) {
    constexpr int m = 8;
    const Tensor shifted =
        sobol_points({3, RandomStream::points, 1}, {{0, 0}, {1, 1}}, 1 << m, 3 << m);
    const auto* x = shifted.data<double>();
    for (int k = 0; k <= m; ++k) {
        std::set<int> plain, moved;
        for (uint32_t i = 0; i < 1 << m; ++i) {
            const double u = sobol_digits(i, 0) * 0x1p-32, v = sobol_digits(i, 1) * 0x1p-32;
            const auto cell = [&](double a, double b) {
                return static_cast<int>(std::ldexp(a, k)) * (1 << (m - k)) +
                       static_cast<int>(std::ldexp(b, m - k));
            };
            plain.insert(cell(u, v));
            moved.insert(cell(x[2 * i], x[2 * i + 1]));
        }
        EXPECT_EQ(plain.size(), 1u << m) << k;
        EXPECT_EQ(moved.size(), 1u << m) << k;
    }
}

TEST(Sobol, PointsGoOnWhereTheyStopped) {
    const RandomKey key{2, RandomStream::points, 0};
    const Box box{{-1, 0, 2}, {1, 5, 3}};
    const auto all = sobol_points(key, box, 5000).to_vector<double>();
    const auto rest = sobol_points(key, box, 4900, 100).to_vector<double>();
    EXPECT_EQ(std::vector<double>(all.begin() + 300, all.end()), rest);
    const auto uniform = uniform_points(key, box, 5000).to_vector<double>();
    EXPECT_EQ(std::vector<double>(uniform.begin() + 300, uniform.end()),
              uniform_points(key, box, 4900, 100).to_vector<double>());
}

}  // namespace
}  // namespace ralimp
