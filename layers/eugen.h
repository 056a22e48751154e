// Layers of product features (Kim et al., "EUGens: Efficient, Unified, and General Dense Layers",
// NeurIPS 2025): y = Ψ Φ(x) stands in for f(scale (W x + b)), with a free Ψ.
#pragma once
#include "core/describe.h"
#include "layers/free_psi.h"

namespace ralimp {

// Φ: for each degree k = 1 … K the m products Π_(i<=k) g_i·x̂ of projections of x̂ = (x, 1, |x|),
// with x and |x| in units in which |x| has the RMS `start_rms` on the calibration batch and rows g
// ~ N(0, I). Factors of single features are left to Ψ. In place of |x| stands √(|x|² + (norm_floor
// · start_rms)²), which has derivatives of every order at x = 0: there the first is 0 and the
// second 1 / (norm_floor · start_rms). At |x| = start_rms it differs by 5e-7 of it.
struct EugenConfig {
    static constexpr const char* kind = "eugen";
    static constexpr double norm_floor = 1e-3;

    int64_t features = 16;  // m
    int64_t degree = 2;     // K
    bool share_rows = false;
    bool orthogonal = true;
    double start_rms = 1;
    double ridge = 1e-4;
    bool train_projections = false;

    static void describe(auto& config, auto& field) {
        field("features", config.features, "random features of each degree, m", at_least(1));
        field("degree", config.degree, "largest number of projections in a product",
              between(1, 20));
        field("share_rows", config.share_rows,
              "degrees share their projection rows (prefix products)");
        field("orthogonal", config.orthogonal, "orthogonal projection rows");
        field("start_rms", config.start_rms, "RMS of |x| inside the features at the start",
              more_than(0));
        field("ridge", config.ridge, "penalty of the least-squares start of psi", more_than(0));
        field("train_projections", config.train_projections, "train the projection rows");
    }
};

class Eugen : public Layer {
public:
    Eugen(int64_t inputs, int64_t outputs, const EugenConfig& config, const HiddenStart& start);

    using Layer::forward;
    Jet forward(const Jet& x) const override { return psi_.apply(features(x)); }
    std::vector<FoldedStep> folded_steps() const override;
    int64_t inputs() const override { return rows_.size(1) - 2; }
    int64_t outputs() const override { return psi_.outputs(); }
    void visit(const std::string& prefix, const ParameterVisitor& visitor) override;
    // Scales the inputs, standardizes the features and starts Ψ by ridge regression against the
    // dense layer.
    Tensor initialize_from_data(const Tensor& x) override;
    // Deployed: rows, Ψ with its bias and the scale of the inputs; regenerated: fixed rows count as
    // their seed.
    ParameterCount count() const override;
    std::string description() const override;

    // Φ(x), not standardized: [rows, m] for each degree.
    std::vector<Jet> features(const Jet& x) const;

private:
    double floor() const;  // of the norm, in the units of the features

    EugenConfig config_;
    HiddenStart start_;
    FreePsi psi_;
    Tensor rows_;         // [rows, in + 2]: of x, of 1, of |x|
    Tensor input_scale_;  // [1]
};

}  // namespace ralimp
