#include "trainers/pinn_problem.h"

#include <algorithm>
#include <set>

#include "autograd/operations.h"

namespace ralimp {
namespace {

bool is_name(const std::string& text) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
        return letter(c) || (c >= '0' && c <= '9') || c == '_';
    });
}

// Columns of metrics.csv that are not terms of the loss.
bool is_reserved(const std::string& name) {
    for (const char* known :
         {"step", "loss", "learning_rate", "gradient_norm", "seconds", "max_error", "residual_rms"})
        if (name == known) return true;
    for (const char* prefix : {"relative_l2", "rms_error", "coefficient_", "weight_", "causal_"})
        if (name.starts_with(prefix)) return true;
    return false;
}

// Four numbers a draw: the equations' and three conditions'; further ones have seeds of their own.
RandomKey condition_key(const RandomKey& key, std::size_t condition) {
    RandomKey result = key;
    result.seed += static_cast<uint64_t>(condition / 3) << 32;
    result.step = key.step * 4 + 1 + static_cast<uint32_t>(condition % 3);
    return result;
}

std::vector<std::string> axis_names(const CustomProblemConfig& config, int64_t dims) {
    std::vector<std::string> axes = config.axes;
    if (axes.empty()) axes = {"x", "y", "z"};
    if (config.axes.empty()) axes.resize(static_cast<std::size_t>(dims));
    if (static_cast<int64_t>(axes.size()) != dims)
        fail_with(ExitCode::bad_config, "problem.axes: {} names for a geometry of {} axes",
                  axes.size(), dims);
    if (config.time) axes.emplace_back("t");
    return axes;
}

}  // namespace

Formula formula_at(const std::string& path, std::string_view text, const FormulaNames& names) {
    try {
        return Formula(text, names);
    } catch (const Error& error) {
        fail_with(ExitCode::bad_config, "{}: {}", path, error.what());
    }
}

PinnProblem::PinnProblem(const CustomProblemConfig& config, const PointsConfig& points)
    : points_(points),
      reference_(config.reference),
      has_formula_(!config.exact.empty()),
      geometry_(make_geometry(config.geometry, "problem.geometry")) {
    domain_ = geometry_->bounding_box();
    if (config.time) {
        time_ = TimeInterval{(*config.time)[0], (*config.time)[1]};
        domain_.lower.push_back(time_->start);
        domain_.upper.push_back(time_->end);
    }
    names_.axes = axis_names(config, geometry_->dims());
    names_.outputs = config.outputs;
    for (const CoefficientConfig& coefficient : config.coefficients) {
        if (!coefficient.train) {
            names_.constants.emplace_back(coefficient.name, coefficient.value);
            continue;
        }
        names_.coefficients.push_back(coefficient.name);
        trained_.push_back(coefficient);
    }
    std::set<std::string> known{"pi", "n"};
    const auto declare = [&](const std::string& name, const char* path) {
        if (!is_name(name))
            fail_with(ExitCode::bad_config,
                      "problem.{}: '{}' is no name; a letter, then letters, digits and _", path,
                      name);
        if (!known.insert(name).second)
            fail_with(ExitCode::bad_config, "problem.{}: the name '{}' is taken already", path,
                      name);
    };
    for (const std::string& name : names_.axes) declare(name, "axes");
    for (const std::string& name : names_.outputs) declare(name, "outputs");
    for (const auto& coefficient : config.coefficients) declare(coefficient.name, "coefficients");
    for (const std::string& name : names_.axes)
        if (name.find('_') != std::string::npos)
            fail_with(ExitCode::bad_config,
                      "problem.axes: '{}' has a _, which stands between an output and its axes",
                      name);
    for (const std::string& name : known) {
        const std::string head = name.substr(0, name.find_last_of('_'));
        if (head != name && (head == "n" || std::find(names_.outputs.begin(), names_.outputs.end(),
                                                      head) != names_.outputs.end()))
            fail_with(ExitCode::bad_config, "problem: the name '{}' reads as {} of {}", name,
                      head == "n" ? "a component" : "a derivative", head);
    }

    for (std::size_t i = 0; i < config.equations.size(); ++i) {
        equations_.push_back(
            {config.equations.size() == 1 ? "residual" : fmt::format("residual_{}", i + 1),
             formula_at(fmt::format("problem.equations[{}]", i), config.equations[i], names_)});
        if (!equations_.back().formula.names_outputs())
            fail_with(ExitCode::bad_config, "problem.equations[{}]: '{}' names no output", i,
                      config.equations[i]);
    }
    for (std::size_t i = 0; i < config.conditions.size(); ++i)
        add_condition(config.conditions[i], fmt::format("problem.conditions[{}]", i));

    if (config.exact.empty()) return;
    if (config.exact.size() != outputs().size())
        fail_with(ExitCode::bad_config, "problem.exact: {} formulas for {} outputs",
                  config.exact.size(), outputs().size());
    FormulaNames names = names_;
    names.outputs.clear();
    names.coefficients.clear();
    std::vector<Formula> formulas;
    for (std::size_t i = 0; i < config.exact.size(); ++i)
        formulas.push_back(formula_at(fmt::format("problem.exact[{}]", i), config.exact[i], names));
    exact = [formulas](const Tensor& at) {
        Tensors columns;
        for (const Formula& formula : formulas)
            columns.push_back(formula.evaluate({.points = at, .normals = {}, .coefficients = {}}));
        return concatenate(columns, 1);
    };
}

Tensor PinnProblem::residual_points(const RandomKey& key, int64_t count) const {
    RandomKey own = key;
    own.step = key.step * 4;
    return interior_points(points_.sampler, *geometry_, count, own, time_);
}

void PinnProblem::add_condition(const ConditionConfig& config, const std::string& path) {
    PinnCondition condition = std::visit(
        [&](const auto& one) {
            PinnCondition compiled = compile(one, path);
            compiled.name = one.options.name.empty() ? std::string(one.kind) : one.options.name;
            compiled.weight = one.options.weight;
            return compiled;
        },
        config);
    if (!is_name(condition.name) || is_reserved(condition.name))
        fail_with(ExitCode::bad_config, "{}.name: '{}' {}", path, condition.name,
                  is_name(condition.name) ? "is what a column of metrics.csv is called already"
                                          : "is no name; a letter, then letters, digits and _");
    const std::string name = condition.name;
    const auto among = [](const auto& terms, const std::string& candidate) {
        return std::any_of(terms.begin(), terms.end(),
                           [&](const auto& other) { return other.name == candidate; });
    };
    // Also of several equations, residual_1 and so on, points.csv calls the points residual.
    if (name == "residual" || among(equations_, name))
        fail_with(ExitCode::bad_config,
                  "{}.name: '{}' is what the equations' term is called already", path, name);
    // Two conditions of one kind get the names dirichlet and dirichlet_2.
    const auto taken = [&](const std::string& candidate) {
        return among(conditions_, candidate) || among(equations_, candidate);
    };
    for (int number = 2; taken(condition.name); ++number)
        condition.name = fmt::format("{}_{}", name, number);
    const std::size_t index = conditions_.size();
    condition.draw = [draw = std::move(condition.draw), index](const RandomKey& key) {
        return draw(condition_key(key, index));
    };
    conditions_.push_back(std::move(condition));
}

}  // namespace ralimp
