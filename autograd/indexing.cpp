// Reading and adding at positions given by int64 tensors.
#include "autograd/apply.h"
#include "autograd/operations.h"

namespace ralimp {
namespace {

// The index may be smaller than x except along the axis.
int check_gather(const char* operation, const Tensor& x, int64_t axis, const Tensor& index) {
    check_index(operation, index, x);
    const int at = normalize_axis(operation, axis, x.dims());
    check(index.dims() == x.dims(), "{}: the index {} and the tensor {} differ in their axes",
          operation, index.shape(), x.shape());
    for (int other = 0; other < x.dims(); ++other)
        check(other == at || index.shape()[other] <= x.shape()[other],
              "{}: the index {} is larger than the tensor {} at axis {}", operation, index.shape(),
              x.shape(), other);
    return at;
}

// Adds into memory that belongs to the operation alone.
void add_at(const Tensor& out, int axis, const Tensor& index, const Tensor& source) {
    if (index.elements() > 0)
        kernels(out.device())
            .scatter_add(narrowed_view(out, index.shape(), axis), index, source, axis);
}

struct ScatterArguments {
    Shape shape;
    int axis;
};

// The derivative of gather: zeros of a shape, with the source added at the index.
Tensor scatter(const Tensor& source, const Tensor& index, const ScatterArguments& arguments) {
    Tensor out = Tensor::zeros(arguments.shape, source.dtype(), source.device());
    add_at(out, arguments.axis, index, source);
    return record(
        "scatter", out, {kept(source, false), index}, Keep::inputs, arguments.axis, [](Context c) {
            return Tensors{gather(c.gradient, arguments_of<int>(c), c.inputs[1]), Tensor()};
        });
}

// An index of whole slices, repeated (by stride 0) over the other axes of `shape`.
Tensor slice_index(const char* operation, const Tensor& index, Shape shape, int axis) {
    check(index.dims() == 1, "{}: the index {} must have one axis", operation, index.shape());
    shape[axis] = index.shape()[0];
    Shape strides = Shape::filled(shape.dims(), 0);
    strides[axis] = index.strides()[0];
    return index.strided_view(shape, strides);
}

}  // namespace

Tensor gather(const Tensor& x, int64_t axis, const Tensor& index) {
    const int at = check_gather("gather", x, axis, index);
    Tensor out = Tensor::empty(index.shape(), x.dtype(), x.device());
    if (out.elements() > 0)
        kernels(x.device()).gather(out, narrowed_view(x, index.shape(), at), index, at);
    if (!x.requires_grad()) return out;
    return record("gather", out, {kept(x, false), index}, Keep::inputs, at, [](Context c) {
        const ScatterArguments back{c.inputs[0].shape(), arguments_of<int>(c)};
        return Tensors{scatter(c.gradient, c.inputs[1], back), Tensor()};
    });
}

Tensor scatter_add(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& source) {
    check_same_type("scatter_add", x, source);
    const int at = check_gather("scatter_add", x, axis, index);
    check(source.shape() == index.shape(), "scatter_add: the source {} and the index {} differ",
          source.shape(), index.shape());
    Tensor out = x.clone();
    add_at(out, at, index, source);
    if (!x.requires_grad() && !source.requires_grad()) return out;
    return record("scatter_add", out, {kept(x, false), kept(source, false), index}, Keep::inputs,
                  at, [](Context c) {
                      Tensors gradients{c.gradient, Tensor(), Tensor()};
                      if (c.needs(1))
                          gradients[1] = gather(c.gradient, arguments_of<int>(c), c.inputs[2]);
                      return gradients;
                  });
}

Tensor index_select(const Tensor& x, int64_t axis, const Tensor& index) {
    check_index("index_select", index, x);
    const int at = normalize_axis("index_select", axis, x.dims());
    return gather(x, at, slice_index("index_select", index, x.shape(), at));
}

Tensor index_add(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& source) {
    check_index("index_add", index, x);
    const int at = normalize_axis("index_add", axis, x.dims());
    const Tensor whole = slice_index("index_add", index, x.shape(), at);
    check(source.shape() == whole.shape(), "index_add: the source is {}, it must be {}",
          source.shape(), whole.shape());
    return scatter_add(x, at, whole, source);
}

}  // namespace ralimp
