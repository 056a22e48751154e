// A chain of layers as one operation: core/layer_chain.h.
#pragma once
#include <optional>
#include <span>

#include "autograd/exponential_features.h"
#include "autograd/jet.h"
#include "core/layer_chain.h"

namespace ralimp {

// The features of a RaLiMP layer with real exponents, of projections p = W x + b.
struct ChainFeatures {
    Tensor projections = {};       // int32 [F]: the row of W that each exponential feature reads
    Tensor growth = {};            // [F]: of p in the exponents
    Tensor norm_growth = {};       // [F]: of Σ norm_weights x²; or undefined
    Tensor norm_weights = {};      // [inputs], constants; undefined: instead the mean p² of the
                                   // projections that exponential features read
    int64_t exponential_rows = 0;  // of W, before those of the polynomial
    int64_t rows = 0, degree = 0;  // of the polynomial: `rows` rows of W for each degree
    ExponentLimit limit = {};
};

// y = f(scale (W x + b)), or features of W x + b.
struct ChainLayer {
    Tensor weight = {};  // [products, inputs]
    Tensor bias = {};    // [products], or undefined
    Activation activation = Activation::identity;
    double scale = 1;
    double envelope = 1;  // s of wire
    std::optional<ChainFeatures> features = {};
};

// The width up to which layers are computed as chains for inputs of so many rows. What is not
// recorded has no backward pass; but a block is 64 points, or as much work for fewer.
inline int64_t chain_width(int64_t rows) {
    return is_recording() || rows < 64 ? LayerChainProgram::max_trained_width
                                       : LayerChainProgram::max_width;
}

// x [rows, inputs] through all layers, at most LayerChainProgram::max_steps. The same as
// apply(activation, linear(x, weight, bias), scale, envelope) layer by layer, or the features in
// place of apply(), within rounding; second derivatives go through such a reference. Throws Error
// for sizes that do not fit.
Jet layer_chain(const Jet& x, std::span<const ChainLayer> layers);

}  // namespace ralimp
