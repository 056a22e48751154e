// Low-degree rational surrogates of scalar functions on [-T, T]: a polynomial plus conjugate pole
// pairs, fitted by variable projection. Numbers only; the features made of them are in
// layers/quadrature.h and layers/random_features.h.
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "layers/scalar_activation.h"

namespace ralimp {

// One conjugate pair of poles p ± i q of order n, with the bounded atoms of every power up to n;
// with x = (t - p) / q
//     Σ_(i=1..n) (a_i + b_i x) / (1 + x²)^i
struct PolePair {
    double position = 0;            // p
    double width = 1;               // q > 0
    std::vector<double> even, odd;  // a_1 … a_n, b_1 … b_n

    std::size_t multiplicity() const { return even.size(); }
    double value(double t) const;
};

struct RationalFit {
    double half_width = 0;           // T
    std::vector<double> polynomial;  // c_0 … c_K, coefficients of 1, t, …, t^K
    std::vector<PolePair> pole_pairs;
    double max_error = 0;  // largest and root-mean-square error over the fitted points;
    double rms_error = 0;  // a kink between two points may exceed the largest

    double value(double t) const;
    // The smallest q: it sets the highest frequency and so the variance of the random features.
    double narrowest_width() const;
};

struct RationalFitOptions {
    int points = 800;              // Chebyshev points of [-T, T]
    int starts = 12;               // pole layouts tried, the later ones perturbed at random
    int max_iterations = 200;      // Levenberg–Marquardt steps of the final refinement
    uint64_t seed = 0;             // of the perturbations
    double smallest_width = 0.02;  // bounds of q, in units of T
    double largest_width = 20;
    // Re-weights the points until the largest error stops falling (Lawson's iteration), instead of
    // minimising the mean square.
    bool minimax = false;
    int multiplicity = 1;  // of every pole pair

    auto operator<=>(const RationalFitOptions&) const = default;
};

// Fits a polynomial of the given degree (-1: none) and `pole_pairs` pairs to the function on
// [-half_width, half_width]. For given poles the coefficients are linear least squares (QR, unit
// columns, Chebyshev polynomials); the poles move by Levenberg–Marquardt on (p, log q) with the
// Jacobian of the projected residual (Golub and Pereyra, "The differentiation of pseudo-inverses
// and nonlinear least squares problems whose variables separate", 1973). The best of several
// starts is kept. Deterministic. Throws Error for arguments out of range, and Error(bad_config) for
// a function that is not finite on the interval.
RationalFit fit_rational(const ScalarFunction& function, double half_width, int degree,
                         int pole_pairs, const RationalFitOptions& options = {});

// Fits of activations that are made once, however often they are asked for: the layers of a network
// share them. Not for several threads at a time.
class RationalFits {
public:
    // fit_rational() of activation_function(activation, frequency, envelope).
    const RationalFit& get(const std::string& activation, double frequency, double half_width,
                           int degree, int pole_pairs, const RationalFitOptions& options = {},
                           double envelope = 1);
    std::size_t size() const { return fits_.size(); }

private:
    std::map<std::tuple<std::string, double, double, int, int, RationalFitOptions, double>,
             RationalFit>
        fits_;
};

}  // namespace ralimp
