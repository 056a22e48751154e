// Ψ as a parameter of its own: what meets the features of a layer that linearizes a dense one,
//     y = Ψ (Φ - mean) / deviation + b,
// each feature standardized on the calibration batch. The features themselves are the layer's.
#pragma once
#include "layers/hidden_start.h"

namespace ralimp {

// Constants that standardize features [rows, F] of a batch: mean and 1 / standard deviation [F]. A
// feature that does not move on the batch stays as it is.
struct Standardization {
    Tensor mean, inverse;
};
Standardization standardization_of(const Tensor& features);

class FreePsi {
public:
    // Random until start() is called.
    FreePsi(int64_t outputs, int64_t features, const HiddenStart& start);

    int64_t features() const { return psi_.size(1); }
    int64_t outputs() const { return psi_.size(0); }

    // y [rows, outputs] for features that are not standardized, in parts [rows, …] of their order:
    // joining them would copy all of them twice.
    Jet apply(const std::vector<Jet>& parts) const;
    // The same for all of them as one step of a chain.
    ChainLayer as_chain() const;

    // Standardizes the features [rows, F] of a batch and starts Ψ by ridge regression against the
    // outputs that are wanted there.
    void start(const Tensor& features, const Tensor& wanted, double ridge);

    void visit(const std::string& prefix, const ParameterVisitor& visitor);
    // Trained, and deployed too: mean and deviation fold into Ψ.
    int64_t count() const { return psi_.elements() + bias_.elements(); }

private:
    struct Folded {
        Tensor psi, constant;
    };
    Folded folded() const;

    Tensor psi_, bias_;      // [out, F], [out]
    Tensor mean_, inverse_;  // [F]
};

}  // namespace ralimp
