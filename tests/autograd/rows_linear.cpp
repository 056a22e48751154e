// Rows of the matrix product and of the cumulative operations.
#include "operation_table.h"

namespace ralimp::testing {
namespace {

Array product(const Array& a, const Array& b) {
    const int dims_a = a.shape.dims(), dims_b = b.shape.dims();
    Shape out = broadcast_shapes("product", Shape(a.shape.begin(), a.shape.end() - 2),
                                 Shape(b.shape.begin(), b.shape.end() - 2));
    out.push_back(a.shape[dims_a - 2]);
    out.push_back(b.shape[dims_b - 1]);
    return generate(out, [&](const Shape& index) {
        Shape left = index, right = index;
        long double sum = 0;
        for (int64_t k = 0; k < a.shape.back(); ++k) {
            left[left.dims() - 1] = right[right.dims() - 2] = k;
            sum += static_cast<long double>(a(left)) * b(right);
        }
        return static_cast<double>(sum);
    });
}

// An axis of size 1 repeats when it is read as an Array; sizes 1 of the matrix itself are read at
// index 0 only, so both meanings agree.
Row matmul_row() {
    Row row{.name = "matmul",
            .cases = {},
            .tolerance_float32 = 1e-5,
            .tolerance_float64 = 2e-13,
            .floor = 4};
    struct Pair {
        Shape a, b;
    };
    for (const auto& [a, b] : {Pair{{3, 4}, {4, 5}},
                               {{1, 1}, {1, 1}},
                               {{7, 1}, {1, 3}},
                               {{1, 5}, {5, 1}},
                               {{2, 3, 4}, {4, 2}},
                               {{2, 3, 4}, {2, 4, 2}},
                               {{3, 4}, {2, 4, 2}},
                               {{2, 1, 3, 2}, {3, 2, 2}},
                               {{0, 4}, {4, 3}},
                               {{3, 0}, {0, 2}},
                               {{2, 0, 3}, {3, 2}},
                               {{0, 2, 3}, {3, 2}},
                               {{65, 33}, {33, 129}},
                               {{3, 31, 17}, {17, 19}},
                               {{5, 31, 17}, {5, 17, 19}},
                               {{301, 64}, {64, 300}}})
        row.cases.push_back({{{a}, {b}},
                             [](const Tensors& x) { return matmul(x[0], x[1]); },
                             [](const Arrays& x) { return product(x[0], x[1]); }});
    // Transposed views as the layers use them.
    row.cases.push_back({{{{5, 3}}, {{4, 3}}},
                         [](const Tensors& x) { return matmul(x[0], transpose(x[1])); },
                         [](const Arrays& x) {
                             const Array& w = x[1];
                             const Array turned = generate({3, 4}, [&](const Shape& i) {
                                 return w(Shape{i[1], i[0]});
                             });
                             return product(x[0], turned);
                         }});
    return row;
}

std::vector<std::pair<Shape, int64_t>> lines() {
    return {{{7}, 0}, {{3, 5}, 0}, {{3, 5}, -1},    {{2, 3, 4}, 1},
            {{1}, 0}, {{0}, 0},    {{3, 0}, 0},     {{3, 1}, 1},
            {{8}, 0}, {{9, 2}, 0}, {{181, 211}, 0}, {{181, 211}, 1}};
}

Row cumulative_sum_row() {
    Row row{.name = "cumulative_sum",
            .cases = {},
            .tolerance_float32 = 1e-5,
            .floor = 20,
            .whole_numbers = true};
    for (const auto& [shape, axis] : lines())
        for (bool reversed : {false, true})
            row.cases.push_back(
                {{{shape}},
                 [=, axis = axis](const Tensors& x) {
                     return cumulative_sum(x[0], axis, reversed);
                 },
                 [=, axis = axis](const Arrays& x) {
                     return along(x[0], axis, [=](std::vector<double> line) {
                         const auto count = static_cast<int64_t>(line.size());
                         long double sum = 0;
                         for (int64_t i = 0; i < count; ++i) {
                             double& value =
                                 line[static_cast<std::size_t>(reversed ? count - 1 - i : i)];
                             value = static_cast<double>(sum += value);
                         }
                         return line;
                     });
                 }});
    return row;
}

Row cumulative_product_row() {
    Row row{.name = "cumulative_product",
            .cases = {},
            .tolerance_float32 = 4e-5,
            .tolerance_float64 = 1e-12};
    for (const auto& [shape, axis] : lines())
        row.cases.push_back(
            {{{shape, shape.elements() > 100 ? 0.5 : -1.4, shape.elements() > 100 ? 1.1 : 1.6}},
             [axis = axis](const Tensors& x) { return cumulative_product(x[0], axis); },
             [axis = axis](const Arrays& x) {
                 return along(x[0], axis, [](std::vector<double> line) {
                     for (std::size_t i = 1; i < line.size(); ++i) line[i] *= line[i - 1];
                     return line;
                 });
             }});
    return row;
}

}  // namespace

Rows linear_rows() { return {matmul_row(), cumulative_sum_row(), cumulative_product_row()}; }

}  // namespace ralimp::testing
