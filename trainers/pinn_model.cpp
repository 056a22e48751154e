#include "trainers/pinn_model.h"

#include <cmath>

#include "autograd/operations.h"

namespace ralimp {

PinnModel::PinnModel(std::unique_ptr<Mlp> network,
                     const std::vector<CoefficientConfig>& coefficients, DType dtype,
                     std::vector<Formula> formulas)
    : network_(std::move(network)), coefficients_(coefficients), formulas_(std::move(formulas)) {
    for (const CoefficientConfig& coefficient : coefficients_) {
        double raw = coefficient.value;
        if (coefficient.lower)
            raw = std::log((coefficient.value - *coefficient.lower) /
                           (*coefficient.upper - coefficient.value));
        raw_.push_back(Tensor::full({}, raw, dtype));
    }
    const Tensors values = this->coefficients();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const CoefficientConfig& coefficient = coefficients_[i];
        const double value = values[i].item();
        if (coefficient.lower && !(*coefficient.lower < value && value < *coefficient.upper))
            fail_with(ExitCode::bad_config,
                      "problem.coefficients: {} starts at {}, which {} cannot tell from a bound",
                      coefficient.name, coefficient.value, name_of(dtype));
    }
}

Jet PinnModel::forward(const Jet& x) const {
    const Jet u = network_->forward(x);
    if (formulas_.empty()) return u;
    const FormulaJets at{x, u, coefficients()};
    std::vector<Jet> outputs;
    for (const Formula& formula : formulas_) outputs.push_back(formula.evaluate(at));
    return concatenate(outputs);
}

Tensor PinnModel::initialize_from_data(const Tensor& x) {
    const Tensor u = network_->initialize_from_data(x);
    return formulas_.empty() ? u : Layer::initialize_from_data(x);
}

void PinnModel::visit(const std::string& prefix, const ParameterVisitor& visitor) {
    network_->visit(prefix, visitor);
    for (std::size_t i = 0; i < raw_.size(); ++i)
        visitor(join(prefix, "coefficients." + coefficients_[i].name), raw_[i], {.decay = false});
}

ParameterCount PinnModel::count() const {
    ParameterCount count = network_->count();
    count.trained += static_cast<int64_t>(raw_.size());  // inference needs none of them
    return count;
}

std::string PinnModel::description() const {
    std::string text = network_->description();
    for (const Formula& formula : formulas_) text += "; output " + formula.text();
    for (const CoefficientConfig& coefficient : coefficients_)
        text += "; coefficient " + coefficient.name;
    return text;
}

Tensors PinnModel::coefficients() const {
    Tensors values;
    for (std::size_t i = 0; i < raw_.size(); ++i) {
        const CoefficientConfig& coefficient = coefficients_[i];
        values.push_back(coefficient.lower
                             ? sigmoid(raw_[i]) * (*coefficient.upper - *coefficient.lower) +
                                   *coefficient.lower
                             : raw_[i]);
    }
    return values;
}

}  // namespace ralimp
