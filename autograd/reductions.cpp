// Sums, means, extremes and variance over any axes.
#include "autograd/reductions.h"

#include "autograd/operations.h"

namespace ralimp {

ReducedShape reduced_shape(const char* operation, const Tensor& x, const Axes& axes,
                           bool keep_dims) {
    ReducedShape result;
    result.kept = axes.empty() ? Shape::filled(x.dims(), 1) : x.shape();
    if (axes.empty()) {
        result.count = x.elements();
        if (keep_dims) result.out = result.kept;
        return result;
    }
    std::array<bool, Shape::max_dims> reduced{};
    for (int64_t axis : axes) {
        const int at = normalize_axis(operation, axis, x.dims());
        check(!reduced[at], "{}: axis {} appears twice", operation, axis);
        reduced[at] = true;
        result.kept[at] = 1;
        result.count *= x.shape()[at];
    }
    for (int axis = 0; axis < x.dims(); ++axis)
        if (keep_dims || !reduced[axis]) result.out.push_back(result.kept[axis]);
    return result;
}

Tensor run_reduce(Reduction reduction, const Tensor& x, const Shape& kept) {
    Tensor out = Tensor::empty(kept, x.dtype(), x.device());
    if (x.elements() == 0)
        out.fill(0);  // an empty sum; the extremes of nothing were refused
    else
        kernels(x.device()).reduce(reduction, out, x);
    return out;
}

namespace {

// A row-major tensor without graph, in another shape.
Tensor reshaped(const Tensor& x, const Shape& shape) {
    return shape == x.shape() ? x : x.strided_view(shape, row_major_strides(shape));
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, bool keep_dims) {
    check(x.dtype() != DType::uint8,
          "sum: uint8 values would overflow; convert with to(x, DType::int64) first");
    const ReducedShape shapes = reduced_shape("sum", x, axes, keep_dims);
    Tensor out = reshaped(run_reduce(Reduction::sum, x, shapes.kept), shapes.out);
    if (!x.requires_grad()) return out;
    return record("sum", out, {x}, Keep::nothing, shapes, [](Context c) {
        const Shape& kept = arguments_of<ReducedShape>(c).kept;
        return Tensors{expand(reshape(c.gradient, kept), c.inputs[0].shape())};
    });
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
    if (shape == x.shape()) return x;
    check(broadcast_shapes("sum_to", x.shape(), shape) == x.shape(),
          "sum_to: {} does not broadcast to {}", shape, x.shape());
    check(x.dtype() != DType::uint8,
          "sum_to: uint8 values would overflow; convert with to(x, DType::int64) first");
    Shape kept = Shape::filled(x.dims(), 1);
    for (int back = 1; back <= shape.dims(); ++back)
        kept[x.dims() - back] = shape[shape.dims() - back];
    Tensor out = reshaped(run_reduce(Reduction::sum, x, kept), shape);
    if (!x.requires_grad()) return out;
    return record("sum_to", out, {x}, Keep::nothing,
                  [](Context c) { return Tensors{expand(c.gradient, c.inputs[0].shape())}; });
}

Tensor mean(const Tensor& x, const Axes& axes, bool keep_dims) {
    check_floating("mean", x);
    const int64_t count = reduced_shape("mean", x, axes, keep_dims).count;
    check(count > 0, "mean: of no values; the tensor is {}", x.shape());
    return sum(x, axes, keep_dims) / static_cast<double>(count);
}

namespace {

// Equal shares for every position that holds the extreme value.
Tensors share_among_ties(Context c) {
    const Shape& kept = arguments_of<ReducedShape>(c).kept;
    const Tensor& x = c.inputs[0];
    const Tensor ties = to(equal(x, reshape(c.output, kept)), x.dtype());
    return {ties * (reshape(c.gradient, kept) / sum_to(ties, kept))};
}

Tensor extreme(const char* operation, Reduction reduction, const Tensor& x, const Axes& axes,
               bool keep_dims) {
    const ReducedShape shapes = reduced_shape(operation, x, axes, keep_dims);
    check(shapes.count > 0, "{}: of no values; the tensor is {}", operation, x.shape());
    Tensor out = reshaped(run_reduce(reduction, x, shapes.kept), shapes.out);
    if (!x.requires_grad()) return out;
    return record(operation, out, {x}, Keep::both, shapes, share_among_ties);
}

Tensor position(const char* operation, bool largest, const Tensor& x, int64_t axis,
                bool keep_dims) {
    const int at = normalize_axis(operation, axis, x.dims());
    Shape kept = x.shape();
    kept[at] = 1;
    check(x.shape()[at] > 0, "{}: of no values; axis {} of {} is empty", operation, axis,
          x.shape());
    Tensor out = Tensor::empty(kept, DType::int64, x.device());
    if (out.elements() > 0) kernels(x.device()).arg_reduce(largest, out, x, at);
    return keep_dims ? out : squeeze(out, at);
}

}  // namespace

Tensor max(const Tensor& x, const Axes& axes, bool keep_dims) {
    return extreme("max", Reduction::maximum, x, axes, keep_dims);
}

Tensor min(const Tensor& x, const Axes& axes, bool keep_dims) {
    return extreme("min", Reduction::minimum, x, axes, keep_dims);
}

Tensor argmax(const Tensor& x, int64_t axis, bool keep_dims) {
    return position("argmax", true, x, axis, keep_dims);
}

Tensor argmin(const Tensor& x, int64_t axis, bool keep_dims) {
    return position("argmin", false, x, axis, keep_dims);
}

namespace {

struct VarianceArguments {
    Shape kept;
    double divisor;
};

Tensor centered(const Tensor& x, const Shape& kept) {
    const double count = static_cast<double>(x.elements()) / static_cast<double>(kept.elements());
    return x - sum_to(x, kept) / count;
}

}  // namespace

// Two passes, mean first: the shortcut E[x²] - E[x]² loses every digit when the mean is large. The
// derivative is 2 (x - mean) / divisor; the term through the mean vanishes.
Tensor variance(const Tensor& x, const Axes& axes, bool keep_dims, int correction) {
    check_floating("variance", x);
    const ReducedShape shapes = reduced_shape("variance", x, axes, keep_dims);
    check(shapes.count > correction, "variance: {} values with correction {} leave no divisor",
          shapes.count, correction);
    const VarianceArguments arguments{shapes.kept, static_cast<double>(shapes.count - correction)};
    Tensor out;
    {
        const NoGrad pause;
        out = x.elements() == 0
                  ? Tensor::empty(shapes.kept, x.dtype(), x.device())
                  : sum_to(square(centered(x, shapes.kept)), shapes.kept) / arguments.divisor;
    }
    out = reshaped(out, shapes.out);
    if (!x.requires_grad()) return out;
    return record("variance", out, {x}, Keep::inputs, arguments, [](Context c) {
        const auto& [kept, divisor] = arguments_of<VarianceArguments>(c);
        if (c.inputs[0].elements() == 0) return Tensors{};
        const Tensor scaled = reshape(c.gradient, kept) * (2.0 / divisor);
        return Tensors{scaled * centered(c.inputs[0], kept)};
    });
}

}  // namespace ralimp
