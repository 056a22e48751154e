// The RaLiMP layer: y = f(scale (W x + b)) as a product Ψ Φ(x) of random features of a rational
// surrogate of f (Sehanobish et al., arXiv 2610.13568). The options are in layers/ralimp_config.h.
#pragma once
#include "layers/feature_slots.h"
#include "layers/hidden_start.h"

namespace ralimp {

class Ralimp : public Layer {
public:
    Ralimp(int64_t inputs, int64_t outputs, const RalimpConfig& config, const HiddenStart& start);

    using Layer::forward;
    Jet forward(const Jet& x) const override;
    std::vector<ChainLayer> as_chain() const override;
    std::vector<FoldedStep> folded_steps() const override;
    bool fits_chain(int64_t width) const override;
    int64_t inputs() const override { return inputs_; }
    int64_t outputs() const override { return outputs_; }
    void visit(const std::string& prefix, const ParameterVisitor& visitor) override;
    // Chooses the scales from the batch (τ = 1 where the layer takes the place of a trained one);
    // in free mode standardizes every feature and starts Ψ by ridge least squares against the dense
    // layer f(scale (W x + b)), with its usual start or trained.
    Tensor initialize_from_data(const Tensor& x) override;
    // Both sides of the features, the input's and in the weights mode that of W.
    void visit_clamps(const std::string& prefix, const ClampVisitor& visitor) const override;
    // Deployed: projection rows with their biases, Ψ with its bias, and the numbers of the pole
    // pairs; scales and standardization fold into them. Regenerated: fixed rows count as their
    // seed.
    ParameterCount count() const override;
    std::string description() const override;

    // What multiplies Ψ, [rows, F] (in free mode standardized): rational, then polynomial features.
    Jet features(const Jet& x) const;
    int64_t feature_count() const { return slots_.features() + polynomial_features_; }
    int64_t projection_rows() const { return rows_.size(0); }
    // Ψ [out, F] and the constant term [out].
    struct WeightSide {
        Tensor psi, constant;
    };
    WeightSide weight_side() const;

    // The surrogate without random features: what the weights mode estimates without bias, for
    // t = (w·x + b) / τ² of any shape.
    Tensor surrogate(const Tensor& t) const;
    // The parameters of the weights mode, to be set when a dense layer is converted.
    void set_weights(const Tensor& weight, const Tensor& bias);
    const Tensor& weight() const { return weight_; }
    const Tensor& bias() const { return bias_; }
    // Draws fixed projection rows anew, with the options of the layer, from another seed: a fresh
    // estimate of the same function in the weights mode.
    void redraw_projections(uint64_t seed);
    // τ of the last initialize_from_data(), and the mean variance exponent A it left.
    double scale() const { return tau_; }
    double exponent() const { return exponent_; }

private:
    bool has_chain_form() const;
    ChainLayer feature_step(const Tensor& frequencies, int64_t rows, int64_t degree) const;
    ChainLayer psi_step(const Tensor& frequencies) const;
    std::vector<Jet> raw_features(const Jet& x) const;
    Atoms::Amplitudes input_amplitudes(const Tensor& frequencies) const;  // if the input has any
    Jet rational_features(const Jet& x, const Jet& projections) const;
    Tensor polynomial_psi(const Tensor& projections, const Tensor& shift, Tensor& constant) const;
    Tensor draw_rows(uint64_t seed) const;
    Tensor shift_of_bias() const;
    ExponentLimit limit() const { return {config_.exponent_limit, clamps_}; }
    void choose_scales(const Tensor& x);
    void start_free(const Tensor& x);

    RalimpConfig config_;
    HiddenStart start_;
    int64_t inputs_, outputs_;
    Atoms atoms_;
    FeatureSlots slots_;
    int64_t shared_rows_, polynomial_rows_, polynomial_features_;

    Tensor rows_;             // [rational rows + polynomial rows, in]
    Tensor row_bias_;         // [rows], free mode only
    Tensor weight_, bias_;    // weights mode: [out, in], [out]
    Tensor psi_, psi_bias_;   // free mode: [out, F], [out]
    Tensor input_scale_;      // [in]: κ / τ
    Tensor weight_scale_;     // [in]: 1 / (κ τ); weights mode only
    Tensor feature_mean_;     // [F], free mode: of the raw features on the calibration batch
    Tensor feature_inverse_;  // [F], free mode: 1 / their standard deviation
    Tensor clamps_;           // int64 [2]: exponents clamped, exponents
    double tau_ = 1, exponent_ = 0;
};

}  // namespace ralimp
