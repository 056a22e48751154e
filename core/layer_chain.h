// A chain of layers with all derivative channels in one pass over blocks of points. A step of
// it is a product and then what is done to its results, element by element or feature by feature:
//   activation   y = f(scale (W x + b))
//   features     p = W x + b, and y = the exponential and polynomial features of a RaLiMP layer,
//                whose amplitudes, if it has any, are the next product's
// A block stays in the first caches while it goes through every step, and within it the points
// stand side by side, so that products run at full vector width whatever the layers' sizes are. A
// BLAS is slow at widths of a few dozen, and at larger ones spends a tenth on copying its operands.
// A packed chain is the same for few rows, of values alone: weights that do not change are packed
// in the order in which they are read.
#pragma once
#include <cstdint>

#include "core/activation.h"
#include "core/exponential_features.h"

namespace ralimp {

// What the kernels need beside tensors. A plain struct.
struct LayerChainProgram {
    static constexpr int max_steps = 32;
    // The widest products that are worth it: with a backward pass, whose sums for every weight must
    // stay in a cache, and without one. Features may be eight times as many.
    static constexpr int max_trained_width = 64;
    static constexpr int max_width = 1024;
    static constexpr int max_products = 200;
    // Packed weights [blocks, inputs, lanes] have so many bytes of products side by side, the last
    // ones filled up with zeros.
    static constexpr int packed_bytes = 64;

    enum class Kind : uint8_t { linear, activation, features };

    struct Step {
        Kind kind = Kind::linear;
        Activation activation = Activation::identity;
        double scale = 1;
        double parameter = 0;
        // Features: first those of `exponentials` exponents z = (growth + i rotation) p +
        // (norm_growth + i norm_rotation) n, where p is the projection that an exponent reads and n
        // = Σ norm_weights x² of the step's input, or, without norm_weights, the mean p² of the
        // projections that exponents read: e^z where they are real, and where they oscillate the
        // real parts e^(Re z) cos(Im z) of all, then the imaginary ones e^(Re z) sin(Im z). Re z is
        // at most `exponent_limit`, beyond which its derivatives are 0. Then for each degree k = 1
        // … degree `rows` products of projections, the k-th of them times those of degree k - 1.
        // Exponents read the first `exponential_rows` projections, the polynomial those from
        // `polynomial_first` on.
        int32_t exponentials = 0, exponential_rows = 0, polynomial_first = 0, rows = 0, degree = 0;
        bool oscillating = false;
        double exponent_limit = default_exponent_limit;

        int64_t features_of_exponent() const { return oscillating ? 2 : 1; }
        int64_t exponential_features() const { return features_of_exponent() * exponentials; }
        int64_t width(int64_t products) const {
            return kind == Kind::features ? exponential_features() + int64_t{rows} * degree
                                          : products;
        }
    };

    // Channel c of a product of jets is Σ coefficient left right.
    struct Product {
        uint8_t channel, left, right;
        float coefficient;  // small whole numbers: exact
    };

    // Channels and terms of the chain rule, the same for all steps; its activation, scale and
    // parameter play no part.
    ActivationProgram composition;
    uint8_t steps_count = 0;
    uint8_t product_count = 0;
    Step steps[max_steps];
    Product products[max_products];

    ActivationProgram program(const Step& step) const {
        ActivationProgram one = composition;
        one.activation = step.activation;
        one.scale = step.scale;
        one.parameter = step.parameter;
        return one;
    }
};

}  // namespace ralimp
