// The options of a RaLiMP layer, as every model config has them under `hidden: {kind: ralimp, …}`.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/exponential_features.h"
#include "layers/random_features.h"

namespace ralimp {

// Where |x|² inside the features comes from.
//   exact      |x|²
//   projected  (1/r) Σ (g·x)² over the projection rows: unbiased, and needs no x, so chains fold
//   none       left out on the input side
enum class FeatureNorm { exact, projected, none };
constexpr auto enum_names(FeatureNorm) {
    return std::array{std::pair{FeatureNorm::exact, "exact"},
                      std::pair{FeatureNorm::projected, "projected"},
                      std::pair{FeatureNorm::none, "none"}};
}

// How the two channels of a frequency are laid out; both give the same function of W.
//   merged        C cos + S sin share the weight side: 2m features per frequency
//   concatenated  cosine and sine channel side by side, 4m (the paper). Real and phase input have
//                 nothing to merge and are the same in both.
enum class FeatureLayout { merged, concatenated };
constexpr auto enum_names(FeatureLayout) {
    return std::array{std::pair{FeatureLayout::merged, "merged"},
                      std::pair{FeatureLayout::concatenated, "concatenated"}};
}

// What the weight side is.
//   weights  W [out, in] and b are the parameters and Ψ(W, b) follows from them: the unbiased
//            estimator, and the way to convert a trained dense layer
//   free     Ψ [out, F] is itself the parameter: the way to train from scratch
enum class PsiMode { weights, free };
constexpr auto enum_names(PsiMode) {
    return std::array{std::pair{PsiMode::weights, "weights"}, std::pair{PsiMode::free, "free"}};
}

// The exact rescaling x -> κ x, w -> w / κ of the weights mode.
//   scalar    κ² = rms|w| / rms|x|
//   diagonal  one κ for each input, κ_i⁴ = E w_i² / E x_i²
enum class Balance { none, scalar, diagonal };
constexpr auto enum_names(Balance) {
    return std::array{std::pair{Balance::none, "none"}, std::pair{Balance::scalar, "scalar"},
                      std::pair{Balance::diagonal, "diagonal"}};
}

struct RalimpConfig {
    static constexpr const char* kind = "ralimp";

    int64_t features = 8;    // m: two features a frequency for each (four when concatenated)
    double half_width = 3;   // T
    int64_t degree = 1;      // K; -1: no polynomial
    int64_t pole_pairs = 1;  // J
    int64_t multiplicity = 1;
    bool minimax = false;
    NodeRule nodes = NodeRule::gauss_laguerre;
    int64_t nodes_per_atom = 3;
    std::optional<double> s_max;
    Split split = Split::real_input;
    FeatureLayout layout = FeatureLayout::merged;
    bool share_projections = true;         // one set of rows for all frequencies
    bool share_rows = true;                // of the polynomial: prefix products
    std::optional<bool> share_polynomial;  // its first rows are those of the rational features
    bool antithetic = true;
    bool orthogonal = true;
    std::optional<FeatureNorm> norm;
    PsiMode psi = PsiMode::free;
    double exponent_limit = default_exponent_limit;

    // weights mode
    Balance balance = Balance::scalar;
    ScaleOptions scale;
    // free mode
    std::optional<double> start_rms;  // of √s_max g·x
    double ridge = 1e-4;

    bool train_positions = true;     // p
    bool train_widths = true;        // log q
    bool train_coefficients = true;  // a, b, and the polynomial's
    bool train_projections = true;   // the rows g

    // What the options are that are null. Of the estimator, with psi: weights, what makes it free
    // of bias; of trained features what served best.
    bool shares_polynomial() const {
        return share_polynomial.value_or(psi == PsiMode::free && can_share_polynomial());
    }
    FeatureNorm norm_used() const {
        if (norm) return *norm;
        if (psi == PsiMode::weights) return FeatureNorm::exact;
        return split == Split::phase_input ? FeatureNorm::none : FeatureNorm::projected;
    }
    double start_rms_used() const {
        if (start_rms) return *start_rms;
        if (split == Split::symmetric) return 0.4;
        return split == Split::phase_input ? 10 : 2.5;
    }
    // Pairs of opposite rows are half as many rows as features.
    bool can_share_polynomial() const {
        return share_projections && (split != Split::symmetric || !antithetic);
    }

    static void describe(auto& config, auto& field) {
        field("features", config.features, "random features of each part, m", at_least(1));
        field("half_width", config.half_width, "T: the activation is fitted on [-T, T]",
              more_than(0));
        field("degree", config.degree, "of the surrogate's polynomial; -1: none", between(-1, 20));
        field("pole_pairs", config.pole_pairs, "conjugate pole pairs of the surrogate",
              between(0, 16));
        field("multiplicity", config.multiplicity,
              "order of every pole: atoms of all powers up to it, at no further feature",
              between(1, 16));
        field("minimax", config.minimax, "fit the largest error instead of the mean square");
        field("nodes", config.nodes, "how the frequencies of an atom are chosen");
        field("nodes_per_atom", config.nodes_per_atom, "frequencies of each atom", between(1, 64));
        field("s_max", config.s_max, "largest node kept; null: all", more_than(0));
        field("split", config.split, "which side of the features oscillates");
        field("layout", config.layout, "merged, or the paper's concatenated channels");
        field("share_projections", config.share_projections,
              "one set of projection rows for all frequencies");
        field("share_rows", config.share_rows,
              "polynomial degrees share their projection rows (prefix products)");
        field("share_polynomial", config.share_polynomial,
              "the polynomial's first rows are those of the rational features: as many features of "
              "fewer projections; null: where it can, of psi: free");
        field.check("share_polynomial",
                    !config.share_polynomial.value_or(false) || config.can_share_polynomial(),
                    "needs share_projections, and of the symmetric split antithetic: false, for as "
                    "many rows as features");
        field("antithetic", config.antithetic,
              "pairs of opposite rows; real and phase input always have them");
        field("orthogonal", config.orthogonal, "orthogonal projection rows");
        field("norm", config.norm,
              "where |x|^2 comes from; null: exact for psi: weights, none for phase_input, else "
              "projected");
        field("psi", config.psi, "whether the weights or psi itself is the parameter");
        field("exponent_limit", config.exponent_limit,
              "the features' exponents are clamped to it and the clamps counted; at 20 float32 "
              "holds the squares of what the features multiply to",
              more_than(0).at_most(default_exponent_limit));
        field("balance", config.balance, "rescaling of x against w, of psi: weights");
        field("scale", config.scale, "division of x and w by tau, of psi: weights");
        field("start_rms", config.start_rms,
              "RMS of the largest exponent at the start, of psi: free; null: 0.4 for symmetric, "
              "10 for phase_input, 2.5 for real_input",
              more_than(0));
        field("ridge", config.ridge, "penalty of the least-squares start of psi: free",
              more_than(0));
        field("train_positions", config.train_positions, "train the poles' positions");
        field("train_widths", config.train_widths, "train the poles' widths");
        field("train_coefficients", config.train_coefficients,
              "train the atoms' and the polynomial's coefficients");
        field("train_projections", config.train_projections, "train the projection rows");
        field.check("pole_pairs", config.pole_pairs > 0 || config.degree > 0,
                    "must be positive when the polynomial has no degree");
        field.check("multiplicity", config.multiplicity * config.pole_pairs <= 16,
                    "multiplicity times pole_pairs must be at most 16");
        field.check(
            "features",
            config.split != Split::symmetric || !config.antithetic || config.features % 2 == 0,
            "must be even for antithetic pairs of the symmetric split");
    }
};

}  // namespace ralimp
