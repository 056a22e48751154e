#include "core/shape.h"

namespace ralimp {

std::string to_string(const Shape& shape) {
    std::string text = "[";
    for (int axis = 0; axis < shape.dims(); ++axis)
        text += (axis ? ", " : "") + std::to_string(shape[axis]);
    return text + "]";
}

Shape row_major_strides(const Shape& shape) {
    Shape strides = Shape::filled(shape.dims(), 1);
    for (int axis = shape.dims() - 2; axis >= 0; --axis)
        strides[axis] = strides[axis + 1] * std::max<int64_t>(shape[axis + 1], 1);
    return strides;
}

Shape broadcast_shapes(const char* operation, const Shape& a, const Shape& b) {
    const int dims = std::max(a.dims(), b.dims());
    Shape result = Shape::filled(dims, 1);
    for (int back = 1; back <= dims; ++back) {
        const int64_t size_a = back <= a.dims() ? a[a.dims() - back] : 1;
        const int64_t size_b = back <= b.dims() ? b[b.dims() - back] : 1;
        check(size_a == size_b || size_a == 1 || size_b == 1,
              "{}: shapes {} and {} do not broadcast: sizes {} and {} stand at the same axis",
              operation, a, b, size_a, size_b);
        result[dims - back] = size_a == 1 ? size_b : size_a;
    }
    return result;
}

int normalize_axis(const char* operation, int64_t axis, int dims) {
    check(axis >= -dims && axis < dims, "{}: axis {} is outside a tensor of {} axes", operation,
          axis, dims);
    return static_cast<int>(axis < 0 ? axis + dims : axis);
}

}  // namespace ralimp
