// Arrays of doubles on the host, with index loops written plainly: what the operations are compared
// with. Shares no code with the kernels.
#pragma once
#include <functional>
#include <vector>

#include "autograd/operations.h"
#include "core/shape.h"

namespace ralimp::testing {

struct Array {
    Shape shape;
    std::vector<double> values;    // row-major
    DType dtype = DType::float64;  // of the tensor it stands for
    // Reads with broadcasting: trailing axes are aligned, an axis of size 1 repeats.
    double operator()(const Shape& index) const;
};
using Arrays = std::vector<Array>;

// f(index) for every index of the shape, in row-major order.
void for_each_index(const Shape& shape, const std::function<void(const Shape& index)>& f);
Array generate(const Shape& shape, const std::function<double(const Shape& index)>& f);
Array map(const Array& x, const std::function<double(double)>& f);
Array zip(const Array& a, const Array& b, const std::function<double(double, double)>& f);

// f of the values, in row-major order, of each group that the axes ({}: all) put together.
Array reduce(const Array& x, const Axes& axes, bool keep_dims,
             const std::function<double(const std::vector<double>&)>& f);

// f maps each line of values along the axis to a line of the same length.
Array along(const Array& x, int64_t axis,
            const std::function<std::vector<double>(const std::vector<double>&)>& f);

inline Shape replaced(Shape shape, int axis, int64_t value) {
    shape[axis] = value;
    return shape;
}
inline int positive(int64_t axis, int dims) {
    return static_cast<int>(axis < 0 ? axis + dims : axis);
}

}  // namespace ralimp::testing
