#include "optim/quasi_newton.h"

#include <algorithm>
#include <cmath>

#include "core/kernels.h"

namespace ralimp {
namespace {

const FlatKernels& flat_of(const Tensor& tensor) { return kernels(tensor.device()).flat; }

double dot(const Tensor& a, const Tensor& b) { return flat_of(a).dot(a, b); }

Tensor difference(const Tensor& a, const Tensor& b) {
    Tensor result = Tensor::empty(a.shape(), a.dtype(), a.device());
    flat_of(a).combine(result, 1, a, -1, b);
    return result;
}

}  // namespace

QuasiNewton::QuasiNewton(ParameterLayout layout, std::string_view name,
                         const QuasiNewtonOptions& options, std::unique_ptr<Curvature> curvature)
    : Optimizer(std::move(layout)),
      name_(name),
      options_(options),
      curvature_(std::move(curvature)),
      gradient_(this->layout().zeros()) {
    check_options();
}

void QuasiNewton::check_options() const {
    const auto require = [&](bool holds, const char* key, auto value, const char* rule) {
        if (!holds)
            fail_with(ExitCode::bad_config, "{}: {} = {} must be {}", name_, key, value, rule);
    };
    const int64_t evaluations = options_.max_evaluations.value_or(1);
    require(options_.max_iterations >= 1, "max_iterations", options_.max_iterations, "at least 1");
    require(evaluations >= 1, "max_evaluations", evaluations, "at least 1");
    require(options_.max_line_search >= 1, "max_line_search", options_.max_line_search,
            "at least 1");
    require(options_.tolerance_gradient >= 0, "tolerance_gradient", options_.tolerance_gradient,
            "0 or more");
    require(options_.tolerance_change >= 0, "tolerance_change", options_.tolerance_change,
            "0 or more");
    require(options_.initial_step > 0, "initial_step", options_.initial_step, "more than 0");
    require(options_.c1 > 0 && options_.c1 < options_.c2, "c1", options_.c1, "between 0 and c2");
    require(options_.c2 < 1, "c2", options_.c2, "less than 1");
}

StepResult QuasiNewton::step(const Tensor& parameters, double learning_rate,
                             const Objective& evaluate) {
    layout().check_buffer(step_name().c_str(), "parameters", parameters);
    check(std::isfinite(learning_rate) && learning_rate > 0,
          "{}: the learning rate {} must be > 0 and finite", step_name(), learning_rate);
    const int64_t evaluations_before = evaluations_, iterations_before = iterations_;
    if (stop_ == StopReason::none) check_limits();
    if (stop_ == StopReason::none && !evaluated_) {
        const Evaluation first = counted(evaluate);
        remember(first.loss, first.gradient);
        if (stop_ == StopReason::none) check_limits();
    }
    StepResult result;
    result.loss = loss_;
    result.gradient_norm = std::sqrt(dot(gradient_, gradient_));
    if (stop_ == StopReason::none) {
        const Tensor origin = parameters.clone();
        const int64_t evaluations = evaluations_;
        try {
            iterate(parameters, origin, learning_rate, evaluate);
        } catch (...) {
            parameters.copy_from(origin);
            evaluations_ = evaluations;
            throw;
        }
    }
    result.moved = iterations_ > iterations_before;
    result.loss_after = loss_;
    result.evaluations = evaluations_ - evaluations_before;
    result.stop = stop_;
    result.message = message_;
    return result;
}

// Tries the quasi-Newton direction, then steepest descent; without pairs both are the same.
void QuasiNewton::iterate(const Tensor& parameters, const Tensor& origin, double learning_rate,
                          const Objective& evaluate) {
    for (const bool restart : {false, true}) {
        if (restart && curvature_->is_empty()) break;
        const bool steepest = restart || curvature_->is_empty();
        const Tensor direction =  // [n], float64
            steepest ? steepest_descent(gradient_) : curvature_->descent_direction(gradient_);
        const double slope = dot(gradient_, direction);
        if (!std::isfinite(slope) || !(slope < 0)) continue;
        double first_step = learning_rate;
        if (steepest)
            first_step *= std::min(
                1.0, options_.initial_step / flat_of(gradient_).sum_of_magnitudes(gradient_));
        const LineSearchResult found =
            search(parameters, origin, direction, slope, first_step, evaluate);
        if (found.outcome != LineSearchOutcome::failed) {
            if (restart) curvature_->clear();
            return accept(parameters, origin, found.best);
        }
        parameters.copy_from(origin);
        if (!may_evaluate())
            return stop(StopReason::max_evaluations,
                        fmt::format("{} allowed, the last line search was cut short",
                                    *options_.max_evaluations));
        if (steepest && found.non_finite == found.evaluations)
            return stop(StopReason::non_finite,
                        fmt::format("all {} evaluations along the gradient; the last good "
                                    "parameters are kept",
                                    found.evaluations));
    }
    stop(StopReason::line_search_failed,
         fmt::format("no lower loss within {} evaluations along the gradient, which is as far as "
                     "{} goes",
                     options_.max_line_search, name_of(layout().dtype())));
}

LineSearchResult QuasiNewton::search(const Tensor& parameters, const Tensor& origin,
                                     const Tensor& direction, double slope, double first_step,
                                     const Objective& evaluate) {
    LineSearchLimits limits = {options_.c1, options_.c2, options_.max_line_search};
    if (options_.max_evaluations)
        limits.max_evaluations =
            std::min(limits.max_evaluations, *options_.max_evaluations - evaluations_);
    double present_step = 0;
    const auto move_to = [&](double step) {
        flat_of(parameters).combine(parameters, 1, origin, step, direction);
        present_step = step;
    };
    const LinePoint start = {0, loss_, slope, gradient_};
    const LineSearchResult found = search_line(start, first_step, limits, [&](double step) {
        move_to(step);
        const Evaluation at = counted(evaluate);
        return LinePoint{step, at.loss, dot(at.gradient, direction), at.gradient.clone()};
    });
    // The same arithmetic as at its evaluation, hence the same bits.
    if (found.best.step != present_step) move_to(found.best.step);
    return found;
}

void QuasiNewton::accept(const Tensor& parameters, const Tensor& origin, const LinePoint& point) {
    // What the parameters really moved by, rounding included.
    const Tensor moved = difference(parameters, origin);
    curvature_->add({moved, difference(point.gradient, gradient_), gradient_, point.step});
    const double fall = loss_ - point.loss;
    const double tolerance = options_.tolerance_change;
    const bool is_small_fall = fall <= tolerance * std::abs(loss_);
    const double largest_move = flat_of(moved).largest_magnitude(moved);
    ++iterations_;
    remember(point.loss, point.gradient);
    if (stop_ == StopReason::none && tolerance > 0 && (is_small_fall || largest_move <= tolerance))
        stop(StopReason::change_tolerance,
             fmt::format("the loss fell by {:.3g}, the largest move of a parameter was {:.3g}; "
                         "tolerance_change is {:.3g}",
                         fall, largest_move, tolerance));
    if (stop_ == StopReason::none) check_limits();
}

Evaluation QuasiNewton::counted(const Objective& evaluate) {
    ++evaluations_;
    Evaluation evaluation = evaluate();
    layout().check_buffer(step_name().c_str(), "gradient", evaluation.gradient);
    return evaluation;
}

// Takes loss and gradient as those of the present parameters.
void QuasiNewton::remember(double loss, const Tensor& gradient) {
    loss_ = loss;
    gradient_.copy_from(gradient);
    evaluated_ = true;
    const double norm = std::sqrt(dot(gradient_, gradient_));
    const double largest = flat_of(gradient_).largest_magnitude(gradient_);
    if (!std::isfinite(loss) || !std::isfinite(norm))
        stop(StopReason::non_finite, fmt::format("the gradient norm is {}", norm));
    else if (largest <= options_.tolerance_gradient)
        stop(StopReason::gradient_tolerance,
             fmt::format("the largest component is {:.3g}; tolerance_gradient is {:.3g}", largest,
                         options_.tolerance_gradient));
}

bool QuasiNewton::may_evaluate() const {
    return !options_.max_evaluations || evaluations_ < *options_.max_evaluations;
}

void QuasiNewton::check_limits() {
    if (iterations_ >= options_.max_iterations)
        stop(StopReason::max_iterations, fmt::format("{} allowed", options_.max_iterations));
    else if (!may_evaluate())
        stop(StopReason::max_evaluations, fmt::format("{} allowed", *options_.max_evaluations));
}

void QuasiNewton::stop(StopReason reason, const std::string& figures) {
    stop_ = reason;
    message_ = fmt::format("{}: {}: {} (after {} iterations, {} evaluations, loss {:.6g})", name_,
                           name_of(reason), figures, iterations_, evaluations_, loss_);
}

void QuasiNewton::objective_changed() {
    evaluated_ = false;
    stop_ = StopReason::none;
    message_.clear();
}

OptimizerState QuasiNewton::state() const {
    // The limits are asked again after loading, where the config may allow more.
    const bool is_limit =
        stop_ == StopReason::max_iterations || stop_ == StopReason::max_evaluations;
    const StopReason stop = is_limit ? StopReason::none : stop_;
    OptimizerState result = curvature_->state();
    result.tensors.emplace_back("gradient", gradient_);
    result.scalars.emplace_back("evaluated", evaluated_ ? 1 : 0);
    result.scalars.emplace_back("loss", loss_);
    result.scalars.emplace_back("iterations", static_cast<double>(iterations_));
    result.scalars.emplace_back("evaluations", static_cast<double>(evaluations_));
    result.scalars.emplace_back("stop", static_cast<double>(stop));
    return result;
}

void QuasiNewton::load_checked(const OptimizerState& state) {
    const bool evaluated = whole_scalar(state, "evaluated", 1) == 1;
    const int64_t iterations = whole_scalar(state, "iterations", 0x1p53);
    const int64_t evaluations = whole_scalar(state, "evaluations", 0x1p53);
    const int64_t reason = whole_scalar(state, "stop", static_cast<double>(StopReason::non_finite));

    curvature_->load(state);
    gradient_.copy_from(tensor_of(state, "gradient"));
    loss_ = scalar_of(state, "loss");
    iterations_ = iterations;
    evaluations_ = evaluations;
    objective_changed();
    evaluated_ = evaluated;
    if (reason != 0) stop(static_cast<StopReason>(reason), "reached before this state was saved");
}

}  // namespace ralimp
