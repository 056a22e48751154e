#include "optim/first_order.h"

#include <cmath>

namespace ralimp {

FirstOrderOptimizer::FirstOrderOptimizer(ParameterLayout layout, const ClippingConfig& clipping)
    : Optimizer(std::move(layout)), clipping_(clipping) {
    check_config(clipping);
}

StepResult FirstOrderOptimizer::step(const Tensor& parameters, double learning_rate,
                                     const Objective& evaluate) {
    layout().check_buffer("optimizer step", "parameters", parameters);
    check(std::isfinite(learning_rate) && learning_rate >= 0,
          "optimizer step: the learning rate {} must be >= 0 and finite", learning_rate);
    const Evaluation evaluation = evaluate();
    layout().check_buffer("optimizer step", "gradient", evaluation.gradient);

    StepResult result;
    result.loss = evaluation.loss;
    result.evaluations = 1;
    result.gradient_norm = gradient_norm(evaluation.gradient);
    if (!std::isfinite(result.loss) || !std::isfinite(result.gradient_norm)) {
        result.stop = StopReason::non_finite;
        result.message =
            fmt::format("{}: {} (loss {}, gradient norm {}) after {} steps; no update made", name(),
                        name_of(result.stop), result.loss, result.gradient_norm, steps_);
        return result;
    }
    const GradientClip clip = clip_for(clipping_, result.gradient_norm);
    for (const ParameterGroup& range : ranges())
        if (range.count > 0 && range.learning_rate_scale > 0)
            update(range, range_of(parameters, range), range_of(evaluation.gradient, range),
                   learning_rate * range.learning_rate_scale, clip);
    ++steps_;
    result.moved = true;
    return result;
}

void FirstOrderOptimizer::load_steps(const OptimizerState& state) {
    const double steps = scalar_of(state, "steps");
    if (!(steps >= 0 && steps <= 0x1p53 && steps == std::floor(steps)))
        fail_with(ExitCode::bad_input, "optimizer {}: the saved state has steps = {}", name(),
                  steps);
    steps_ = static_cast<int64_t>(steps);
}

}  // namespace ralimp
