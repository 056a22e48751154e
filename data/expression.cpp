#include "data/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/error.h"

namespace ralimp {
namespace {

constexpr std::size_t longest_text = 4096;
// Parentheses, signs and powers inside each other: the parser recurses that deep.
constexpr int deepest = 100;

constexpr std::array functions{
    std::pair{"exp", ExpressionFunction::exp},   std::pair{"log", ExpressionFunction::log},
    std::pair{"sqrt", ExpressionFunction::sqrt}, std::pair{"sin", ExpressionFunction::sin},
    std::pair{"cos", ExpressionFunction::cos},   std::pair{"tan", ExpressionFunction::tan},
    std::pair{"sinh", ExpressionFunction::sinh}, std::pair{"cosh", ExpressionFunction::cosh},
    std::pair{"tanh", ExpressionFunction::tanh}, std::pair{"sech", ExpressionFunction::sech},
    std::pair{"erf", ExpressionFunction::erf},   std::pair{"abs", ExpressionFunction::abs}};

std::string function_names() {
    std::string names;
    for (const auto& [name, function] : functions) names += std::string(name) + ", ";
    return names + "min, max";
}

// The locale plays no part in either.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

double apply(ExpressionFunction function, double x) {
    switch (function) {
        case ExpressionFunction::exp:
            return std::exp(x);
        case ExpressionFunction::log:
            return std::log(x);
        case ExpressionFunction::sqrt:
            return std::sqrt(x);
        case ExpressionFunction::sin:
            return std::sin(x);
        case ExpressionFunction::cos:
            return std::cos(x);
        case ExpressionFunction::tan:
            return std::tan(x);
        case ExpressionFunction::sinh:
            return std::sinh(x);
        case ExpressionFunction::cosh:
            return std::cosh(x);
        case ExpressionFunction::tanh:
            return std::tanh(x);
        case ExpressionFunction::sech:
            return 1 / std::cosh(x);
        case ExpressionFunction::erf:
            return std::erf(x);
        case ExpressionFunction::abs:
            return std::abs(x);
    }
    return x;
}

// Recursive descent, one function a level of the grammar.
class Parser {
public:
    Parser(std::string_view text, std::size_t begin, std::size_t end)
        : whole_(text), text_(text.substr(0, end)), position_(begin) {
        result_.text = text.substr(begin, end - begin);
    }

    Expression parse() {
        if (whole_.size() > longest_text)
            fail("expression: {} characters; at most {} are read", whole_.size(), longest_text);
        skip_spaces();
        if (at_end()) complain("an expression is expected");
        sum();
        if (!at_end()) complain("an operator or the end is expected");
        return std::move(result_);
    }

private:
    using Operation = ExpressionOperation;

    // Each returns the number of the step it ends with.
    int32_t sum() {
        int32_t left = product();
        for (;;) {
            if (take('+'))
                left = add({Operation::add, left, product()});
            else if (take('-'))
                left = add({Operation::subtract, left, product()});
            else
                return left;
        }
    }

    int32_t product() {
        int32_t left = factor();
        for (;;) {
            if (peek("**")) return left;  // only after an error in factor(); never taken as *
            if (take('*'))
                left = add({Operation::multiply, left, factor()});
            else if (take('/'))
                left = add({Operation::divide, left, factor()});
            else
                return left;
        }
    }

    int32_t factor() {
        const Depth depth(*this);
        if (take('-')) return add({Operation::negate, factor()});
        if (take('+')) return factor();
        const int32_t base = primary();
        if (!take('^') && !take_power()) return base;
        return add({Operation::power, base, factor()});
    }

    int32_t primary() {
        if (at_end()) complain("a number, a name or ( is expected, not the end");
        const char c = text_[position_];
        if (take('(')) {
            const Depth depth(*this);
            const int32_t inner = sum();
            expect(')');
            return inner;
        }
        if (is_digit(c) || c == '.') return number();
        if (is_letter(c)) return name();
        complain(fmt::format("a number, a name or ( is expected, not {}", shown(c)));
    }

    int32_t number() {
        double value = 0;
        const char* const begin = text_.data() + position_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error != std::errc() || !std::isfinite(value)) complain("this is no number");
        position_ += static_cast<std::size_t>(end - begin);
        if (!at_end() &&
            (is_letter(text_[position_]) || is_digit(text_[position_]) || text_[position_] == '.'))
            complain("an operator is expected after the number (2x is written 2*x)");
        skip_spaces();
        ExpressionStep step{Operation::number};
        step.number = value;
        return add(step);
    }

    int32_t name() {
        const std::size_t begin = position_;
        while (!at_end() && (is_letter(text_[position_]) || is_digit(text_[position_])))
            ++position_;
        const std::string word(text_.substr(begin, position_ - begin));
        skip_spaces();
        if (!at_end() && text_[position_] == '(') return call(word, begin);
        if (word == "pi") {
            ExpressionStep step{Operation::number};
            step.number = std::numbers::pi;
            return add(step);
        }
        for (const auto& [known, function] : functions)
            if (word == known) complain(fmt::format("{} is a function: {}(…)", word, word), begin);
        auto& names = result_.names;
        auto found = std::find(names.begin(), names.end(), word);
        if (found == names.end()) {
            result_.columns.push_back(static_cast<int32_t>(begin) + 1);
            found = names.insert(names.end(), word);
        }
        ExpressionStep step{Operation::name};
        step.name = static_cast<int32_t>(found - names.begin());
        return add(step);
    }

    int32_t call(const std::string& word, std::size_t begin) {
        const Depth depth(*this);
        expect('(');
        if (word == "min" || word == "max") {
            const int32_t first = sum();
            expect(',');
            const int32_t second = sum();
            expect(')');
            return add({word == "min" ? Operation::minimum : Operation::maximum, first, second});
        }
        for (const auto& [known, function] : functions) {
            if (word != known) continue;
            ExpressionStep step{Operation::function, sum()};
            expect(')');
            step.function = function;
            return add(step);
        }
        complain(fmt::format("{} is no function; known are {}", word, function_names()), begin);
    }

    int32_t add(const ExpressionStep& step) {
        result_.steps.push_back(step);
        return static_cast<int32_t>(result_.steps.size()) - 1;
    }

    bool at_end() const { return position_ == text_.size(); }
    bool peek(std::string_view what) const { return text_.substr(position_).starts_with(what); }

    bool take(char c) {
        if (at_end() || text_[position_] != c || (c == '*' && peek("**"))) return false;
        ++position_;
        skip_spaces();
        return true;
    }

    bool take_power() {
        if (!peek("**")) return false;
        position_ += 2;
        skip_spaces();
        return true;
    }

    void expect(char c) {
        if (take(c)) return;
        complain(at_end() ? fmt::format("{} is missing at the end", c)
                          : fmt::format("{} is expected, not {}", c, shown(text_[position_])));
    }

    void skip_spaces() {
        while (!at_end() && (text_[position_] == ' ' || text_[position_] == '\t' ||
                             text_[position_] == '\n' || text_[position_] == '\r'))
            ++position_;
    }

    static std::string shown(char c) {
        if (c > ' ' && c < 127) return std::string(1, c);
        return fmt::format("the byte 0x{:02x}", static_cast<unsigned char>(c));
    }

    [[noreturn]] void complain(std::string_view message) const { complain(message, position_); }
    [[noreturn]] void complain(std::string_view message, std::size_t position) const {
        fail_in_expression(whole_, static_cast<int64_t>(position) + 1, message);
    }

    struct Depth {
        Parser& parser;
        explicit Depth(Parser& p) : parser(p) {
            if (++parser.depth_ > deepest) parser.complain("too deep; simplify the expression");
        }
        ~Depth() { --parser.depth_; }
        Depth(const Depth&) = delete;
        Depth& operator=(const Depth&) = delete;
    };

    std::string_view whole_;
    std::string_view text_;  // up to where the expression ends
    std::size_t position_;
    int depth_ = 0;
    Expression result_;
};

}  // namespace

void fail_in_expression(std::string_view text, int64_t column, std::string_view message) {
    // One line shows it, whatever line breaks it was written with.
    std::string line(text);
    for (char& c : line)
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    fail("expression, column {}: {}\n    {}\n    {:>{}}", column, message, line, "^", column);
}

Expression parse_expression(std::string_view text) {
    return parse_expression_in(text, 0, text.size());
}

Expression parse_expression_in(std::string_view text, std::size_t begin, std::size_t end) {
    return Parser(text, begin, end).parse();
}

double apply(const ExpressionStep& step, double first, double second) {
    switch (step.operation) {
        case ExpressionOperation::number:
            return step.number;
        case ExpressionOperation::name:
            break;
        case ExpressionOperation::add:
            return first + second;
        case ExpressionOperation::subtract:
            return first - second;
        case ExpressionOperation::multiply:
            return first * second;
        case ExpressionOperation::divide:
            return first / second;
        case ExpressionOperation::power:
            return std::pow(first, second);
        case ExpressionOperation::negate:
            return -first;
        case ExpressionOperation::function:
            return apply(step.function, first);
        case ExpressionOperation::minimum:
            return std::isnan(first) || std::isnan(second) ? std::nan("") : std::min(first, second);
        case ExpressionOperation::maximum:
            return std::isnan(first) || std::isnan(second) ? std::nan("") : std::max(first, second);
    }
    fail("expression: a name has no value of its own");
}

double evaluate(const Expression& expression, const std::vector<double>& values) {
    check(values.size() == expression.names.size(), "expression '{}': {} values for {} names",
          expression.text, values.size(), expression.names.size());
    std::vector<double> results;
    results.reserve(expression.steps.size());
    const auto result_of = [&](int32_t step) {
        return step < 0 ? 0.0 : results[static_cast<std::size_t>(step)];
    };
    for (const ExpressionStep& step : expression.steps)
        results.push_back(step.operation == ExpressionOperation::name
                              ? values[static_cast<std::size_t>(step.name)]
                              : apply(step, result_of(step.first), result_of(step.second)));
    return results.back();
}

}  // namespace ralimp
