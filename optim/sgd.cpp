#include "optim/sgd.h"

namespace ralimp {

Sgd::Sgd(ParameterLayout layout, const SgdConfig& config)
    : FirstOrderOptimizer(std::move(layout), config.clipping), config_(config) {
    if (!(config.momentum >= 0 && config.momentum < 1))
        fail_with(ExitCode::bad_config, "sgd: momentum = {} must be in [0, 1)", config.momentum);
    if (!(config.dampening >= 0 && config.dampening <= 1))
        fail_with(ExitCode::bad_config, "sgd: dampening = {} must be in [0, 1]", config.dampening);
    if (!(config.weight_decay >= 0))
        fail_with(ExitCode::bad_config, "sgd: weight_decay = {} must be >= 0", config.weight_decay);
    if (config.nesterov && (config.momentum == 0 || config.dampening != 0))
        fail_with(ExitCode::bad_config,
                  "sgd: nesterov needs momentum > 0 and dampening = 0, not {} and {}",
                  config.momentum, config.dampening);
    if (config.momentum > 0) velocity_ = this->layout().zeros();
}

OptimizerState Sgd::state() const {
    if (!velocity_.defined()) return state_with({});
    return state_with({{"velocity", velocity_}});
}

void Sgd::load_checked(const OptimizerState& state) {
    load_steps(state);
    if (velocity_.defined()) velocity_.copy_from(tensor_of(state, "velocity"));
}

void Sgd::update(const ParameterGroup& range, const Tensor& parameters, const Tensor& gradient,
                 double learning_rate, const GradientClip& clip) {
    const SgdArguments arguments = {.learning_rate = learning_rate,
                                    .momentum = config_.momentum,
                                    .dampening = config_.dampening,
                                    .weight_decay = range.decay ? config_.weight_decay : 0,
                                    .nesterov = config_.nesterov,
                                    .first_step = steps() == 0,
                                    .clip = clip};
    flat().sgd(parameters, velocity_.defined() ? range_of(velocity_, range) : Tensor(), gradient,
               arguments);
}

}  // namespace ralimp
