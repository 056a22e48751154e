// Elementwise functions of two tensors that broadcast; comparisons; where; type conversion.
#include "autograd/apply.h"
#include "autograd/operations.h"

namespace ralimp {
namespace {

bool recorded(const Tensor& a, const Tensor& b) {
    return is_recording() && (a.requires_grad() || b.requires_grad());
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
    Tensor out = run_binary<scalar::Add>(a, b);
    if (!recorded(a, b)) return out;
    return record("add", out, {a, b}, Keep::nothing, [](Context c) {
        const auto same = [&] { return c.gradient; };
        return broadcast_gradients(c, same, same);
    });
}

Tensor subtract(const Tensor& a, const Tensor& b) {
    Tensor out = run_binary<scalar::Subtract>(a, b);
    if (!recorded(a, b)) return out;
    return record("subtract", out, {a, b}, Keep::nothing, [](Context c) {
        return broadcast_gradients(
            c, [&] { return c.gradient; }, [&] { return -c.gradient; });
    });
}

Tensor multiply(const Tensor& a, const Tensor& b) {
    Tensor out = run_binary<scalar::Multiply>(a, b);
    if (!recorded(a, b)) return out;
    return record("multiply", out, {kept(a, b.requires_grad()), kept(b, a.requires_grad())},
                  Keep::inputs, [](Context c) {
                      return broadcast_gradients(
                          c, [&] { return c.gradient * c.inputs[1]; },
                          [&] { return c.gradient * c.inputs[0]; });
                  });
}

Tensor divide(const Tensor& a, const Tensor& b) {
    Tensor out = run_binary<scalar::Divide>(a, b);
    if (!recorded(a, b)) return out;
    return record("divide", out, {kept(a, false), b}, b.requires_grad() ? Keep::both : Keep::inputs,
                  [](Context c) {
                      const Tensor& divisor = c.inputs[1];
                      return broadcast_gradients(
                          c, [&] { return c.gradient / divisor; },
                          [&] { return -(c.gradient * c.output / divisor); });
                  });
}

namespace {

// The gradient goes to a except where the condition says b.
Tensors choose(Context c, const Tensor& takes_b) {
    const Tensor zero = Tensor::scalar(0, c.gradient.dtype(), c.gradient.device());
    return broadcast_gradients(
        c, [&] { return where(takes_b, zero, c.gradient); },
        [&] { return where(takes_b, c.gradient, zero); });
}

}  // namespace

Tensor maximum(const Tensor& a, const Tensor& b) {
    Tensor out = run_binary<scalar::Maximum>(a, b);
    if (!recorded(a, b)) return out;
    return record("maximum", out, {a, b}, Keep::inputs,
                  [](Context c) { return choose(c, less(c.inputs[0], c.inputs[1])); });
}

Tensor minimum(const Tensor& a, const Tensor& b) {
    Tensor out = run_binary<scalar::Minimum>(a, b);
    if (!recorded(a, b)) return out;
    return record("minimum", out, {a, b}, Keep::inputs,
                  [](Context c) { return choose(c, greater(c.inputs[0], c.inputs[1])); });
}

namespace {

// ∂a^b/∂a = b a^(b-1), ∂a^b/∂b = a^b log a. At a = 0 both are replaced by their limits: 0 · a for
// b = 0, and a logarithm of 1, which the factor a^b = 0 multiplies.
Tensors power_gradients(Context c) {
    const Tensor &a = c.inputs[0], &b = c.inputs[1];
    const Tensor zero = Tensor::scalar(0, a.dtype(), a.device());
    const Tensor one = Tensor::scalar(1, a.dtype(), a.device());
    const Tensor at_zero = equal(a, zero);
    const auto for_a = [&] {
        const Tensor lower = where(at_zero, where(equal(b, zero), one, b - one), b - one);
        return c.gradient * (b * pow(a, lower));
    };
    const auto for_b = [&] { return c.gradient * (c.output * log(where(at_zero, one, a))); };
    return broadcast_gradients(c, for_a, for_b);
}

}  // namespace

Tensor pow(const Tensor& a, const Tensor& exponent) {
    Tensor out = run_binary<scalar::Power>(a, exponent);
    if (!recorded(a, exponent)) return out;
    return record("pow", out, {a, exponent}, exponent.requires_grad() ? Keep::both : Keep::inputs,
                  power_gradients);
}

Tensor operator+(const Tensor& a, double b) { return add(a, scalar_like("add", a, b)); }
Tensor operator+(double a, const Tensor& b) { return add(scalar_like("add", b, a), b); }
Tensor operator-(const Tensor& a, double b) { return subtract(a, scalar_like("subtract", a, b)); }
Tensor operator-(double a, const Tensor& b) { return subtract(scalar_like("subtract", b, a), b); }
Tensor operator*(const Tensor& a, double b) { return multiply(a, scalar_like("multiply", a, b)); }
Tensor operator*(double a, const Tensor& b) { return multiply(scalar_like("multiply", b, a), b); }
Tensor operator/(const Tensor& a, double b) { return divide(a, scalar_like("divide", a, b)); }
Tensor operator/(double a, const Tensor& b) { return divide(scalar_like("divide", b, a), b); }

Tensor equal(const Tensor& a, const Tensor& b) { return run_compare<scalar::Equal>(a, b); }
Tensor not_equal(const Tensor& a, const Tensor& b) { return run_compare<scalar::NotEqual>(a, b); }
Tensor less(const Tensor& a, const Tensor& b) { return run_compare<scalar::Less>(a, b); }
Tensor less_equal(const Tensor& a, const Tensor& b) { return run_compare<scalar::LessEqual>(a, b); }
Tensor greater(const Tensor& a, const Tensor& b) { return run_compare<scalar::Greater>(a, b); }
Tensor greater_equal(const Tensor& a, const Tensor& b) {
    return run_compare<scalar::GreaterEqual>(a, b);
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
    check(condition.dtype() == DType::uint8, "where: the condition holds {}; compare to get uint8",
          name_of(condition.dtype()));
    check_same_type("where", a, b);
    check_same_device("where", condition, a);
    const Shape shape = broadcast_shapes("where", condition.shape(),
                                         broadcast_shapes("where", a.shape(), b.shape()));
    Tensor out = Tensor::empty(shape, a.dtype(), a.device());
    if (out.elements() > 0)
        kernels(a.device())
            .where(out, expanded_view(condition, shape), expanded_view(a, shape),
                   expanded_view(b, shape));
    if (!recorded(a, b)) return out;
    return record(
        "where", out, {kept(a, false), kept(b, false), condition}, Keep::inputs, [](Context c) {
            const Tensor& takes_a = c.inputs[2];
            const Tensor zero = Tensor::scalar(0, c.gradient.dtype(), c.gradient.device());
            return broadcast_gradients(
                c, [&] { return where(takes_a, c.gradient, zero); },
                [&] { return where(takes_a, zero, c.gradient); });
        });
}

Tensor to(const Tensor& x, DType dtype) {
    if (x.dtype() == dtype) return x;
    Tensor out = empty_like(x, dtype);
    if (out.elements() > 0) kernels(x.device()).copy(out, x);
    if (!x.requires_grad()) return out;
    return record("to", out, {x}, Keep::nothing,
                  [](Context c) { return Tensors{to(c.gradient, c.inputs[0].dtype())}; });
}

}  // namespace ralimp
