// Formulas in text, such as "u_t + u*u_x - nu*u_xx", parsed into steps that compute one number
// each. Parsing alone: what a name means and which numbers it stands for, the caller says.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ralimp {

enum class ExpressionOperation : uint8_t {
    number,
    name,
    add,
    subtract,
    multiply,
    divide,
    power,
    negate,
    function,
    minimum,
    maximum
};

enum class ExpressionFunction : uint8_t {
    exp,
    log,
    sqrt,
    sin,
    cos,
    tan,
    sinh,
    cosh,
    tanh,
    sech,
    erf,
    abs
};

// One step; `first` and `second` are the numbers of the steps it computes with.
struct ExpressionStep {
    ExpressionOperation operation;
    int32_t first = -1;
    int32_t second = -1;
    double number = 0;                                      // of a number
    int32_t name = -1;                                      // of a name: index into names
    ExpressionFunction function = ExpressionFunction::exp;  // of a function
};

struct Expression {
    std::string text;
    std::vector<ExpressionStep> steps;  // operands before what uses them; the last is the result
    std::vector<std::string> names;     // in the order of their first use, each once
    std::vector<int32_t> columns;       // where each name first stands, from 1
};

// Operators + - * / ^ (or **, of the right first and before a sign: -x^2 is -(x^2)), parentheses,
// numbers as C has them, pi, the functions above and min(a, b), max(a, b). Throws Error with the
// column, the text and a mark below the place: nothing else is accepted, nothing is executed.
Expression parse_expression(std::string_view text);

// The same for the part [begin, end) of a text, such as one side of a comparison. Complaints show
// the whole text, and columns are its.
Expression parse_expression_in(std::string_view text, std::size_t begin, std::size_t end);

// "…: message, then the text and a mark under the column": how every complaint about an expression
// looks.
[[noreturn]] void fail_in_expression(std::string_view text, int64_t column,
                                     std::string_view message);

// One step for plain numbers; a name is none.
double apply(const ExpressionStep& step, double first, double second);

// The value for plain numbers, one for each of expression.names.
double evaluate(const Expression& expression, const std::vector<double>& values);

}  // namespace ralimp
