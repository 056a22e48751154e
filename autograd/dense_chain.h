// A chain of small dense layers as one operation: core/dense_chain.h.
#pragma once
#include <span>

#include "autograd/jet.h"
#include "core/dense_chain.h"

namespace ralimp {

// y = f(scale (W x + b)).
struct DenseChainLayer {
    Tensor weight;  // [outputs, inputs]
    Tensor bias;    // [outputs]
    Activation activation = Activation::identity;
    double scale = 1;
    double envelope = 1;  // s of wire
};

// Whether the layer may be part of a chain: not too wide, and with a bias.
bool fits_dense_chain(const DenseChainLayer& layer);

// x [rows, inputs] through all layers, at most DenseChainProgram::max_layers. The same as
// apply(activation, linear(x, weight, bias), scale, envelope) layer by layer, within rounding.
// Throws Error for sizes that do not fit.
Jet dense_chain(const Jet& x, std::span<const DenseChainLayer> layers);

}  // namespace ralimp
