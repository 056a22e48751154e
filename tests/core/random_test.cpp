// Philox against the known answers of its authors, and the random kernels against the scalar draws.
#include "core/random.h"

#include <set>

#include "tests/core/kernel_testing.h"

namespace ralimp::testing {
namespace {

// Random123 kat_vectors, philox4x32 with 10 rounds. Counter words 2 and 3 are step and stream.
TEST(Philox, KnownAnswers) {
    struct Case {
        uint64_t seed;
        uint32_t step, stream;
        uint64_t block;
        std::array<uint32_t, 4> expected;
    };
    const Case cases[] = {
        {0, 0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {0xffffffffffffffff,
         0xffffffff,
         0xffffffff,
         0xffffffffffffffff,
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {0x299f31d0a4093822,
         0x13198a2e,
         0x03707344,
         0x85a308d3243f6a88,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (const Case& one : cases) {
        const RandomKey key{one.seed, static_cast<RandomStream>(one.stream), one.step};
        const PhiloxBlock block = philox(key, one.block);
        EXPECT_EQ(std::to_array(block.words), one.expected);
    }
}

TEST(Philox, SeedStreamStepAndIndexAllMatter) {
    const RandomKey key{5, RandomStream::points, 3};
    std::set<float> draws = {
        random_uniform<float>(key, 0),
        random_uniform<float>(key, 1),
        random_uniform<float>({6, RandomStream::points, 3}, 0),
        random_uniform<float>({5 + (uint64_t{1} << 32), RandomStream::points, 3}, 0),
        random_uniform<float>({5, RandomStream::noise, 3}, 0),
        random_uniform<float>({5, RandomStream::points, 4}, 0),
        random_uniform<float>(key, uint64_t{1} << 40)};
    EXPECT_EQ(draws.size(), 7u);
}

class Random : public EachTarget {};
INSTANTIATE_EACH_TARGET(Random);

TEST_P(Random, KernelsGiveTheScalarDraws) {
    const RandomKey key{17, RandomStream::noise, 9};
    for (int64_t size : odd_sizes)
        for (uint64_t first : {uint64_t{0}, uint64_t{1}, uint64_t{7}, uint64_t{1} << 35}) {
            const auto compare = [&]<class T>(T) {
                const Tensor uniform = empty({size}, dtype_of<T>());
                const Tensor normal = empty({size}, dtype_of<T>());
                table().random_uniform(uniform, key, first);
                table().random_normal(normal, key, first);
                const std::vector<T> uniforms = uniform.template to_vector<T>();
                const std::vector<T> normals = normal.template to_vector<T>();
                for (std::size_t i = 0; i < uniforms.size(); ++i) {
                    const uint64_t index = first + i;
                    ASSERT_EQ(uniforms[i], ralimp::random_uniform<T>(key, index)) << i;
                    ASSERT_EQ(normals[i], ralimp::random_normal<T>(key, index)) << i;
                }
            };
            compare(float{});
            compare(double{});
        }
    const Tensor x = zeros({2}, DType::int32);
    EXPECT_THROW(table().random_uniform(x, key, 0), Error);
}

TEST_P(Random, ViewsAndThreadsGetTheSameDraws) {
    const RandomKey key{17};
    const Tensor plain = empty({300, 401});
    table().random_normal(plain, key, 3);
    const Tensor view = scattered_copy(zeros({300, 401}));
    table().random_normal(view, key, 3);
    EXPECT_TRUE(same_bits(plain, view));
    set_thread_count(1);
    table().random_normal(view, key, 3);
    EXPECT_TRUE(same_bits(plain, view));
}

TEST_P(Random, ViewsThatStartAnywhereInMemory) {
    const RandomKey key{18};
    const Tensor memory = zeros({2000});
    for (int64_t start = 0; start < 5; ++start)
        for (uint64_t first = 0; first < 5; ++first) {
            const Tensor view = memory.strided_view({1001}, {1}, start);
            memory.fill(-1);
            table().random_uniform(view, key, first);
            const std::vector<float> values = memory.to_vector<float>();
            for (int64_t i = 0; i < 2000; ++i) {
                const uint64_t index = first + static_cast<uint64_t>(i - start);
                const bool inside = i >= start && i < start + 1001;
                ASSERT_EQ(values[static_cast<std::size_t>(i)],
                          inside ? ralimp::random_uniform<float>(key, index) : -1);
            }
        }
}

// Within four standard errors of the exact moments.
TEST(RandomMoments, UniformAndNormal) {
    constexpr int64_t count = 1'000'000;
    const double n = count;
    for (DType dtype : {DType::float32, DType::float64}) {
        const Tensor x = Tensor::empty({count}, dtype);
        const auto moments = [&] {
            std::array<double, 5> sums{};
            double previous = 0;
            for (double value : x.to_doubles()) {
                double power = 1;
                for (int k = 0; k < 4; ++k) sums[static_cast<std::size_t>(k)] += power *= value;
                sums[4] += value * previous;
                previous = value;
            }
            for (double& sum : sums) sum /= n;
            return sums;
        };
        kernels({}).random_uniform(x, {1}, 0);
        const auto uniform = moments();
        for (int k = 1; k <= 4; ++k) {
            const double exact = 1.0 / (k + 1);
            const double error = std::sqrt((1.0 / (2 * k + 1) - exact * exact) / n);
            EXPECT_NEAR(uniform[static_cast<std::size_t>(k - 1)], exact, 4 * error);
        }
        const auto values = x.to_doubles();
        EXPECT_GE(*std::min_element(values.begin(), values.end()), 0);
        EXPECT_LT(*std::max_element(values.begin(), values.end()), 1);

        kernels({}).random_normal(x, {2}, 0);
        const auto normal = moments();
        EXPECT_NEAR(normal[0], 0, 4 * std::sqrt(1 / n));
        EXPECT_NEAR(normal[1], 1, 4 * std::sqrt(2 / n));
        EXPECT_NEAR(normal[2], 0, 4 * std::sqrt(15 / n));
        EXPECT_NEAR(normal[3], 3, 4 * std::sqrt(96 / n));
        EXPECT_NEAR(normal[4], 0, 4 * std::sqrt(1 / n));  // neighbours are independent
    }
}

}  // namespace
}  // namespace ralimp::testing
