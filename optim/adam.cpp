#include "optim/adam.h"

namespace ralimp {

Adam::Adam(ParameterLayout layout, const AdamConfig& config)
    : Adam(std::move(layout), config, false) {}

Adam::Adam(ParameterLayout layout, const AdamWConfig& config)
    : Adam(std::move(layout),
           AdamConfig{.learning_rate = config.learning_rate,
                      .beta1 = config.beta1,
                      .beta2 = config.beta2,
                      .epsilon = config.epsilon,
                      .weight_decay = config.weight_decay,
                      .clipping = config.clipping},
           true) {}

Adam::Adam(ParameterLayout layout, const AdamConfig& config, bool decoupled)
    : FirstOrderOptimizer(std::move(layout), config.clipping),
      config_(config),
      decoupled_(decoupled) {
    for (const auto& [label, beta] : {std::pair{"beta1", config.beta1}, {"beta2", config.beta2}})
        if (!(beta >= 0 && beta < 1))
            fail_with(ExitCode::bad_config, "{}: {} = {} must be in [0, 1)", name(), label, beta);
    for (const auto& [label, value] :
         {std::pair{"epsilon", config.epsilon}, {"weight_decay", config.weight_decay}})
        if (!(value >= 0))
            fail_with(ExitCode::bad_config, "{}: {} = {} must be >= 0", name(), label, value);
    first_moment_ = this->layout().zeros();
    second_moment_ = this->layout().zeros();
}

OptimizerState Adam::state() const {
    return state_with({{"first_moment", first_moment_}, {"second_moment", second_moment_}});
}

void Adam::load_checked(const OptimizerState& state) {
    load_steps(state);
    first_moment_.copy_from(tensor_of(state, "first_moment"));
    second_moment_.copy_from(tensor_of(state, "second_moment"));
}

void Adam::update(const ParameterGroup& range, const Tensor& parameters, const Tensor& gradient,
                  double learning_rate, const GradientClip& clip) {
    const AdamArguments arguments = {.learning_rate = learning_rate,
                                     .beta1 = config_.beta1,
                                     .beta2 = config_.beta2,
                                     .epsilon = config_.epsilon,
                                     .weight_decay = range.decay ? config_.weight_decay : 0,
                                     .decoupled = decoupled_,
                                     .step = steps() + 1,
                                     .clip = clip};
    flat().adam(parameters, range_of(first_moment_, range), range_of(second_moment_, range),
                gradient, arguments);
}

}  // namespace ralimp
