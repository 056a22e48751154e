// Exponential random features of projections: the one formula behind every split of a RaLiMP layer.
//   feature = Re[(cosine - i sine) e^z] + shift,   z = (growth + i rotation) p + (norm_growth + i
//   norm_rotation) n
//           = e^(Re z) (cosine cos(Im z) + sine sin(Im z)) + shift
// where p is a projection of the point and n its squared norm. Positive features, trigonometric
// features and Gaussian complex features are all of this form. Re z is clamped from above, exactly:
// where it is beyond the limit its derivatives of every order are 0, while Im z still moves.
#pragma once
#include <cstdint>

#include "core/activation.h"

namespace ralimp {

// Rows of the coefficient table [7, features].
namespace feature_table {
enum Row { growth, norm_growth, rotation, norm_rotation, cosine, sine, shift, rows };
}

// e^20 is 4.9e8. A product of two such factors, one of the input and one of the weight side, has a
// square below 1e35, and so has the fourth power of one: squared errors of a layer's output, their
// gradients and, of free weights, the squares that Adam keeps stay finite in float32 (3.4e38).
constexpr double default_exponent_limit = 20;

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
    double exponent_limit = default_exponent_limit;  // of Re z, positive
};

}  // namespace ralimp
