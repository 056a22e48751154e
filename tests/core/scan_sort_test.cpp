// Cumulative sums and products, sorting and searching against plain code, line by line.
#include <algorithm>
#include <numeric>

#include "tests/core/kernel_testing.h"

namespace ralimp::testing {
namespace {

const Shape shapes[] = {{0}, {1}, {7}, {1000}, {20'011}, {5, 33}, {33, 5}, {3, 70, 4}, {40, 900}};

// Calls f with each line of x along the axis; the values it leaves become the result's line.
template <class F>
std::vector<double> by_line(const Tensor& x, int axis, F&& f) {
    std::vector<double> values = plain_doubles(x), result(values.size());
    const int64_t length = x.shape()[axis], step = row_major_strides(x.shape())[axis];
    for (int64_t i = 0; i < x.elements(); ++i) {
        if (i / step % length != 0) continue;
        std::vector<double> line;
        for (int64_t j = 0; j < length; ++j)
            line.push_back(values[static_cast<std::size_t>(i + j * step)]);
        f(line);
        for (int64_t j = 0; j < length; ++j)
            result[static_cast<std::size_t>(i + j * step)] = line[static_cast<std::size_t>(j)];
    }
    return result;
}

void expect_near(const Tensor& out, const std::vector<double>& expected, double relative) {
    const auto found = plain_doubles(out);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_LE(std::abs(found[i] - expected[i]), relative * std::abs(expected[i]))
            << to_string(out.shape()) << " element " << i;
}

double relative_error(DType dtype) {
    return dtype == DType::float32 ? 1e-7 : dtype == DType::float64 ? 1e-12 : 0;
}

TEST(Scan, CumulativeSum) {
    for (const Shape& shape : shapes)
        for (DType dtype : computing_types)
            for (int axis = 0; axis < shape.dims(); ++axis)
                for (bool reversed : {false, true}) {
                    const double high = dtype == DType::uint8 ? 1.002 : 50;
                    const Tensor x = random_values(shape, dtype, 0, high, 1);
                    const auto expected = by_line(x, axis, [&](std::vector<double>& line) {
                        if (reversed) std::reverse(line.begin(), line.end());
                        std::partial_sum(line.begin(), line.end(), line.begin());
                        if (reversed) std::reverse(line.begin(), line.end());
                    });
                    for (const Tensor& in : {x, scattered_copy(x)})
                        for (const Tensor& out : {Tensor::empty(shape, dtype), scattered_copy(x)}) {
                            kernels({}).cumulative_sum(out, in, axis, reversed);
                            expect_near(out, expected, relative_error(dtype));
                        }
                }
}

TEST(Scan, CumulativeProduct) {
    for (const Shape& shape : shapes)
        for (DType dtype : {DType::float32, DType::float64})
            for (int axis = 0; axis < shape.dims(); ++axis) {
                const double width = shape.elements() > 1000 ? 1e-5 : 0.1;
                const Tensor x = random_values(shape, dtype, 1 - width, 1 + width, 2);
                const auto expected = by_line(x, axis, [](std::vector<double>& line) {
                    std::partial_sum(line.begin(), line.end(), line.begin(), std::multiplies<>());
                });
                for (const Tensor& in : {x, scattered_copy(x)}) {
                    const Tensor out = Tensor::empty(shape, dtype);
                    kernels({}).cumulative_product(out, in, axis);
                    expect_near(out, expected, relative_error(dtype));
                }
            }
    const Tensor x = Tensor::from(std::vector<int32_t>{3, -2, 5, 0, 7}, {5});
    const Tensor out = Tensor::empty({5}, DType::int32);
    kernels({}).cumulative_product(out, x, 0);
    EXPECT_EQ(out.to_vector<int32_t>(), (std::vector<int32_t>{3, -6, -30, 0, 0}));
}

TEST(Sort, ArgsortIsStable) {
    for (const Shape& shape : shapes)
        for (DType dtype : computing_types)
            for (int axis = 0; axis < shape.dims(); ++axis)
                for (bool descending : {false, true}) {
                    // Few different values: many ties.
                    const Tensor x = random_values(shape, dtype, 0, 20, 3);
                    if (is_floating(dtype))
                        for (int64_t i = 0; i < x.elements(); i += 3)
                            x.strided_view({1}, {1}, i).fill(static_cast<double>(i % 4));
                    const auto expected = by_line(x, axis, [&](std::vector<double>& line) {
                        std::vector<double> order(line.size());
                        std::iota(order.begin(), order.end(), 0);
                        std::stable_sort(order.begin(), order.end(), [&](double a, double b) {
                            const double left = line[static_cast<std::size_t>(a)];
                            const double right = line[static_cast<std::size_t>(b)];
                            return descending ? left > right : left < right;
                        });
                        line = order;
                    });
                    for (const Tensor& in : {x, scattered_copy(x)})
                        for (const Tensor& out :
                             {Tensor::empty(shape, DType::int64),
                              scattered_copy(Tensor::zeros(shape, DType::int64))}) {
                            kernels({}).argsort(out, in, axis, descending);
                            EXPECT_EQ(plain_doubles(out), expected) << to_string(shape);
                        }
                }
}

TEST(Sort, NanIsLastInBothDirectionsAndInfinitiesAreInOrder) {
    const Tensor x =
        Tensor::from(std::vector<float>{NAN, 2, -INFINITY, NAN, -0.0f, 0.0f, INFINITY, -3}, {8});
    const Tensor out = Tensor::empty({8}, DType::int64);
    kernels({}).argsort(out, x, 0, false);
    EXPECT_EQ(out.to_vector<int64_t>(), (std::vector<int64_t>{2, 7, 4, 5, 1, 6, 0, 3}));
    kernels({}).argsort(out, x, 0, true);
    EXPECT_EQ(out.to_vector<int64_t>(), (std::vector<int64_t>{6, 1, 4, 5, 7, 2, 0, 3}));
}

TEST(Sort, Searchsorted) {
    for (DType dtype : computing_types)
        for (int64_t length : odd_sizes)
            for (bool right : {false, true}) {
                const Tensor lines = random_values({2, 3, length}, dtype, 0, 100, 4);
                dispatch("test", dtype, [&]<class T>(T) {
                    for (int64_t i = 0; i < 6; ++i)
                        std::sort(lines.data<T>() + i * length, lines.data<T>() + (i + 1) * length);
                });
                const Tensor values = random_values({2, 3, 50}, dtype, 0, 110, 5);
                std::vector<double> expected;
                const auto sorted = plain_doubles(lines);
                auto line = sorted.begin();
                int64_t count = 0;
                for (double value : plain_doubles(values)) {
                    const auto end = line + length;
                    expected.push_back(
                        static_cast<double>((right ? std::upper_bound(line, end, value)
                                                   : std::lower_bound(line, end, value)) -
                                            line));
                    if (++count % 50 == 0) line = end;
                }
                for (const Tensor& in : {lines, scattered_copy(lines)}) {
                    const Tensor out = Tensor::empty({2, 3, 50}, DType::int64);
                    kernels({}).searchsorted(out, in, scattered_copy(values), right);
                    EXPECT_EQ(plain_doubles(out), expected) << length << right;
                }
            }
}

TEST(Sort, SearchsortedTreatsNanAsLargest) {
    const Tensor sorted = Tensor::from(std::vector<float>{1, 2, NAN}, {3});
    const Tensor values = Tensor::from(std::vector<float>{NAN, 5}, {2});
    const Tensor out = Tensor::empty({2}, DType::int64);
    kernels({}).searchsorted(out, sorted, values, false);
    EXPECT_EQ(out.to_vector<int64_t>(), (std::vector<int64_t>{2, 2}));
    kernels({}).searchsorted(out, sorted, values, true);
    EXPECT_EQ(out.to_vector<int64_t>(), (std::vector<int64_t>{3, 2}));
}

}  // namespace
}  // namespace ralimp::testing
