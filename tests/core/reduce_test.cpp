// Reductions against sums in long double; the order of summation depends on the shape alone.
#include <limits>

#include "tests/core/kernel_testing.h"

namespace ralimp::testing {
namespace {

class Reduce : public EachTarget {};
INSTANTIATE_EACH_TARGET(Reduce);

constexpr Reduction all_reductions[] = {Reduction::sum, Reduction::maximum, Reduction::minimum};

// `axes`: bit i stands for axis i.
Shape reduced_shape(Shape shape, int axes) {
    for (int axis = 0; axis < shape.dims(); ++axis)
        if (axes >> axis & 1) shape[axis] = 1;
    return shape;
}

std::vector<double> expected_reduction(Reduction reduction, const Tensor& x, int axes) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const Shape out = reduced_shape(x.shape(), axes);
    const Shape strides = row_major_strides(out);
    const double start = reduction == Reduction::sum       ? 0
                         : reduction == Reduction::maximum ? -infinity
                                                           : infinity;
    std::vector<long double> results(static_cast<std::size_t>(out.elements()), start);
    const std::vector<double> values = plain_doubles(x);
    for (int64_t i = 0; i < x.elements(); ++i) {
        int64_t target = 0, rest = i;
        for (int axis = x.dims() - 1; axis >= 0; --axis) {
            if (!(axes >> axis & 1)) target += rest % x.shape()[axis] * strides[axis];
            rest /= x.shape()[axis];
        }
        auto& result = results[static_cast<std::size_t>(target)];
        const double value = values[static_cast<std::size_t>(i)];
        if (reduction == Reduction::sum)
            result += value;
        else if (reduction == Reduction::maximum ? value > result : value < result)
            result = value;
    }
    return {results.begin(), results.end()};
}

Tensor reduced(Reduction reduction, const Tensor& x, int axes) {
    const Tensor out = empty(reduced_shape(x.shape(), axes), x.dtype());
    table().reduce(reduction, out, x);
    return out;
}

void expect_close(const Tensor& out, const std::vector<double>& expected, double tolerance,
                  const std::string& what) {
    const std::vector<double> values = plain_doubles(out);
    ASSERT_EQ(values.size(), expected.size()) << what;
    for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_LE(std::abs(values[i] - expected[i]), tolerance) << what << " element " << i;
}

// Rounding of a pairwise sum of positive values that add up to less than `total`.
double tolerance_of(DType dtype, double total) {
    return !is_floating(dtype) ? 0 : total * (dtype == DType::float32 ? 1e-6 : 1e-14);
}

TEST_P(Reduce, EveryCombinationOfAxesTypesAndLayouts) {
    for (const Shape& shape : {Shape{3, 17, 5}, Shape{2, 1, 33}, Shape{1, 40, 1}, Shape{4, 3, 2, 7},
                               Shape{1030, 3, 2}, Shape{2, 1030, 3}, Shape{20, 2, 100}})
        for (DType dtype : computing_types)
            for (int axes = 0; axes < 1 << shape.dims(); ++axes)
                for (Reduction reduction : all_reductions) {
                    // A sum of uint8 wraps around; ones and zeros over few elements do not.
                    const bool sum = reduction == Reduction::sum;
                    if (sum && dtype == DType::uint8 && shape.elements() > 2000) continue;
                    const Tensor x =
                        random_values(shape, dtype, 0, dtype == DType::uint8 ? 1.3 : 100, 1);
                    const std::string what =
                        fmt::format("{} {} axes {} reduction {}", to_string(shape), name_of(dtype),
                                    axes, static_cast<int>(reduction));
                    const Tensor out = reduced(reduction, x, axes);
                    const double total = 100 * static_cast<double>(x.elements());
                    expect_close(out, expected_reduction(reduction, x, axes),
                                 sum ? tolerance_of(dtype, total) : 0, what);
                    EXPECT_TRUE(same_bits(out, reduced(reduction, scattered_copy(x), axes)))
                        << what;
                    const Tensor turned = transposed(transposed(x).contiguous());
                    EXPECT_TRUE(same_bits(out, reduced(reduction, turned, axes))) << what;
                    const Tensor view = scattered_copy(zeros(out.shape(), dtype));
                    table().reduce(reduction, view, x);
                    EXPECT_TRUE(same_bits(out, view)) << what;
                }
}

TEST_P(Reduce, OddSizesAlongAndDown) {
    for (DType dtype : computing_types)
        for (int64_t size : odd_sizes)
            for (Reduction reduction : all_reductions) {
                const bool sum = reduction == Reduction::sum;
                if (size == 0 && !sum) continue;
                const double high = dtype == DType::uint8 ? (sum ? 1.002 : 200) : 9;
                const Tensor row = random_values({size}, dtype, 0, high, 2);
                const Tensor along = reduced(reduction, row, 1);
                expect_close(along, expected_reduction(reduction, row, 1),
                             sum ? tolerance_of(dtype, 9 * static_cast<double>(size)) : 0,
                             fmt::format("{} {}", size, name_of(dtype)));
                // The same values down each of five columns: the same bits.
                const Tensor columns = row.strided_view({size, 5}, {1, 0}).contiguous();
                const Tensor repeated = along.strided_view({1, 5}, {0, 0});
                EXPECT_TRUE(same_bits(reduced(reduction, columns, 1), repeated)) << size;
            }
}

TEST_P(Reduce, EmptySumIsZero) {
    EXPECT_EQ(plain_doubles(reduced(Reduction::sum, empty({4, 0, 3}), 2)),
              std::vector<double>(12, 0));
    EXPECT_EQ(reduced(Reduction::sum, empty({4, 0, 3}), 1).elements(), 0);
}

TEST_P(Reduce, SumsInFloat32AreAccurate) {
    const Tensor many = ones({10'000'000});
    EXPECT_EQ(reduced(Reduction::sum, many, 1).item(), 1e7);
    const Tensor x = random_values({1'000'000}, DType::float32, 0, 1, 3);
    const double exact = expected_reduction(Reduction::sum, x, 1)[0];
    EXPECT_LE(std::abs(reduced(Reduction::sum, x, 1).item() - exact), 1e-6 * exact);
    // With cancellation the error is to be compared with the sum of the magnitudes.
    const Tensor y = random_values({1'000'000}, DType::float32, -1, 1, 4);
    const double difference =
        reduced(Reduction::sum, y, 1).item() - expected_reduction(Reduction::sum, y, 1)[0];
    EXPECT_LE(std::abs(difference), 1e-6 * 5e5);
}

TEST_P(Reduce, NanWins) {
    for (int64_t size : {2, 17, 1000})
        for (int64_t position : {int64_t{0}, size / 2, size - 1})
            for (Reduction reduction : {Reduction::maximum, Reduction::minimum}) {
                const Tensor x = random_values({size, 2}, DType::float32, -1, 1, 5);
                x.strided_view({1}, {1}, 2 * position).fill(std::nan(""));
                const auto down = plain_doubles(reduced(reduction, x, 1));
                EXPECT_TRUE(std::isnan(down[0]) && !std::isnan(down[1]));
                EXPECT_TRUE(std::isnan(reduced(reduction, x, 3).item()));
            }
}

// Against the CPU's first instruction set with one thread.
TEST_P(Reduce, ThreadsInstructionSetsAndDevicesDoNotChangeTheBits) {
    for (const Shape& shape :
         {Shape{200'001}, Shape{30'011, 7}, Shape{3, 20'000, 5}, Shape{9000, 40}, Shape{3000, 9}})
        for (DType dtype : {DType::float32, DType::float64})
            for (int axes = 1; axes < 1 << shape.dims(); ++axes) {
                const Tensor x = random_values(shape, dtype, -1, 1, 6);
                const Tensor expected = Tensor::empty(reduced_shape(shape, axes), dtype);
                set_thread_count(1);
                cpu::set_simd_level(cpu::SimdLevel::baseline);
                kernels({}).reduce(Reduction::sum, expected, x.to({}));
                cpu::set_simd_level(GetParam().level);
                for (int threads : {1, 2}) {
                    set_thread_count(threads);
                    EXPECT_TRUE(same_bits(expected, reduced(Reduction::sum, x, axes)))
                        << to_string(shape) << " axes " << axes;
                }
            }
}

TEST_P(Reduce, ArgReduceFindsTheFirst) {
    const Tensor x = from(std::vector<float>{3, 9, 9, 1, 1, 5, 7, 7, 0, 0}, {2, 5});
    const Tensor out = empty({2, 1}, DType::int64);
    table().arg_reduce(true, out, x, 1);
    EXPECT_EQ(out.to_vector<int64_t>(), (std::vector<int64_t>{1, 1}));
    table().arg_reduce(false, out, x, 1);
    EXPECT_EQ(out.to_vector<int64_t>(), (std::vector<int64_t>{3, 3}));
    const Tensor down = empty({1, 5}, DType::int64);
    table().arg_reduce(true, down, x, 0);
    EXPECT_EQ(down.to_vector<int64_t>(), (std::vector<int64_t>{1, 0, 0, 0, 0}));
    const Tensor with_nan = from(std::vector<float>{1, NAN, 9, NAN}, {4});
    const Tensor one = empty({1}, DType::int64);
    table().arg_reduce(true, one, with_nan, 0);
    EXPECT_EQ(one.item(), 1);
    EXPECT_THROW(table().arg_reduce(true, one, empty({0}), 0), Error);
}

TEST_P(Reduce, ArgReduceOfEveryTypeAndSize) {
    const Tensor out = empty({1}, DType::int64);
    for (DType dtype : computing_types)
        for (int64_t size : odd_sizes) {
            if (size == 0) continue;
            const Tensor row = random_values({size}, dtype, 0, 100, 7);
            const auto values = plain_doubles(row);
            const auto position = [&](auto found) {
                return static_cast<double>(found - values.begin());
            };
            const double largest = position(std::max_element(values.begin(), values.end()));
            const double smallest = position(std::min_element(values.begin(), values.end()));
            for (const Tensor& in : {row, scattered_copy(row)}) {
                table().arg_reduce(true, out, in, 0);
                EXPECT_EQ(out.item(), largest) << name_of(dtype) << size;
                table().arg_reduce(false, out, in, 0);
                EXPECT_EQ(out.item(), smallest) << name_of(dtype) << size;
            }
        }
}

// Lines that are no stretches of memory, many of them or few long ones.
TEST_P(Reduce, ArgReduceAlongEveryAxis) {
    for (const Shape& shape : {Shape{20, 4100}, Shape{3, 17'000, 2}, Shape{300, 7}})
        for (int axis = 0; axis < shape.dims(); ++axis) {
            const Tensor x = random_values(shape, DType::int32, 0, 50, 8);
            const auto values = plain_doubles(x);
            Shape kept = shape;
            kept[axis] = 1;
            const Shape strides = row_major_strides(kept);
            for (const bool largest : {false, true}) {
                std::vector<double> best(static_cast<std::size_t>(kept.elements()));
                std::vector<double> expected(best.size(), -1);
                for (int64_t i = 0; i < x.elements(); ++i) {
                    int64_t target = 0, rest = i, position = 0;
                    for (int a = shape.dims() - 1; a >= 0; --a) {
                        if (a == axis)
                            position = rest % shape[a];
                        else
                            target += rest % shape[a] * strides[a];
                        rest /= shape[a];
                    }
                    const auto line = static_cast<std::size_t>(target);
                    const double value = values[static_cast<std::size_t>(i)];
                    if (position == 0 || (largest ? value > best[line] : value < best[line])) {
                        best[line] = value;
                        expected[line] = static_cast<double>(position);
                    }
                }
                const Tensor out = empty(kept, DType::int64);
                table().arg_reduce(largest, out, x, axis);
                EXPECT_EQ(plain_doubles(out), expected) << to_string(shape) << " axis " << axis;
            }
        }
}

}  // namespace
}  // namespace ralimp::testing
