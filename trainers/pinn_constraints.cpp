#include "trainers/pinn_constraints.h"

#include <algorithm>

#include <fmt/ranges.h>

namespace ralimp {
namespace {

void check_unique(const std::vector<std::string>& names, const char* key) {
    for (const std::string& name : names)
        if (std::count(names.begin(), names.end(), name) > 1)
            fail_with(ExitCode::bad_config, "constraints.{}: {} stands twice", key, name);
}

}  // namespace

PeriodicInputs periodic_inputs(const ConstraintsConfig& config, const PinnProblem& problem) {
    check_unique(config.periodic, "periodic");
    PeriodicInputs inputs{{}, config.harmonics};
    for (const std::string& name : config.periodic) {
        const auto found = std::find(problem.axes().begin(), problem.axes().end(), name);
        if (found == problem.axes().end())
            fail_with(ExitCode::bad_config,
                      "constraints.periodic: {} is no axis of the problem; its axes are {}", name,
                      fmt::join(problem.axes(), ", "));
        inputs.axes.push_back(found - problem.axes().begin());
    }
    return inputs;
}

std::vector<Formula> output_formulas(const ConstraintsConfig& config, const PinnProblem& problem) {
    if (config.outputs.empty()) return {};
    if (config.outputs.size() != problem.outputs().size())
        fail_with(ExitCode::bad_config, "constraints.outputs: {} formulas for {} outputs ({})",
                  config.outputs.size(), problem.outputs().size(),
                  fmt::join(problem.outputs(), ", "));
    FormulaNames names = problem.names();
    names.derivatives = false;
    std::vector<Formula> formulas;
    for (std::size_t i = 0; i < config.outputs.size(); ++i) {
        const std::string path = fmt::format("constraints.outputs[{}]", i);
        formulas.push_back(formula_at(path, config.outputs[i], names));
        if (!formulas.back().names_outputs())
            fail_with(ExitCode::bad_config, "{}: '{}' names no output of the network", path,
                      config.outputs[i]);
    }
    return formulas;
}

std::vector<const PinnCondition*> enforced_conditions(const ConstraintsConfig& config,
                                                      const PinnProblem& problem) {
    check_unique(config.leave_out, "leave_out");
    std::vector<std::string> known;
    std::vector<const PinnCondition*> enforced;
    for (const PinnCondition& condition : problem.conditions()) {
        known.push_back(condition.name);
        if (std::find(config.leave_out.begin(), config.leave_out.end(), condition.name) ==
            config.leave_out.end())
            enforced.push_back(&condition);
    }
    for (const std::string& name : config.leave_out)
        if (std::find(known.begin(), known.end(), name) == known.end())
            fail_with(ExitCode::bad_config,
                      "constraints.leave_out: {} is no condition of the problem; its conditions "
                      "are {}",
                      name, known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
    return enforced;
}

}  // namespace ralimp
