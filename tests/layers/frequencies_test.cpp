// Atoms as sums of cosines and sines: the published accuracies, repeated poles, cut-offs, and what
// fitted nodes gain.
#include "layers/frequencies.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "core/error.h"
#include "core/quadrature.h"

namespace ralimp {
namespace {

double rule_even(const Frequencies& rule, double x) {
    double sum = 0;
    for (std::size_t k = 0; k < rule.nodes.size(); ++k)
        sum += rule.powers.back().even_weights[k] * std::cos(rule.nodes[k] * x);
    return sum;
}

double rule_odd(const Frequencies& rule, double x) {
    double sum = 0;
    for (std::size_t k = 0; k < rule.nodes.size(); ++k)
        sum += rule.powers.back().odd_weights[k] * std::sin(rule.nodes[k] * x);
    return sum;
}

// Least squares of 1 / (1 + x²) by the cosines of the nodes on evenly spaced points, independent of
// the library's own fit.
double least_squares_error(const std::vector<double>& nodes, double reach) {
    const Eigen::Index points = 2001, count = static_cast<Eigen::Index>(nodes.size());
    const Eigen::ArrayXd x = Eigen::ArrayXd::LinSpaced(points, -reach, reach);
    Eigen::MatrixXd cosines(points, count);
    for (Eigen::Index k = 0; k < count; ++k)
        cosines.col(k) = (nodes[static_cast<std::size_t>(k)] * x).cos();
    const Eigen::VectorXd atom = (1 + x.square()).inverse();
    const Eigen::VectorXd weights = cosines.householderQr().solve(atom);
    return (cosines * weights - atom).cwiseAbs().maxCoeff();
}

TEST(Frequencies, LaguerreNodesReachThePublishedErrors) {
    const std::pair<int, double> published[] = {
        {2, 4.83e-2}, {3, 7.40e-3}, {4, 3.25e-4}, {6, 1.68e-5}, {8, 4.78e-7}};
    for (const auto& [count, error] : published) {
        EXPECT_NEAR(least_squares_error(gauss_laguerre(count).nodes, 1), error, 0.01 * error)
            << count << " nodes";
        FrequencyOptions options;
        options.count = count;
        options.least_squares_weights = true;
        options.ridge = 0;
        EXPECT_LE(make_frequencies(1, 1, options).powers[0].even_error, error) << count << " nodes";
    }
}

TEST(Frequencies, LaguerreIsPoorOnAWiderIntervalAndOptimizedNodesAreNot) {
    EXPECT_NEAR(least_squares_error(gauss_laguerre(4).nodes, 3), 3.5e-1, 0.02);
    FrequencyOptions options;
    options.count = 4;
    const Frequencies laguerre = make_frequencies(1, 3, options);
    options.rule = NodeRule::optimized;
    const Frequencies optimized = make_frequencies(1, 3, options);
    EXPECT_GT(laguerre.powers.back().even_error, 0.4);
    EXPECT_LT(optimized.powers.back().even_error, 4.0e-3);
    EXPECT_LT(optimized.powers.back().odd_error, 4.8e-3);
    // And they need lower frequencies and no large weights, which is what the variance asks for.
    EXPECT_LT(optimized.nodes.back(), 0.5 * laguerre.nodes.back());
    double total = 0;
    for (double weight : optimized.powers.back().even_weights) total += std::abs(weight);
    EXPECT_LT(total, 1.01);
}

// The errors that the optimized rule reaches; a worse search would show here.
TEST(Frequencies, OptimizedNodesReachTheirErrors) {
    const struct {
        double reach;
        int count;
        double even, odd;
    } rows[] = {{1, 2, 2.9e-3, 2.1e-3}, {1, 3, 7.7e-5, 8.7e-5}, {2, 4, 4.9e-4, 4.4e-4},
                {3, 3, 2.1e-2, 2.0e-2}, {3, 6, 1.9e-4, 2.3e-4}, {6, 8, 1.7e-3, 2.0e-3}};
    for (const auto& row : rows) {
        FrequencyOptions options;
        options.rule = NodeRule::optimized;
        options.count = row.count;
        const Frequencies rule = make_frequencies(1, row.reach, options);
        EXPECT_LE(rule.powers.back().even_error, 1.05 * row.even) << row.reach << " " << row.count;
        EXPECT_LE(rule.powers.back().odd_error, 1.05 * row.odd) << row.reach << " " << row.count;
    }
}

// The error of a Gauss–Laguerre rule is (n!)² / (2n)! f^(2n)(ξ); here |f^(2n)| <= x^(2n).
TEST(Frequencies, LaguerreErrorsObeyTheBoundOfMarkov) {
    for (int n : {2, 3, 4, 6, 8}) {
        for (double reach : {0.25, 0.5, 1.0}) {
            FrequencyOptions options;
            options.count = n;
            const Frequencies rule = make_frequencies(1, reach, options);
            const double bound = std::exp(2 * std::lgamma(n + 1.0) - std::lgamma(2 * n + 1.0)) *
                                 std::pow(reach, 2 * n);
            EXPECT_LE(rule.powers.back().even_error, bound + 1e-15) << n << " " << reach;
            EXPECT_LE(rule.powers.back().odd_error, bound + 1e-15) << n << " " << reach;
        }
    }
}

TEST(LaplacePolynomials, ClosedFormsOfSmallMultiplicities) {
    EXPECT_EQ(laplace_polynomials(1).even, std::vector<double>({1}));
    EXPECT_EQ(laplace_polynomials(2).even, std::vector<double>({0.5, 0.5}));
    EXPECT_EQ(laplace_polynomials(3).even, std::vector<double>({3 / 8., 3 / 8., 1 / 8.}));
    EXPECT_EQ(laplace_polynomials(1).odd, std::vector<double>({1}));
    EXPECT_EQ(laplace_polynomials(2).odd, std::vector<double>({0, 0.5}));
    // x / D^(n+1) = -(1 / 2n) d/dx D^-n, so U_(n+1) = u V_n / 2n: not how it is computed.
    for (int n = 1; n <= 8; ++n) {
        const std::vector<double> even = laplace_polynomials(n).even;
        const std::vector<double> odd = laplace_polynomials(n + 1).odd;
        ASSERT_EQ(odd.size(), even.size() + 1);
        EXPECT_EQ(odd[0], 0);
        for (std::size_t k = 0; k < even.size(); ++k)
            EXPECT_NEAR(odd[k + 1], even[k] / (2 * n), 1e-15 * even[k]);
    }
    EXPECT_THROW(laplace_polynomials(0), Error);
}

TEST(LaplacePolynomials, RepeatedPolesWithSixtyNodes) {
    FrequencyOptions options;
    options.count = 60;
    for (int n = 1; n <= 5; ++n) {
        const Frequencies rule = make_frequencies(n, 1, options);
        for (double x : {0.0, 0.2, 0.55, 1.0, 1.6}) {
            const double atom = std::pow(1 + x * x, -n);
            EXPECT_NEAR(rule_even(rule, x), atom, 1e-12) << n << " " << x;
            EXPECT_NEAR(rule_odd(rule, x), x * atom, 1e-12) << n << " " << x;
        }
        EXPECT_LT(rule.powers.back().even_error, 1e-12);
        EXPECT_LT(rule.powers.back().odd_error, 1e-12);
    }
}

TEST(Frequencies, TheDiscardedWeightBoundsTheCutOffError) {
    FrequencyOptions all, cut;
    all.count = cut.count = 12;
    cut.s_max = 4;
    for (int n : {1, 2, 3}) {
        const Frequencies whole = make_frequencies(n, 2, all), part = make_frequencies(n, 2, cut);
        ASSERT_LT(part.nodes.size(), whole.nodes.size());
        EXPECT_LE(part.nodes.back(), 4);
        EXPECT_EQ(whole.discarded_weight, 0);
        EXPECT_GT(part.discarded_weight, 0);
        for (double x = -2; x <= 2; x += 0.05) {
            EXPECT_LE(std::abs(rule_even(part, x) - rule_even(whole, x)),
                      part.discarded_weight + 1e-15);
            EXPECT_LE(std::abs(rule_odd(part, x) - rule_odd(whole, x)),
                      part.discarded_weight + 1e-15);
        }
    }
    double discarded = 0;
    const QuadratureRule rule = gauss_laguerre(12);
    for (std::size_t k = 0; k < 12; ++k) discarded += rule.nodes[k] > 4 ? rule.weights[k] : 0;
    EXPECT_DOUBLE_EQ(make_frequencies(1, 2, cut).discarded_weight, discarded);
    cut.rule = NodeRule::optimized;
    cut.count = 4;
    EXPECT_LE(make_frequencies(1, 2, cut).nodes.back(), 4);
    cut.rule = NodeRule::gauss_laguerre;
    cut.count = 12;
    cut.s_max = 0.01;
    EXPECT_THROW(make_frequencies(1, 2, cut), Error);
}

TEST(Frequencies, MonteCarloNodesAreUnbiased) {
    // The average of many short rules approaches the atom as 1 / sqrt(draws).
    FrequencyOptions options;
    options.rule = NodeRule::monte_carlo;
    options.count = 8;
    for (int multiplicity : {1, 2}) {
        for (double x : {0.5, 1.5}) {
            double mean = 0, squares = 0;
            constexpr int repeats = 1000;
            for (int i = 0; i < repeats; ++i) {
                options.key = {static_cast<uint64_t>(i), RandomStream::projections, 0};
                const double value = rule_even(make_frequencies(multiplicity, 1, options), x);
                mean += value / repeats;
                squares += value * value / repeats;
            }
            const double deviation = std::sqrt((squares - mean * mean) / repeats);
            EXPECT_NEAR(mean, std::pow(1 + x * x, -multiplicity), 4 * deviation);
            EXPECT_LT(deviation, 0.02);
        }
    }
}

TEST(Waves, EqualTheSurrogateWhenTheRuleIsFine) {
    RationalFit fit;
    fit.half_width = 2;
    fit.polynomial = {0.3, -1, 0.2};
    fit.pole_pairs = {{-1.2, 2.5, {0.7}, {-0.4}},
                      {0, 3, {0.3, 1.1}, {0, 0}},
                      {0.8, 3.5, {0.2, -0.6, -0.5}, {-0.1, 0.4, 1.5}}};
    FrequencyOptions options;
    options.count = 48;
    const WaveSum sum = make_waves(fit, options);
    EXPECT_EQ(sum.waves.size(), 3u * 48u);
    for (double t = -2; t <= 2; t += 0.1) EXPECT_NEAR(sum.value(t), fit.value(t), 1e-12);
    // The centred even atom has no sine channel.
    for (const Wave& wave : sum.waves) EXPECT_EQ(wave.sine == 0, wave.pair == 1);
}

TEST(Waves, TheErrorBoundHoldsAndIsNotLoose) {
    for (int multiplicity : {1, 2, 3}) {
        RationalFitOptions fit_options;
        fit_options.multiplicity = multiplicity;
        const RationalFit fit =
            fit_rational(activation_function("gelu"), 3, 2, multiplicity == 1 ? 2 : 1, fit_options);
        for (NodeRule rule :
             {NodeRule::gauss_laguerre, NodeRule::monte_carlo, NodeRule::optimized}) {
            FrequencyOptions options;
            options.rule = rule;
            options.count = 4;
            const WaveSum sum = make_waves(fit, options);
            // A repeated pole has the waves of a single one.
            EXPECT_EQ(sum.waves.size(), 4 * fit.pole_pairs.size());
            double largest = 0;
            for (double t = -3; t <= 3; t += 0.01)
                largest = std::max(largest, std::abs(sum.value(t) - fit.value(t)));
            EXPECT_LE(largest, sum.error_bound * 1.001) << name_of(rule) << " " << multiplicity;
            EXPECT_GE(largest, sum.error_bound * 0.05) << name_of(rule) << " " << multiplicity;
        }
    }
}

// Nodes that serve several powers at a time; those of the first alone reach 1.8e-4. Gauss–Laguerre
// misses the third by 0.5.
TEST(Frequencies, OptimizedNodesServeEveryPower) {
    FrequencyOptions options;
    options.rule = NodeRule::optimized;
    options.count = 6;
    const Frequencies rule = make_frequencies(3, 3, options);
    ASSERT_EQ(rule.powers.size(), 3u);
    const double errors[] = {4e-4, 1.7e-3, 4.7e-3};
    for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_EQ(rule.powers[i].even_weights.size(), 6u);
        EXPECT_LT(rule.powers[i].even_error, errors[i]);
        EXPECT_LT(rule.powers[i].odd_error, errors[i]);
    }
}

TEST(Frequencies, RejectsWhatCannotBe) {
    FrequencyOptions options;
    options.count = 0;
    EXPECT_THROW(make_frequencies(1, 1, options), Error);
    options.count = 65;
    EXPECT_THROW(make_frequencies(1, 1, options), Error);
    EXPECT_THROW(make_frequencies(1, 0, {}), Error);
    EXPECT_THROW(make_frequencies(0, 1, {}), Error);
}

}  // namespace
}  // namespace ralimp
