// Views and their inverses: the derivative of each is the inverse view.
#include <optional>

#include "autograd/apply.h"
#include "autograd/operations.h"

namespace ralimp {
namespace {

// The strides under which x's memory, read in row-major order of x, takes the new shape; none when
// only a copy can. Axes of x that lie evenly behind each other form a chunk; each chunk is divided
// among axes of the new shape.
std::optional<Shape> strides_for(const Tensor& x, const Shape& shape) {
    if (x.elements() == 0) return row_major_strides(shape);
    Shape strides = Shape::filled(shape.dims(), 1);
    int axis = shape.dims() - 1;
    int64_t chunk = 1, taken = 1;
    int64_t base = x.dims() ? x.strides().back() : 1;
    for (int old = x.dims() - 1; old >= 0; --old) {
        chunk *= x.shape()[old];
        const bool continues =
            old > 0 && (x.shape()[old - 1] == 1 || x.strides()[old - 1] == chunk * base);
        if (continues) continue;
        while (axis >= 0 && (taken < chunk || shape[axis] == 1)) {
            strides[axis] = taken * base;
            taken *= shape[axis];
            --axis;
        }
        if (taken != chunk) return std::nullopt;
        if (old > 0) base = x.strides()[old - 1];
        chunk = taken = 1;
    }
    return strides;
}

Shape inferred(const Tensor& x, const Shape& shape) {
    int unknown = -1;
    int64_t known = 1;
    for (int axis = 0; axis < shape.dims(); ++axis) {
        if (shape[axis] == -1) {
            check(unknown < 0, "reshape: {} has more than one size -1", shape);
            unknown = axis;
        } else {
            known *= shape[axis];
        }
    }
    Shape result = shape;
    if (unknown >= 0) {
        check(known > 0, "reshape: the size -1 of {} cannot be found for a tensor {}", shape,
              x.shape());
        result[unknown] = x.elements() / known;
    }
    check(result.elements() == x.elements(), "reshape: {} has {} elements, {} does not fit them",
          x.shape(), x.elements(), shape);
    return result;
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
    const Shape sizes = inferred(x, shape);
    if (sizes == x.shape()) return x;
    const std::optional<Shape> strides = strides_for(x, sizes);
    Tensor out = strides ? x.strided_view(sizes, *strides)
                         : x.clone().strided_view(sizes, row_major_strides(sizes));
    if (!x.requires_grad()) return out;
    return record("reshape", out, {x}, Keep::nothing,
                  [](Context c) { return Tensors{reshape(c.gradient, c.inputs[0].shape())}; });
}

Tensor expand(const Tensor& x, const Shape& shape) {
    if (shape == x.shape()) return x;
    check(broadcast_shapes("expand", x.shape(), shape) == shape,
          "expand: {} does not broadcast to {}", x.shape(), shape);
    Tensor out = expanded_view(x, shape);
    if (!x.requires_grad()) return out;
    return record("expand", out, {x}, Keep::nothing,
                  [](Context c) { return Tensors{sum_to(c.gradient, c.inputs[0].shape())}; });
}

namespace {

// order[i]: which axis of x becomes axis i; checked.
Tensor permuted(const Tensor& x, const Shape& order) {
    Shape shape = order, strides = order;
    for (int axis = 0; axis < x.dims(); ++axis) {
        shape[axis] = x.shape()[static_cast<int>(order[axis])];
        strides[axis] = x.strides()[static_cast<int>(order[axis])];
    }
    Tensor out = x.strided_view(shape, strides);
    if (!x.requires_grad()) return out;
    return record("permute", out, {x}, Keep::nothing, order, [](Context c) {
        const Shape& forward = arguments_of<Shape>(c);
        Shape inverse = forward;
        for (int axis = 0; axis < forward.dims(); ++axis)
            inverse[static_cast<int>(forward[axis])] = axis;
        return Tensors{permuted(c.gradient, inverse)};
    });
}

}  // namespace

Tensor permute(const Tensor& x, const Axes& order) {
    Shape axes;
    check(static_cast<int>(order.size()) == x.dims(), "permute: {} axes for the tensor {}",
          order.size(), x.shape());
    for (int64_t axis : order) {
        const int position = normalize_axis("permute", axis, x.dims());
        check(std::find(axes.begin(), axes.end(), position) == axes.end(),
              "permute: axis {} appears twice", axis);
        axes.push_back(position);
    }
    return permuted(x, axes);
}

Tensor transpose(const Tensor& x, int64_t axis_a, int64_t axis_b) {
    Shape order;
    for (int axis = 0; axis < x.dims(); ++axis) order.push_back(axis);
    std::swap(order[normalize_axis("transpose", axis_a, x.dims())],
              order[normalize_axis("transpose", axis_b, x.dims())]);
    return permuted(x, order);
}

namespace {

struct SliceArguments {
    int axis;
    int64_t start, step;
};

// Elements start, start+step, … along the axis, `size` of them.
Tensor slice_view(const Tensor& x, const SliceArguments& at, int64_t size) {
    Shape shape = x.shape(), strides = x.strides();
    const int64_t offset = size > 0 ? at.start * strides[at.axis] : 0;
    shape[at.axis] = size;
    strides[at.axis] *= at.step;
    return x.strided_view(shape, strides, offset);
}

Tensor padded(const Tensor& x, const Shape& shape, const SliceArguments& place) {
    return pad_slice(x, shape, place.axis, place.start, place.step);
}

}  // namespace

Tensor slice(const Tensor& x, int64_t axis, int64_t start, int64_t end, int64_t step) {
    check(step > 0, "slice: the step {} is not positive", step);
    const int at = normalize_axis("slice", axis, x.dims());
    const int64_t size = x.shape()[at];
    start = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
    end = std::clamp<int64_t>(end < 0 ? end + size : end, start, size);
    if (start == 0 && end == size && step == 1) return x;
    const SliceArguments arguments{at, start, step};
    Tensor out = slice_view(x, arguments, (end - start + step - 1) / step);
    if (!x.requires_grad()) return out;
    return record("slice", out, {x}, Keep::nothing, arguments, [](Context c) {
        return Tensors{padded(c.gradient, c.inputs[0].shape(), arguments_of<SliceArguments>(c))};
    });
}

Tensor pad_slice(const Tensor& x, const Shape& shape, int64_t axis, int64_t start, int64_t step) {
    const int at = normalize_axis("pad_slice", axis, x.dims());
    const int64_t size = x.shape()[at];
    Shape matching = shape;
    if (shape.dims() == x.dims()) matching[at] = size;
    check(matching == x.shape() && step > 0 && start >= 0 &&
              (size == 0 || start + (size - 1) * step < shape[at]),
          "pad_slice: {} from {} in steps of {} along axis {} does not fit into {}", x.shape(),
          start, step, axis, shape);
    Tensor out = Tensor::zeros(shape, x.dtype(), x.device());
    const SliceArguments arguments{at, start, step};
    if (x.elements() > 0) slice_view(out, arguments, size).copy_from(x);
    if (!x.requires_grad()) return out;
    return record("pad_slice", out, {x}, Keep::nothing, arguments, [](Context c) {
        const auto& place = arguments_of<SliceArguments>(c);
        const int64_t last = (c.inputs[0].shape()[place.axis] - 1) * place.step;
        return Tensors{
            slice(c.gradient, place.axis, place.start, place.start + last + 1, place.step)};
    });
}

Tensor select(const Tensor& x, int64_t axis, int64_t index) {
    const int at = normalize_axis("select", axis, x.dims());
    const int64_t size = x.shape()[at];
    check(index >= -size && index < size, "select: index {} is outside axis {} of {}", index, axis,
          x.shape());
    const SliceArguments arguments{at, index < 0 ? index + size : index, 1};
    Shape shape = x.shape(), strides = x.strides();
    shape.erase(at);
    strides.erase(at);
    Tensor out = x.strided_view(shape, strides, arguments.start * x.strides()[at]);
    if (!x.requires_grad()) return out;
    return record("select", out, {x}, Keep::nothing, arguments, [](Context c) {
        const auto& place = arguments_of<SliceArguments>(c);
        return Tensors{padded(unsqueeze(c.gradient, place.axis), c.inputs[0].shape(), place)};
    });
}

Tensor unsqueeze(const Tensor& x, int64_t axis) {
    const int at = normalize_axis("unsqueeze", axis, x.dims() + 1);
    Shape shape = x.shape(), strides = x.strides();
    shape.insert(at, 1);
    strides.insert(at, at < x.dims() ? x.shape()[at] * x.strides()[at] : 1);
    Tensor out = x.strided_view(shape, strides);
    if (!x.requires_grad()) return out;
    return record("unsqueeze", out, {x}, Keep::nothing, at,
                  [](Context c) { return Tensors{squeeze(c.gradient, arguments_of<int>(c))}; });
}

Tensor squeeze(const Tensor& x, int64_t axis) {
    const int at = normalize_axis("squeeze", axis, x.dims());
    check(x.shape()[at] == 1, "squeeze: axis {} of {} has not size 1", axis, x.shape());
    Shape shape = x.shape(), strides = x.strides();
    shape.erase(at);
    strides.erase(at);
    Tensor out = x.strided_view(shape, strides);
    if (!x.requires_grad()) return out;
    return record("squeeze", out, {x}, Keep::nothing, at,
                  [](Context c) { return Tensors{unsqueeze(c.gradient, arguments_of<int>(c))}; });
}

}  // namespace ralimp
