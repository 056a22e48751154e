// EUGen features against their kernels, and the norm of the input at zero.
#include "layers/eugen.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/operations.h"

namespace ralimp {
namespace {

HiddenStart start_of(uint64_t seed) {
    HiddenStart start;
    start.start.key = {seed, RandomStream::parameters, 3};
    start.dtype = DType::float64;
    return start;
}

Jet row(const std::vector<double>& values) {
    return Jet::value_only(Tensor::from(values, {1, static_cast<int64_t>(values.size())}));
}

// E Π (g_i·x̂)(g_i·ŵ) = (x̂·ŵ)^k = (x·w + 1 + |x||w|)^k.
TEST(Eugen, ProductsHaveThePolynomialKernel) {
    const std::vector<double> x{0.6, -0.2, 0.3}, w{0.1, 0.5, 0.4};
    double xx = 0, ww = 0, xw = 0;
    for (int i = 0; i < 3; ++i) xx += x[i] * x[i], ww += w[i] * w[i], xw += x[i] * w[i];
    const double kernel = xw + 1 + std::sqrt(xx * ww);
    for (const bool shared : {false, true})
        for (const bool orthogonal : {false, true}) {
            EugenConfig config;
            config.features = 60000;
            config.degree = 3;
            config.share_rows = shared;
            config.orthogonal = orthogonal;
            const Eugen layer(3, 1, config, start_of(1));
            const std::vector<Jet> of_x = layer.features(row(x)), of_w = layer.features(row(w));
            ASSERT_EQ(of_x.size(), 3u);
            for (int k = 1; k <= 3; ++k) {
                const Tensor products = of_x[k - 1].value() * of_w[k - 1].value();
                const double error = std::sqrt(variance(products).item() / 60000);
                EXPECT_NEAR(mean(products).item(), std::pow(kernel, k), 4 * error) << k;
                EXPECT_LT(error, 0.05 * std::pow(kernel, k)) << k;
            }
        }
}

// One product of degree 1 is a x + b + c √(x² + ε²).
TEST(Eugen, TheNormHasDerivativesAtZero) {
    EugenConfig config;
    config.features = 1;
    config.degree = 1;
    config.start_rms = 2;
    Eugen layer(1, 1, config, start_of(2));
    std::vector<double> g;
    layer.visit("", [&](const std::string& name, Tensor& tensor, const ParameterInfo&) {
        if (name == "projections") g = tensor.to_vector<double>();
    });
    const double floor = 2e-3;
    for (const double x : {0.0, 1e-3, 0.5, -3.0}) {
        const Jet jet = layer.features(
            Jet::input(Tensor::from(std::vector{x}, {1, 1}), JetPlan::make({{0, 0}})))[0];
        const double norm = std::hypot(x, floor);
        EXPECT_NEAR(jet.value().item(), g[0] * x + g[1] + g[2] * norm, 1e-12);
        EXPECT_NEAR(jet.derivative({0}).item(), g[0] + g[2] * x / norm, 1e-10);
        const double second = g[2] * floor * floor / std::pow(norm, 3);
        EXPECT_NEAR(jet.derivative({0, 0}).item(), second, 1e-8 * (1 + std::abs(second)));
    }
}

TEST(Eugen, ScalesTheInputs) {
    const Tensor x = random_normal({500, 6}, {3, RandomStream::user, 0}, DType::float64, 0.5, 2);
    EugenConfig config;
    config.start_rms = 0.7;
    Eugen layer(6, 2, config, start_of(4));
    layer.initialize_from_data(x);
    layer.visit("", [&](const std::string& name, Tensor& tensor, const ParameterInfo&) {
        if (name != "input_scale") return;
        const double rms = std::sqrt(mean(sum(square(x), {1})).item());
        EXPECT_NEAR(tensor.item() * rms, 0.7, 1e-12);
    });
}

TEST(Eugen, CountsByClosedFormulas) {
    for (const bool shared : {false, true})
        for (const bool trained : {false, true}) {
            EugenConfig config;
            config.features = 5;
            config.degree = 3;
            config.share_rows = shared;
            config.train_projections = trained;
            const ParameterCount count = Eugen(10, 7, config, start_of(5)).count();
            const int64_t psi = 15 * 7 + 7, rows = 5 * (shared ? 3 : 6) * 12;
            EXPECT_EQ(count.trained, psi + (trained ? rows : 0));
            EXPECT_EQ(count.deployed, psi + rows + 1);
            EXPECT_EQ(count.regenerated, psi + (trained ? rows : 0) + 1);
        }
}

}  // namespace
}  // namespace ralimp
