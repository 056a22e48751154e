// logsumexp, softmax and log_softmax, all computed relative to the maximum so that nothing
// overflows.
#include <limits>

#include "autograd/reductions.h"

namespace ralimp {
namespace {

// The maxima to subtract; 0 where a maximum is infinite, because ∞ - ∞ would be NaN.
Tensor finite_maximum(const Tensor& x, const Shape& kept) {
    const Tensor maxima = run_reduce(Reduction::maximum, x, kept);
    const Tensor zero = Tensor::scalar(0, x.dtype(), x.device());
    const Tensor difference = maxima - maxima;  // 0 or, for ∞ and NaN, NaN
    return where(equal(difference, zero), maxima, zero);
}

Shape kept_shape(const char* operation, const Tensor& x, int64_t axis) {
    check_floating(operation, x);
    Shape kept = x.shape();
    kept[normalize_axis(operation, axis, x.dims())] = 1;
    return kept;
}

}  // namespace

// A row of only -∞ gives -∞, and its gradient is 0.
Tensor logsumexp(const Tensor& x, const Axes& axes, bool keep_dims) {
    check_floating("logsumexp", x);
    const ReducedShape shapes = reduced_shape("logsumexp", x, axes, keep_dims);
    const double nothing = -std::numeric_limits<double>::infinity();
    if (shapes.count == 0) return Tensor::full(shapes.out, nothing, x.dtype(), x.device());
    Tensor out;
    {
        const NoGrad pause;
        const Tensor maxima = finite_maximum(x, shapes.kept);
        out = reshape(log(sum_to(exp(x - maxima), shapes.kept)) + maxima, shapes.out);
    }
    if (!x.requires_grad()) return out;
    return record("logsumexp", out, {x}, Keep::both, shapes, [](Context c) {
        const Shape& kept = arguments_of<ReducedShape>(c).kept;
        const Tensor& y = c.output;
        const Tensor zero = Tensor::scalar(0, y.dtype(), y.device());
        const Tensor none =
            Tensor::scalar(-std::numeric_limits<double>::infinity(), y.dtype(), y.device());
        const Tensor safe = where(equal(y, none), zero, y);
        return Tensors{reshape(c.gradient, kept) * exp(c.inputs[0] - reshape(safe, kept))};
    });
}

Tensor softmax(const Tensor& x, int64_t axis) {
    const Shape kept = kept_shape("softmax", x, axis);
    Tensor out = x.detach();
    if (x.elements() > 0) {
        const NoGrad pause;
        const bool is_last = normalize_axis("softmax", axis, x.dims()) == x.dims() - 1;
        const Tensor in = (is_last ? out : transpose(out, axis, -1)).contiguous();
        out = Tensor::empty(in.shape(), in.dtype(), in.device());
        kernels(in.device()).softmax(out, in);
        if (!is_last) out = transpose(out, axis, -1);
    }
    if (!x.requires_grad()) return out;
    return record("softmax", out, {x}, Keep::output, kept, [](Context c) {
        const Tensor product = c.gradient * c.output;
        return Tensors{product - c.output * sum_to(product, arguments_of<Shape>(c))};
    });
}

Tensor log_softmax(const Tensor& x, int64_t axis) {
    const Shape kept = kept_shape("log_softmax", x, axis);
    Tensor out = x.detach();
    if (x.elements() > 0) {
        const NoGrad pause;
        const Tensor shifted = x - finite_maximum(x, kept);
        out = shifted - log(sum_to(exp(shifted), kept));
    }
    if (!x.requires_grad()) return out;
    return record("log_softmax", out, {x}, Keep::output, kept, [](Context c) {
        const Tensor total = sum_to(c.gradient, arguments_of<Shape>(c));
        return Tensors{c.gradient - exp(c.output) * total};
    });
}

}  // namespace ralimp
