// SNNK features against their kernels.
#include "layers/snnk.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/operations.h"

namespace ralimp {
namespace {

constexpr double pi = 3.14159265358979323846;

HiddenStart start_of(uint64_t seed) {
    HiddenStart start;
    start.start.key = {seed, RandomStream::parameters, 3};
    start.dtype = DType::float64;
    return start;
}

// Mean over the features of Φ(x) Φ(w), and its standard error.
struct Mean {
    double value = 0, error = 0;
};
Mean mean_of(const Tensor& values) {
    return {mean(values).item(),
            std::sqrt(variance(values).item() / static_cast<double>(values.elements()))};
}

Tensor row(const std::vector<double>& values) {
    return Tensor::from(values, {1, static_cast<int64_t>(values.size())});
}

Tensor constant_of(Snnk& layer, const std::string& wanted) {
    Tensor found;
    layer.visit("", [&](const std::string& name, Tensor& tensor, const ParameterInfo&) {
        if (name == wanted) found = tensor;
    });
    return found;
}

// Cho & Saul (2009): E max(g·x, 0) max(g·w, 0) = |x||w| (sin θ + (π - θ) cos θ) / 2π.
TEST(Snnk, ReluFeaturesHaveTheArcCosineKernel) {
    const std::vector<double> x{0.6, -0.2, 0.3}, w{0.1, 0.5, 0.4};
    double xx = 0, ww = 0, xw = 0;
    for (int i = 0; i < 3; ++i) xx += x[i] * x[i], ww += w[i] * w[i], xw += x[i] * w[i];
    const double angle = std::acos(xw / std::sqrt(xx * ww));
    const double kernel =
        std::sqrt(xx * ww) * (std::sin(angle) + (pi - angle) * std::cos(angle)) / (2 * pi);
    for (const bool orthogonal : {false, true}) {
        SnnkConfig config;
        config.features = 60000;
        config.bias_rms = 0;
        config.orthogonal = orthogonal;
        const Snnk layer(3, 1, config, start_of(1));
        const auto [value, error] = mean_of(layer.features(Jet::value_only(row(x))).value() *
                                            layer.features(Jet::value_only(row(w))).value());
        EXPECT_NEAR(value, kernel, 4 * error);
        EXPECT_LT(error, 0.02 * kernel);
    }
}

// For fixed a the mean is e^(a² w·x); here a differs from feature to feature.
TEST(Snnk, UniversalFeaturesAreUnbiasedForExponentials) {
    const std::vector<double> x{0.6, -0.2, 0.3}, w{0.3, 0.1, 0.2};
    double xw = 0;
    for (int i = 0; i < 3; ++i) xw += x[i] * w[i];
    SnnkConfig config;
    config.features = 60000;
    config.form = SnnkForm::urf;
    Snnk layer(3, 1, config, start_of(2));
    const Tensor a = constant_of(layer, "growth");
    EXPECT_NEAR(mean(pow(a, 4)).item(), 1, 0.03);  // ξ² of N(0, 1)
    const Tensor product = layer.features(Jet::value_only(row(x))).value() *
                           layer.features(Jet::value_only(row(w))).value();
    const auto [difference, error] = mean_of(squeeze(product, 0) - exp(square(a) * xw));
    EXPECT_NEAR(difference, 0, 4 * error);
    EXPECT_LT(error, 0.02);
    EXPECT_GT(mean(exp(square(a) * xw)).item(), 1.1);
}

TEST(Snnk, ScalesProjectionsAndBiases) {
    const Tensor x = random_normal({500, 6}, {3, RandomStream::user, 0}, DType::float64, 0.5, 2);
    for (const SnnkForm form : {SnnkForm::relu, SnnkForm::urf}) {
        SnnkConfig config;
        config.form = form;
        config.features = 400;
        config.start_rms = 0.7;
        config.bias_rms = 0.3;
        Snnk layer(6, 2, config, start_of(4));
        layer.initialize_from_data(x);
        Tensor projections = linear(x, constant_of(layer, "projections"), Tensor()) *
                             constant_of(layer, "input_scale");
        if (form == SnnkForm::urf)
            projections = projections * constant_of(layer, "growth");
        else
            EXPECT_NEAR(std::sqrt(mean(square(constant_of(layer, "projection_bias"))).item()), 0.3,
                        0.05);
        EXPECT_NEAR(std::sqrt(mean(square(projections)).item()), 0.7, 1e-9);
    }
}

TEST(Snnk, CountsByClosedFormulas) {
    for (const bool relu : {true, false})
        for (const bool trained : {false, true}) {
            SnnkConfig config;
            config.form = relu ? SnnkForm::relu : SnnkForm::urf;
            config.features = 12;
            config.train_projections = trained;
            const ParameterCount count = Snnk(10, 7, config, start_of(5)).count();
            const int64_t psi = 12 * 7 + 7, bias = relu ? 12 : 0;
            EXPECT_EQ(count.trained, psi + bias + (trained ? 120 : 0));
            EXPECT_EQ(count.deployed, psi + 12 + 120);
            EXPECT_EQ(count.regenerated, trained ? count.deployed : psi + bias + 1);
        }
}

// The formula in plain operations, with exponents that are clamped and counted.
TEST(Snnk, UniversalFeaturesAreClampedExponentials) {
    SnnkConfig config;
    config.form = SnnkForm::urf;
    config.exponent_limit = 0.1;
    Snnk layer(6, 2, config, start_of(6));
    const Tensor x = random_normal({50, 6}, {3, RandomStream::user, 0}, DType::float64);
    layer.initialize_from_data(x);
    const auto taken = [&] {
        std::vector<int64_t> counts;
        layer.visit_clamps("", [&](const std::string&, const Tensor& tensor) {
            counts = tensor.to_vector<int64_t>();
            tensor.fill(0);
        });
        return counts;
    };
    taken();
    const Tensor features = layer.features(Jet::value_only(x)).value();
    const Tensor a = constant_of(layer, "growth"), scaled = x * constant_of(layer, "input_scale");
    const Tensor exponents = linear(scaled, constant_of(layer, "projections"), Tensor()) * a -
                             square(a) * sum(square(scaled), {1}, true) * 0.5;
    EXPECT_LT(
        max(abs(features - exp(minimum(exponents, Tensor::full({1}, 0.1, DType::float64))))).item(),
        1e-12);
    const double clamped =
        sum(to(greater(exponents, Tensor::full({1}, 0.1, DType::float64)), DType::float64)).item();
    EXPECT_GT(clamped, 50);
    EXPECT_EQ(taken(), (std::vector<int64_t>{static_cast<int64_t>(clamped), 50 * 32}));
    int visits = 0;
    Snnk(6, 2, SnnkConfig{}, start_of(6)).visit_clamps("", [&](auto&&...) { ++visits; });
    EXPECT_EQ(visits, 0);
}

}  // namespace
}  // namespace ralimp
