// Exponential random features of projections: the one formula behind every split of a RaLiMP layer.
//   feature = Re[(cosine - i sine) e^z] + shift,   z = (growth + i rotation) p + (norm_growth + i
//   norm_rotation) n
//           = e^(Re z) (cosine cos(Im z) + sine sin(Im z)) + shift
// where p is a projection of the point and n its squared norm. Positive features, trigonometric
// features and Gaussian complex features are all of this form.
#pragma once
#include <cstdint>

#include "core/activation.h"

namespace ralimp {

// Rows of the coefficient table [7, features].
namespace feature_table {
enum Row { growth, norm_growth, rotation, norm_rotation, cosine, sine, shift, rows };
}

// A run of neighbouring features that read neighbouring projections.
struct FeatureBlock {
    int32_t feature;     // the first
    int32_t projection;  // the first
    int32_t count;
};

// What the kernels need beside tensors. A plain struct.
struct FeatureProgram {
    // Channels and terms of the chain rule; activation and scale play no part: every derivative of
    // e^z is e^z.
    ActivationProgram composition;
    // False promises that rotation, norm_rotation and sine are 0: no sine or cosine is computed.
    bool oscillating = true;
};

}  // namespace ralimp
