// How the terms of a PINN's loss, and the moments they are about, come to weigh against each other
// while it trains: what a config may choose, and the formulas.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "core/describe.h"

namespace ralimp {

struct FixedWeights {
    static constexpr const char* kind = "fixed";
    static void describe(auto&, auto&) {}
};

void describe_balance(auto& config, auto& field) {
    field("every", config.every, "steps between two updates", at_least(1));
    field("momentum", config.momentum, "share of the former weight in the new one",
          at_least(0).less_than(1));
    field("max_weight", config.max_weight, "bound on a weight", at_least(1));
}

// Wang, Teng & Perdikaris, SIAM J. Sci. Comput. 43 (2021), in the form of Wang, Sankaran, Wang &
// Perdikaris, "An expert's guide to training physics-informed neural networks" (2023): the
// gradients of all terms are brought to one norm.
struct GradientNormWeights {
    int64_t every = 100;
    double momentum = 0.9;
    double max_weight = 1e6;

    static constexpr const char* kind = "gradient_norm";
    static void describe(auto& config, auto& field) { describe_balance(config, field); }
};

// Wang, Yu & Perdikaris, J. Comput. Phys. 449 (2022): the traces of the terms' neural tangent
// kernels are brought to one value. K_i = J J' for the differences of term i, each divided by the
// root of their number, so that the term is the sum of their squares.
struct NtkWeights {
    int64_t every = 100;
    double momentum = 0.9;
    double max_weight = 1e6;
    int64_t probes = 10;

    static constexpr const char* kind = "ntk";
    static void describe(auto& config, auto& field) {
        describe_balance(config, field);
        field("probes", config.probes,
              "random signs of all points by which a trace is estimated; one backward pass each",
              between(1, 1000));
    }
};

enum class WeightOwner { point, term };

constexpr auto enum_names(WeightOwner) {
    return std::array{std::pair{WeightOwner::point, "point"}, std::pair{WeightOwner::term, "term"}};
}

enum class WeightMask { linear, square, quartic };

constexpr auto enum_names(WeightMask) {
    return std::array{std::pair{WeightMask::linear, "linear"},
                      std::pair{WeightMask::square, "square"},
                      std::pair{WeightMask::quartic, "quartic"}};
}

// McClenny & Braga-Neto, J. Comput. Phys. 474 (2023): every point, or term, weighs m(λ); λ starts
// at 1 and climbs the loss.
struct SelfAdaptiveWeights {
    WeightOwner per = WeightOwner::point;
    WeightMask mask = WeightMask::square;
    double learning_rate = 0.1;
    int64_t every = 1;

    static constexpr const char* kind = "self_adaptive";
    static void describe(auto& config, auto& field) {
        field("per", config.per, "what has a weight; points must stay the same then");
        field("mask", config.mask, "m: the number λ itself, its square or its fourth power");
        field("learning_rate", config.learning_rate,
              "η of λ += η m'(λ) e, e the error of the point or term", more_than(0));
        field("every", config.every, "steps between two updates", at_least(1));
    }
};

using LossWeightsConfig =
    std::variant<FixedWeights, GradientNormWeights, NtkWeights, SelfAdaptiveWeights>;

// Wang, Sankaran & Perdikaris, Comput. Methods Appl. Mech. Engrg. 421 (2024): a moment weighs
// little in the equations' terms as long as they do not hold before it.
struct CausalConfig {
    int64_t segments = 0;
    std::vector<double> epsilons{1e-2, 1e-1, 1, 10, 100};
    double threshold = 0.99;
    int64_t every = 1;

    static void describe(auto& config, auto& field) {
        field("segments", config.segments, "equal parts of the time; 0: off", between(0, 4096));
        field("epsilons", config.epsilons, "how strictly, one after the other",
              more_than(0).items(1));
        field("threshold", config.threshold,
              "the next epsilon comes when the smallest weight is above this",
              more_than(0).less_than(1));
        field("every", config.every, "steps between two updates", at_least(1));
        field.check("segments", config.segments != 1, "one segment weighs nothing; 0 is off");
    }
    bool is_on() const { return segments > 0; }
};

// Moves each weight towards mean_j s_j / s_i, the mean in place of the papers' sum, so that equal
// terms keep the weight 1: w = momentum w + (1 - momentum) min(target, max_weight). A size that is
// 0 or not finite, as of a term that holds exactly, leaves its weight as it is and does not count.
void balance_weights(std::vector<double>& weights, const std::vector<double>& sizes,
                     double momentum, double max_weight);

// w_i = exp(-epsilon Σ_{k<i} losses_k); the first is 1.
std::vector<double> causal_weights(const std::vector<double>& losses, double epsilon);

// m(λ) and m'(λ).
double mask_of(WeightMask mask, double lambda);
double mask_slope(WeightMask mask, double lambda);

}  // namespace ralimp
