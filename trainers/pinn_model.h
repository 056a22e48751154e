// What a PINN trains: the network, with its outputs put into the formulas that make conditions hold
// exactly, and the coefficients of its problem that are to be found.
#pragma once
#include <memory>

#include "layers/mlp.h"
#include "trainers/formula.h"
#include "trainers/pinn_problem_config.h"

namespace ralimp {

class PinnModel : public Layer {
public:
    // `formulas` has one for each output, of the network's own outputs under the same names; none:
    // the outputs are the network's.
    PinnModel(std::unique_ptr<Mlp> network, const std::vector<CoefficientConfig>& coefficients,
              DType dtype, std::vector<Formula> formulas = {});

    using Layer::forward;
    Jet forward(const Jet& x) const override;
    int64_t inputs() const override { return network_->inputs(); }
    int64_t outputs() const override { return network_->outputs(); }
    void visit(const std::string& prefix, const ParameterVisitor& visitor) override;
    Tensor initialize_from_data(const Tensor& x) override;
    void visit_clamps(const std::string& prefix, const ClampVisitor& visitor) const override {
        network_->visit_clamps(prefix, visitor);
    }
    std::vector<const Layer*> parts() const override { return network_->parts(); }
    ParameterCount count() const override;
    std::string description() const override;

    // The present values of the coefficients, [] each: differentiable.
    Tensors coefficients() const;

private:
    std::unique_ptr<Mlp> network_;
    std::vector<CoefficientConfig> coefficients_;
    std::vector<Formula> formulas_;
    Tensors raw_;  // [] each; of a bounded coefficient the logit of its place between the bounds
};

}  // namespace ralimp
