// Rows of the reductions and of the softmax family.
#include <algorithm>
#include <cmath>

#include "operation_table.h"

namespace ralimp::testing {
namespace {

using Operation = Tensor (*)(const Tensor&, const Axes&, bool);
using Group = const std::vector<double>&;

struct Over {
    Shape shape;
    Axes axes;
};

std::vector<Over> lists(bool with_empty) {
    std::vector<Over> result = {
        {{3, 5}, {}},     {{3, 5}, {0}},       {{3, 5}, {1}},          {{3, 5}, {-1, 0}},
        {{2, 3, 4}, {1}}, {{2, 3, 4}, {0, 2}}, {{2, 3, 2, 2}, {1, 3}}, {{}, {}},
        {{1}, {0}},       {{7}, {}},           {{1, 5}, {0}},          {{2, 1, 3}, {1}},
        {{4, 0}, {0}},    {{1031}, {}},        {{129, 65}, {0}},       {{129, 65}, {1}},
        {{181, 211}, {}}, {{181, 211}, {0}},   {{181, 211}, {1}},      {{16, 67, 83}, {0, 2}}};
    if (with_empty) {
        result.push_back({{0}, {}});
        result.push_back({{2, 0, 3}, {1}});
        result.push_back({{0, 3}, {0, 1}});
    }
    return result;
}

Row row(const char* name, Operation operation, std::function<double(Group)> reference,
        bool with_empty) {
    Row result{.name = name, .cases = {}};
    for (const auto& [shape, axes] : lists(with_empty))
        for (bool keep_dims : {false, true}) {
            if (keep_dims && shape.elements() > 10000) continue;
            result.cases.push_back(
                {{{shape}},
                 [=, axes = axes](const Tensors& x) { return operation(x[0], axes, keep_dims); },
                 [=, axes = axes](const Arrays& x) {
                     return reduce(x[0], axes, keep_dims, reference);
                 }});
        }
    return result;
}

double total(Group group) {
    long double sum = 0;
    for (double value : group) sum += value;
    return static_cast<double>(sum);
}

double average(Group group) { return total(group) / static_cast<double>(group.size()); }

double spread(Group group, int correction) {
    const double centre = average(group);
    long double sum = 0;
    for (double value : group) sum += (value - centre) * (value - centre);
    return static_cast<double>(sum) / (static_cast<double>(group.size()) - correction);
}

double log_of_sum(Group group) {
    long double sum = 0;
    for (double value : group) sum += std::exp(static_cast<long double>(value));
    return static_cast<double>(std::log(sum));
}

// The largest absolute sums appear among thousands of values: the floor is their scale.
Row summed(Row result, double floor) {
    result.floor = floor;
    return result;
}

Row extreme_row(const char* name, Operation operation, bool largest) {
    Row result = row(
        name, operation,
        [=](Group group) {
            return largest ? *std::max_element(group.begin(), group.end())
                           : *std::min_element(group.begin(), group.end());
        },
        false);
    result.tolerance_float32 = result.tolerance_float64 = 0;
    result.whole_numbers = true;
    return result;
}

Row position_row(const char* name, bool largest) {
    Row result{.name = name,
               .cases = {},
               .tolerance_float32 = 0,
               .tolerance_float64 = 0,
               .differentiable = false,
               .whole_numbers = true,
               .result = DType::int64};
    for (const auto& [shape, axis] : {std::pair<Shape, int64_t>{{3, 5}, 0},
                                      {{3, 5}, 1},
                                      {{2, 3, 4}, -2},
                                      {{1}, 0},
                                      {{7}, 0},
                                      {{2, 0}, 0},
                                      {{181, 211}, 0},
                                      {{181, 211}, 1},
                                      {{90300}, 0}})
        for (bool keep_dims : {false, true})
            result.cases.push_back(
                {{{shape}},
                 [=, axis = axis](const Tensors& x) {
                     return largest ? argmax(x[0], axis, keep_dims) : argmin(x[0], axis, keep_dims);
                 },
                 [=, axis = axis](const Arrays& x) {
                     return reduce(x[0], {axis}, keep_dims, [=](Group group) {
                         const auto best = largest ? std::max_element(group.begin(), group.end())
                                                   : std::min_element(group.begin(), group.end());
                         return static_cast<double>(best - group.begin());
                     });
                 }});
    return result;
}

Row variance_row() {
    Row result{.name = "variance", .cases = {}, .tolerance_float32 = 4e-6};
    for (const auto& [shape, axes] : lists(false))
        for (int correction : {0, 1}) {
            const Array probe{shape,
                              std::vector<double>(static_cast<std::size_t>(shape.elements()), 0.0)};
            bool enough = true;
            reduce(probe, axes, false, [&](Group group) {
                enough &= static_cast<int>(group.size()) > correction;
                return 0.0;
            });
            if (!enough) continue;
            result.cases.push_back({{{shape, -2, 5}},
                                    [=, axes = axes](const Tensors& x) {
                                        return variance(x[0], axes, correction == 1, correction);
                                    },
                                    [=, axes = axes](const Arrays& x) {
                                        return reduce(
                                            x[0], axes, correction == 1,
                                            [=](Group group) { return spread(group, correction); });
                                    }});
        }
    return result;
}

Row softmax_row(const char* name, Tensor (*operation)(const Tensor&, int64_t), bool logarithm) {
    Row result{.name = name, .cases = {}, .tolerance_float32 = 4e-6};
    for (const auto& [shape, axis] : {std::pair<Shape, int64_t>{{3, 5}, 0},
                                      {{3, 5}, -1},
                                      {{2, 3, 4}, 1},
                                      {{1}, 0},
                                      {{7}, 0},
                                      {{2, 0}, 0},
                                      {{0}, 0},
                                      {{2, 0}, 1},
                                      {{181, 211}, 0},
                                      {{181, 211}, 1}})
        result.cases.push_back(
            {{{shape, -4, 4}},
             [=, axis = axis](const Tensors& x) { return operation(x[0], axis); },
             [=, axis = axis](const Arrays& x) {
                 return along(x[0], axis, [=](std::vector<double> line) {
                     const double all = log_of_sum(line);
                     for (double& value : line)
                         value = logarithm ? value - all : std::exp(value - all);
                     return line;
                 });
             }});
    return result;
}

Row sum_to_row() {
    Row result{.name = "sum_to", .cases = {}, .whole_numbers = true};
    struct Pair {
        Shape from, to;
    };
    for (const auto& [from, to] : {Pair{{3, 5}, {5}},
                                   {{3, 5}, {3, 1}},
                                   {{3, 5}, {}},
                                   {{2, 3, 4}, {3, 1}},
                                   {{}, {}},
                                   {{3, 5}, {3, 5}},
                                   {{2, 3, 4}, {1, 1, 4}},
                                   {{0, 3}, {3}},
                                   {{1, 1}, {1}},
                                   {{181, 211}, {211}},
                                   {{181, 211}, {1, 1}}})
        result.cases.push_back({{{from}},
                                [to = to](const Tensors& x) { return sum_to(x[0], to); },
                                [to = to](const Arrays& x) {
                                    const Shape& all = x[0].shape;
                                    Axes axes;
                                    for (int axis = 0; axis < all.dims(); ++axis) {
                                        const int own = axis - (all.dims() - to.dims());
                                        if (own < 0 || to[own] != all[axis]) axes.push_back(axis);
                                    }
                                    if (axes.empty()) return x[0];
                                    return Array{to, reduce(x[0], axes, true, total).values};
                                }});
    return result;
}

Row whole(Row result) {
    result.whole_numbers = true;
    return result;
}

}  // namespace

Rows reduction_rows() {
    Row logarithmic = row("logsumexp", logsumexp, log_of_sum, true);
    return {
        whole(summed(row("sum", sum, total, true), 100)),
        row("mean", mean, average, false),
        extreme_row("max", max, true),
        extreme_row("min", min, false),
        position_row("argmax", true),
        position_row("argmin", false),
        logarithmic,
        variance_row(),
        softmax_row("softmax", softmax, false),
        softmax_row("log_softmax", log_softmax, true),
        summed(sum_to_row(), 100),
    };
}

}  // namespace ralimp::testing
