// What a RaLiMP layer of given options can promise for an activation: the error of the rational
// fit, of its frequencies and of the random features, predicted beside measured. Drawing and the
// command line are in trainers/.
#pragma once
#include <string>
#include <vector>

#include "core/describe.h"
#include "layers/random_features.h"

namespace ralimp {

struct FitOptions {
    std::string activation = "tanh";
    double frequency = 1;   // of the activation: f(frequency t)
    double envelope = 1;    // of wire
    double half_width = 3;  // T
    int degree = 2;         // K
    int pole_pairs = 2;     // J
    int multiplicity = 1;   // of every pole pair
    bool minimax = false;
    FrequencyOptions nodes;
    Split split = Split::symmetric;
    int64_t features = 64;  // m
    bool antithetic = true;
    bool orthogonal = false;
    bool share_projections = true;
    ScaleOptions scale;
    // |x|² and |w|² before scaling; 0: T, with which w·x reaches ±T.
    double squared_norm = 0;
    int64_t dimension = 16;  // of x and w
    int repeats = 200;       // independent layers of the Monte Carlo measurement
    uint64_t seed = 0;

    static void describe(auto& config, auto& field) {
        field("activation", config.activation, "function to replace");
        field("frequency", config.frequency, "of the activation: f(frequency t)", more_than(0));
        field("envelope", config.envelope, "s of wire: cos(frequency t) exp(-(s t)^2)",
              more_than(0));
        field("half_width", config.half_width, "T: the fit is made on [-T, T]", more_than(0));
        field("degree", config.degree, "K: of the surrogate's polynomial; -1: none",
              between(-1, 20));
        field("pole_pairs", config.pole_pairs, "J: conjugate pole pairs", between(0, 16));
        field("multiplicity", config.multiplicity,
              "order of every pole: atoms of all powers up to it", between(1, 16));
        field("minimax", config.minimax, "fit the largest error instead of the mean square");
        field("nodes", config.nodes, "frequencies of each atom");
        field("split", config.split, "which side of the features oscillates");
        field("features", config.features, "m: random features of each part", between(1, 1 << 20));
        field("antithetic", config.antithetic, "pairs of opposite projection rows");
        field("orthogonal", config.orthogonal, "orthogonal projection rows");
        field("share_projections", config.share_projections, "one set of rows for all frequencies");
        field("scale", config.scale, "division of x and w by tau");
        field("squared_norm", config.squared_norm,
              "|x|^2 and |w|^2 before scaling; 0: T, with which w.x reaches T", at_least(0));
        field("dimension", config.dimension, "of x and w", between(2, 65536));
        field("repeats", config.repeats, "layers drawn to measure the sampling error",
              between(2, 100000));
        field("seed", config.seed, "of the draws");
        field.check("pole_pairs", config.pole_pairs > 0 || config.degree > 0,
                    "must be positive when the polynomial has no degree");
        field.check("multiplicity", config.multiplicity * config.pole_pairs <= 16,
                    "multiplicity times pole_pairs must be at most 16");
    }
};

// What more nodes would give at the same scale.
struct TradeRow {
    int nodes = 0;            // per atom, before the cut-off
    double largest_node = 0;  // u
    double exponent = 0;      // A at the largest frequency
    double quadrature_error = 0;
    double sampling_error = 0;  // predicted, largest over the reachable t
};

// t is the pre-activation w·x after scaling, the argument of the surrogate. Curves over [-T, T]
// have one entry for each of `t`; those over `reached` only where the scaled vectors can go.
struct FitReport {
    FitOptions options;  // with the squared norm filled in
    RationalFit fit;
    WaveSum waves;
    double scale = 1;         // τ
    double scaled_norm = 0;   // |x|² = |w|² after scaling: no |t| is larger
    double exponent = 0;      // A at the largest frequency, mean over directions
    int64_t input_width = 0;  // F of the merged layout

    double fit_error = 0;           // max |f - surrogate| over [-T, T]
    double quadrature_error = 0;    // max |surrogate - its waves| over [-T, T]
    double quadrature_bound = 0;    // predicted: no t has a larger one
    double sampling_predicted = 0;  // standard deviation of one layer, largest over `reached`
    double sampling_measured = 0;
    double total_predicted = 0;     // fit + quadrature bound + sampling: bounds the next
    double total_measured = 0;      // root mean square over layers of f - estimate, largest
    double bias_in_deviations = 0;  // largest |mean of the layers - waves| in standard errors

    std::vector<TradeRow> trade;

    std::vector<double> t, function, surrogate, wave_sum;
    std::vector<double> reached, estimate, deviation_predicted, deviation_measured;

    std::string to_text() const;
};

// Throws Error for options that do not fit together. A predicted error of orthogonal rows is that
// of independent ones, which it is below in most cases.
FitReport make_fit_report(const FitOptions& options);

}  // namespace ralimp
