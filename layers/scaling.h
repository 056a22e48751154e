// Maps a box of inputs to [-1, 1] on every axis: a fixed first layer.
#pragma once
#include "core/box.h"
#include "layers/layer.h"

namespace ralimp {

class Scaling : public Layer {
public:
    // Every axis of the box must have a length.
    Scaling(const Box& box, DType dtype);

    using Layer::forward;
    Jet forward(const Jet& x) const override { return x * factor_ + shift_; }
    std::vector<ChainLayer> as_chain() const override;
    int64_t inputs() const override { return factor_.elements(); }
    int64_t outputs() const override { return factor_.elements(); }
    // Given by the config, not by training: nothing to save.
    void visit(const std::string&, const ParameterVisitor&) override {}
    // Folds into the linear layer behind it.
    ParameterCount count() const override { return {}; }
    std::string description() const override;

private:
    Tensor factor_, shift_;  // [inputs]
};

}  // namespace ralimp
