// Rational random features in double precision: the feature maps of one frequency, their closed
// forms of bias-free mean and variance, and the random projection rows. The tensor layer made of
// them is layers/ralimp.h.
#pragma once
#include <complex>
#include <span>
#include <string_view>
#include <vector>

#include "core/describe.h"
#include "core/random.h"
#include "layers/frequencies.h"

namespace ralimp {

// For a frequency s and g ~ N(0, I), with u = e^(iθ) √s x and v = i e^(-iθ) √s w,
//     Φ = exp(g·u - u²/2),  Ψ = exp(g·v - v²/2),  E[Φ Ψ] = e^(u·v) = e^(i s w·x)
// (u² without conjugation). The split says which side oscillates:
//   symmetric    θ = 45°  both sides grow and oscillate (the paper)
//   real_input   θ = 0    Φ = e^(√s g·x - s|x|²/2), the weight side oscillates
//   phase_input  θ = 90°  Φ oscillates with modulus e^(s|x|²/2), the weight side grows
enum class Split { symmetric, real_input, phase_input };
constexpr auto enum_names(Split) {
    return std::array{std::pair{Split::symmetric, "symmetric"},
                      std::pair{Split::real_input, "real_input"},
                      std::pair{Split::phase_input, "phase_input"}};
}
std::string_view name_of(Split split);
double angle_of(Split split);  // θ in radians

// One draw of each side from the projections g·x, g·w and the squared norms |x|², |w|².
std::complex<double> input_feature(double angle, double frequency, double projection,
                                   double squared_norm);
std::complex<double> weight_feature(double angle, double frequency, double projection,
                                    double squared_norm);

// What the law of one draw depends on beside s: |x|², |w|² and t = w·x.
struct PairGeometry {
    double input = 0;    // |x|²
    double weight = 0;   // |w|²
    double product = 0;  // w·x
};

// A with E|ΦΨ|² = e^(2A):  A = s (|x|² + |w|² + 2 sin(2θ) w·x) / 2. It decides the variance; keep
// it below 0.5 to 1. For the symmetric split it is s|x + w|²/2.
double variance_exponent(double angle, double frequency, const PairGeometry& pair);

// Variance of one draw of Σ C Re(ΦΨ) + S Im(ΦΨ), the waves sharing one g; with antithetic, of the
// mean of the draws of g and -g. From
//   E[Y_s Y_r] = exp(√(sr) β + i (√s + √r)² t)      Y = ΦΨ, β = e^(2iθ)|x|² - e^(-2iθ)|w|²
//   E[Y_s Ȳ_r] = exp(√(sr) α + i (s - r) t)         α = |x|² + |w|² + 2 sin(2θ) t
//   E[Y_s(g) Y_r(-g)] = exp(-√(sr) β + i (√s - √r)² t)
//   E[Y_s(g) Ȳ_r(-g)] = exp(-√(sr) α + i (s - r) t)
double wave_variance(double angle, std::span<const Wave> waves, const PairGeometry& pair,
                     bool antithetic = false);
// The same for the single wave cos(s t) or sin(s t).
double cosine_variance(double angle, double frequency, const PairGeometry& pair,
                       bool antithetic = false);
double sine_variance(double angle, double frequency, const PairGeometry& pair,
                     bool antithetic = false);

// Variance of one draw of Σ_k c_k Π_{i<=k} (g_i·x)(g_i·w), the degrees sharing the rows g_1 … g_K
// (prefix products) or each with rows of its own.
double polynomial_variance(std::span<const double> coefficients, const PairGeometry& pair,
                           bool shared_rows = true);

// How x and w are scaled before the features: both are divided by τ, so that the features estimate
// functions of w·x / τ².
//   fixed     τ = value
//   rms       τ = c RMS(w·x)                                         (the paper, c = 4)
//   variance  the smallest τ >= 1 at which the mean of the variance exponent A, at the largest
//             frequency, is at most the target
// The last two are chosen from data.
enum class ScaleRule { fixed, rms, variance };
constexpr auto enum_names(ScaleRule) {
    return std::array{std::pair{ScaleRule::fixed, "fixed"}, std::pair{ScaleRule::rms, "rms"},
                      std::pair{ScaleRule::variance, "variance"}};
}
std::string_view name_of(ScaleRule rule);

struct ScaleOptions {
    ScaleRule rule = ScaleRule::variance;
    double value = 1;
    double c = 4;
    double target = 0.5;

    static void describe(auto& config, auto& field) {
        field("rule", config.rule, "how tau is chosen; features estimate functions of w.x / tau^2");
        field("value", config.value, "tau of the fixed rule", more_than(0));
        field("c", config.c, "tau in units of the RMS of w.x, of the rms rule", more_than(0));
        field("target", config.target, "largest mean variance exponent, of the variance rule",
              more_than(0));
    }
};
// τ from the mean exponent A at τ = 1 and RMS(w·x).
double scale_of(const ScaleOptions& options, double mean_exponent, double rms_product);

struct ProjectionOptions {
    bool orthogonal = false;
    bool antithetic = false;
};
// Projection rows [rows, dimension], row-major, each N(0, I) by itself. Orthogonal: within each
// block of `dimension` rows the directions are orthogonal (QR of a Gaussian block, uniformly
// distributed), the norms are independent χ_dimension. Antithetic: the second half of the rows are
// the first half negated; their number must be even.
std::vector<double> projection_rows(int64_t rows, int64_t dimension, const RandomKey& key,
                                    const ProjectionOptions& options = {});

}  // namespace ralimp
