// What a PINN computes beside its loss: values and residuals at points, figures, data, pictures.
#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/operations.h"
#include "data/point_file.h"
#include "trainers/pinn.h"

namespace ralimp {
namespace {

PinnReference choose_reference(const PinnProblem& problem, const CustomProblemConfig& text,
                               const std::optional<std::vector<int64_t>>& given,
                               const std::string& key) {
    if (text.reference) {
        if (given)
            fail_with(ExitCode::bad_config, "{}: the run is compared with {} on the grid of that",
                      key, text.reference->string());
        return reference_from_file(problem, *text.reference);
    }
    const std::size_t axes = problem.axes().size();
    if (given) {
        check_grid(problem, *given, key);
        return reference_on_grid(problem, *given);
    }
    if (axes == 2 && problem.time()) return reference_on_grid(problem, {256, 100});
    constexpr int64_t along_each[] = {1024, 128, 64, 24};
    return reference_on_grid(problem, std::vector<int64_t>(axes, along_each[axes - 1]));
}

// The key is where the grid was given, for complaints.
PinnReference make_reference(const PinnProblem& problem, const CustomProblemConfig& text,
                             const std::optional<std::vector<int64_t>>& given,
                             const std::string& key) {
    PinnReference reference = choose_reference(problem, text, given, key);
    if (rows_where(reference.points, reference.inside).size(0) == 0)
        fail_with(ExitCode::bad_config, "{}: none of its points lies in the geometry", key);
    // Formulas are quickly computed, and mistaken ones noticed before the training.
    if (!text.exact.empty()) reference.values = in_pieces(reference.points, problem.exact);
    if (reference.values.defined() &&
        !std::isfinite(sum(abs(rows_where(reference.values, reference.inside))).item()))
        fail_with(ExitCode::bad_config, "problem.exact: infinite or NaN at a point of the grid");
    return reference;
}

// Where points [rows, axes] lie in the domain, the time included: [rows] uint8.
Tensor inside_of_domain(const PinnProblem& problem, const Tensor& points) {
    Tensor inside = inside_of(problem, points);
    if (!problem.time()) return inside;
    const Tensor time = select(points, 1, points.size(1) - 1);
    const Tensor none = Tensor::zeros(inside.shape(), DType::uint8);
    inside = where(greater_equal(time, Tensor::scalar(problem.time()->start, DType::float64)),
                   inside, none);
    return where(less_equal(time, Tensor::scalar(problem.time()->end, DType::float64)), inside,
                 none);
}

// The solution by its formula where the mask is not 0, NaN elsewhere: [rows, outputs].
Tensor exact_inside(const PinnProblem& problem, const Tensor& points, const Tensor& inside) {
    const auto outputs = static_cast<int64_t>(problem.outputs().size());
    const Tensor nothing =
        Tensor::full({1, 1}, std::numeric_limits<double>::quiet_NaN(), DType::float64);
    // A formula need not be defined elsewhere: such points are replaced by one that is inside.
    const Tensor chosen = rows_where(points, inside);
    if (chosen.size(0) == 0) return expand(nothing, {points.size(0), outputs});
    const Tensor mask = unsqueeze(inside, 1);
    const Tensor values = in_pieces(where(mask, points, slice(chosen, 0, 0, 1)), problem.exact);
    return where(mask, values, nothing);
}

double root_mean_square(const Tensor& x) { return std::sqrt(mean(square(x)).item()); }

// Of a solution whose values are all 0, or what rounding leaves of 0 in solutions of size 1.
bool is_nearly_zero(double size, double size_of_all) {
    return size <= 1e-12 * std::max(1.0, size_of_all);
}

}  // namespace

Tensor PinnTask::outputs_at(const Tensor& points) const {
    return to(in_pieces(to(points, dtype_), [&](const Tensor& x) { return model_->forward(x); }),
              DType::float64);
}

Tensor PinnTask::residuals(const Tensor& points) const {
    return to(
        in_pieces(to(points, dtype_),
                  [&](const Tensor& x) {
                      const Tensors coefficients = model_->coefficients();
                      const Jet u = model_->forward(Jet::input(x, plan_));
                      Tensors columns;
                      for (const PinnEquation& equation : problem_->equations())
                          columns.push_back(equation.formula.evaluate({&u, x, {}, coefficients}));
                      return concatenate(columns, 1);
                  }),
        DType::float64);
}

PinnReference& PinnTask::reference() const {
    if (!reference_)
        reference_ = make_reference(*problem_, text_, config_.evaluation.grid, "evaluation.grid");
    return *reference_;
}

const Tensor& PinnTask::solution() const {
    PinnReference& at = reference();
    if (!at.values.defined() && problem_->exact) at.values = in_pieces(at.points, problem_->exact);
    return at.values;
}

std::vector<std::string> PinnTask::figure_names(const Tensor& expected) const {
    std::vector<std::string> names;
    const double whole = expected.defined() ? root_mean_square(expected) : 1;
    const auto error_name = [&](double size) {
        return std::string(is_nearly_zero(size, whole) ? absolute_error_name : "relative_l2");
    };
    if (!solution_is_known()) {
        names = {"residual_rms"};
    } else {
        names = {error_name(whole), "max_error"};
        const std::vector<std::string>& outputs = problem_->outputs();
        for (std::size_t i = 0; outputs.size() > 1 && i < outputs.size(); ++i)
            names.push_back(
                error_name(expected.defined()
                               ? root_mean_square(select(expected, 1, static_cast<int64_t>(i)))
                               : 1) +
                "_" + outputs[i]);
    }
    for (const CoefficientConfig& coefficient : problem_->trained_coefficients())
        names.push_back("coefficient_" + coefficient.name);
    return names;
}

std::vector<std::string> PinnTask::metric_names() const {
    return figure_names(solution_is_known() ? rows_where(solution(), reference().inside)
                                            : Tensor());
}

NamedValues PinnTask::evaluate() {
    solution();
    return figures(reference());
}

NamedValues PinnTask::evaluate_on(const std::vector<int64_t>& grid) {
    PinnReference at = make_reference(*problem_, text_, grid, "--grid");
    if (!at.values.defined() && problem_->exact) at.values = in_pieces(at.points, problem_->exact);
    return figures(at);
}

NamedValues PinnTask::figures(const PinnReference& at) const {
    std::vector<double> numbers;
    Tensor expected;
    const Tensor points = rows_where(at.points, at.inside);
    if (!solution_is_known()) {
        numbers.push_back(root_mean_square(residuals(points)));
    } else {
        expected = rows_where(at.values, at.inside);
        const Tensor values = outputs_at(points);
        const double whole = root_mean_square(expected);
        const auto error = [&](const Tensor& x, const Tensor& y) {
            const double size = root_mean_square(y);
            return root_mean_square(x - y) / (is_nearly_zero(size, whole) ? 1 : size);
        };
        numbers.push_back(error(values, expected));
        numbers.push_back(max(abs(values - expected)).item());
        const int64_t outputs = values.size(1);
        for (int64_t output = 0; outputs > 1 && output < outputs; ++output)
            numbers.push_back(error(select(values, 1, output), select(expected, 1, output)));
    }
    for (const Tensor& coefficient : model_->coefficients()) numbers.push_back(coefficient.item());
    const std::vector<std::string> names = figure_names(expected);
    NamedValues result;
    for (std::size_t i = 0; i < names.size(); ++i) result.emplace_back(names[i], numbers[i]);
    return result;
}

FieldData PinnTask::predict(const PredictionPlace& place) {
    if (!place.points.empty()) {
        const Tensor points = read_point_file(place.points.string(), problem_->axes());
        const Tensor inside = inside_of_domain(*problem_, points);
        return with_values({problem_->axes(), {}, points, inside, {}, {}},
                           problem_->exact ? exact_inside(*problem_, points, inside) : Tensor());
    }
    if (place.grid.empty()) {
        const Tensor known = solution();
        const PinnReference& at = reference();
        return with_values({problem_->axes(), at.positions, at.points, at.inside, {}, {}}, known);
    }
    check_grid(*problem_, place.grid, "--grid");
    const PinnReference at = reference_on_grid(*problem_, place.grid, EndOfTime::included);
    return with_values({problem_->axes(), at.positions, at.points, at.inside, {}, {}},
                       problem_->exact ? exact_inside(*problem_, at.points, at.inside) : Tensor());
}

FieldData PinnTask::with_values(FieldData data, const Tensor& known) const {
    Tensors columns{outputs_at(data.points)};
    data.names = problem_->outputs();
    if (known.defined()) {
        columns.push_back(known);
        // No output has such a name: it would read as a derivative.
        for (const std::string& output : problem_->outputs())
            data.names.push_back(output + "_exact");
    }
    columns.push_back(residuals(data.points));
    for (const PinnEquation& equation : problem_->equations()) {
        const auto taken = [&](const std::vector<std::string>& names) {
            return std::find(names.begin(), names.end(), equation.name) != names.end();
        };
        const bool is_free = !taken(problem_->outputs()) && !taken(problem_->axes());
        data.names.push_back(is_free ? equation.name : "equation_" + equation.name);
    }
    data.values = concatenate(columns, 1);
    return data;
}

PinnPictureSource PinnTask::picture_source() {
    solution();
    return {*problem_, reference(), [this](const Tensor& points) { return outputs_at(points); },
            [this](const Tensor& points) { return residuals(points); }, picture_times_};
}

std::vector<std::string> PinnTask::draw(const std::filesystem::path& folder) {
    return draw_solution(folder, picture_source());
}

void PinnTask::draw_frames(const std::filesystem::path& folder, int64_t count) {
    ralimp::draw_frames(folder, picture_source(), count);
}

}  // namespace ralimp
