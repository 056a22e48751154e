// Makes a network periodic along chosen axes of a box: such an axis enters as cosines and sines of
// whole numbers of periods, so that the network and all its derivatives agree at both ends by
// construction (Dong & Ni, J. Comput. Phys. 435, 2021). A fixed first layer.
#pragma once
#include <vector>

#include "core/box.h"
#include "layers/layer.h"

namespace ralimp {

// Which inputs are periodic over the length of their axis, and up to which multiple of its
// frequency.
struct PeriodicInputs {
    std::vector<int64_t> axes;  // each once
    int64_t harmonics = 1;
};

class PeriodicFeatures : public Layer {
public:
    // A periodic x becomes cos φ, …, cos hφ, sin φ, …, sin hφ with φ = 2π (x - lower) / length; any
    // other axis stays as it is or, with `scale`, is mapped to [-1, 1].
    PeriodicFeatures(const Box& box, const PeriodicInputs& periodic, bool scale, DType dtype);

    using Layer::forward;
    Jet forward(const Jet& x) const override;
    // For a folded network: in training the phase is computed without rounding at the lower end.
    std::vector<ChainLayer> as_chain() const override;
    int64_t inputs() const override { return static_cast<int64_t>(axes_.size()); }
    int64_t outputs() const override;
    // Given by the config, not by training: nothing to save.
    void visit(const std::string&, const ParameterVisitor&) override {}
    ParameterCount count() const override { return {}; }
    std::string description() const override;

private:
    // factor (x + shift): a scaled axis has one factor, a periodic one the frequency of each
    // harmonic.
    struct Axis {
        bool periodic = false;
        Tensor shift, factor;  // [1], [factors]
    };
    std::vector<Axis> axes_;
    PeriodicInputs periodic_;
    bool scale_;
};

}  // namespace ralimp
