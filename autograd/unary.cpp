// Elementwise functions of one tensor. Each derivative is written in public operations.
#include <cmath>
#include <numbers>

#include "autograd/apply.h"
#include "autograd/operations.h"

namespace ralimp {
namespace {

template <class Op>
Tensor unary(const Tensor& x, Keep keep, Vjp vjp) {
    Tensor out = run_unary<Op>(x);
    if (!x.requires_grad()) return out;
    return record(Op::name, out, {x}, keep, vjp);
}

Tensor zero_like(const Tensor& x) { return Tensor::scalar(0, x.dtype(), x.device()); }

}  // namespace

Tensor neg(const Tensor& x) {
    return unary<scalar::Neg>(x, Keep::nothing, [](Context c) { return Tensors{-c.gradient}; });
}

Tensor abs(const Tensor& x) {
    return unary<scalar::Abs>(x, Keep::inputs,
                              [](Context c) { return Tensors{c.gradient * sign(c.inputs[0])}; });
}

Tensor sign(const Tensor& x) { return run_unary<scalar::Sign>(x); }

Tensor square(const Tensor& x) {
    return unary<scalar::Square>(
        x, Keep::inputs, [](Context c) { return Tensors{c.gradient * (c.inputs[0] * 2.0)}; });
}

Tensor relu(const Tensor& x) {
    return unary<scalar::Relu>(x, Keep::output, [](Context c) {
        const Tensor zero = zero_like(c.gradient);
        return Tensors{where(greater(c.output, zero), c.gradient, zero)};
    });
}

Tensor exp(const Tensor& x) {
    return unary<scalar::Exp>(x, Keep::output,
                              [](Context c) { return Tensors{c.gradient * c.output}; });
}

Tensor expm1(const Tensor& x) {
    return unary<scalar::Expm1>(x, Keep::output,
                                [](Context c) { return Tensors{c.gradient * (c.output + 1.0)}; });
}

Tensor log(const Tensor& x) {
    return unary<scalar::Log>(x, Keep::inputs,
                              [](Context c) { return Tensors{c.gradient / c.inputs[0]}; });
}

Tensor log1p(const Tensor& x) {
    return unary<scalar::Log1p>(
        x, Keep::inputs, [](Context c) { return Tensors{c.gradient / (c.inputs[0] + 1.0)}; });
}

Tensor sqrt(const Tensor& x) {
    return unary<scalar::Sqrt>(x, Keep::output,
                               [](Context c) { return Tensors{c.gradient / (c.output * 2.0)}; });
}

Tensor rsqrt(const Tensor& x) {
    return unary<scalar::Rsqrt>(x, Keep::output, [](Context c) {
        return Tensors{c.gradient * (c.output * square(c.output) * -0.5)};
    });
}

Tensor reciprocal(const Tensor& x) {
    return unary<scalar::Reciprocal>(
        x, Keep::output, [](Context c) { return Tensors{-(c.gradient * square(c.output))}; });
}

Tensor sin(const Tensor& x) {
    return unary<scalar::Sin>(x, Keep::inputs,
                              [](Context c) { return Tensors{c.gradient * cos(c.inputs[0])}; });
}

Tensor cos(const Tensor& x) {
    return unary<scalar::Cos>(x, Keep::inputs,
                              [](Context c) { return Tensors{-(c.gradient * sin(c.inputs[0]))}; });
}

Tensor sinh(const Tensor& x) {
    return unary<scalar::Sinh>(x, Keep::inputs,
                               [](Context c) { return Tensors{c.gradient * cosh(c.inputs[0])}; });
}

Tensor cosh(const Tensor& x) {
    return unary<scalar::Cosh>(x, Keep::inputs,
                               [](Context c) { return Tensors{c.gradient * sinh(c.inputs[0])}; });
}

Tensor tanh(const Tensor& x) {
    return unary<scalar::Tanh>(
        x, Keep::output, [](Context c) { return Tensors{c.gradient * (1.0 - square(c.output))}; });
}

Tensor erf(const Tensor& x) {
    return unary<scalar::Erf>(x, Keep::inputs, [](Context c) {
        return Tensors{c.gradient * (gaussian(c.inputs[0]) * (2.0 * std::numbers::inv_sqrtpi))};
    });
}

Tensor sigmoid(const Tensor& x) {
    return unary<scalar::Sigmoid>(x, Keep::output, [](Context c) {
        return Tensors{c.gradient * (c.output * (1.0 - c.output))};
    });
}

Tensor softplus(const Tensor& x) {
    return unary<scalar::Softplus>(
        x, Keep::inputs, [](Context c) { return Tensors{c.gradient * sigmoid(c.inputs[0])}; });
}

// (x s)' = s + x s (1 - s) with s = sigmoid(x) and y = x s.
Tensor silu(const Tensor& x) {
    return unary<scalar::Silu>(x, Keep::both, [](Context c) {
        const Tensor s = sigmoid(c.inputs[0]);
        return Tensors{c.gradient * (s + c.output * (1.0 - s))};
    });
}

// (x Φ)' = Φ + x φ with φ(x) = e^(-x²/2) / sqrt(2π).
Tensor gelu(const Tensor& x) {
    return unary<scalar::Gelu>(x, Keep::inputs, [](Context c) {
        const Tensor& z = c.inputs[0];
        const Tensor scaled = z * (1 / std::numbers::sqrt2);
        const Tensor density = gaussian(scaled) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
        return Tensors{c.gradient * (erf(scaled) * 0.5 + 0.5 + z * density)};
    });
}

// y = x (1 + t) / 2, t = tanh(k (x + a x³)): y' = (1 + t) / 2 + x (1 - t²) k (1 + 3 a x²) / 2.
Tensor gelu_tanh(const Tensor& x) {
    return unary<scalar::GeluTanh>(x, Keep::inputs, [](Context c) {
        const double k = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, a = 0.044715;
        const Tensor& z = c.inputs[0];
        const Tensor squared = square(z);
        const Tensor t = tanh(z * (squared * (k * a) + k));
        const Tensor slope = z * (squared * (1.5 * k * a) + 0.5 * k);
        return Tensors{c.gradient * (t * 0.5 + 0.5 + (1.0 - square(t)) * slope)};
    });
}

Tensor gaussian(const Tensor& x) {
    return unary<scalar::Gaussian>(x, Keep::both, [](Context c) {
        return Tensors{c.gradient * (c.inputs[0] * c.output * -2.0)};
    });
}

Tensor clamp(const Tensor& x, double low, double high) {
    check(low <= high, "clamp: the lower bound {} is not below the upper bound {}", low, high);
    check_floating("clamp", x);
    Tensor out =
        run_binary<scalar::Minimum>(run_binary<scalar::Maximum>(x, scalar_like("clamp", x, low)),
                                    scalar_like("clamp", x, high));
    if (!x.requires_grad()) return out;
    return record("clamp", out, {x}, Keep::both, [](Context c) {
        return Tensors{where(equal(c.inputs[0], c.output), c.gradient, zero_like(c.gradient))};
    });
}

// The chain of derivatives of a whole exponent ends at the exponent 0, so that no 0 · ∞ appears at
// x = 0.
Tensor pow(const Tensor& x, double exponent) {
    check_floating("pow", x);
    if (exponent == 0) return Tensor::ones(x.shape(), x.dtype(), x.device());
    if (exponent == 1) return x;
    if (exponent == 2) return square(x);
    if (exponent == 0.5) return sqrt(x);
    if (exponent == -1) return reciprocal(x);
    if (exponent == -0.5) return rsqrt(x);
    Tensor out = run_binary<scalar::Power>(x, scalar_like("pow", x, exponent));
    if (!x.requires_grad()) return out;
    return record("pow", out, {x}, Keep::inputs, exponent, [](Context c) {
        const double n = arguments_of<double>(c);
        return Tensors{c.gradient * (pow(c.inputs[0], n - 1) * n)};
    });
}

}  // namespace ralimp
