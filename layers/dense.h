// A dense layer with its activation: f(scale (W x + b)).
#pragma once
#include "layers/linear.h"

namespace ralimp {

class Dense : public Layer {
public:
    // scale is the omega of a sine network and multiplies the bias too, as in the original SIREN
    // code.
    Dense(int64_t inputs, int64_t outputs, DType dtype, const LinearStart& start,
          Activation activation, double scale = 1, double envelope = 1)
        : linear_(inputs, outputs, dtype, start),
          activation_(activation),
          scale_(scale),
          envelope_(envelope) {}

    using Layer::forward;
    Jet forward(const Jet& x) const override {
        return apply(activation_, linear_.forward(x), scale_, envelope_);
    }
    std::vector<ChainLayer> as_chain() const override {
        return {{linear_.weight(), linear_.bias(), activation_, scale_, envelope_, {}}};
    }
    bool fits_chain(int64_t width) const override { return linear_.fits_chain(width); }
    int64_t inputs() const override { return linear_.inputs(); }
    int64_t outputs() const override { return linear_.outputs(); }
    void visit(const std::string& prefix, const ParameterVisitor& visitor) override {
        linear_.visit(prefix, visitor);
    }
    ParameterCount count() const override { return linear_.count(); }
    std::string description() const override;

private:
    Linear linear_;
    Activation activation_;
    double scale_;
    double envelope_;  // s of wire
};

}  // namespace ralimp
