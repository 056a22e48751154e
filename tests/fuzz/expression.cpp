// Formulas: parsed, computed for numbers and for tensors. Where only exactly rounded operations
// occur, both must give the same bits.
#include "data/expression.h"

#include <cmath>
#include <cstring>

#include "tests/fuzz/fuzz.h"
#include "trainers/formula.h"

namespace {

using namespace ralimp;

bool is_exactly_rounded(const Expression& expression) {
    return std::all_of(expression.steps.begin(), expression.steps.end(), [](const auto& step) {
        return step.operation != ExpressionOperation::power &&
               step.operation != ExpressionOperation::function;
    });
}

bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    Expression expression;
    if (!fuzz::accepts([&] { expression = parse_expression(text); }, ExitCode::failure, 3))
        return 0;
    evaluate(expression, std::vector<double>(expression.names.size(), 0.5));

    FormulaNames names;
    names.axes = {"x", "t"};
    names.constants = {{"nu", 0.25}};
    const Tensor points = Tensor::from(std::vector<double>{0.3, -2.0, 0.0, 1e9}, {2, 2});
    fuzz::accepts(
        [&] {
            const Formula formula(text, names);
            const Tensor values = formula.evaluate({nullptr, points, {}, {}});
            if (!is_exactly_rounded(expression)) return;
            for (int64_t row = 0; row < 2; ++row) {
                std::vector<double> numbers;
                for (const std::string& name : expression.names)
                    numbers.push_back(name == "nu"  ? 0.25
                                      : name == "x" ? points.data<double>()[2 * row]
                                                    : points.data<double>()[2 * row + 1]);
                fuzz::require(
                    same(values.contiguous().data<double>()[row], evaluate(expression, numbers)),
                    "tensors and numbers differ");
            }
        },
        ExitCode::failure, 3);

    names.outputs = {"u", "v"};
    names.coefficients = {"lambda"};
    names.normal_axes = 1;
    fuzz::accepts([&] { Formula(text, names); }, ExitCode::failure, 3);
    return 0;
}
