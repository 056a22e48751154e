// Ridge regression in double precision, for data-dependent starts.
#pragma once
#include "core/tensor.h"

namespace ralimp {

struct RidgeSolution {
    Tensor weight;  // [outputs, features]
    Tensor bias;    // [outputs]
};

// Minimizes |X Wᵀ + b - Y|² / n + penalty |W|² for features X [n, features] and targets Y [n,
// outputs], both float32 or float64; the result has their dtype. The bias is not penalized.
RidgeSolution ridge_regression(const Tensor& features, const Tensor& targets, double penalty);

}  // namespace ralimp
