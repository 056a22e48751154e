// Gradient clipping by norm and by value. Decides only; the update kernels apply it in their one
// pass over the gradient.
#pragma once
#include <optional>

#include "core/describe.h"
#include "core/flat_kernels.h"
#include "core/tensor.h"

namespace ralimp {

struct ClippingConfig {
    std::optional<double> norm = {};   // longest Euclidean norm of the whole gradient
    std::optional<double> value = {};  // largest magnitude of a component, after clipping by norm

    static void describe(auto& config, auto& field) {
        field("norm", config.norm, "scale the gradient down to this Euclidean norm; null: off",
              more_than(0));
        field("value", config.value, "limit every component to this magnitude; null: off",
              more_than(0));
    }
};

// Throws Error(bad_config) for a limit that is not positive and finite.
void check_config(const ClippingConfig& config);

// Euclidean norm of a contiguous buffer [n], accumulated in float64 in a fixed order. Not finite
// exactly when a component is not finite (or, in float64, when the sum of squares overflows).
double gradient_norm(const Tensor& gradient);

// What to do to a gradient of this finite norm: Pascanu et al., "On the difficulty of training
// recurrent neural networks" (2013), Algorithm 1.
GradientClip clip_for(const ClippingConfig& config, double norm);

}  // namespace ralimp
