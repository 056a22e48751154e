// Scalable neural network kernels (Sehanobish et al., "Scalable Neural Network Kernels", ICLR
// 2024): the layer y = Ψ Φ(x) that stands in for f(scale (W x + b)), with random features Φ and a
// free Ψ.
#pragma once
#include <array>

#include "autograd/exponential_features.h"
#include "core/describe.h"
#include "layers/free_psi.h"

namespace ralimp {

// The features of x, in units in which g·x has the RMS `start_rms` on the calibration batch, for
// rows g ~ N(0, I). Factors of single features, 1/√m among them, are left to Ψ.
//   relu  max(g·x + b, 0); the mean product of two is the arc-cosine kernel of order 1 for b = 0
//   urf   universal random features, A(ξ) e^(a g·x - a²|x|²/2) with a = √|ξ|, ξ ~ N(0, 1) for each
//         feature; the mean product of two is e^(a² v·w)
enum class SnnkForm { relu, urf };
constexpr auto enum_names(SnnkForm) {
    return std::array{std::pair{SnnkForm::relu, "relu"}, std::pair{SnnkForm::urf, "urf"}};
}

struct SnnkConfig {
    static constexpr const char* kind = "snnk";

    int64_t features = 32;  // m
    SnnkForm form = SnnkForm::relu;
    bool orthogonal = true;
    double start_rms = 1;
    double bias_rms = 1;
    double exponent_limit = default_exponent_limit;
    double ridge = 1e-4;
    bool train_projections = false;

    static void describe(auto& config, auto& field) {
        field("features", config.features, "random features, m", at_least(1));
        field("form", config.form, "ReLU of the projections, or universal random features");
        field("orthogonal", config.orthogonal, "orthogonal projection rows");
        field("start_rms", config.start_rms,
              "RMS of the projections of form: relu, of the exponents' linear part of form: urf, "
              "at the start",
              more_than(0));
        field("bias_rms", config.bias_rms,
              "RMS of the normal biases b at the start, of form: relu; 0: they start at 0",
              at_least(0));
        field("exponent_limit", config.exponent_limit,
              "exponents of form: urf are clamped to it and the clamps counted",
              more_than(0).at_most(default_exponent_limit));
        field("ridge", config.ridge, "penalty of the least-squares start of psi", more_than(0));
        field("train_projections", config.train_projections, "train the projection rows");
    }
};

class Snnk : public Layer {
public:
    Snnk(int64_t inputs, int64_t outputs, const SnnkConfig& config, const HiddenStart& start);

    using Layer::forward;
    Jet forward(const Jet& x) const override { return psi_.apply({features(x)}); }
    std::vector<ChainLayer> as_chain() const override { return {feature_step(), psi_.as_chain()}; }
    bool fits_chain(int64_t width) const override;
    int64_t inputs() const override { return rows_.size(1); }
    int64_t outputs() const override { return psi_.outputs(); }
    void visit(const std::string& prefix, const ParameterVisitor& visitor) override;
    // Scales the projections, standardizes the features and starts Ψ by ridge regression against
    // the dense layer.
    Tensor initialize_from_data(const Tensor& x) override;
    void visit_clamps(const std::string& prefix, const ClampVisitor& visitor) const override;
    // Deployed: rows, Ψ with its bias and of each feature b, or the factor of |x|²; regenerated:
    // fixed rows and a count as their seed and the one scale of the inputs.
    ParameterCount count() const override;
    std::string description() const override;

    // Φ(x) [rows, m], not standardized.
    Jet features(const Jet& x) const;

private:
    bool is_relu() const { return config_.form == SnnkForm::relu; }
    ChainLayer feature_step() const;

    SnnkConfig config_;
    HiddenStart start_;
    FreePsi psi_;
    Tensor rows_;         // [m, in]
    Tensor row_bias_;     // [m], of relu
    Tensor growth_;       // [m], of urf: a, constants
    Tensor input_scale_;  // [1]
    Tensor clamps_;       // int64 [2], of urf: exponents clamped, exponents
};

}  // namespace ralimp
