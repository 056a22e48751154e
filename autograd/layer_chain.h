// A chain of layers as one operation: core/layer_chain.h.
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "autograd/exponential_features.h"
#include "autograd/jet.h"
#include "core/kernels.h"

namespace ralimp {

// The features of a RaLiMP layer of projections p = W x + b: of E exponents z, then of a
// polynomial. Real exponents make E features, those with a rotation 2 E: e^(Re z) cos(Im z) of all,
// then e^(Re z) sin(Im z) of all. What is undefined is 0.
struct ChainFeatures {
    Tensor projections = {};       // int32 [E]: the row of W that each exponent reads
    Tensor growth = {};            // [E]: of p in Re z; real exponents have one
    Tensor norm_growth = {};       // [E]: of Σ norm_weights x² in Re z
    Tensor rotation = {};          // [E]: of p in Im z; defined: the features oscillate
    Tensor norm_rotation = {};     // [E]: of Σ norm_weights x² in Im z; only beside a rotation
    Tensor norm_weights = {};      // [inputs], constants; undefined: instead the mean p² of the
                                   // projections that exponents read
    int64_t exponential_rows = 0;  // of W, before those of the polynomial
    int64_t rows = 0, degree = 0;  // of the polynomial: `rows` rows of W for each degree
    int64_t shared_rows = 0;       // the last so many of the former are the first of the latter
    ExponentLimit limit = {};      // counts features, each as often as its exponent is clamped

    bool oscillating() const { return rotation.defined(); }
    bool has_norms() const { return norm_growth.defined() || norm_rotation.defined(); }
    int64_t exponentials() const { return projections.elements(); }
    int64_t polynomial_first() const { return exponential_rows - shared_rows; }
    // Whether so many rows of W are what is read.
    bool reads(int64_t products) const {
        for (const int64_t size : {exponential_rows, rows, degree})
            if (size < 0 || size > products) return false;
        return shared_rows >= 0 && shared_rows <= std::min(exponential_rows, rows * degree) &&
               polynomial_first() + rows * degree == products;
    }
    int64_t width() const { return (oscillating() ? 2 : 1) * exponentials() + rows * degree; }
};

// What exponents are made of, in the order of feature_table::Row.
constexpr std::array chain_coefficients = {&ChainFeatures::growth, &ChainFeatures::norm_growth,
                                           &ChainFeatures::rotation, &ChainFeatures::norm_rotation};
static_assert(chain_coefficients.size() == feature_table::cosine);

// The exponential features as exponential_features() takes them.
struct ExponentialForm {
    Tensor table = {}, blocks = {};
};
ExponentialForm exponential_form(const ChainFeatures& features);

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

// Throws Error unless the layer, which has this number in messages, fits itself and takes so many
// inputs of this type; returns how many features it makes.
int64_t check_chain_layer(const ChainLayer& layer, int64_t inputs, DType dtype, std::size_t number);

// The same for layers that do not change and for inputs of few rows: values alone, not recorded,
// and no clamps counted. It holds a copy of their weights, packed.
class PackedChain {
public:
    explicit PackedChain(std::span<const ChainLayer> layers);
    // x [rows, inputs] -> [rows, outputs]
    Tensor forward(const Tensor& x) const;

private:
    LayerChainProgram program_;
    std::vector<ChainTensors> steps_;
    int64_t outputs_;
};

}  // namespace ralimp
