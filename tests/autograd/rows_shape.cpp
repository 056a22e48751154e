// Rows of the views, of joining and of cutting apart.
#include "operation_table.h"

namespace ralimp::testing {
namespace {

Row exact(const char* name) {
    return {.name = name,
            .cases = {},
            .tolerance_float32 = 0,
            .tolerance_float64 = 0,
            .whole_numbers = true};
}

Row view(const char* name) {
    Row row = exact(name);
    row.view = true;
    return row;
}

Row reshape_row() {
    Row row = view("reshape");
    struct Pair {
        Shape from, given, to;
    };
    for (const auto& [from, given, to] : {Pair{{3, 4}, {2, 6}, {2, 6}},
                                          {{3, 4}, {-1}, {12}},
                                          {{12}, {2, -1, 3}, {2, 2, 3}},
                                          {{2, 3, 4}, {6, 4}, {6, 4}},
                                          {{2, 3, 4}, {2, 12}, {2, 12}},
                                          {{}, {1, 1}, {1, 1}},
                                          {{1}, {}, {}},
                                          {{0, 3}, {5, 0}, {5, 0}},
                                          {{3, 1, 5}, {15}, {15}},
                                          {{5, 3}, {5, 3}, {5, 3}},
                                          {{1, 6}, {3, 1, 2, 1}, {3, 1, 2, 1}},
                                          {{4, 6}, {2, 2, 3, 2}, {2, 2, 3, 2}}})
        row.cases.push_back({{{from}},
                             [given = given](const Tensors& x) { return reshape(x[0], given); },
                             [to = to](const Arrays& x) {
                                 return Array{to, x[0].values};
                             }});
    return row;
}

Row expand_row() {
    Row row = view("expand");
    for (const auto& [from, to] : {std::pair<Shape, Shape>{{3, 1}, {3, 5}},
                                   {{5}, {3, 5}},
                                   {{}, {2, 3}},
                                   {{1, 4}, {2, 3, 4}},
                                   {{3, 5}, {3, 5}},
                                   {{1}, {0}},
                                   {{1}, {1}},
                                   {{2, 1, 3}, {2, 4, 3}}})
        row.cases.push_back({{{from}},
                             [to = to](const Tensors& x) { return expand(x[0], to); },
                             [to = to](const Arrays& x) {
                                 return generate(to, [&](const Shape& i) { return x[0](i); });
                             }});
    return row;
}

Array permuted(const Array& x, const Axes& order) {
    const int dims = x.shape.dims();
    Shape shape = x.shape;
    for (int i = 0; i < dims; ++i)
        shape[i] = x.shape[positive(order[static_cast<std::size_t>(i)], dims)];
    return generate(shape, [&](const Shape& index) {
        Shape source = index;
        for (int i = 0; i < dims; ++i)
            source[positive(order[static_cast<std::size_t>(i)], dims)] = index[i];
        return x(source);
    });
}

Row permute_row() {
    Row row = view("permute");
    for (const auto& [shape, order] : {std::pair<Shape, Axes>{{2, 3, 4}, {2, 0, 1}},
                                       {{2, 3, 4}, {1, 2, 0}},
                                       {{2, 3}, {1, 0}},
                                       {{2, 3, 4}, {0, -1, 1}},
                                       {{5}, {0}},
                                       {{}, {}},
                                       {{0, 3}, {1, 0}},
                                       {{2, 1, 3, 2}, {3, 1, 0, 2}}})
        row.cases.push_back({{{shape}},
                             [order = order](const Tensors& x) { return permute(x[0], order); },
                             [order = order](const Arrays& x) { return permuted(x[0], order); }});
    return row;
}

Row transpose_row() {
    Row row = view("transpose");
    for (const Shape& shape : {Shape{3, 5}, Shape{2, 3, 4}, Shape{1, 7}, Shape{0, 2}})
        row.cases.push_back({{{shape}},
                             [](const Tensors& x) { return transpose(x[0]); },
                             [](const Arrays& x) {
                                 Axes order{0, 1, 2};
                                 order.resize(static_cast<std::size_t>(x[0].shape.dims()));
                                 std::swap(order[order.size() - 1], order[order.size() - 2]);
                                 return permuted(x[0], order);
                             }});
    row.cases.push_back({{{{2, 3, 4}}},
                         [](const Tensors& x) { return transpose(x[0], 0, -1); },
                         [](const Arrays& x) {
                             return permuted(x[0], {2, 1, 0});
                         }});
    return row;
}

struct Cut {
    Shape shape;
    int64_t axis, start, end, step;
    std::vector<int64_t> picked;  // positions along the axis
};

const std::vector<Cut>& cuts() {
    static const std::vector<Cut> list = {
        {{7}, 0, 1, 6, 2, {1, 3, 5}},    {{7}, 0, 0, 7, 1, {0, 1, 2, 3, 4, 5, 6}},
        {{3, 5}, 1, 1, 4, 1, {1, 2, 3}}, {{3, 5}, 0, -2, 100, 1, {1, 2}},
        {{3, 5}, -1, -4, -1, 2, {1, 3}}, {{3, 5}, 1, 4, 2, 1, {}},
        {{2, 3, 4}, 1, 0, 3, 3, {0}},    {{1}, 0, 0, 1, 5, {0}},
        {{0, 2}, 0, 0, 0, 1, {}},        {{2, 6}, 1, 5, 6, 1, {5}},
    };
    return list;
}

Row slice_row() {
    Row row = view("slice");
    for (const Cut& cut : cuts())
        row.cases.push_back({{{cut.shape}},
                             [cut](const Tensors& x) {
                                 return slice(x[0], cut.axis, cut.start, cut.end, cut.step);
                             },
                             [cut](const Arrays& x) {
                                 const int axis = positive(cut.axis, cut.shape.dims());
                                 const auto count = static_cast<int64_t>(cut.picked.size());
                                 return generate(replaced(cut.shape, axis, count), [&](Shape i) {
                                     i[axis] = cut.picked[static_cast<std::size_t>(i[axis])];
                                     return x[0](i);
                                 });
                             }});
    return row;
}

Row pad_slice_row() {
    Row row = exact("pad_slice");
    struct Place {
        Shape from, to;
        int64_t axis, start, step;
    };
    for (const Place& place : {Place{{3}, {7}, 0, 1, 2},
                               {{3, 2}, {3, 5}, -1, 3, 1},
                               {{2, 3}, {6, 3}, 0, 0, 5},
                               {{0}, {4}, 0, 2, 1},
                               {{1, 1}, {1, 1}, 1, 0, 1},
                               {{2, 3, 2}, {2, 9, 2}, 1, 2, 3}})
        row.cases.push_back({{{place.from}},
                             [place](const Tensors& x) {
                                 return pad_slice(x[0], place.to, place.axis, place.start,
                                                  place.step);
                             },
                             [place](const Arrays& x) {
                                 const int axis = positive(place.axis, place.to.dims());
                                 return generate(place.to, [&](Shape i) {
                                     const int64_t from_start = i[axis] - place.start;
                                     if (from_start < 0 || from_start % place.step != 0) return 0.0;
                                     i[axis] = from_start / place.step;
                                     return i[axis] < place.from[axis] ? x[0](i) : 0.0;
                                 });
                             }});
    return row;
}

Row select_row() {
    Row row = view("select");
    struct Pick {
        Shape shape;
        int64_t axis, index;
    };
    for (const Pick& pick : {Pick{{3, 5}, 0, 2},
                             {{3, 5}, 1, -1},
                             {{2, 3, 4}, 1, 1},
                             {{7}, 0, 3},
                             {{2, 0}, 0, 1},
                             {{1}, -1, 0}})
        row.cases.push_back(
            {{{pick.shape}},
             [pick](const Tensors& x) { return select(x[0], pick.axis, pick.index); },
             [pick](const Arrays& x) {
                 const int axis = positive(pick.axis, pick.shape.dims());
                 Shape shape = pick.shape;
                 shape.erase(axis);
                 return generate(shape, [&](Shape i) {
                     i.insert(axis, pick.index < 0 ? pick.index + pick.shape[axis] : pick.index);
                     return x[0](i);
                 });
             }});
    return row;
}

Row axis_row(const char* name, Tensor (*operation)(const Tensor&, int64_t),
             const std::vector<std::tuple<Shape, int64_t, Shape>>& list) {
    Row row = view(name);
    for (const auto& [from, axis, to] : list)
        row.cases.push_back(
            {{{from}},
             [operation, axis = axis](const Tensors& x) { return operation(x[0], axis); },
             [to = to](const Arrays& x) {
                 return Array{to, x[0].values};
             }});
    return row;
}

Array joined(const Arrays& parts, int64_t axis) {
    const int at = positive(axis, parts[0].shape.dims());
    Shape shape = parts[0].shape;
    shape[at] = 0;
    for (const Array& part : parts) shape[at] += part.shape[at];
    return generate(shape, [&](Shape i) {
        for (const Array& part : parts) {
            if (i[at] < part.shape[at]) return part(i);
            i[at] -= part.shape[at];
        }
        return 0.0;
    });
}

Row concatenate_row() {
    Row row = exact("concatenate");
    for (const auto& [shapes, axis] : {std::pair<std::vector<Shape>, int64_t>{{{2, 3}, {4, 3}}, 0},
                                       {{{2, 3}, {2, 1}, {2, 2}}, 1},
                                       {{{2, 3}, {2, 1}, {2, 2}}, -1},
                                       {{{3}}, 0},
                                       {{{3}, {0}, {1}}, 0},
                                       {{{0, 2}, {0, 2}}, 0},
                                       {{{2, 2, 2}, {2, 1, 2}}, 1}}) {
        Case next{{},
                  [axis = axis](const Tensors& x) { return concatenate(x, axis); },
                  [axis = axis](const Arrays& x) { return joined(x, axis); }};
        for (const Shape& shape : shapes) next.inputs.push_back({shape});
        row.cases.push_back(next);
    }
    return row;
}

Row stack_row() {
    Row row = exact("stack");
    for (const auto& [shape, axis] : {std::pair<Shape, int64_t>{{2, 3}, 0},
                                      {{2, 3}, 1},
                                      {{2, 3}, -1},
                                      {{}, 0},
                                      {{0}, 1},
                                      {{5}, 0}})
        row.cases.push_back({{{shape}, {shape}, {shape}},
                             [axis = axis](const Tensors& x) { return stack(x, axis); },
                             [axis = axis](const Arrays& x) {
                                 Shape out = x[0].shape;
                                 const int at = positive(axis, out.dims() + 1);
                                 out.insert(at, 3);
                                 return generate(out, [&](Shape i) {
                                     const Array& part = x[static_cast<std::size_t>(i[at])];
                                     i.erase(at);
                                     return part(i);
                                 });
                             }});
    return row;
}

Row split_row() {
    Row row = view("split");
    for (std::size_t part = 0; part < 3; ++part)
        for (int64_t axis : {0, -1}) {
            const std::vector<int64_t> sizes{1, 3, 2};
            row.cases.push_back({{{{6, 6}}},
                                 [=](const Tensors& x) {
                                     const Tensors parts = split(x[0], sizes, axis);
                                     check(parts.size() == 3, "split: {} parts", parts.size());
                                     return parts[part];
                                 },
                                 [=](const Arrays& x) {
                                     const int at = positive(axis, 2);
                                     const int64_t start = part == 0 ? 0 : part == 1 ? 1 : 4;
                                     return generate(replaced(x[0].shape, at, sizes[part]),
                                                     [&](Shape i) {
                                                         i[at] += start;
                                                         return x[0](i);
                                                     });
                                 }});
        }
    return row;
}

}  // namespace

Rows shape_rows() {
    return {reshape_row(),
            expand_row(),
            permute_row(),
            transpose_row(),
            slice_row(),
            pad_slice_row(),
            select_row(),
            axis_row("unsqueeze", unsqueeze,
                     {{{3, 5}, 0, {1, 3, 5}},
                      {{3, 5}, 1, {3, 1, 5}},
                      {{3, 5}, -1, {3, 5, 1}},
                      {{}, 0, {1}},
                      {{0}, 1, {0, 1}}}),
            axis_row("squeeze", squeeze,
                     {{{1, 3, 5}, 0, {3, 5}},
                      {{3, 1, 5}, 1, {3, 5}},
                      {{3, 5, 1}, -1, {3, 5}},
                      {{1}, 0, {}},
                      {{0, 1}, 1, {0}}}),
            concatenate_row(),
            stack_row(),
            split_row()};
}

}  // namespace ralimp::testing
