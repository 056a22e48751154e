#include "autograd/jet_operations.h"

#include "autograd/operations.h"

namespace ralimp {
namespace {

Tensor number(double value, const Jet& like) {
    return Tensor::full({1}, value, like.channels().dtype(), like.channels().device());
}

Jet choose(const Tensor& first, const Jet& a, const Jet& b) {
    check(a.shared_plan() == b.shared_plan(),
          "jet: a choice between jets of different derivatives ({} and {} channels)",
          a.plan().channels(), b.plan().channels());
    return Jet(where(first, a.channels(), b.channels()), a.shared_plan());
}

}  // namespace

Jet constant(const Tensor& value, const std::shared_ptr<const JetPlan>& plan) {
    check(value.dims() == 0 || value.dims() == 2,
          "jet: a constant {} must be a number or [rows, features]", value.shape());
    const Tensor rows = value.dims() == 0 ? reshape(value, {1, 1}) : value;
    if (plan->channels() == 1) return Jet(unsqueeze(rows, 0), plan);
    return Jet(concatenate({unsqueeze(rows, 0),
                            Tensor::zeros({plan->channels() - 1, rows.size(0), rows.size(1)},
                                          value.dtype(), value.device())}),
               plan);
}

Jet neg(const Jet& x) { return Jet(neg(x.channels()), x.shared_plan()); }
Jet operator/(const Jet& a, const Jet& b) { return a * reciprocal(b); }
Jet operator+(const Jet& a, double b) { return a + number(b, a); }
Jet operator+(double a, const Jet& b) { return b + a; }
Jet operator-(const Jet& a, double b) { return a + -b; }
Jet operator-(double a, const Jet& b) { return neg(b) + a; }
Jet operator*(double a, const Jet& b) { return b * a; }
Jet operator/(const Jet& a, double b) { return Jet(a.channels() / b, a.shared_plan()); }
Jet operator/(double a, const Jet& b) { return reciprocal(b) * a; }

Jet exp(const Jet& x) { return apply(Activation::exp, x); }
Jet log(const Jet& x) { return apply(Activation::log, x); }
Jet sqrt(const Jet& x) { return apply(Activation::sqrt, x); }
Jet reciprocal(const Jet& x) { return apply(Activation::reciprocal, x); }
Jet sin(const Jet& x) { return apply(Activation::sin, x); }
Jet cos(const Jet& x) { return apply(Activation::cos, x); }
Jet sinh(const Jet& x) { return apply(Activation::sinh, x); }
Jet cosh(const Jet& x) { return apply(Activation::cosh, x); }
Jet tanh(const Jet& x) { return apply(Activation::tanh, x); }
Jet erf(const Jet& x) { return apply(static_cast<Tensor (*)(const Tensor&)>(erf), x); }
Jet abs(const Jet& x) { return x * sign(x.value()); }

Jet pow(const Jet& x, double exponent) {
    if (exponent == 1) return x;
    if (exponent == 2) return square(x);
    Tensors derivatives;
    double factor = 1;  // exponent (exponent - 1) …; once it is 0 so are all further derivatives
    for (int order = 0; order <= x.plan().max_order(); ++order) {
        derivatives.push_back(factor == 0 ? Tensor::zeros(x.value().shape(), x.channels().dtype(),
                                                          x.channels().device())
                                          : pow(x.value(), exponent - order) * factor);
        factor *= exponent - order;
    }
    return compose(derivatives, x);
}

Jet pow(const Jet& a, const Jet& exponent) { return exp(exponent * log(a)); }

Jet maximum(const Jet& a, const Jet& b) {
    const Tensor x = a.value(), y = b.value();
    return choose(not_equal(x, x), a, choose(greater_equal(x, y), a, b));
}

Jet minimum(const Jet& a, const Jet& b) {
    const Tensor x = a.value(), y = b.value();
    return choose(not_equal(x, x), a, choose(less_equal(x, y), a, b));
}

Jet apply(Tensor (*elementwise)(const Tensor&), const Jet& x) {
    Tensors derivatives{elementwise(x.value())};
    for (int order = 1; order <= x.plan().max_order(); ++order)
        derivatives.push_back(local_derivative(elementwise, order, x.value()));
    return compose(derivatives, x);
}

}  // namespace ralimp
