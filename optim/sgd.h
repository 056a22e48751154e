// Stochastic gradient descent with momentum, optionally Nesterov's.
#pragma once
#include "optim/first_order.h"

namespace ralimp {

struct SgdConfig {
    double learning_rate = 1e-2;
    double momentum = 0;
    double dampening = 0;
    bool nesterov = false;
    double weight_decay = 0;
    ClippingConfig clipping = {};

    static constexpr const char* kind = "sgd";
    static void describe(auto& config, auto& field) {
        field("learning_rate", config.learning_rate, "step size, multiplied by the schedule",
              more_than(0));
        field("momentum", config.momentum, "share of the velocity kept", at_least(0).less_than(1));
        field("dampening", config.dampening, "share of the gradient kept out of the velocity",
              between(0, 1));
        field("nesterov", config.nesterov, "look ahead by the velocity");
        field("weight_decay", config.weight_decay, "L2 penalty added to the gradient", at_least(0));
        field("clipping", config.clipping, "gradient clipping");
        field.check("nesterov", !config.nesterov || (config.momentum > 0 && config.dampening == 0),
                    "needs momentum > 0 and dampening = 0");
    }
};

// Sutskever et al., "On the importance of initialization and momentum in deep learning" (2013), in
// the form v = momentum v + (1 - dampening) g, x -= learning_rate v; v starts as g.
class Sgd final : public FirstOrderOptimizer {
public:
    Sgd(ParameterLayout layout, const SgdConfig& config);

    std::string_view name() const override { return SgdConfig::kind; }
    OptimizerState state() const override;

protected:
    void update(const ParameterGroup& range, const Tensor& parameters, const Tensor& gradient,
                double learning_rate, const GradientClip& clip) override;
    void load_checked(const OptimizerState& state) override;

private:
    SgdConfig config_;
    Tensor velocity_;  // [n]; undefined without momentum
};

}  // namespace ralimp
