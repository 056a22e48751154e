// Gathering and scattered adding against plain loops.
#include "tests/core/kernel_testing.h"
#include "tests/error_of.h"

namespace ralimp::testing {
namespace {

class Indexing : public EachTarget {};
INSTANTIATE_EACH_TARGET(Indexing);

Tensor random_indices(const Shape& shape, int64_t size, uint64_t seed) {
    return random_values(shape, DType::int64, 0, static_cast<double>(size) - 1e-9, seed);
}

// Offset in a row-major array of the shape of element i of `elements`, with the axis replaced.
int64_t offset_at(const Shape& elements, int64_t i, const Shape& shape, int axis, int64_t chosen) {
    const Shape strides = row_major_strides(shape);
    int64_t offset = 0;
    for (int a = elements.dims() - 1; a >= 0; --a) {
        offset += (a == axis ? chosen : i % elements[a]) * strides[a];
        i /= elements[a];
    }
    return offset;
}

struct Case {
    Shape in, index;
    int axis;
};
const Case cases[] = {
    {{10}, {25}, 0},          {{7, 5}, {3, 5}, 0},         {{7, 5}, {7, 9}, 1},
    {{7, 5}, {4, 3}, 1},      {{3, 40, 6}, {3, 90, 6}, 1}, {{4, 1}, {9, 1}, 0},
    {{50, 70}, {600, 70}, 0}, {{200, 30}, {200, 170}, 1},  {{3, 4}, {3, 0}, 1},
};

// The index as it is, repeated along the last axis (whole rows), and as a view with gaps.
std::vector<Tensor> layouts_of_index(const Case& one, uint64_t seed) {
    const Tensor index = random_indices(one.index, one.in[one.axis], seed);
    std::vector<Tensor> layouts = {index, scattered_copy(index)};
    if (one.axis == 0 && one.index.dims() == 2) {
        const Tensor rows = random_indices({one.index[0]}, one.in[0], seed + 1);
        layouts.push_back(rows.strided_view(one.index, {1, 0}));
    }
    return layouts;
}

TEST_P(Indexing, Gather) {
    for (const Case& one : cases)
        for (DType dtype : computing_types) {
            const Tensor in = random_values(one.in, dtype, 0, 200, 1);
            const auto values = plain_doubles(in);
            for (const Tensor& index : layouts_of_index(one, 2)) {
                const auto chosen = plain_doubles(index);
                std::vector<double> expected;
                for (int64_t i = 0; i < index.elements(); ++i)
                    expected.push_back(values[static_cast<std::size_t>(
                        offset_at(one.index, i, one.in, one.axis,
                                  static_cast<int64_t>(chosen[static_cast<std::size_t>(i)])))]);
                for (const Tensor& source : {in, scattered_copy(in)}) {
                    const Tensor out = empty(one.index, dtype);
                    table().gather(out, source, index, one.axis);
                    EXPECT_EQ(plain_doubles(out), expected) << to_string(one.in) << one.axis;
                    const Tensor view = scattered_copy(zeros(one.index, dtype));
                    table().gather(view, source, index, one.axis);
                    EXPECT_EQ(plain_doubles(view), expected) << to_string(one.in) << one.axis;
                }
            }
        }
}

TEST_P(Indexing, ScatterAdd) {
    for (const Case& one : cases)
        for (DType dtype : computing_types) {
            // Whole numbers: sums are exact in every type and order.
            const Tensor start = random_values(one.in, DType::int64, 0, 9, 3);
            const Tensor source = random_values(one.index, DType::int64, 0, 3, 4);
            for (const Tensor& index : layouts_of_index(one, 5)) {
                auto expected = plain_doubles(start);
                const auto chosen = plain_doubles(index), added = plain_doubles(source);
                for (int64_t i = 0; i < index.elements(); ++i)
                    expected[static_cast<std::size_t>(
                        offset_at(one.index, i, one.in, one.axis,
                                  static_cast<int64_t>(chosen[static_cast<std::size_t>(i)])))] +=
                        added[static_cast<std::size_t>(i)];
                const Tensor converted = empty(one.index, dtype);
                converted.copy_from(source);
                const Tensor out = empty(one.in, dtype);
                out.copy_from(start);
                const Tensor view = scattered_copy(out);
                table().scatter_add(out, index, converted, one.axis);
                EXPECT_EQ(plain_doubles(out), expected) << to_string(one.in) << one.axis;
                table().scatter_add(view, index, scattered_copy(converted), one.axis);
                EXPECT_EQ(plain_doubles(view), expected) << to_string(one.in) << one.axis;
            }
        }
}

TEST_P(Indexing, ScatterAddHasAFixedOrder) {
    // All into one place: the rounding shows the order.
    const Tensor source = random_values({20'000, 70}, DType::float32, -1, 1, 6);
    const Tensor index = zeros({1}, DType::int64).strided_view({20'000, 70}, {0, 0});
    const std::vector<float> added = source.to_vector<float>();
    std::vector<float> expected(70, 0);
    for (int64_t i = 0; i < source.elements(); ++i)
        expected[static_cast<std::size_t>(i % 70)] += added[static_cast<std::size_t>(i)];
    for (int threads : {1, 2}) {
        set_thread_count(threads);
        const Tensor out = zeros({1, 70});
        table().scatter_add(out, index, source, 0);
        EXPECT_EQ(out.to_vector<float>(), expected);
    }
}

TEST_P(Indexing, ScatterAddOfManyLinesHasTheSameOrder) {
    const Tensor source = random_values({20, 33'000}, DType::float32, -1, 1, 7);
    const Tensor index = random_indices({20, 33'000}, 2, 8);
    const std::vector<float> added = source.to_vector<float>();
    const std::vector<int64_t> chosen = index.to_vector<int64_t>();
    std::vector<float> expected(66'000, 0);
    for (std::size_t i = 0; i < added.size(); ++i)
        expected[static_cast<std::size_t>(chosen[i]) * 33'000 + i % 33'000] += added[i];
    const Tensor out = zeros({2, 33'000});
    table().scatter_add(out, index, source, 0);
    EXPECT_EQ(out.to_vector<float>(), expected);
}

TEST_P(Indexing, OutOfRangeIsAnError) {
    const Tensor in = ones({3, 4}), out = zeros({2, 4});
    for (int64_t wrong : {int64_t{-1}, int64_t{3}, INT64_MAX, INT64_MIN}) {
        const Tensor host = Tensor::zeros({2, 4}, DType::int64);
        host.data<int64_t>()[5] = wrong;
        const Tensor index = host.to(device());
        EXPECT_THROW(table().gather(out, in, index, 0), Error);
        EXPECT_THROW(table().scatter_add(in, index, out, 0), Error);
        const Tensor rows = index.strided_view({2, 4}, {5, 0});
        EXPECT_THROW(table().gather(out, in, rows, 0), Error);
        EXPECT_THROW(table().scatter_add(in, rows, out, 0), Error);
    }
    // Also from a thread.
    const Tensor host = Tensor::zeros({100'000}, DType::int64);
    host.data<int64_t>()[99'999] = 3;
    const Tensor index = host.to(device());
    EXPECT_EQ(error_of([&] { table().gather(empty({100'000}), ones({3}), index, 0); }).text,
              "gather: index 3 is outside an axis of 3 elements");
    EXPECT_EQ(error_of([&] { table().scatter_add(zeros({3}), index, ones({100'000}), 0); }).text,
              "scatter_add: index 3 is outside an axis of 3 elements");
}

}  // namespace
}  // namespace ralimp::testing
