// Rows of reading and adding at indices.
#include "operation_table.h"

namespace ralimp::testing {
namespace {

struct Place {
    Shape shape, index;
    int64_t axis;
};

// Indices repeat: most of them have more entries than there are positions.
std::vector<Place> places() {
    return {{{5}, {7}, 0},          {{3, 4}, {3, 6}, 1},        {{3, 4}, {5, 4}, 0},
            {{3, 4}, {2, 3}, -1},   {{2, 3, 4}, {2, 5, 4}, 1},  {{1}, {1}, 0},
            {{3}, {0}, 0},          {{2, 3}, {0, 2}, 0},        {{1, 7}, {1, 3}, 1},
            {{40, 9}, {300, 9}, 0}, {{181, 211}, {181, 211}, 1}};
}

Input index_input(const Place& place) {
    const int axis = positive(place.axis, place.shape.dims());
    return {place.index, 0, static_cast<double>(place.shape[axis]), Kind::index};
}

Row gather_row() {
    Row row{.name = "gather",
            .cases = {},
            .tolerance_float32 = 0,
            .tolerance_float64 = 0,
            .whole_numbers = true};
    for (const Place& place : places())
        row.cases.push_back({{{place.shape}, index_input(place)},
                             [place](const Tensors& x) { return gather(x[0], place.axis, x[1]); },
                             [place](const Arrays& x) {
                                 return generate(place.index, [&](const Shape& i) {
                                     const int axis = positive(place.axis, i.dims());
                                     return x[0](replaced(i, axis, static_cast<int64_t>(x[1](i))));
                                 });
                             }});
    return row;
}

Array added(const Array& x, int axis, const Array& source,
            const std::function<int64_t(const Shape&)>& target) {
    Array result = x;
    for_each_index(source.shape, [&](const Shape& i) {
        const Shape at = replaced(i, axis, target(i));
        int64_t position = 0;
        for (int other = 0; other < at.dims(); ++other)
            position = position * x.shape[other] + at[other];
        result.values[static_cast<std::size_t>(position)] += source(i);
    });
    return result;
}

Row scatter_add_row() {
    Row row{.name = "scatter_add", .cases = {}, .floor = 2, .whole_numbers = true};
    for (const Place& place : places())
        row.cases.push_back(
            {{{place.shape}, index_input(place), {place.index}},
             [place](const Tensors& x) { return scatter_add(x[0], place.axis, x[1], x[2]); },
             [place](const Arrays& x) {
                 return added(x[0], positive(place.axis, place.shape.dims()), x[2],
                              [&](const Shape& i) { return static_cast<int64_t>(x[1](i)); });
             }});
    return row;
}

struct Slices {
    Shape shape;
    int64_t axis, count;
};

std::vector<Slices> slices() {
    return {{{5}, 0, 7}, {{3, 4}, 0, 5}, {{3, 4}, 1, 2}, {{3, 4}, -1, 9},    {{2, 3, 4}, 1, 5},
            {{1}, 0, 1}, {{3, 2}, 0, 0}, {{3, 0}, 0, 2}, {{50, 17}, 0, 333}, {{211, 181}, 0, 301}};
}

Shape picked_shape(const Slices& s) {
    return replaced(s.shape, positive(s.axis, s.shape.dims()), s.count);
}

Input index_input(const Slices& s) {
    return {
        {s.count}, 0, static_cast<double>(s.shape[positive(s.axis, s.shape.dims())]), Kind::index};
}

Row index_select_row() {
    Row row{.name = "index_select",
            .cases = {},
            .tolerance_float32 = 0,
            .tolerance_float64 = 0,
            .whole_numbers = true};
    for (const Slices& s : slices())
        row.cases.push_back({{{s.shape}, index_input(s)},
                             [s](const Tensors& x) { return index_select(x[0], s.axis, x[1]); },
                             [s](const Arrays& x) {
                                 const int axis = positive(s.axis, s.shape.dims());
                                 return generate(picked_shape(s), [&](const Shape& i) {
                                     const double target = x[1](Shape{i[axis]});
                                     return x[0](replaced(i, axis, static_cast<int64_t>(target)));
                                 });
                             }});
    return row;
}

Row index_add_row() {
    Row row{.name = "index_add", .cases = {}, .floor = 2, .whole_numbers = true};
    for (const Slices& s : slices())
        row.cases.push_back({{{s.shape}, index_input(s), {picked_shape(s)}},
                             [s](const Tensors& x) { return index_add(x[0], s.axis, x[1], x[2]); },
                             [s](const Arrays& x) {
                                 const int axis = positive(s.axis, s.shape.dims());
                                 return added(x[0], axis, x[2], [&](const Shape& i) {
                                     return static_cast<int64_t>(x[1](Shape{i[axis]}));
                                 });
                             }});
    return row;
}

}  // namespace

Rows indexing_rows() {
    return {gather_row(), scatter_add_row(), index_select_row(), index_add_row()};
}

}  // namespace ralimp::testing
