#include "trainers/formula.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "autograd/jet_operations.h"
#include "autograd/operations.h"

namespace ralimp {
namespace {

std::optional<int> index_of(const std::vector<std::string>& list, std::string_view name) {
    const auto found = std::find(list.begin(), list.end(), name);
    if (found == list.end()) return std::nullopt;
    return static_cast<int>(found - list.begin());
}

// "xxt" as axes in order; nothing when it is not made of axes' names.
std::optional<std::vector<int>> axes_of(std::string_view text,
                                        const std::vector<std::string>& axes) {
    std::vector<int> result;
    while (!text.empty()) {
        // The longest name wins, so that "x1" is not read as "x".
        int best = -1;
        for (int axis = 0; axis < static_cast<int>(axes.size()); ++axis)
            if (text.starts_with(axes[axis]) && (best < 0 || axes[axis].size() > axes[best].size()))
                best = axis;
        if (best < 0) return std::nullopt;
        result.push_back(best);
        text.remove_prefix(axes[best].size());
    }
    std::sort(result.begin(), result.end());
    return result;
}

// Numbers stay numbers until they meet a tensor or jet: u^2 and 2*u then cost one operation.
template <class X>
using Value = std::variant<double, X>;

Tensor power(const Tensor& base, double exponent) {
    if (exponent == 1) return base;
    if (exponent == 2) return square(base);
    return pow(base, exponent);
}
Jet power(const Jet& base, double exponent) { return pow(base, exponent); }

// Beyond the limit it is 0 as far as can be told, and the square in its derivative too large.
Tensor sech(const Tensor& x) {
    const double limit = x.dtype() == DType::float64 ? 350 : 40;
    return reciprocal(cosh(clamp(x, -limit, limit)));
}
Jet sech(const Jet& x) { return apply(static_cast<Tensor (*)(const Tensor&)>(sech), x); }

template <class X>
X apply_function(ExpressionFunction function, const X& x) {
    switch (function) {
        case ExpressionFunction::exp:
            return exp(x);
        case ExpressionFunction::log:
            return log(x);
        case ExpressionFunction::sqrt:
            return sqrt(x);
        case ExpressionFunction::sin:
            return sin(x);
        case ExpressionFunction::cos:
            return cos(x);
        case ExpressionFunction::tan:
            return sin(x) / cos(x);
        case ExpressionFunction::sinh:
            return sinh(x);
        case ExpressionFunction::cosh:
            return cosh(x);
        case ExpressionFunction::tanh:
            return tanh(x);
        case ExpressionFunction::sech:
            return sech(x);
        case ExpressionFunction::erf:
            return erf(x);
        case ExpressionFunction::abs:
            break;
    }
    return abs(x);
}

}  // namespace

Formula::Formula(std::string_view text, const FormulaNames& names)
    : expression_(parse_expression(text)), normal_axes_(names.normal_axes) {
    const auto need = [&](const std::vector<int>& axes) {
        if (!axes.empty() &&
            std::find(derivatives_.begin(), derivatives_.end(), axes) == derivatives_.end())
            derivatives_.push_back(axes);
    };
    for (std::size_t i = 0; i < expression_.names.size(); ++i) {
        meanings_.push_back(meaning_of(expression_.names[i], expression_.columns[i], names));
        const Meaning& meaning = meanings_.back();
        if (meaning.kind == Meaning::output || meaning.kind == Meaning::normal_derivative)
            names_outputs_ = true;
        if (meaning.kind == Meaning::output) need(meaning.axes);
        if (meaning.kind == Meaning::normal_derivative)
            for (int axis = 0; axis < normal_axes_; ++axis) need({axis});
    }
}

Formula::Meaning Formula::meaning_of(const std::string& name, int column,
                                     const FormulaNames& names) const {
    if (const auto axis = index_of(names.axes, name)) return {Meaning::axis, *axis, {}};
    if (const auto output = index_of(names.outputs, name)) return {Meaning::output, *output, {}};
    if (const auto one = index_of(names.coefficients, name))
        return {Meaning::coefficient, *one, {}};
    for (const auto& [constant, value] : names.constants)
        if (name == constant) return {Meaning::constant, 0, {}, value};
    const std::size_t underscore = name.rfind('_');
    if (underscore != std::string::npos && underscore > 0) {
        const std::string_view head = std::string_view(name).substr(0, underscore),
                               tail = std::string_view(name).substr(underscore + 1);
        const auto output = index_of(names.outputs, head);
        if (output && names.normal_axes > 0 && tail == "n")
            return {Meaning::normal_derivative, *output, {}};
        if (head == "n") {
            const auto axis = index_of(names.axes, tail);
            if (axis && *axis < names.normal_axes) return {Meaning::normal, *axis, {}};
        }
        if (output && !tail.empty()) {
            if (const auto axes = axes_of(tail, names.axes)) {
                if (!names.derivatives)
                    fail_in_expression(
                        expression_.text, column,
                        fmt::format("{} is a derivative, which cannot stand here", name));
                if (axes->size() > 3)
                    fail_in_expression(expression_.text, column,
                                       "derivatives above the third are not computed");
                return {Meaning::output, *output, *axes};
            }
        }
    }
    std::string known;
    const auto list = [&](const std::vector<std::string>& more) {
        for (const std::string& word : more) known += (known.empty() ? "" : ", ") + word;
    };
    list(names.axes);
    list(names.outputs);
    if (names.derivatives && !names.outputs.empty() && !names.axes.empty())
        list({names.outputs[0] + "_" + names.axes[0], "…"});
    if (names.normal_axes > 0 && !names.outputs.empty()) list({names.outputs[0] + "_n"});
    list(names.coefficients);
    for (const auto& [constant, value] : names.constants) list({constant});
    fail_in_expression(expression_.text, column,
                       fmt::format("{} is unknown; known are {}", name, known));
}

Tensor Formula::value_of(const Meaning& meaning, const FormulaPoints& at) const {
    const auto column = [](const Tensor& x, int64_t index) {
        return slice(x, 1, index, index + 1);
    };
    switch (meaning.kind) {
        case Meaning::axis:
            return column(at.points, meaning.index);
        case Meaning::coefficient:
            return at.coefficients[static_cast<std::size_t>(meaning.index)];
        case Meaning::normal:
            return column(at.normals, meaning.index);
        case Meaning::constant:
        case Meaning::output:
            break;
        case Meaning::normal_derivative: {
            Tensor sum;
            for (int axis = 0; axis < normal_axes_; ++axis) {
                const Tensor term =
                    column(at.normals, axis) * column(at.u->derivative({axis}), meaning.index);
                sum = sum.defined() ? sum + term : term;
            }
            return sum;
        }
    }
    return column(at.u->derivative(meaning.axes), meaning.index);
}

Jet Formula::value_of(const Meaning& meaning, const FormulaJets& at) const {
    switch (meaning.kind) {
        case Meaning::axis:
            return slice_features(at.points, meaning.index, meaning.index + 1);
        case Meaning::coefficient:
            return constant(at.coefficients[static_cast<std::size_t>(meaning.index)],
                            at.points.shared_plan());
        case Meaning::output:
            if (meaning.axes.empty()) return slice_features(at.u, meaning.index, meaning.index + 1);
            break;
        case Meaning::constant:
        case Meaning::normal:
        case Meaning::normal_derivative:
            break;
    }
    fail("formula: '{}' names a derivative or a normal, which jets do not give", expression_.text);
}

template <class X, class At, class ConstantOf>
X Formula::run(const At& at, const ConstantOf& constant_of) const {
    const auto whole = [&](const Value<X>& value) {
        if (const auto* number = std::get_if<double>(&value)) return constant_of(*number);
        return std::get<X>(value);
    };
    std::vector<Value<X>> results;
    results.reserve(expression_.steps.size());
    for (const ExpressionStep& step : expression_.steps) {
        const Value<X> a =
            step.first < 0 ? Value<X>(0.0) : results[static_cast<std::size_t>(step.first)];
        const Value<X> b =
            step.second < 0 ? Value<X>(0.0) : results[static_cast<std::size_t>(step.second)];
        if (step.operation == ExpressionOperation::name) {
            const Meaning& meaning = meanings_[static_cast<std::size_t>(step.name)];
            if (meaning.kind == Meaning::constant)
                results.emplace_back(meaning.value);
            else
                results.emplace_back(value_of(meaning, at));
            continue;
        }
        const auto* x = std::get_if<double>(&a);
        const auto* y = std::get_if<double>(&b);
        if (x && y) {
            results.emplace_back(ralimp::apply(step, *x, *y));
            continue;
        }
        const auto both = [&](auto operation) { results.push_back(std::visit(operation, a, b)); };
        switch (step.operation) {
            case ExpressionOperation::number:
            case ExpressionOperation::name:
                break;
            case ExpressionOperation::add:
                both([](const auto& p, const auto& q) -> Value<X> { return p + q; });
                break;
            case ExpressionOperation::subtract:
                both([](const auto& p, const auto& q) -> Value<X> { return p - q; });
                break;
            case ExpressionOperation::multiply:
                both([](const auto& p, const auto& q) -> Value<X> { return p * q; });
                break;
            case ExpressionOperation::divide:
                both([](const auto& p, const auto& q) -> Value<X> { return p / q; });
                break;
            case ExpressionOperation::power:
                results.emplace_back(y ? power(std::get<X>(a), *y) : pow(whole(a), std::get<X>(b)));
                break;
            case ExpressionOperation::negate:
                results.emplace_back(neg(std::get<X>(a)));
                break;
            case ExpressionOperation::function:
                results.emplace_back(apply_function(step.function, std::get<X>(a)));
                break;
            case ExpressionOperation::minimum:
                results.emplace_back(minimum(whole(a), whole(b)));
                break;
            case ExpressionOperation::maximum:
                results.emplace_back(maximum(whole(a), whole(b)));
                break;
        }
    }
    return whole(results.back());
}

Tensor Formula::evaluate(const FormulaPoints& at) const {
    const Tensor value = run<Tensor>(
        at, [&](double number) { return Tensor::full({1}, number, at.points.dtype()); });
    return expand(value, {at.points.size(0), 1});
}

Jet Formula::evaluate(const FormulaJets& at) const {
    const auto& plan = at.points.shared_plan();
    const Jet value = run<Jet>(at, [&](double number) {
        return constant(Tensor::full({}, number, at.points.channels().dtype()), plan);
    });
    return Jet(expand(value.channels(), {plan->channels(), at.points.rows(), 1}), plan);
}

}  // namespace ralimp
