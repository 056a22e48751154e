#include "data/samplers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/parallel.h"
#include "tests/error_of.h"

namespace ralimp {
namespace {

Tensor uniform(const RandomKey& key, const Box& box, int64_t count) {
    return uniform_points(key, box, count);
}
Tensor sobol(const RandomKey& key, const Box& box, int64_t count) {
    return sobol_points(key, box, count);
}

using Draw = Tensor (*)(const RandomKey&, const Box&, int64_t);
constexpr Draw samplers[] = {uniform, latin_hypercube_points, sobol};

std::vector<double> values(const Tensor& tensor) { return tensor.to_vector<double>(); }

TEST(Samplers, DependOnKeyAndBoxOnly) {
    const Box box{{-1, 0}, {1, 0.5}};
    const RandomKey key{5, RandomStream::points, 2};
    for (const Draw sample : samplers) {
        const int threads = thread_count();
        set_thread_count(1);
        const auto one = values(sample(key, box, 10001));
        set_thread_count(3);
        const auto three = values(sample(key, box, 10001));
        set_thread_count(threads);
        EXPECT_EQ(one, three);
        for (const RandomKey& other :
             {RandomKey{6, RandomStream::points, 2}, RandomKey{5, RandomStream::points, 3},
              RandomKey{5, RandomStream::batches, 2}}) {
            const auto different = values(sample(other, box, 10001));
            int64_t equal = 0;
            for (std::size_t i = 0; i < one.size(); ++i) equal += one[i] == different[i];
            EXPECT_LT(equal, 5);
        }
    }
}

// Runs are repeated by their seed: a draw never changes.
TEST(Samplers, DrawWhatTheyAlwaysDrew) {
    const RandomKey key{7, RandomStream::points, 3};
    const Box box{{-1, 0}, {1, 1}};
    const auto ends = [&](Sampler sampler) {
        const auto x = values(sample_points(sampler, box, 1000, key));
        return std::vector<double>{x[0], x[1], x[998], x[999], x[1998], x[1999]};
    };
    EXPECT_EQ(
        ends(Sampler::uniform),
        (std::vector<double>{0x1.73c20832d382cp-1, 0x1.0941b8c6192fcp-3, 0x1.02fe7ee38a078p-3,
                             0x1.f1476678e3b6p-5, 0x1.7f19bd95175cp-4, 0x1.2076b86acd276p-1}));
    EXPECT_EQ(
        ends(Sampler::latin_hypercube),
        (std::vector<double>{0x1.794317dac28f6p-1, 0x1.1e0ce307e76c9p-4, 0x1.300ff9b376c8cp-1,
                             0x1.c91eccc02b021p-2, 0x1.12f2f5342b02p-1, 0x1.7de3ac2496873p-1}));
    EXPECT_EQ(values(sample_points(Sampler::sobol, box, 100, key)),
              values(sobol_points(key, box, 100)));
    EXPECT_EQ(values(sample_points(Sampler::grid, box, 11, key)), values(grid_points(box, {3, 3})));
}

TEST(Samplers, PointsAreInsideTheBox) {
    const Box box{{-1, 0.1, 3}, {1, 0.3, 3}};
    for (const Draw sample : samplers)
        for (const int64_t count : {0, 1, 2, 5000}) {
            const Tensor points = sample({1, RandomStream::points, 0}, box, count);
            ASSERT_EQ(points.shape(), Shape({count, 3}));
            ASSERT_EQ(points.dtype(), DType::float64);
            const auto* x = points.data<double>();
            for (int64_t i = 0; i < 3 * count; ++i) {
                const auto k = static_cast<std::size_t>(i % 3);
                ASSERT_GE(x[i], box.lower[k]);
                ASSERT_LE(x[i], box.upper[k]);
            }
        }
}

// Mean, variance and covariance of axes within four standard errors of the uniform law's; the
// means of a Latin hypercube (McKay et al.) and of Sobol's points are far closer.
TEST(Samplers, FollowTheUniformLaw) {
    constexpr int64_t count = 20000;
    const Box box{{0, 0, 0}, {1, 1, 1}};
    for (const Draw sample : samplers) {
        const bool stratified = sample != uniform;
        const auto x = values(sample({9, RandomStream::points, 4}, box, count));
        double mean[3] = {}, product[3][3] = {};
        for (std::size_t i = 0; i < x.size(); i += 3)
            for (std::size_t a = 0; a < 3; ++a) {
                mean[a] += (x[i + a] - 0.5) / count;
                for (std::size_t b = 0; b < 3; ++b)
                    product[a][b] += (x[i + a] - 0.5) * (x[i + b] - 0.5) / count;
            }
        for (int a = 0; a < 3; ++a) {
            EXPECT_LT(std::abs(mean[a]), stratified ? 1e-4 : 4 * std::sqrt(1 / 12.0 / count));
            for (int b = 0; b < 3; ++b)
                EXPECT_NEAR(product[a][b], a == b ? 1 / 12.0 : 0,
                            4 * std::sqrt((a == b ? 1 / 180.0 : 1 / 144.0) / count));
        }
    }
}

TEST(Samplers, LatinHypercubeHasOnePointInEachStratumOfEachAxis) {
    for (const int64_t count : {1, 7, 100, 4096, 10000, 1 << 20}) {
        const int64_t dims = count > 10000 ? 1 : 4;
        const Box box{std::vector<double>(static_cast<std::size_t>(dims), 0),
                      std::vector<double>(static_cast<std::size_t>(dims), 1)};
        const Tensor points = latin_hypercube_points({3, RandomStream::points, 1}, box, count);
        const auto* x = points.data<double>();
        for (int64_t k = 0; k < dims; ++k) {
            std::vector<int> seen(static_cast<std::size_t>(count));
            for (int64_t i = 0; i < count; ++i)
                ++seen[static_cast<std::size_t>(x[i * dims + k] * static_cast<double>(count))];
            for (const int times : seen) ASSERT_EQ(times, 1) << count << " points, axis " << k;
        }
    }
}

// Every order of the strata of three points is equally likely (chi-square, 5 degrees of freedom,
// 0.1 %), and axes are paired independently of each other.
TEST(Samplers, LatinHypercubePermutationsAreUniform) {
    constexpr int rounds = 6000;
    std::vector<int> count(36);
    for (uint32_t step = 0; step < rounds; ++step) {
        const auto x =
            values(latin_hypercube_points({1, RandomStream::points, step}, {{0, 0}, {1, 1}}, 3));
        int code = 0;
        for (std::size_t k = 0; k < 2; ++k) {
            const int first = static_cast<int>(3 * x[k]), second = static_cast<int>(3 * x[2 + k]);
            code = 6 * code + 2 * first + (second > first ? second - 1 : second);
        }
        ++count[static_cast<std::size_t>(code)];
    }
    double joint = 0;
    for (const int n : count) joint += std::pow(n - rounds / 36.0, 2) / (rounds / 36.0);
    EXPECT_LT(joint, 66.6);  // 35 degrees of freedom, 0.1 %
    EXPECT_EQ(std::set<int>(count.begin(), count.end()).count(0), 0u);
}

TEST(Samplers, Grid) {
    const Tensor points = grid_points({{-1, 0}, {1, 3}}, {3, 4});
    EXPECT_EQ(points.shape(), Shape({12, 2}));
    const std::vector<double> want = {-1, 0, -1, 1, -1, 2, -1, 3, 0, 0, 0, 1,
                                      0,  2, 0,  3, 1,  0, 1,  1, 1, 2, 1, 3};
    EXPECT_EQ(values(points), want);
    EXPECT_EQ(values(grid_points({{2}, {4}}, {1})), std::vector<double>{3});
    // The ends are exact, whatever the bounds.
    const auto fine = values(grid_points({{0.1}, {0.7}}, {1000}));
    EXPECT_EQ(fine.front(), 0.1);
    EXPECT_EQ(fine.back(), 0.7);
    for (std::size_t i = 0; i + 1 < fine.size(); ++i) ASSERT_LT(fine[i], fine[i + 1]);
}

TEST(Samplers, RefuseWhatIsNoBox) {
    const RandomKey key;
    EXPECT_EQ(error_of([&] {
                  sobol_points(key, Box{std::vector<double>(11, 0), std::vector<double>(11, 1)}, 3);
              }).text,
              "sobol_points: at most 10 axes, not 11");
    EXPECT_NE(error_of([&] { sobol_points(key, {{0}, {1}}, 2, (int64_t{1} << 32) - 1); }).text, "");
    for (const Draw sample : samplers) {
        EXPECT_NE(error_of([&] { sample(key, {{0, 0}, {1}}, 3); }).text, "");
        EXPECT_NE(error_of([&] { sample(key, {{}, {}}, 3); }).text, "");
        EXPECT_NE(error_of([&] { sample(key, {{0}, {INFINITY}}, 3); }).text, "");
        EXPECT_NE(error_of([&] { sample(key, {{NAN}, {1}}, 3); }).text, "");
        EXPECT_NE(error_of([&] { sample(key, {{0}, {1}}, -1); }).text, "");
    }
    EXPECT_EQ(error_of([&] {
                  uniform_points(key, {{0, 2}, {1, 1}}, 3);
              }).text,
              "uniform_points: [2, 1] is not an interval (axis 1)");
    EXPECT_NE(error_of([&] { latin_hypercube_points(key, {{0}, {1}}, (1 << 20) + 1); }).text, "");
    EXPECT_EQ(error_of([&] {
                  grid_points({{0, 0}, {1, 1}}, {3});
              }).text,
              "grid_points: the box has 2 axes, the counts 1");
    EXPECT_NE(error_of([&] { grid_points({{0}, {1}}, {0}); }).text, "");
}

}  // namespace
}  // namespace ralimp
