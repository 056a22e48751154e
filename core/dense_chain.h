// A chain of small dense layers, y_l = f_l(scale_l (W_l y_(l-1) + b_l)), with all derivative
// channels in one pass over blocks of points. A block stays in the first caches while it goes
// through every layer, and within it the points stand side by side, so that products run at full
// vector width whatever the layers' sizes are: where a BLAS is slow, at widths of a few dozen.
#pragma once
#include <cstdint>

#include "core/activation.h"

namespace ralimp {

// What the kernels need beside tensors. A plain struct.
struct DenseChainProgram {
    static constexpr int max_layers = 32;
    // Wider layers are better off with a BLAS.
    static constexpr int max_width = 64;

    struct Step {
        Activation activation = Activation::identity;
        double scale = 1;
        double parameter = 0;
        bool linear() const { return activation == Activation::identity && scale == 1; }
    };

    // Channels and terms of the chain rule, the same for all layers; its activation, scale and
    // parameter play no part.
    ActivationProgram composition;
    uint8_t layers = 0;
    Step steps[max_layers];

    ActivationProgram program(int layer) const {
        ActivationProgram one = composition;
        one.activation = steps[layer].activation;
        one.scale = steps[layer].scale;
        one.parameter = steps[layer].parameter;
        return one;
    }
};

}  // namespace ralimp
