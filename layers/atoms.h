// The atoms of a rational surrogate as tensors: trainable poles and coefficients, and the
// frequencies and amplitudes that follow from them.
#pragma once
#include <string>

#include "layers/layer.h"
#include "layers/ralimp_config.h"

namespace ralimp {

// N waves in the order of the pairs, each pair's by ascending node. The parameters are p, log q, a
// and b of each pair and the polynomial's coefficients; nodes and quadrature weights are constants.
class Atoms {
public:
    Atoms(const RationalFit& fit, const FrequencyOptions& options, DType dtype);

    int64_t waves() const { return nodes_.elements(); }
    int64_t pairs() const { return position_.elements(); }
    int64_t degree() const { return polynomial_.elements() - 1; }

    // s = u / q, [N].
    Tensor frequencies() const;
    // C and S of C cos(s t) + S sin(s t), [N]:
    //   C = ω (a cos(s p) - b sin(s p)),  S = ω (a sin(s p) + b cos(s p))
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
    Tensor position_, log_width_, even_, odd_;   // [J]
    Tensor polynomial_;                          // [K + 1]
    Tensor nodes_, even_weights_, odd_weights_;  // [N], constants
    Tensor pair_;                                // [N] int64
};

}  // namespace ralimp
