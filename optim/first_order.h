// What SGD, Adam and SOAP share: one evaluation, the refusal of anything not finite, clipping, and
// an update of each parameter range.
#pragma once
#include "core/kernels.h"
#include "optim/clipping.h"
#include "optim/optimizer.h"

namespace ralimp {

class FirstOrderOptimizer : public Optimizer {
public:
    FirstOrderOptimizer(ParameterLayout layout, const ClippingConfig& clipping);

    StepResult step(const Tensor& parameters, double learning_rate,
                    const Objective& evaluate) final;

    // Updates made so far.
    int64_t steps() const { return steps_; }

protected:
    // What an update walks over.
    virtual const std::vector<ParameterGroup>& ranges() const { return layout().ranges(); }
    // Updates one range; steps() counts the updates before this one.
    virtual void update(const ParameterGroup& range, const Tensor& parameters,
                        const Tensor& gradient, double learning_rate, const GradientClip& clip) = 0;
    const FlatKernels& flat() const { return kernels(layout().device()).flat; }

    OptimizerState state_with(std::vector<std::pair<std::string, Tensor>> tensors) const {
        return {std::move(tensors), {{"steps", static_cast<double>(steps_)}}};
    }
    void load_steps(const OptimizerState& state);

private:
    ClippingConfig clipping_;
    int64_t steps_ = 0;
};

}  // namespace ralimp
