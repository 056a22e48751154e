// Activations with a parameter, against closed forms of their derivatives.
#include "core/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "autograd/gradcheck.h"
#include "autograd/jet.h"
#include "autograd/operations.h"

namespace ralimp {
namespace {

using Complex = std::complex<double>;

// The derivatives of e^(h(x)) where h has no third derivative: g⁽ⁿ⁺¹⁾ = h' g⁽ⁿ⁾ + n h'' g⁽ⁿ⁻¹⁾.
std::array<Complex, 5> exponential(Complex h, Complex slope, Complex curvature) {
    std::array<Complex, 5> g{std::exp(h), slope * std::exp(h)};
    for (int n = 1; n < 4; ++n)
        g[n + 1] = slope * g[n] + static_cast<double>(n) * curvature * g[n - 1];
    return g;
}

TEST(Activation, WireIsTheRealPartOfTheGaborWavelet) {
    for (const double r : {0.0, 0.25, 1.0, 3.0})
        for (const double x : {-4.0, -1.3, -1e-9, 0.0, 0.2, 0.77, 2.5}) {
            double d[5];
            activation::Wire::derivatives<4>(x, r, d);
            const auto g = exponential({-r * r * x * x, x}, {-2 * r * r * x, 1}, -2 * r * r);
            for (int k = 0; k <= 4; ++k)
                EXPECT_NEAR(d[k], g[k].real(), 1e-12 * (1 + std::pow(2 * r, 4))) << r << " " << x;
        }
}

TEST(Activation, FinerIsAnOddSineOfGrowingFrequency) {
    for (const double p : {0.0, 0.03, 1.0, 2.0})
        for (const double x : {1e-9, 0.2, 0.77, 2.5, 9.0}) {
            double d[5], mirrored[5];
            activation::Finer::derivatives<4>(x, p, d);
            activation::Finer::derivatives<4>(-x, p, mirrored);
            const auto g = exponential({0, x + p * x * x}, {0, 1 + 2 * p * x}, {0, 2 * p});
            for (int k = 0; k <= 4; ++k) {
                const double size = std::pow(1 + 2 * p * (1 + x), 4);
                EXPECT_NEAR(d[k], g[k].imag(), 1e-13 * size) << p << " " << x << " order " << k;
                EXPECT_EQ(mirrored[k], k % 2 ? d[k] : -d[k]) << p << " " << x << " order " << k;
            }
        }
}

// Where |x| x has no second derivative its value is the mean of both sides, 0; all is finite.
TEST(Activation, FinerAtZero) {
    double d[5];
    activation::Finer::derivatives<4>(0.0, 0.5, d);
    EXPECT_EQ(std::vector<double>(d, d + 5), (std::vector<double>{0, 1, 0, -1, 0}));
    const Tensor x = requires_grad(Tensor::zeros({3}, DType::float64));
    const Tensor y = apply(Activation::finer, x, 2);
    const Tensor slope = grad(y, x, true);
    EXPECT_EQ(slope.to_vector<double>(), (std::vector<double>{2, 2, 2}));
    EXPECT_EQ(grad(slope, x).to_vector<double>(), (std::vector<double>{0, 0, 0}));
    const auto plan = JetPlan::make({{0, 0}});
    const Jet jet =
        apply(Activation::finer, Jet::input(Tensor::zeros({1, 1}, DType::float64), plan));
    EXPECT_EQ(jet.channels().to_vector<double>(), (std::vector<double>{0, 1, 0}));
}

TEST(Activation, OmegaAndEnvelopeStandWhereThePapersHaveThem) {
    const Tensor z = Tensor::from<double>({-0.31, -0.04, 0, 0.02, 0.17, 0.5}, {6});
    const double omega = 23, s = 7;
    const auto at = z.to_vector<double>();
    const auto wire = apply(Activation::wire, z, omega, s).to_vector<double>();
    const auto finer = apply(Activation::finer, z, omega).to_vector<double>();
    const auto gauss = apply(Activation::gaussian, z, s).to_vector<double>();
    for (std::size_t i = 0; i < at.size(); ++i) {
        EXPECT_NEAR(wire[i], std::cos(omega * at[i]) * std::exp(-std::pow(s * at[i], 2)), 1e-14);
        EXPECT_NEAR(finer[i], std::sin(omega * (std::abs(at[i]) + 1) * at[i]), 1e-14);
        EXPECT_NEAR(gauss[i], std::exp(-std::pow(s * at[i], 2)), 1e-15);
    }
}

// The product rule of jets knows nothing of the fused activation.
TEST(Activation, WireIsTheProductOfItsFactorsForEveryDerivative) {
    const auto plan = JetPlan::make({{0, 0, 1}, {1, 1, 1}}, {0, 1});
    const Tensor points = random_normal({9, 2}, {3, RandomStream::user, 0}, DType::float64, 0, 0.2);
    const Tensor weight = random_normal({5, 2}, {3, RandomStream::user, 1}, DType::float64);
    const Jet z = linear(Jet::input(points, plan), weight, Tensor());
    const Tensor fused = apply(Activation::wire, z, 11, 4).channels();
    const Tensor product =
        (apply(Activation::cos, z, 11) * apply(Activation::gaussian, z, 4)).channels();
    EXPECT_LT(max(abs(fused - product) / (abs(product) + 1.0)).item(), 1e-11);
}

TEST(Activation, GradientsOfParametrizedOnesAgreeWithDifferences) {
    const auto plan = JetPlan::make({{0, 1}});
    // Away from 0, where the second derivative of finer jumps.
    Tensor start =
        random_normal({plan->channels(), 3, 5}, {4, RandomStream::user, 0}, DType::float64, 0, 0.5);
    slice(start, 0, 0, 1).copy_from(sign(slice(start, 0, 0, 1)) * 0.05 + slice(start, 0, 0, 1));
    for (const Activation f : {Activation::wire, Activation::finer}) {
        const auto function = [&](const Tensors& x) -> Tensors {
            return {apply(f, Jet(x[0], plan), 2.5, 1.5).channels()};
        };
        EXPECT_EQ(gradcheck(function, {start}), "") << name_of(f);
        EXPECT_EQ(gradgradcheck(function, {start}, {.tolerance = 1e-6}), "") << name_of(f);
    }
}

TEST(Activation, FarAwayStaysFiniteInFloat32) {
    for (const float x : {-1e6f, -300.0f, 300.0f, 1e6f}) {
        float d[5];
        activation::Wire::derivatives<4>(x, 0.5f, d);
        for (const float value : d) EXPECT_EQ(value, 0.0f) << x;
        activation::Finer::derivatives<4>(x, 0.03f, d);
        for (const float value : d) EXPECT_TRUE(std::isfinite(value)) << x;
    }
}

}  // namespace
}  // namespace ralimp
