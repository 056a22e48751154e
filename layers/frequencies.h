// Atoms of a rational surrogate as short sums of cosines and sines: the nodes and weights of their
// Laplace integrals. Numbers only.
#pragma once
#include <array>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "core/describe.h"
#include "core/random.h"
#include "layers/rational_fit.h"

namespace ralimp {

// Weight polynomials of the atoms of multiplicity n as Laplace integrals: with x = (t - p) / q
//     1 / (1 + x²)^n = ∫_0^∞ e^(-u) V_n(u) cos(u x) du
//     x / (1 + x²)^n = ∫_0^∞ e^(-u) U_n(u) sin(u x) du
// From F_(n+1) = -(1 / 2nq) ∂F_n/∂q for F_n = (t² + q²)^(-n), and the same for t F_n:
//     V_1 = 1,  V_(n+1) = ((u + 2n - 1) V_n - u V_n') / 2n
//     U_1 = 1,  U_(n+1) = ((u + 2n - 2) U_n - u U_n') / 2n
struct LaplacePolynomials {
    std::vector<double> even;  // V_n: coefficients of 1, u, …, u^(n-1), none negative
    std::vector<double> odd;   // U_n
};
LaplacePolynomials laplace_polynomials(int multiplicity);

// How the nodes u are chosen.
//   gauss_laguerre  the Gauss rule of e^(-u)
//   monte_carlo     exponential draws, equal weights
//   optimized       nodes and weights fitted to the atom itself on the interval of interest
enum class NodeRule { gauss_laguerre, monte_carlo, optimized };
constexpr auto enum_names(NodeRule) {
    return std::array{std::pair{NodeRule::gauss_laguerre, "gauss_laguerre"},
                      std::pair{NodeRule::monte_carlo, "monte_carlo"},
                      std::pair{NodeRule::optimized, "optimized"}};
}
std::string_view name_of(NodeRule rule);

struct FrequencyOptions {
    NodeRule rule = NodeRule::gauss_laguerre;
    int count = 3;  // nodes before the cut-off
    // Nodes above it are dropped; optimized nodes are placed below it.
    double s_max = std::numeric_limits<double>::infinity();
    // Replaces the weights by those of least squares on the interval; optimized nodes always do.
    bool least_squares_weights = false;
    // Penalty of least squares on the mean square of the weights. It keeps near-equal nodes from
    // cancelling each other, which would multiply the variance of the random features.
    double ridge = 1e-8;
    RandomKey key;  // of the Monte Carlo draws

    static void describe(auto& config, auto& field) {
        field("rule", config.rule, "how they are chosen");
        field("count", config.count, "frequencies before the cut-off", between(1, 64));
        field("s_max", config.s_max, "largest node kept; .inf: all",
              more_than(0).not_finite_allowed());
        field("least_squares_weights", config.least_squares_weights,
              "fit the weights on the interval; optimized nodes always do");
        field("ridge", config.ridge, "penalty of that fit", more_than(0));
    }
};

// A rule for the atoms of one power:
//     1 / (1 + x²)^i ≈ Σ even_weights cos(u x),  x / (1 + x²)^i ≈ Σ odd_weights sin(u x)
struct AtomRule {
    std::vector<double> even_weights, odd_weights;
    double even_error = 0;  // largest error for |x| <= reach, cut-off included
    double odd_error = 0;
};

// The nodes that all atoms of a pole pair share: a repeated pole needs no further frequencies.
struct Frequencies {
    std::vector<double> nodes;     // u, ascending
    std::vector<AtomRule> powers;  // 1 … n
    // Σ |weight| of the dropped nodes, the largest of any atom.
    double discarded_weight = 0;
};

// For the powers up to the multiplicity. `reach` is the largest |t - p| / q of interest. Throws
// Error when the cut-off drops every node.
Frequencies make_frequencies(int multiplicity, double reach, const FrequencyOptions& options);
// The same for one pole pair on [-half_width, half_width].
Frequencies make_frequencies(const PolePair& pair, double half_width,
                             const FrequencyOptions& options);

// C cos(s t) + S sin(s t)
struct Wave {
    double frequency = 0;  // s = u / q
    double cosine = 0;     // C
    double sine = 0;       // S
    std::size_t pair = 0;  // which pole pair it came from
    std::size_t node = 0;  // which of its nodes

    double value(double t) const;
};

struct WaveSum {
    std::vector<double> polynomial;
    std::vector<Wave> waves;
    // Σ over pairs of the largest errors of the even and the odd part: no |t| <= T has a larger
    // truncation error.
    double error_bound = 0;
    double discarded_weight = 0;  // the largest of any pair

    double value(double t) const;
    double largest_frequency() const;
};

// The surrogate with every atom replaced by its rule. Monte Carlo nodes differ from pair to pair.
WaveSum make_waves(const RationalFit& fit, const FrequencyOptions& options);

}  // namespace ralimp
