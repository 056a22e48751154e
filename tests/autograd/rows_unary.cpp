// Rows of the elementwise operations of one tensor. The references use other forms of the formulas
// where there are any.
#include <cmath>
#include <numbers>

#include "operation_table.h"

namespace ralimp::testing {
namespace {

using Function = Tensor (*)(const Tensor&);

Row row(const char* name, std::function<Tensor(const Tensor&)> operation,
        std::function<double(double)> reference, double low = -3, double high = 3) {
    Row result{.name = name, .cases = {}};
    for (const Shape& shape : elementwise_shapes())
        result.cases.push_back({{{shape, low, high}},
                                [=](const Tensors& x) { return operation(x[0]); },
                                [=](const Arrays& x) { return map(x[0], reference); }});
    return result;
}

Row whole(Row result) {
    result.whole_numbers = true;
    return result;
}

double sigmoid_of(double x) { return 0.5 * (1 + std::tanh(x / 2)); }

// One row with cases of several exponents.
Row power_row() {
    Row result{.name = "pow(Tensor, double)", .cases = {}, .tolerance_float32 = 4e-6};
    struct Exponent {
        double value, low, high;
    };
    for (const auto& [n, low, high] : {Exponent{2, -3, 3},
                                       {3, -3, 3},
                                       {4, -2, 2},
                                       {1, -3, 3},
                                       {0, -3, 3},
                                       {-1, 0.3, 3},
                                       {-1, -3, -0.3},
                                       {-2, -3, -0.3},
                                       {-3, 0.3, 2},
                                       {0.5, 0.2, 4},
                                       {-0.5, 0.2, 4},
                                       {1.5, 0.2, 4},
                                       {2.7, 0.2, 3},
                                       {-1.3, 0.3, 3},
                                       {7, -1.5, 1.5}}) {
        const Row part = row(
            "", [n = n](const Tensor& x) { return pow(x, n); },
            [n = n](double x) { return std::pow(x, n); }, low, high);
        for (const Case& c : part.cases)
            if (c.inputs[0].shape.elements() < 100 || n == 2.7) result.cases.push_back(c);
    }
    return result;
}

}  // namespace

Rows unary_rows() {
    using std::numbers::pi;
    return {
        whole(row("neg", Function(neg), [](double x) { return -x; })),
        whole(row(
            "operator-(Tensor)", [](const Tensor& x) { return -x; },
            [](double x) { return 0 - x; })),
        whole(row("abs", Function(abs), [](double x) { return std::fabs(x); })),
        whole(row("sign", Function(sign), [](double x) { return double((x > 0) - (x < 0)); })),
        whole(row("square", Function(square), [](double x) { return std::pow(x, 2); })),
        whole(row("relu", Function(relu), [](double x) { return std::fmax(x, 0); })),
        row("exp", Function(exp), [](double x) { return std::exp(x); }),
        row("expm1", Function(expm1), [](double x) { return std::expm1(x); }),
        row(
            "log", Function(log), [](double x) { return std::log(x); }, 0.1, 5),
        row(
            "log1p", Function(log1p), [](double x) { return std::log1p(x); }, -0.8, 5),
        row(
            "sqrt", Function(sqrt), [](double x) { return std::sqrt(x); }, 0.1, 5),
        row(
            "rsqrt", Function(rsqrt), [](double x) { return std::pow(x, -0.5); }, 0.2, 5),
        row(
            "reciprocal", Function(reciprocal), [](double x) { return 1 / x; }, 0.3, 4),
        row("sin", Function(sin), [](double x) { return std::sin(x); }),
        row("cos", Function(cos), [](double x) { return std::cos(x); }),
        row("sinh", Function(sinh), [](double x) { return std::sinh(x); }),
        row("cosh", Function(cosh), [](double x) { return std::cosh(x); }),
        row("tanh", Function(tanh), [](double x) { return std::tanh(x); }),
        row("erf", Function(erf), [](double x) { return std::erf(x); }),
        row("sigmoid", Function(sigmoid), sigmoid_of),
        row("softplus", Function(softplus), [](double x) { return std::log(1 + std::exp(x)); }),
        row("silu", Function(silu), [](double x) { return x * sigmoid_of(x); }),
        row("gelu", Function(gelu),
            [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }),
        row("gelu_tanh", Function(gelu_tanh),
            [](double x) {
                const double inner = std::sqrt(2 / pi) * (x + 0.044715 * std::pow(x, 3));
                return x * sigmoid_of(2 * inner);
            }),
        row("gaussian", Function(gaussian), [](double x) { return std::exp(-std::pow(x, 2)); }),
        row(
            "clamp", [](const Tensor& x) { return clamp(x, -1.25, 0.8125); },
            [](double x) { return std::fmin(std::fmax(x, -1.25), 0.8125); }),
        power_row(),
    };
}

}  // namespace ralimp::testing
