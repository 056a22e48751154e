// Cumulative sums and products, sorting and searching against plain code, line by line.
#include <algorithm>
#include <numeric>

#include "tests/core/kernel_testing.h"

namespace ralimp::testing {
namespace {

class Scan : public EachTarget {};
INSTANTIATE_EACH_TARGET(Scan);
class Sort : public EachTarget {};
INSTANTIATE_EACH_TARGET(Sort);

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

TEST_P(Scan, CumulativeSum) {
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
                    const std::pair<Tensor, Tensor> layouts[] = {
                        {x, empty(shape, dtype)}, {scattered_copy(x), scattered_copy(x)}};
                    for (const auto& [in, out] : layouts) {
                        table().cumulative_sum(out, in, axis, reversed);
                        expect_near(out, expected, relative_error(dtype));
                    }
                }
}

// More parts than fit into one part.
TEST_P(Scan, CumulativeSumOfLongLines) {
    const Tensor x = random_values({2, 300'001}, DType::float32, 0, 1, 6);
    const std::vector<float> values = x.to_vector<float>();
    for (bool reversed : {false, true}) {
        const Tensor out = empty(x.shape());
        table().cumulative_sum(out, x, 1, reversed);
        const std::vector<float> found = out.to_vector<float>();
        for (std::size_t line = 0; line < 2; ++line) {
            double sum = 0;
            for (std::size_t i = 0; i < 300'001; ++i) {
                const std::size_t place = line * 300'001 + (reversed ? 300'000 - i : i);
                sum += values[place];
                ASSERT_NEAR(found[place], sum, 1e-7 * sum) << place << reversed;
            }
        }
    }
}

TEST_P(Scan, CumulativeProduct) {
    for (const Shape& shape : shapes)
        for (DType dtype : {DType::float32, DType::float64})
            for (int axis = 0; axis < shape.dims(); ++axis) {
                const double width = shape.elements() > 1000 ? 1e-5 : 0.1;
                const Tensor x = random_values(shape, dtype, 1 - width, 1 + width, 2);
                const auto expected = by_line(x, axis, [](std::vector<double>& line) {
                    std::partial_sum(line.begin(), line.end(), line.begin(), std::multiplies<>());
                });
                for (const Tensor& in : {x, scattered_copy(x)}) {
                    const Tensor out = empty(shape, dtype);
                    table().cumulative_product(out, in, axis);
                    expect_near(out, expected, relative_error(dtype));
                }
            }
    const Tensor x = from(std::vector<int32_t>{3, -2, 5, 0, 7}, {5});
    const Tensor out = empty({5}, DType::int32);
    table().cumulative_product(out, x, 0);
    EXPECT_EQ(out.to_vector<int32_t>(), (std::vector<int32_t>{3, -6, -30, 0, 0}));
}

TEST_P(Sort, ArgsortIsStable) {
    for (const Shape& shape : shapes)
        for (DType dtype : computing_types)
            for (int axis = 0; axis < shape.dims(); ++axis)
                for (bool descending : {false, true}) {
                    // Few different values: many ties.
                    const Tensor x = random_values(shape, dtype, 0, 20, 3);
                    if (is_floating(dtype))
                        for (int64_t i = 0; i < std::min<int64_t>(12, x.elements()); i += 3)
                            x.strided_view({(x.elements() - i + 11) / 12}, {12}, i)
                                .fill(static_cast<double>(i % 4));
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
                    const std::pair<Tensor, Tensor> layouts[] = {
                        {x, empty(shape, DType::int64)},
                        {scattered_copy(x), scattered_copy(zeros(shape, DType::int64))}};
                    for (const auto& [in, out] : layouts) {
                        table().argsort(out, in, axis, descending);
                        EXPECT_EQ(plain_doubles(out), expected) << to_string(shape);
                    }
                }
}

TEST_P(Sort, NanIsLastInBothDirectionsAndInfinitiesAreInOrder) {
    const Tensor x =
        from(std::vector<float>{NAN, 2, -INFINITY, NAN, -0.0f, 0.0f, INFINITY, -3}, {8});
    const Tensor out = empty({8}, DType::int64);
    table().argsort(out, x, 0, false);
    EXPECT_EQ(out.to_vector<int64_t>(), (std::vector<int64_t>{2, 7, 4, 5, 1, 6, 0, 3}));
    table().argsort(out, x, 0, true);
    EXPECT_EQ(out.to_vector<int64_t>(), (std::vector<int64_t>{6, 1, 4, 5, 7, 2, 0, 3}));
}

TEST_P(Sort, NanIsLastInLongLines) {
    const Tensor x = random_values({5000}, DType::float64, -1, 1, 9);
    x.strided_view({50}, {100}).fill(std::nan(""));
    const std::vector<double> values = plain_doubles(x);
    for (bool descending : {false, true}) {
        const Tensor out = empty({5000}, DType::int64);
        table().argsort(out, x, 0, descending);
        const std::vector<int64_t> order = out.to_vector<int64_t>();
        for (std::size_t i = 1; i < 4950; ++i) {
            const double before = values[static_cast<std::size_t>(order[i - 1])];
            const double here = values[static_cast<std::size_t>(order[i])];
            ASSERT_TRUE(descending ? before > here : before < here) << i;
        }
        for (std::size_t i = 0; i < 50; ++i)
            EXPECT_EQ(order[4950 + i], static_cast<int64_t>(100 * i));
    }
}

TEST_P(Sort, Searchsorted) {
    for (DType dtype : computing_types)
        for (int64_t length : odd_sizes)
            for (bool right : {false, true}) {
                const Tensor host = random_values({2, 3, length}, dtype, 0, 100, 4).to({}).clone();
                dispatch("test", dtype, [&]<class T>(T) {
                    for (int64_t i = 0; i < 6; ++i)
                        std::sort(host.data<T>() + i * length, host.data<T>() + (i + 1) * length);
                });
                const Tensor lines = host.to(device());
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
                    const Tensor out = empty({2, 3, 50}, DType::int64);
                    table().searchsorted(out, in, scattered_copy(values), right);
                    EXPECT_EQ(plain_doubles(out), expected) << length << right;
                }
            }
}

TEST_P(Sort, SearchsortedTreatsNanAsLargest) {
    const Tensor sorted = from(std::vector<float>{1, 2, NAN}, {3});
    const Tensor values = from(std::vector<float>{NAN, 5}, {2});
    const Tensor out = empty({2}, DType::int64);
    table().searchsorted(out, sorted, values, false);
    EXPECT_EQ(out.to_vector<int64_t>(), (std::vector<int64_t>{2, 2}));
    table().searchsorted(out, sorted, values, true);
    EXPECT_EQ(out.to_vector<int64_t>(), (std::vector<int64_t>{3, 2}));
}

}  // namespace
}  // namespace ralimp::testing
