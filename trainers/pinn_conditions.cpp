// The conditions of a problem, compiled from their configs: formulas and where they hold.
#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "autograd/operations.h"
#include "data/point_file.h"
#include "data/weighted_choice.h"
#include "trainers/boundary_part.h"
#include "trainers/pinn_problem.h"
#include "trainers/pinn_reference.h"

namespace ralimp {

FormulaNames PinnProblem::boundary_names() const {
    FormulaNames names = names_;
    names.normal_axes = static_cast<int>(geometry_->dims());
    return names;
}

std::vector<std::string> PinnProblem::given_outputs(const ConditionOptions& options,
                                                    const std::string& path) const {
    if (options.outputs.empty()) return outputs();
    for (const std::string& name : options.outputs)
        if (std::find(outputs().begin(), outputs().end(), name) == outputs().end())
            fail_with(ExitCode::bad_config, "{}.outputs: {} is no output of the problem", path,
                      name);
    for (const std::string& name : options.outputs)
        if (std::count(options.outputs.begin(), options.outputs.end(), name) > 1)
            fail_with(ExitCode::bad_config, "{}.outputs: {} stands twice", path, name);
    return options.outputs;
}

std::vector<Formula> PinnProblem::differences(
    const ConditionOptions& options, const std::vector<std::string>& values,
    const std::string& path, bool at_boundary,
    const std::function<std::string(const std::string&)>& left) const {
    const std::vector<std::string> given = given_outputs(options, path);
    if (values.size() != given.size())
        fail_with(ExitCode::bad_config, "{}.values: {} formulas for {} outputs ({})", path,
                  values.size(), given.size(), fmt::join(given, ", "));
    const FormulaNames names = at_boundary ? boundary_names() : names_;
    FormulaNames known = names;
    known.outputs.clear();
    std::vector<Formula> formulas;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const std::string place = fmt::format("{}.values[{}]", path, i);
        formula_at(place, values[i], known);  // complains about the text as it stands
        formulas.push_back(
            formula_at(place, fmt::format("{} - ({})", left(given[i]), values[i]), names));
    }
    return formulas;
}

std::function<ConditionPoints(const RandomKey&)> PinnProblem::boundary_draw(
    const ConditionOptions& options, const std::string& where, const std::string& path) const {
    const int64_t count = options.points.value_or(points_.boundary);
    const BoundaryPart part(where, names_.axes, names_.constants, path + ".where");
    return [this, count, part, path](const RandomKey& key) {
        const BoundaryPoints drawn = part.draw(points_.sampler, *geometry_, count, key, time_);
        return ConditionPoints{drawn.points, drawn.normals, {}, {}};
    };
}

PinnCondition PinnProblem::compile(const InitialConditionConfig& config,
                                   const std::string& path) const {
    if (!time_)
        fail_with(ExitCode::bad_config, "{}: an initial condition needs problem.time", path);
    const std::string order(static_cast<std::size_t>(config.derivative), 't');
    PinnCondition condition;
    condition.initial = true;
    condition.formulas = differences(
        config.options, config.values, path, false,
        [&](const std::string& output) { return order.empty() ? output : output + "_" + order; });
    const int64_t count = config.options.points.value_or(points_.initial);
    condition.draw = [this, count](const RandomKey& key) {
        return ConditionPoints{
            initial_points(points_.sampler, *geometry_, count, time_->start, key), {}, {}, {}};
    };
    return condition;
}

PinnCondition PinnProblem::compile(const DirichletConditionConfig& config,
                                   const std::string& path) const {
    PinnCondition condition;
    condition.formulas = differences(config.options, config.values, path, true,
                                     [](const std::string& output) { return output; });
    condition.draw = boundary_draw(config.options, config.where, path);
    return condition;
}

PinnCondition PinnProblem::compile(const NeumannConditionConfig& config,
                                   const std::string& path) const {
    PinnCondition condition;
    condition.formulas = differences(config.options, config.values, path, true,
                                     [](const std::string& output) { return output + "_n"; });
    condition.draw = boundary_draw(config.options, config.where, path);
    return condition;
}

PinnCondition PinnProblem::compile(const RobinConditionConfig& config,
                                   const std::string& path) const {
    formula_at(path + ".value_factor", config.value_factor, boundary_names());
    formula_at(path + ".normal_factor", config.normal_factor, boundary_names());
    PinnCondition condition;
    condition.formulas =
        differences(config.options, config.values, path, true, [&](const std::string& output) {
            return fmt::format("({})*{} + ({})*{}_n", config.value_factor, output,
                               config.normal_factor, output);
        });
    condition.draw = boundary_draw(config.options, config.where, path);
    return condition;
}

PinnCondition PinnProblem::compile(const FormulaConditionConfig& config,
                                   const std::string& path) const {
    PinnCondition condition;
    for (std::size_t i = 0; i < config.formulas.size(); ++i) {
        const std::string place = fmt::format("{}.formulas[{}]", path, i);
        condition.formulas.push_back(formula_at(place, config.formulas[i], boundary_names()));
        if (!condition.formulas.back().names_outputs())
            fail_with(ExitCode::bad_config, "{}: '{}' names no output", place, config.formulas[i]);
    }
    condition.draw = boundary_draw(config.options, config.where, path);
    return condition;
}

PinnCondition PinnProblem::compile(const PeriodicConditionConfig& config,
                                   const std::string& path) const {
    const auto found =
        std::find(names_.axes.begin(), names_.axes.end() - (time_ ? 1 : 0), config.axis);
    const int64_t axis = found - names_.axes.begin();
    if (axis == geometry_->dims())
        fail_with(ExitCode::bad_config, "{}.axis: {} is no axis of the geometry", path,
                  config.axis);
    PinnCondition condition;
    for (const std::string& output : given_outputs(config.options, path)) {
        std::string order;
        for (int64_t k = 0; k <= config.derivatives; ++k) {
            condition.formulas.push_back(
                formula_at(path, k == 0 ? output : output + "_" + order, names_));
            order += config.axis;
        }
    }
    // Both ends of the axis, all else being equal: points of the box without that axis.
    Box side = domain_;
    const double lower = side.lower[static_cast<std::size_t>(axis)];
    const double upper = side.upper[static_cast<std::size_t>(axis)];
    side.lower.erase(side.lower.begin() + axis);
    side.upper.erase(side.upper.begin() + axis);
    const int64_t count = config.options.points.value_or(points_.boundary);
    condition.draw = [this, side, axis, lower, upper, count](const RandomKey& key) {
        if (side.dims() == 0)
            return ConditionPoints{Tensor::full({1, 1}, lower, DType::float64),
                                   {},
                                   Tensor::full({1, 1}, upper, DType::float64),
                                   {}};
        const Tensor others = sample_points(points_.sampler, side, count, key);
        const auto at = [&](double value) {
            const Tensor column = Tensor::full({others.size(0), 1}, value, DType::float64);
            Tensors parts;
            if (axis > 0) parts.push_back(slice(others, 1, 0, axis));
            parts.push_back(column);
            if (axis < others.size(1)) parts.push_back(slice(others, 1, axis, others.size(1)));
            return concatenate(parts, 1);
        };
        return ConditionPoints{at(lower), {}, at(upper), {}};
    };
    return condition;
}

PinnCondition PinnProblem::compile(const PinConditionConfig& config,
                                   const std::string& path) const {
    if (config.at.size() != names_.axes.size())
        fail_with(ExitCode::bad_config, "{}.at: {} numbers for {} axes ({})", path,
                  config.at.size(), names_.axes.size(), fmt::join(names_.axes, ", "));
    for (std::size_t axis = 0; axis < config.at.size(); ++axis)
        if (!(domain_.lower[axis] <= config.at[axis] && config.at[axis] <= domain_.upper[axis]))
            fail_with(ExitCode::bad_config, "{}.at: {} = {} is outside the domain's {} to {}", path,
                      names_.axes[axis], config.at[axis], domain_.lower[axis], domain_.upper[axis]);
    if (config.options.points)
        fail_with(ExitCode::bad_config, "{}.points: a pin has one point", path);
    PinnCondition condition;
    condition.formulas = differences(config.options, config.values, path, false,
                                     [](const std::string& output) { return output; });
    const ConditionPoints at{
        Tensor::from(config.at, {1, static_cast<int64_t>(config.at.size())}), {}, {}, {}};
    condition.draw = [at](const RandomKey&) { return at; };
    return condition;
}

PinnCondition PinnProblem::compile(const PointsConditionConfig& config,
                                   const std::string& path) const {
    const std::vector<std::string> given = given_outputs(config.options, path);
    std::vector<std::string> names = names_.axes;
    names.insert(names.end(), given.begin(), given.end());
    const auto axes = static_cast<int64_t>(names_.axes.size());
    Tensor table;
    try {
        table = read_point_file(config.file.string(), names);
    } catch (const Error& error) {
        fail_with(error.code(), "{}.file: {}", path, error.what());
    }
    PinnCondition condition;
    for (const std::string& output : given)
        condition.formulas.push_back(formula_at(path, output, names_));
    const Tensor all_points = slice(table, 1, 0, axes).contiguous();
    const double* at = all_points.data<double>();
    for (int64_t row = 0; row < all_points.size(0); ++row)
        for (std::size_t axis = 0; axis < names_.axes.size(); ++axis, ++at)
            if (!(domain_.lower[axis] <= *at && *at <= domain_.upper[axis]))
                fail_with(ExitCode::bad_input,
                          "{}.file: {}: row {} has {} = {}, outside the domain's {} to {}", path,
                          config.file.string(), row + 1, names_.axes[axis], *at,
                          domain_.lower[axis], domain_.upper[axis]);
    if (config.options.points)
        fail_with(ExitCode::bad_config, "{}.points: all rows of the file are used", path);
    const ConditionPoints all{
        all_points, {}, {}, slice(table, 1, axes, table.size(1)).contiguous()};
    condition.draw = [all](const RandomKey&) { return all; };
    return condition;
}

PinnCondition PinnProblem::compile(const MeasurementsConditionConfig& config,
                                   const std::string& path) const {
    if (!reference_ && !has_formula_)
        fail_with(ExitCode::bad_config,
                  "{}: measures the known solution; give problem.exact or problem.reference", path);
    const std::vector<std::string> given = given_outputs(config.options, path);
    PinnCondition condition;
    for (const std::string& output : given)
        condition.formulas.push_back(formula_at(path, output, names_));
    const int64_t count = *config.options.points;
    const auto measure = [this, given, count, noise = config.noise](const RandomKey& key) {
        const RandomKey own{key.seed, key.stream, 0};
        const auto [points, solution] = random_solution_points(own, count);
        const Tensor errors = random_normal({points.size(0), solution.size(1)},
                                            {key.seed, RandomStream::noise, 0}, DType::float64);
        Tensors columns;
        for (const std::string& output : given) {
            const auto found = std::find(names_.outputs.begin(), names_.outputs.end(), output);
            const int64_t at = found - names_.outputs.begin();
            const Tensor values = slice(solution, 1, at, at + 1);
            const Tensor centered = values - mean(values);
            const double deviation = std::sqrt(mean(square(centered)).item());
            columns.push_back(values + slice(errors, 1, at, at + 1) * (noise * deviation));
        }
        return ConditionPoints{points, {}, {}, concatenate(columns, 1)};
    };
    // What was measured once stays, whichever draw of the other points it is.
    condition.draw =
        [measure, kept = std::make_shared<std::optional<ConditionPoints>>()](const RandomKey& key) {
            if (!*kept) *kept = measure(key);
            return **kept;
        };
    return condition;
}

std::pair<Tensor, Tensor> PinnProblem::random_solution_points(const RandomKey& key,
                                                              int64_t count) const {
    if (!reference_) {
        RandomKey own = key;
        own.step = 0xFFFFFFF0u;  // no draw of residual points
        const Tensor points = interior_points(Sampler::uniform, *geometry_, count, own, time_);
        return {points, exact(points)};
    }
    const PinnReference reference = reference_from_file(*this, *reference_);
    const Tensor weights = to(reference.inside, DType::float64);
    if (const double nodes = sum(weights).item(); nodes < static_cast<double>(count))
        fail_with(ExitCode::bad_config, "problem.conditions: {} measurements of {} points of {}",
                  count, nodes, reference_->string());
    const Tensor rows = choose_weighted({key.seed, RandomStream::noise, 1}, weights, count);
    return {index_select(reference.points, 0, rows), index_select(reference.values, 0, rows)};
}

}  // namespace ralimp
