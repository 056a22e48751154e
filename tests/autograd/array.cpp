#include "array.h"

namespace ralimp::testing {

double Array::operator()(const Shape& index) const {
    int64_t position = 0;
    for (int axis = 0; axis < shape.dims(); ++axis) {
        const int64_t i = index[index.dims() - shape.dims() + axis];
        position = position * shape[axis] + (shape[axis] == 1 ? 0 : i);
    }
    return values.at(static_cast<std::size_t>(position));
}

void for_each_index(const Shape& shape, const std::function<void(const Shape& index)>& f) {
    if (shape.elements() == 0) return;
    Shape index = Shape::filled(shape.dims(), 0);
    while (true) {
        f(index);
        int axis = shape.dims() - 1;
        while (axis >= 0 && ++index[axis] == shape[axis]) index[axis--] = 0;
        if (axis < 0) return;
    }
}

Array generate(const Shape& shape, const std::function<double(const Shape& index)>& f) {
    Array result{shape, {}};
    for_each_index(shape, [&](const Shape& index) { result.values.push_back(f(index)); });
    return result;
}

Array map(const Array& x, const std::function<double(double)>& f) {
    Array result = x;
    for (double& value : result.values) value = f(value);
    return result;
}

Array zip(const Array& a, const Array& b, const std::function<double(double, double)>& f) {
    const Shape shape = broadcast_shapes("zip", a.shape, b.shape);
    return generate(shape, [&](const Shape& index) { return f(a(index), b(index)); });
}

Array reduce(const Array& x, const Axes& axes, bool keep_dims,
             const std::function<double(const std::vector<double>&)>& f) {
    std::vector<bool> reduced(static_cast<std::size_t>(x.shape.dims()), axes.empty());
    for (int64_t axis : axes)
        reduced[static_cast<std::size_t>(positive(axis, x.shape.dims()))] = true;
    Shape kept = x.shape, out;
    for (int axis = 0; axis < x.shape.dims(); ++axis) {
        if (reduced[static_cast<std::size_t>(axis)]) kept[axis] = 1;
        if (keep_dims || !reduced[static_cast<std::size_t>(axis)]) out.push_back(kept[axis]);
    }
    std::vector<std::vector<double>> groups(static_cast<std::size_t>(kept.elements()));
    for_each_index(x.shape, [&](const Shape& index) {
        int64_t group = 0;
        for (int axis = 0; axis < kept.dims(); ++axis)
            group = group * kept[axis] + (kept[axis] == 1 ? 0 : index[axis]);
        groups[static_cast<std::size_t>(group)].push_back(x(index));
    });
    Array result{out, {}};
    for (const auto& group : groups) result.values.push_back(f(group));
    return result;
}

Array along(const Array& x, int64_t axis,
            const std::function<std::vector<double>(const std::vector<double>&)>& f) {
    const int at = positive(axis, x.shape.dims());
    Array result = x;
    int64_t inner = 1;
    for (int other = at + 1; other < x.shape.dims(); ++other) inner *= x.shape[other];
    const int64_t size = x.shape[at];
    if (x.shape.elements() == 0) return result;
    for (int64_t outer = 0; outer < x.shape.elements() / (inner * size); ++outer)
        for (int64_t offset = 0; offset < inner; ++offset) {
            std::vector<double> line;
            const auto place = [&](int64_t i) {
                return static_cast<std::size_t>((outer * size + i) * inner + offset);
            };
            for (int64_t i = 0; i < size; ++i) line.push_back(x.values[place(i)]);
            line = f(line);
            for (int64_t i = 0; i < size; ++i)
                result.values[place(i)] = line[static_cast<std::size_t>(i)];
        }
    return result;
}

}  // namespace ralimp::testing
