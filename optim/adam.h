// Adam and AdamW.
#pragma once
#include "optim/first_order.h"

namespace ralimp {

void describe_adam(auto& config, auto& field, const char* weight_decay_help) {
    field("learning_rate", config.learning_rate, "step size, multiplied by the schedule",
          more_than(0));
    field("beta1", config.beta1, "decay of the mean of the gradient", at_least(0).less_than(1));
    field("beta2", config.beta2, "decay of the mean of its square", at_least(0).less_than(1));
    field("epsilon", config.epsilon, "added to the root of the mean square", at_least(0));
    field("weight_decay", config.weight_decay, weight_decay_help, at_least(0));
    field("clipping", config.clipping, "gradient clipping");
}

struct AdamConfig {
    double learning_rate = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 0;
    ClippingConfig clipping = {};

    static constexpr const char* kind = "adam";
    static void describe(auto& config, auto& field) {
        describe_adam(config, field, "L2 penalty added to the gradient");
    }
};

struct AdamWConfig {
    double learning_rate = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 1e-2;
    ClippingConfig clipping = {};

    static constexpr const char* kind = "adamw";
    static void describe(auto& config, auto& field) {
        describe_adam(config, field, "share of a weight that a step removes per learning rate");
    }
};

// Kingma & Ba, "Adam: a method for stochastic optimization" (2015), Algorithm 1, and Loshchilov &
// Hutter, "Decoupled weight decay regularization" (2019), Algorithm 2. Weight decay of either kind
// touches only groups with `decay`.
class Adam final : public FirstOrderOptimizer {
public:
    Adam(ParameterLayout layout, const AdamConfig& config);
    Adam(ParameterLayout layout, const AdamWConfig& config);

    std::string_view name() const override { return decoupled_ ? AdamWConfig::kind : config_.kind; }
    OptimizerState state() const override;

protected:
    void update(const ParameterGroup& range, const Tensor& parameters, const Tensor& gradient,
                double learning_rate, const GradientClip& clip) override;
    void load_checked(const OptimizerState& state) override;

private:
    Adam(ParameterLayout layout, const AdamConfig& config, bool decoupled);

    AdamConfig config_;
    bool decoupled_;
    Tensor first_moment_;   // [n]
    Tensor second_moment_;  // [n]
};

}  // namespace ralimp
