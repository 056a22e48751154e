// The gated feed-forward block of language models (Shazeer, "GLU Variants Improve Transformer",
// 2020), W_d (f(W_g x) ⊙ W_u x), and its linearized form of low rank. No kind of hidden layer.
#pragma once
#include "layers/ralimp.h"

namespace ralimp {

struct GatedConfig {
    int64_t inputs = 0, hidden = 0, outputs = 0;  // d, l, o
    Activation activation = Activation::silu;     // SwiGLU
    DType dtype = DType::float32;
};

class GatedFeedForward : public Layer {
public:
    // No biases; the three matrices have the start's key with seeds of their own.
    GatedFeedForward(const GatedConfig& config, const LinearStart& start);

    using Layer::forward;
    Jet forward(const Jet& x) const override;
    int64_t inputs() const override { return gate_.size(1); }
    int64_t outputs() const override { return down_.size(0); }
    void visit(const std::string& prefix, const ParameterVisitor& visitor) override;
    ParameterCount count() const override;
    std::string description() const override;

    Activation activation() const { return activation_; }
    const Tensor& gate() const { return gate_; }  // W_g [l, d]
    const Tensor& up() const { return up_; }      // W_u [l, d]
    const Tensor& down() const { return down_; }  // W_d [o, l]

private:
    Activation activation_;
    Tensor gate_, up_, down_;
};

// The block by the features of a RaLiMP layer in the weights mode, f(w·x) ≈ ψ(w)·Φ(x), where Φ
// stands for its features less those of x = 0, and a 1: what they add up to at 0 is the constant
// term of ψ. Row i of the product is (ψ_i ⊗ u_i)·(Φ ⊗ x), which is too long to be formed: r pairs
// of random vectors α_l ∈ R^(F+1), β_l ∈ R^d of independent signs estimate it,
//     (ψ_i·Φ)(u_i·x) ≈ (1/r) Σ_l (α_l·ψ_i)(β_l·u_i)(α_l·Φ)(β_l·x),
// without bias and with an error that falls as 1/√r and grows with |ψ_i||Φ||u_i||x|: without the
// features of 0 in Φ it is far smaller. What does not depend on x folds with W_d into one matrix:
//     y = D ((A Φ(x)) ⊙ (B x)),   A [r, F+1], B [r, d],   D = (1/r) W_d ((Ψ Aᵀ) ⊙ (W_u Bᵀ)) [o, r].
// A (as a matrix and a bias), B and D are parameters, for training after the conversion; the
// feature map is constant.
class HadamardGated : public Layer {
public:
    // Converts a block. The features must have psi: weights and a fixed scale of 1: with another
    // they would estimate another function. Of the start, the key of all random numbers and the
    // fits count.
    HadamardGated(const GatedFeedForward& block, int64_t rank, const RalimpConfig& features,
                  const HiddenStart& start);

    using Layer::forward;
    Jet forward(const Jet& x) const override;
    int64_t inputs() const override { return right_.size(1); }
    int64_t outputs() const override { return down_.size(0); }
    void visit(const std::string& prefix, const ParameterVisitor& visitor) override;
    void visit_clamps(const std::string& prefix, const ClampVisitor& visitor) const override {
        features_.visit_clamps(join(prefix, "features"), visitor);
    }
    ParameterCount count() const override;
    std::string description() const override;

    // Of one row x: (rows of the projections + r) d + r (F + 1) + r + o r, whatever l is; the
    // functions of the features not counted.
    int64_t multiply_adds() const;

    const Ralimp& features() const { return features_; }
    const Tensor& left() const { return left_; }            // A of the features, [r, F]
    const Tensor& left_bias() const { return left_bias_; }  // A of 1, less A of the features of 0
    const Tensor& right() const { return right_; }          // B

private:
    Ralimp features_;
    Tensor left_, left_bias_, right_, down_;
};

}  // namespace ralimp
