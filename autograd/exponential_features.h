// The differentiable, fused form of core/exponential_features.h on jets.
#pragma once
#include <vector>

#include "autograd/jet.h"
#include "core/exponential_features.h"

namespace ralimp {

// The blocks as the int32 tensor [blocks, 3] that the operation takes. Blocks must cover the
// features from 0 on without gaps and stay inside the projections; throws Error otherwise.
Tensor feature_blocks(const std::vector<FeatureBlock>& blocks, int64_t features,
                      int64_t projections);

// How exponents are kept from overflowing.
struct ExponentLimit {
    double value = default_exponent_limit;  // positive
    // int64 [2], or undefined. Each forward pass adds how many exponents it clamped and how many
    // there were; several threads may add at a time.
    Tensor counts;
};

// projections [rows, r]; norms [rows, 1], or null for none; table [7, features]
// (feature_table::Row). Returns [rows, features] with all derivatives. With oscillating = false the
// table's rotations and sines must be 0. Gradients flow to projections, norms and table; there is a
// fused backward pass, and second derivatives go through the reference.
Jet exponential_features(const Jet& projections, const Jet* norms, const Tensor& blocks,
                         const Tensor& table, bool oscillating = true,
                         const ExponentLimit& limit = {});

// min(exponent, limit), elementwise, counted in the same way; its gradient is 0 beyond the limit.
Tensor clamp_exponent(const Tensor& exponent, const ExponentLimit& limit);

// The same in plain operations; projections [channels, rows, r], norms [channels, rows, 1] or
// undefined.
Tensor exponential_features_reference(const FeatureProgram& program, const Tensor& projections,
                                      const Tensor& norms, const Tensor& blocks,
                                      const Tensor& table);

}  // namespace ralimp
