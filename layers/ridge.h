// Least squares in double precision, for data-dependent starts: ridge regression and low-rank
// factors.
#pragma once
#include "core/tensor.h"

namespace ralimp {

struct RidgeSolution {
    Tensor weight;  // [outputs, features]
    Tensor bias;    // [outputs]
};

// Minimizes |X Wᵀ + b - Y|² / n + penalty |W|² for features X [n, features] and targets Y [n,
// outputs], both float32 or float64; the result has their dtype. The bias is not penalized.
// Error(bad_config) for numbers that are not finite and a penalty that is lost beside them.
RidgeSolution ridge_regression(const Tensor& features, const Tensor& targets, double penalty);

struct LowRankFactors {
    Tensor left;      // U [outputs, rank], columns orthogonal
    Tensor right;     // V [rank, inputs]
    double kept = 0;  // the share of the variance of W x that U V x has
};

// The factors that minimize Σ |(W - U V)(x - mean)|² for W [outputs, inputs] and the rows x of a
// batch X [n, inputs]: U spans the principal components of W x and U V is the projection of W onto
// it. Of these U and V those of equal norm. The rank is at most `outputs`; where the batch has
// fewer directions, the others of U are any orthogonal ones. Of more than 512 outputs the
// components are found by iteration, up to directions of nearly the same variance.
LowRankFactors principal_factors(const Tensor& weight, const Tensor& x, int64_t rank);

}  // namespace ralimp
