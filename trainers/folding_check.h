// Whether a folded network computes what that of its run does.
#pragma once
#include "layers/folding.h"

namespace ralimp {

struct FoldingDifference {
    double largest = 0, rms = 0;  // relative to the RMS of the trained network's outputs
};

// Of outputs for x [rows, inputs]; infinite where an output is not finite.
FoldingDifference difference_from_trained(const FoldedNetwork& folded, const Layer& trained,
                                          const Tensor& x);

// Error(failure) for more than rounding, which exponents amplify, in this type.
void check_difference(const FoldingDifference& difference, DType dtype);

}  // namespace ralimp
