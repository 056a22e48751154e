// Rows of sorting and searching.
#include <algorithm>
#include <numeric>

#include "operation_table.h"

namespace ralimp::testing {
namespace {

std::vector<double> sorted_positions(const std::vector<double>& line, bool descending) {
    std::vector<int64_t> order(line.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        const double x = line[static_cast<std::size_t>(a)], y = line[static_cast<std::size_t>(b)];
        return descending ? x > y : x < y;
    });
    return {order.begin(), order.end()};
}

// With few whole numbers, whose ties show whether the order is stable, and without ties.
Row order_row(const char* name, bool positions) {
    Row row{.name = name,
            .cases = {},
            .tolerance_float32 = 0,
            .tolerance_float64 = 0,
            .differentiable = !positions,
            .whole_numbers = true};
    if (positions) row.result = DType::int64;
    for (const auto& [shape, axis] : {std::pair<Shape, int64_t>{{7}, 0},
                                      {{3, 5}, 0},
                                      {{3, 5}, -1},
                                      {{2, 3, 4}, 1},
                                      {{1}, 0},
                                      {{0}, 0},
                                      {{3, 0}, 1},
                                      {{5, 301}, 1},
                                      {{301, 5}, 0},
                                      {{50000}, 0}})
        for (bool descending : {false, true})
            row.cases.push_back({{{shape}},
                                 [=, axis = axis](const Tensors& x) {
                                     return positions ? argsort(x[0], axis, descending)
                                                      : sort(x[0], axis, descending);
                                 },
                                 [=, axis = axis](const Arrays& x) {
                                     return along(x[0], axis, [=](const std::vector<double>& line) {
                                         std::vector<double> order =
                                             sorted_positions(line, descending);
                                         if (positions) return order;
                                         for (double& value : order)
                                             value = line[static_cast<std::size_t>(value)];
                                         return order;
                                     });
                                 }});
    return row;
}

// How many entries of the list (need not be sorted for this) are below, or not above, each value.
Array counts(const Array& list, const Array& values, bool right) {
    Shape shape = broadcast_shapes("counts", Shape(list.shape.begin(), list.shape.end() - 1),
                                   Shape(values.shape.begin(), values.shape.end() - 1));
    shape.push_back(values.shape.back());
    return generate(shape, [&](const Shape& i) {
        const double value = values(i);
        double count = 0;
        for (int64_t k = 0; k < list.shape.back(); ++k) {
            const double entry = list(replaced(i, i.dims() - 1, k));
            count += right ? entry <= value : entry < value;
        }
        return count;
    });
}

Row searchsorted_row() {
    Row row{.name = "searchsorted",
            .cases = {},
            .tolerance_float32 = 0,
            .tolerance_float64 = 0,
            .differentiable = false,
            .whole_numbers = true,
            .result = DType::int64};
    struct Pair {
        Shape sorted, values;
    };
    for (const auto& [sorted, values] : {Pair{{7}, {5}},
                                         {{7}, {3, 5}},
                                         {{2, 4}, {2, 3}},
                                         {{3, 1, 4}, {2, 3}},
                                         {{1}, {1}},
                                         {{0}, {3}},
                                         {{4}, {0}},
                                         {{33}, {30001}}})
        for (bool right : {false, true}) {
            row.cases.push_back(
                {{{sorted}, {values}},
                 [right](const Tensors& x) { return searchsorted(sort(x[0]), x[1], right); },
                 [right](const Arrays& x) { return counts(x[0], x[1], right); }});
            // The list among itself: left and right differ at every entry.
            row.cases.push_back(
                {{{sorted}},
                 [right](const Tensors& x) { return searchsorted(sort(x[0]), x[0], right); },
                 [right](const Arrays& x) { return counts(x[0], x[0], right); }});
        }
    return row;
}

}  // namespace

Rows order_rows() {
    return {order_row("argsort", true), order_row("sort", false), searchsorted_row()};
}

}  // namespace ralimp::testing
