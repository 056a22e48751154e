// Gauss rules against closed forms, tables, and the moments they must integrate exactly.
#include "core/quadrature.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"

namespace ralimp {
namespace {

double integrate(const QuadratureRule& rule, double (*f)(double)) {
    double sum = 0;
    for (std::size_t k = 0; k < rule.nodes.size(); ++k) sum += rule.weights[k] * f(rule.nodes[k]);
    return sum;
}

TEST(Quadrature, LaguerreOfTwoNodesIsTheClosedForm) {
    const QuadratureRule rule = gauss_laguerre(2);
    const double root = std::sqrt(2.0);
    EXPECT_NEAR(rule.nodes[0], 2 - root, 1e-15);
    EXPECT_NEAR(rule.nodes[1], 2 + root, 2e-15);
    EXPECT_NEAR(rule.weights[0], (2 + root) / 4, 1e-15);
    EXPECT_NEAR(rule.weights[1], (2 - root) / 4, 1e-15);
}

// Abramowitz and Stegun, table 25.9.
TEST(Quadrature, LaguerreAgreesWithTheTable) {
    const QuadratureRule rule = gauss_laguerre(5);
    const double nodes[] = {0.263560319718, 1.413403059107, 3.596425771041, 7.085810005859,
                            12.640800844276};
    const double weights[] = {5.21755610583e-1, 3.98666811083e-1, 7.59424496817e-2,
                              3.61175867992e-3, 2.33699723858e-5};
    for (std::size_t k = 0; k < 5; ++k) {
        EXPECT_NEAR(rule.nodes[k], nodes[k], 1e-12);
        EXPECT_NEAR(rule.weights[k], weights[k], 1e-11 * weights[k]);
    }
}

TEST(Quadrature, LaguerreIntegratesMomentsExactly) {
    for (int count : {1, 3, 8, 32, 64}) {
        const QuadratureRule rule = gauss_laguerre(count);
        // ∫ u^k e^-u = k!, as long as the factorial is a double.
        for (int k = 0; k < std::min(2 * count, 160); ++k) {
            double sum = 0;
            for (std::size_t i = 0; i < rule.nodes.size(); ++i)
                sum += std::exp(std::log(rule.weights[i]) + k * std::log(rule.nodes[i]) -
                                std::lgamma(k + 1.0));
            EXPECT_NEAR(sum, 1, 1e-12) << count << " nodes, power " << k;
        }
    }
}

// The relation of the weights to the next polynomial, which the construction does not use:
// w = x / ((n+1)² L_(n+1)(x)²). It sees the relative error of the smallest weights, about 1e-99.
TEST(Quadrature, LaguerreWeightsOfSixtyFourNodesAreRelativelyAccurate) {
    const int n = 64;
    const QuadratureRule rule = gauss_laguerre(n);
    for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
        const long double x = rule.nodes[i];
        long double before = 1, polynomial = 1 - x;
        for (int k = 1; k <= n; ++k) {
            const long double next = ((2 * k + 1 - x) * polynomial - k * before) / (k + 1);
            before = polynomial;
            polynomial = next;
        }
        const double wanted =
            static_cast<double>(x / ((n + 1.0L) * (n + 1) * polynomial * polynomial));
        EXPECT_NEAR(rule.weights[i] / wanted, 1, 1e-11) << "node " << x;
    }
    EXPECT_LT(rule.weights.back(), 1e-95);
}

TEST(Quadrature, HermiteIntegratesGaussians) {
    for (int count : {20, 101, 200}) {
        const QuadratureRule rule = gauss_hermite(count);
        const double root_pi = std::sqrt(std::acos(-1.0));
        EXPECT_NEAR(integrate(rule, [](double) { return 1.0; }), root_pi, 1e-13);
        EXPECT_NEAR(integrate(rule, [](double x) { return x * x; }), root_pi / 2, 1e-13);
        EXPECT_NEAR(integrate(rule, [](double x) { return std::cos(x); }),
                    root_pi * std::exp(-0.25), 1e-13);
        for (std::size_t k = 0; k < rule.nodes.size(); ++k)
            EXPECT_NEAR(rule.nodes[k], -rule.nodes[rule.nodes.size() - 1 - k], 1e-13);
    }
    EXPECT_NEAR(gauss_hermite(1).nodes[0], 0, 1e-300);
}

TEST(Quadrature, RejectsCountsOutOfRange) {
    EXPECT_THROW(gauss_laguerre(0), Error);
    EXPECT_THROW(gauss_laguerre(161), Error);
    EXPECT_THROW(gauss_hermite(301), Error);
    EXPECT_THROW(gauss_rule({1, 2}, {1}, 1), Error);
}

}  // namespace
}  // namespace ralimp
