// The atoms of a rational surrogate as tensors: trainable poles and coefficients, and the
// frequencies and amplitudes that follow from them.
#pragma once
#include <string>

#include "layers/layer.h"
#include "layers/ralimp_config.h"

namespace ralimp {

// N waves in the order of the pairs, each pair's by ascending node. The parameters are p and log q
// of each pair, a_i and b_i of each of its n powers and the polynomial's coefficients; nodes and
// quadrature weights are constants.
class Atoms {
public:
    Atoms(const RationalFit& fit, const FrequencyOptions& options, DType dtype);

    int64_t waves() const { return nodes_.elements(); }
    int64_t pairs() const { return position_.elements(); }
    int64_t degree() const { return polynomial_.elements() - 1; }
    // Numbers that make up the pole pairs.
    int64_t scalars() const { return 2 * pairs() + even_.elements() + odd_.elements(); }

    // s = u / q, [N].
    Tensor frequencies() const;
    // C and S of C cos(s t) + S sin(s t), [N]:
    //   C = A cos(s p) - B sin(s p),  S = A sin(s p) + B cos(s p),  A = Σ a_i ω_i,  B = Σ b_i ω'_i
    struct Amplitudes {
        Tensor cosine, sine;
    };
    Amplitudes amplitudes(const Tensor& frequencies) const;
    const Tensor& polynomial() const { return polynomial_; }  // [K + 1]

    // With amplitudes = false only what the frequencies depend on is trained.
    void visit(const std::string& prefix, const ParameterVisitor& visitor,
               const RalimpConfig& config, bool amplitudes);
    int64_t trained(const RalimpConfig& config, bool amplitudes) const;

private:
    Tensor weighted(const Tensor& coefficients, const Tensor& weights) const;

    Tensor position_, log_width_;        // [J]
    Tensor even_, odd_;                  // [n J], power by power
    Tensor polynomial_;                  // [K + 1]
    Tensor nodes_;                       // [N], constant
    Tensor even_weights_, odd_weights_;  // [n N], power by power, constants
    Tensor pair_;                        // [N] int64
};

}  // namespace ralimp
