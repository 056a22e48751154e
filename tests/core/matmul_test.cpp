// Products against sums in double over many sizes, layouts and batches.
#include <thread>

#include "tests/core/kernel_testing.h"

namespace ralimp::testing {
namespace {

std::vector<double> product(const Tensor& a, const Tensor& b) {
    const int64_t m = a.size(-2), k = a.size(-1), n = b.size(-1);
    const auto x = plain_doubles(a), y = plain_doubles(b);
    const int64_t batches = static_cast<int64_t>(x.size()) / std::max<int64_t>(1, m * k);
    std::vector<double> out(static_cast<std::size_t>(batches * m * n), 0);
    for (int64_t batch = 0; batch < batches; ++batch)
        for (int64_t i = 0; i < m; ++i)
            for (int64_t l = 0; l < k; ++l)
                for (int64_t j = 0; j < n; ++j)
                    out[static_cast<std::size_t>((batch * m + i) * n + j)] +=
                        x[static_cast<std::size_t>((batch * m + i) * k + l)] *
                        y[static_cast<std::size_t>((batch * k + l) * n + j)];
    return out;
}

Shape product_shape(const Tensor& a, const Tensor& b) {
    Shape shape = a.shape();
    shape[a.dims() - 1] = b.size(-1);
    return shape;
}

// For values between -1 and 1. The error is a random walk of k roundings of partial sums of size
// sqrt(k) / 3; a missing or doubled product, about 1/4, is far above the tolerance.
void expect_product(const Tensor& a, const Tensor& b) {
    const Tensor out = Tensor::full(product_shape(a, b), NAN, a.dtype());
    kernels({}).matmul(out, a, b);
    const auto expected = product(a, b), found = plain_doubles(out);
    const double rounding = a.dtype() == DType::float32 ? 0x1p-24 : 0x1p-53;
    const double tolerance = rounding * static_cast<double>(2 * a.size(-1) + 2);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_LE(std::abs(found[i] - expected[i]), tolerance)
            << to_string(a.shape()) << " x " << to_string(b.shape()) << " element " << i;
}

Tensor values(const Shape& shape, DType dtype, uint64_t seed) {
    return random_values(shape, dtype, -1, 1, seed);
}

class Matmul : public EachSimdLevel {};
INSTANTIATE_EACH_SIMD_LEVEL(Matmul);

TEST_P(Matmul, OddSizesInEveryTransposition) {
    for (DType dtype : {DType::float32, DType::float64})
        for (int64_t m : {1, 2, 5, 8, 17, 33, 64, 100})
            for (int64_t n : {1, 2, 3, 7, 16, 20, 31, 65, 130})
                for (int64_t k : {1, 2, 3, 9, 20, 64, 129}) {
                    const Tensor a = values({m, k}, dtype, 1), b = values({k, n}, dtype, 2);
                    const Tensor a_turned = transposed(values({k, m}, dtype, 3));
                    const Tensor b_turned = transposed(values({n, k}, dtype, 4));
                    expect_product(a, b);
                    expect_product(a_turned, b);
                    expect_product(a, b_turned);
                    expect_product(a_turned, b_turned);
                }
}

TEST_P(Matmul, LargeSizes) {
    const std::array<int64_t, 3> sizes[] = {
        {1000, 20, 2},  {3001, 40, 40},  {40, 3001, 40},  {257, 511, 384}, {20, 20, 10'007},
        {33, 17, 8001}, {1, 1000, 1003}, {1000, 1, 1003}, {1, 1, 100'003}, {700, 700, 17}};
    for (DType dtype : {DType::float32, DType::float64})
        for (const auto [m, n, k] : sizes) {
            expect_product(values({m, k}, dtype, 1), values({k, n}, dtype, 2));
            expect_product(transposed(values({k, m}, dtype, 1)), values({k, n}, dtype, 2));
            expect_product(values({m, k}, dtype, 1), transposed(values({n, k}, dtype, 2)));
        }
}

TEST_P(Matmul, EmptyAndInnerSizeZero) {
    const Tensor out = Tensor::full({3, 4}, NAN);
    kernels({}).matmul(out, Tensor::empty({3, 0}), Tensor::empty({0, 4}));
    EXPECT_EQ(plain_doubles(out), std::vector<double>(12, 0));
    kernels({}).matmul(Tensor::empty({0, 4}), Tensor::empty({0, 2}), Tensor::empty({2, 4}));
    kernels({}).matmul(Tensor::empty({0, 3, 4}), Tensor::empty({0, 3, 2}),
                       Tensor::empty({0, 2, 4}));
}

TEST_P(Matmul, Batches) {
    for (DType dtype : {DType::float32, DType::float64}) {
        const Tensor a = values({4, 3, 5, 6}, dtype, 1), b = values({4, 3, 6, 7}, dtype, 2);
        expect_product(a, b);
        const Tensor one = values({6, 7}, dtype, 3);
        expect_product(a, one.strided_view({4, 3, 6, 7}, {0, 0, 7, 1}));
        expect_product(a, one.strided_view({4, 3, 6, 7}, {0, 0, 1, 6}));
        expect_product(one.strided_view({4, 3, 5, 6}, {0, 0, 6, 1}), b);
        const Tensor some = values({3, 6, 7}, dtype, 5);
        expect_product(a, some.strided_view({4, 3, 6, 7}, {0, 42, 7, 1}));
        expect_product(a, some.strided_view({4, 3, 6, 7}, {0, 42, 2, 3}));
        // One row per batch entry, against one matrix.
        const Tensor shared = one.strided_view({50, 6, 7}, {0, 7, 1});
        expect_product(values({50, 1, 6}, dtype, 6), shared);
        expect_product(values({50, 2, 9}, dtype, 6).strided_view({50, 1, 6}, {18, 9, 1}), shared);
        // Many, and long sums.
        expect_product(values({70, 33, 65}, dtype, 7), values({70, 65, 40}, dtype, 8));
        expect_product(transposed(values({3, 5000, 20}, dtype, 7)),
                       values({3, 5000, 20}, dtype, 8));
    }
}

TEST_P(Matmul, ViewsWithGapsRepeatedRowsAndOtherResults) {
    for (DType dtype : {DType::float32, DType::float64}) {
        const Tensor wide = values({40, 90}, dtype, 1);
        const Tensor rows = wide.strided_view({20, 30}, {180, 1}, 7);
        const Tensor columns = wide.strided_view({30, 20}, {1, 90}, 3);
        const Tensor others[] = {columns,
                                 wide.strided_view({30, 20}, {90, 3}, 5),
                                 wide.strided_view({30, 20}, {0, 1}),
                                 wide.strided_view({30, 20}, {0, 0}),
                                 wide.strided_view({30, 20}, {1, 2}),
                                 wide.strided_view({30, 20}, {-90, 1}, 30 * 90)};
        for (const Tensor& b : others) expect_product(rows, b);
        expect_product(wide.strided_view({1, 30}, {1, 3}), columns);
        expect_product(rows, wide.strided_view({30, 1}, {3, 1}));
        const Tensor expected = Tensor::empty({20, 20}, dtype);
        kernels({}).matmul(expected, rows, columns);
        const Tensor memory = Tensor::zeros({50, 50}, dtype);
        const Tensor results[] = {memory.strided_view({20, 20}, {1, 50}),
                                  memory.strided_view({20, 20}, {100, 2}),
                                  memory.strided_view({20, 20}, {50, 1}, 9)};
        for (const Tensor& out : results) {
            kernels({}).matmul(out, rows, columns);
            EXPECT_TRUE(same_bits(out, expected));
        }
    }
}

TEST_P(Matmul, ThreadsDoNotChangeTheBits) {
    const std::array<int64_t, 3> sizes[] = {
        {5000, 40, 40}, {40, 5000, 40}, {20, 20, 50'000}, {500, 500, 500}, {1, 4000, 300}};
    for (const auto [m, n, k] : sizes) {
        const Tensor a = values({m, k}, DType::float32, 1), b = values({k, n}, DType::float32, 2);
        Tensor results[2];
        for (int threads : {1, 2}) {
            set_thread_count(threads);
            results[threads - 1] = Tensor::empty({m, n});
            kernels({}).matmul(results[threads - 1], a, b);
        }
        EXPECT_TRUE(same_bits(results[0], results[1])) << m << " " << n << " " << k;
    }
}

TEST_P(Matmul, EveryThreadGetsTheSameBits) {
    const Tensor a = values({500, 500}, DType::float32, 1),
                 b = values({500, 500}, DType::float32, 2);
    const Tensor expected = Tensor::empty({500, 500});
    kernels({}).matmul(expected, a, b);
    std::vector<Tensor> results(3);
    std::vector<std::thread> threads;
    for (Tensor& result : results)
        threads.emplace_back([&] {
            result = Tensor::empty({500, 500});
            kernels({}).matmul(result, a, b);
        });
    for (std::thread& thread : threads) thread.join();
    for (const Tensor& result : results) EXPECT_TRUE(same_bits(result, expected));
}

TEST_P(Matmul, InfinityAndNanArePassedOn) {
    const Tensor a = values({5, 40}, DType::float32, 1), b = values({40, 6}, DType::float32, 2);
    a.strided_view({1}, {1}, 2 * 40 + 7).fill(NAN);
    b.strided_view({1}, {1}, 3 * 6 + 4).fill(INFINITY);
    const Tensor out = Tensor::empty({5, 6});
    kernels({}).matmul(out, a, b);
    const auto found = plain_doubles(out);
    for (int64_t i = 0; i < 5; ++i)
        for (int64_t j = 0; j < 6; ++j) {
            const double value = found[static_cast<std::size_t>(i * 6 + j)];
            EXPECT_EQ(std::isnan(value), i == 2);
            EXPECT_EQ(std::isinf(value), i != 2 && j == 4);
        }
}

TEST_P(Matmul, WholeNumbersAreRefused) {
    const Tensor x = Tensor::ones({2, 2}, DType::int64);
    EXPECT_THROW(kernels({}).matmul(x, x, x), Error);
}

}  // namespace
}  // namespace ralimp::testing
