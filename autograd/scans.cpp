// Cumulative sum and product along one axis.
#include "autograd/apply.h"
#include "autograd/operations.h"

namespace ralimp {
namespace {

struct SumArguments {
    int axis;
    bool reversed;
};

}  // namespace

Tensor cumulative_sum(const Tensor& x, int64_t axis, bool reversed) {
    const SumArguments arguments{normalize_axis("cumulative_sum", axis, x.dims()), reversed};
    Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
    if (out.elements() > 0)
        kernels(x.device()).cumulative_sum(out, x, arguments.axis, arguments.reversed);
    if (!x.requires_grad()) return out;
    return record("cumulative_sum", out, {x}, Keep::nothing, arguments, [](Context c) {
        const auto& [along, backward] = arguments_of<SumArguments>(c);
        return Tensors{cumulative_sum(c.gradient, along, !backward)};
    });
}

namespace {

// x[i + distance], and 0 past the end of the axis.
Tensor shifted(const Tensor& x, int axis, int64_t distance) {
    return pad_slice(slice(x, axis, distance, x.shape()[axis]), x.shape(), axis, 0);
}

// s[i] = b[i] + a[i] s[i+1], s past the end being 0. By doubling (Hillis and Steele, "Data parallel
// algorithms", 1986): after each round b[i] holds the sum over twice as many steps and a[i] the
// product of their factors.
Tensor reversed_recurrence(Tensor a, Tensor b, int axis) {
    const int64_t size = b.shape()[axis];
    for (int64_t distance = 1; distance < size; distance *= 2) {
        b = b + a * shifted(b, axis, distance);
        if (2 * distance < size) a = a * shifted(a, axis, distance);
    }
    return b;
}

// With y[i] = x[0]…x[i], ∂Σ g y / ∂x[i] = y[i-1] Σ_{j≥i} g[j] x[i+1]…x[j]: a prefix product times
// a recurrence. Nothing is divided by x, so zeros are no special case, to any order.
Tensors cumulative_product_gradient(Context c) {
    const int axis = arguments_of<int>(c);
    const Tensor& x = c.inputs[0];
    const int64_t size = x.shape()[axis];
    if (x.elements() == 0) return {};
    Shape first = x.shape();
    first[axis] = 1;
    const Tensor one = expand(Tensor::scalar(1, x.dtype(), x.device()), first);
    const Tensor prefix = concatenate({one, slice(c.output, axis, 0, size - 1)}, axis);
    return {prefix * reversed_recurrence(shifted(x, axis, 1), c.gradient, axis)};
}

}  // namespace

Tensor cumulative_product(const Tensor& x, int64_t axis) {
    const int at = normalize_axis("cumulative_product", axis, x.dims());
    Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
    if (out.elements() > 0) kernels(x.device()).cumulative_product(out, x, at);
    if (!x.requires_grad()) return out;
    return record("cumulative_product", out, {x}, Keep::both, at, cumulative_product_gradient);
}

}  // namespace ralimp
