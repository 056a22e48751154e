#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/cpu/dispatch.h"
#include "core/kernels.h"
#include "core/parallel.h"

namespace ralimp {
namespace {

const FlatKernels& flat() { return kernels(Device{}).flat; }

const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 31, 1000, 16383, 16384, 16385, 50001};

// Values between -1 and 1 whose sum cancels.
Tensor values(int64_t count, DType dtype, double phase) {
    Tensor tensor = Tensor::empty({count}, dtype);
    dispatch_floating("values", dtype, [&]<class T>(T) {
        for (int64_t i = 0; i < count; ++i)
            tensor.data<T>()[i] = static_cast<T>(std::sin(1.7 * static_cast<double>(i) + phase));
    });
    return tensor;
}

TEST(FlatKernels, SumsAgreeWithALongDoubleReference) {
    for (const int64_t count : sizes)
        for (const DType type_a : {DType::float32, DType::float64})
            for (const DType type_b : {DType::float32, DType::float64}) {
                const Tensor a = values(count, type_a, 0.3), b = values(count, type_b, 1.1);
                const auto x = a.to_doubles(), y = b.to_doubles();
                long double dot = 0, magnitudes = 0;
                double largest = 0;
                for (size_t i = 0; i < x.size(); ++i) {
                    dot += static_cast<long double>(x[i]) * y[i];
                    magnitudes += std::abs(x[i]);
                    largest = std::max(largest, std::abs(x[i]));
                }
                const double tolerance = 1e-15 * static_cast<double>(count + 1);
                EXPECT_NEAR(flat().dot(a, b), static_cast<double>(dot), tolerance) << count;
                EXPECT_NEAR(flat().sum_of_magnitudes(a), static_cast<double>(magnitudes),
                            tolerance);
                EXPECT_EQ(flat().largest_magnitude(a), largest);
            }
}

TEST(FlatKernels, RankTwoAgreesWithItsFormulaForAnyNumberOfThreads) {
    const int threads = thread_count();
    for (const int64_t n : {0, 1, 2, 17, 130, 301}) {
        const Tensor x = values(n, DType::float64, 0.3), y = values(n, DType::float64, 1.1);
        const Tensor before = values(n * n, DType::float64, 2);
        Tensor results[2];
        for (const int used : {1, 3}) {
            set_thread_count(used);
            results[used / 2] = before.clone();
            flat().rank_two(results[used / 2], 0.7, x, y, 1.5, -0.25, 2);
        }
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < n; ++j) {
                const auto a = [&](int64_t k) { return x.data<double>()[k]; };
                const auto b = [&](int64_t k) { return y.data<double>()[k]; };
                const double expected = 0.7 * before.data<double>()[i * n + j] + 1.5 * a(i) * a(j) -
                                        0.25 * (a(i) * b(j) + b(i) * a(j)) + 2 * b(i) * b(j);
                ASSERT_NEAR(results[0].data<double>()[i * n + j], expected, 1e-14) << n;
            }
        EXPECT_EQ(results[0].to_doubles(), results[1].to_doubles());
    }
    set_thread_count(threads);
}

TEST(FlatKernels, SumsHaveTheSameBitsForAnyNumberOfThreads) {
    const int threads = thread_count();
    const Tensor a = values(50001, DType::float32, 0.3), b = values(50001, DType::float64, 1.1);
    set_thread_count(1);
    const double dot = flat().dot(a, b), magnitudes = flat().sum_of_magnitudes(b);
    for (const int used : {2, 3, 8}) {
        set_thread_count(used);
        EXPECT_EQ(flat().dot(a, b), dot);
        EXPECT_EQ(flat().sum_of_magnitudes(b), magnitudes);
    }
    set_thread_count(threads);
}

TEST(FlatKernels, SumsReadRangesThatAreNotAligned) {
    const Tensor whole = values(101, DType::float32, 0);
    const Tensor part = whole.strided_view({97}, {1}, 3);
    const Tensor copy = Tensor::from(part.to_vector<float>(), {97});
    EXPECT_EQ(flat().dot(part, part), flat().dot(copy, copy));
}

TEST(FlatKernels, NaNAndInfinityShowInEverySum) {
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
        for (const int64_t place : {0, 7, 16, 36}) {
            const Tensor a = values(37, DType::float64, 0);
            a.data<double>()[place] = bad;
            EXPECT_FALSE(std::isfinite(flat().dot(a, a)));
            EXPECT_FALSE(std::isfinite(flat().sum_of_magnitudes(a)));
            const double largest = flat().largest_magnitude(a);
            EXPECT_TRUE(std::isnan(bad) ? std::isnan(largest) : largest == bad) << place;
        }
}

TEST(FlatKernels, CombineRoundsOnceAndMayWriteOverAnInput) {
    for (const int64_t count : sizes)
        for (const DType type_out : {DType::float32, DType::float64})
            for (const DType type_a : {DType::float32, DType::float64})
                for (const DType type_b : {DType::float32, DType::float64}) {
                    const Tensor a = values(count, type_a, 0.2), b = values(count, type_b, 2.2);
                    const Tensor out = Tensor::empty({count}, type_out);
                    const auto x = a.to_doubles(), y = b.to_doubles();
                    flat().combine(out, 1.25, a, -1e-3, b);
                    if (type_out == type_a) flat().combine(a, 1.25, a, -1e-3, b);
                    const auto z = out.to_doubles();
                    for (size_t i = 0; i < x.size(); ++i) {
                        const double expected = 1.25 * x[i] + -1e-3 * y[i];
                        ASSERT_EQ(z[i], type_out == DType::float32
                                            ? static_cast<double>(static_cast<float>(expected))
                                            : expected);
                    }
                    if (type_out == type_a) {
                        EXPECT_EQ(a.to_doubles(), z);
                    }
                }
}

// A plain loop in long double, over sizes that end inside a vector and over ranges of a buffer.
TEST(FlatKernels, AdamAndSgdAgreeWithAPlainLoopForEverySize) {
    for (const int64_t count : sizes)
        for (const DType dtype : {DType::float32, DType::float64}) {
            const double tolerance = dtype == DType::float32 ? 1e-6 : 1e-15;
            const Tensor x = values(count, dtype, 0), m = values(count, dtype, 1);
            const Tensor v = values(count, dtype, 2), g = values(count, dtype, 3);
            flat().combine(v, 0.5, v, 0.51, Tensor::ones({count}, dtype));  // positive
            const auto x0 = x.to_doubles(), m0 = m.to_doubles(), v0 = v.to_doubles(),
                       g0 = g.to_doubles();
            flat().adam(x, m, v, g,
                        {.learning_rate = 0.01,
                         .beta1 = 0.9,
                         .beta2 = 0.99,
                         .epsilon = 1e-3,
                         .weight_decay = 0.1,
                         .decoupled = true,
                         .step = 3,
                         .clip = {.scale = 0.5, .limit = 0.3}});
            const auto x1 = x.to_doubles(), m1 = m.to_doubles(), v1 = v.to_doubles();
            for (size_t i = 0; i < x0.size(); ++i) {
                const long double gradient = std::clamp(0.5L * g0[i], -0.3L, 0.3L);
                const long double mean = 0.9L * m0[i] + 0.1L * gradient;
                const long double square = 0.99L * v0[i] + 0.01L * gradient * gradient;
                const long double update =
                    mean / (1 - 0.9L * 0.9L * 0.9L) /
                    (std::sqrt(square / (1 - 0.99L * 0.99L * 0.99L)) + 1e-3L);
                ASSERT_NEAR(m1[i], static_cast<double>(mean), tolerance);
                ASSERT_NEAR(v1[i], static_cast<double>(square), tolerance);
                ASSERT_NEAR(x1[i], static_cast<double>((1 - 0.001L) * x0[i] - 0.01L * update),
                            tolerance);
            }
            const Tensor w = values(count, dtype, 4);
            const auto w0 = w.to_doubles();
            flat().sgd(w, Tensor(), g, {.learning_rate = 0.5, .weight_decay = 0.25, .clip = {}});
            const auto w1 = w.to_doubles();
            for (size_t i = 0; i < w0.size(); ++i)
                ASSERT_NEAR(w1[i], w0[i] - 0.5 * (g0[i] + 0.25 * w0[i]), tolerance);
        }
}

// Every instruction set this processor has: the same bits.
TEST(FlatKernels, InstructionSetsAgreeToTheBit) {
    const cpu::SimdLevel level = cpu::simd_level();
    for (const DType dtype : {DType::float32, DType::float64}) {
        std::vector<std::vector<double>> results;
        for (const cpu::SimdLevel used : cpu::available_simd_levels()) {
            cpu::set_simd_level(used);
            const Tensor x = values(1003, dtype, 0), m = values(1003, dtype, 1);
            const Tensor v = Tensor::full({1003}, 0.3, dtype), g = values(1003, dtype, 3);
            flat().adam(x, m, v, g,
                        {.learning_rate = 0.01,
                         .beta1 = 0.9,
                         .beta2 = 0.99,
                         .epsilon = 1e-8,
                         .weight_decay = 0.1,
                         .clip = {}});
            flat().sgd(x, m, g,
                       {.learning_rate = 0.1, .momentum = 0.9, .nesterov = true, .clip = {}});
            flat().combine(v, 1.1, v, -0.3, m);
            std::vector<double> all = x.to_doubles();
            for (const Tensor& more : {m, v})
                for (double value : more.to_doubles()) all.push_back(value);
            all.push_back(flat().dot(x, g));
            all.push_back(flat().sum_of_magnitudes(x));
            all.push_back(flat().largest_magnitude(x));
            results.push_back(std::move(all));
        }
        for (const auto& result : results) EXPECT_EQ(result, results.front());
    }
    cpu::set_simd_level(level);
}

}  // namespace
}  // namespace ralimp
