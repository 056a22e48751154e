// Rows of the elementwise operations of two tensors, of comparisons, where and to.
#include <cmath>

#include "operation_table.h"

namespace ralimp::testing {
namespace {

using Function = Tensor (*)(const Tensor&, const Tensor&);
using Reference = std::function<double(double, double)>;

Row row(const char* name, std::function<Tensor(const Tensor&, const Tensor&)> operation,
        const Reference& reference, double low = -2, double high = 2, double low_b = -2,
        double high_b = 2) {
    Row result{.name = name, .cases = {}};
    for (const auto& [a, b] : broadcast_pairs())
        result.cases.push_back({{{a, low, high}, {b, low_b, high_b}},
                                [=](const Tensors& x) { return operation(x[0], x[1]); },
                                [=](const Arrays& x) { return zip(x[0], x[1], reference); }});
    return result;
}

// A tensor and a constant, which is 3 so that whole numbers can take part.
Row constant_row(const char* name, std::function<Tensor(const Tensor&)> operation,
                 std::function<double(double)> reference, double low = -2, double high = 2) {
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

// Values of a few whole numbers only, so that many pairs are equal.
Row compare_row(const char* name, Function operation, const Reference& reference) {
    Row result = whole(row(name, operation, reference));
    result.differentiable = false;
    result.result = DType::uint8;
    const std::vector<Case> plain = result.cases;
    for (Case ties : plain) {
        if (ties.inputs[0].shape.elements() > 10000) continue;
        ties.apply = [=](const Tensors& x) {
            return operation(to(to(x[0], DType::int64), x[0].dtype()),
                             to(to(x[1], DType::int64), x[1].dtype()));
        };
        ties.reference = [=](const Arrays& x) {
            return zip(x[0], x[1],
                       [&](double a, double b) { return reference(std::trunc(a), std::trunc(b)); });
        };
        result.cases.push_back(ties);
    }
    return result;
}

Row where_row() {
    Row result{.name = "where", .cases = {}, .whole_numbers = true};
    struct Shapes {
        Shape condition, a, b;
    };
    for (const auto& [condition, a, b] : {Shapes{{3, 5}, {3, 5}, {3, 5}},
                                          {{3, 1}, {5}, {}},
                                          {{}, {3}, {2, 1}},
                                          {{}, {}, {}},
                                          {{4}, {2, 1}, {1, 1, 4}},
                                          {{0}, {1}, {0}},
                                          {{211, 181}, {181}, {211, 1}}})
        result.cases.push_back(
            {{{condition, 0, 1, Kind::condition}, {a}, {b}},
             [](const Tensors& x) { return where(x[0], x[1], x[2]); },
             [](const Arrays& x) {
                 const Shape shape = broadcast_shapes(
                     "where", x[0].shape, broadcast_shapes("where", x[1].shape, x[2].shape));
                 return generate(shape,
                                 [&](const Shape& i) { return x[0](i) ? x[1](i) : x[2](i); });
             }});
    return result;
}

Row conversion_row() {
    Row result{.name = "to", .cases = {}, .result = DType::float64};
    for (const Shape& shape : elementwise_shapes())
        result.cases.push_back({{{shape}},
                                [](const Tensors& x) { return to(x[0], DType::float64); },
                                [](const Arrays& x) { return x[0]; }});
    return result;
}

}  // namespace

Rows binary_rows() {
    Row power = row(
        "pow(Tensor, Tensor)", Function(pow), [](double a, double b) { return std::pow(a, b); },
        0.2, 3);
    power.tolerance_float32 = 4e-6;
    const Reference sum = [](double a, double b) { return a + b; };
    const Reference difference = [](double a, double b) { return a - b; };
    const Reference product = [](double a, double b) { return a * b; };
    const Reference quotient = [](double a, double b) { return a / b; };
    return {
        whole(row("add", add, sum)),
        whole(row("subtract", subtract, difference)),
        whole(row("multiply", multiply, product)),
        row("divide", divide, quotient, -2, 2, 0.4, 3),
        whole(row("maximum", maximum, [](double a, double b) { return std::fmax(a, b); })),
        whole(row("minimum", minimum, [](double a, double b) { return std::fmin(a, b); })),
        power,
        whole(row(
            "operator+(Tensor, Tensor)", [](const Tensor& a, const Tensor& b) { return a + b; },
            sum)),
        whole(row(
            "operator-(Tensor, Tensor)", [](const Tensor& a, const Tensor& b) { return a - b; },
            difference)),
        whole(row(
            "operator*(Tensor, Tensor)", [](const Tensor& a, const Tensor& b) { return a * b; },
            product)),
        row(
            "operator/(Tensor, Tensor)", [](const Tensor& a, const Tensor& b) { return a / b; },
            quotient, -2, 2, 0.4, 3),
        whole(constant_row(
            "operator+(Tensor, double)", [](const Tensor& x) { return x + 3.0; },
            [](double x) { return x + 3; })),
        whole(constant_row(
            "operator+(double, Tensor)", [](const Tensor& x) { return 3.0 + x; },
            [](double x) { return 3 + x; })),
        whole(constant_row(
            "operator-(Tensor, double)", [](const Tensor& x) { return x - 3.0; },
            [](double x) { return x - 3; })),
        whole(constant_row(
            "operator-(double, Tensor)", [](const Tensor& x) { return 3.0 - x; },
            [](double x) { return 3 - x; })),
        whole(constant_row(
            "operator*(Tensor, double)", [](const Tensor& x) { return x * 3.0; },
            [](double x) { return x * 3; })),
        whole(constant_row(
            "operator*(double, Tensor)", [](const Tensor& x) { return 3.0 * x; },
            [](double x) { return 3 * x; })),
        constant_row(
            "operator/(Tensor, double)", [](const Tensor& x) { return x / 3.0; },
            [](double x) { return x / 3; }),
        constant_row(
            "operator/(double, Tensor)", [](const Tensor& x) { return 3.0 / x; },
            [](double x) { return 3 / x; }, 0.4, 3),
        compare_row("equal", equal, [](double a, double b) { return a == b; }),
        compare_row("not_equal", not_equal, [](double a, double b) { return a != b; }),
        compare_row("less", less, [](double a, double b) { return a < b; }),
        compare_row("less_equal", less_equal, [](double a, double b) { return a <= b; }),
        compare_row("greater", greater, [](double a, double b) { return a > b; }),
        compare_row("greater_equal", greater_equal, [](double a, double b) { return a >= b; }),
        where_row(),
        conversion_row(),
    };
}

}  // namespace ralimp::testing
