// How the layers of a network start: the spread of weights and biases against closed forms, and
// what that makes of the pre-activations through the depth of a SIREN.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "autograd/operations.h"
#include "layers/dense.h"
#include "layers/network.h"

namespace ralimp {
namespace {

constexpr double omega = 30, first_omega = 45;

NetworkConfig siren(int64_t hidden_layers = 5, int64_t width = 256) {
    NetworkConfig config;
    config.hidden_layers = hidden_layers;
    config.width = width;
    config.activation = Activation::sin;
    config.omega = omega;
    config.first_omega = first_omega;
    config.initialization = Initialization::siren;
    config.scale_inputs = false;
    return config;
}

std::map<std::string, Tensor> tensors_of(Layer& layer) {
    std::map<std::string, Tensor> tensors;
    layer.visit("", [&](const std::string& name, Tensor& tensor, const ParameterInfo&) {
        tensors.emplace(name, tensor);
    });
    return tensors;
}

std::unique_ptr<Mlp> network_of(const NetworkConfig& config, uint64_t seed = 1) {
    return make_network(config, {{-1, -1}, {1, 1}}, 1, DType::float64, seed);
}

double deviation(const Tensor& x) { return std::sqrt(variance(x).item()); }

// Uniform in ±a: inside, reaching near the ends, standard deviation a/√3, mean 0; for n draws the
// statistics have standard errors of about a/√(3n).
void expect_uniform(const Tensor& x, double a, const std::string& name) {
    const double error = 5 * a / std::sqrt(3.0 * static_cast<double>(x.elements()));
    EXPECT_LE(max(abs(x)).item(), a) << name;
    EXPECT_GT(max(abs(x)).item(), a * (1 - 20.0 / static_cast<double>(x.elements()))) << name;
    EXPECT_NEAR(deviation(x), a / std::sqrt(3.0), error) << name;
    EXPECT_NEAR(mean(x).item(), 0, error) << name;
}

TEST(NetworkStart, OfASirenHasTheSpreadOfThePaper) {
    const auto network = network_of(siren());
    auto tensors = tensors_of(*network);
    ASSERT_EQ(tensors.size(), 12u);
    expect_uniform(tensors["layer_0.weight"], 1.0 / 2, "first");
    expect_uniform(tensors["layer_0.bias"], 1 / std::sqrt(2.0), "first bias");
    for (const int layer : {1, 2, 3, 4, 5}) {
        const std::string name = "layer_" + std::to_string(layer);
        expect_uniform(tensors[name + ".weight"], std::sqrt(6.0 / 256) / omega, name);
        expect_uniform(tensors[name + ".bias"], 1.0 / 16, name + " bias");
    }
}

TEST(NetworkStart, OtherInitializationsHaveTheirSpread) {
    const std::pair<Initialization, double> uniform[] = {
        {Initialization::xavier, std::sqrt(6.0 / 512)},
        {Initialization::kaiming, std::sqrt(6.0 / 256)},
        {Initialization::fan_in, 1.0 / 16}};
    for (const auto& [initialization, bound] : uniform) {
        NetworkConfig config = siren(2);
        config.initialization = initialization;
        const auto network = network_of(config);
        auto tensors = tensors_of(*network);
        expect_uniform(tensors["layer_1.weight"], bound, enum_name(initialization));
        if (initialization == Initialization::fan_in)
            expect_uniform(tensors["layer_1.bias"], bound, "bias");
        else
            EXPECT_EQ(max(abs(tensors["layer_1.bias"])).item(), 0);
    }
}

TEST(NetworkStart, OmegaMultipliesTheBiasToo) {
    NetworkConfig config = siren(1, 7);
    for (const Activation activation :
         {Activation::sin, Activation::finer, Activation::wire, Activation::gaussian}) {
        config.activation = activation;
        const auto network = network_of(config);
        auto tensors = tensors_of(*network);
        const std::vector<double> x{0.3, -0.8};
        const auto w = tensors["layer_0.weight"].to_vector<double>();
        const auto b = tensors["layer_0.bias"].to_vector<double>();
        const auto v = tensors["layer_1.weight"].to_vector<double>();
        double y = tensors["layer_1.bias"].to_vector<double>()[0];
        for (std::size_t i = 0; i < 7; ++i) {
            const double z = w[2 * i] * x[0] + w[2 * i + 1] * x[1] + b[i];
            const double f =
                activation == Activation::sin        ? std::sin(first_omega * z)
                : activation == Activation::gaussian ? std::exp(-std::pow(first_omega * z, 2))
                : activation == Activation::finer
                    ? std::sin(first_omega * (std::abs(z) + 1) * z)
                    : std::cos(first_omega * z) * std::exp(-std::pow(config.envelope * z, 2));
            y += v[i] * f;
        }
        EXPECT_NEAR(network->forward(Tensor::from(x, {1, 2})).item(), y, 1e-13)
            << name_of(activation);
    }
}

// The first bias alone follows the key; nothing else moves.
TEST(NetworkStart, FirstBiasOfFiner) {
    NetworkConfig config = siren();
    const auto plain = network_of(config);
    config.first_bias = 3;
    const auto wide = network_of(config);
    auto a = tensors_of(*plain), b = tensors_of(*wide);
    expect_uniform(b["layer_0.bias"], 3, "first bias");
    for (auto& [name, tensor] : a)
        EXPECT_EQ(tensor.to_vector<double>() == b[name].to_vector<double>(), name != "layer_0.bias")
            << name;
    config.first_bias = 0;
    const auto none = network_of(config);
    EXPECT_EQ(max(abs(tensors_of(*none)["layer_0.bias"])).item(), 0);
    // Also where the bias starts at 0 otherwise.
    config.initialization = Initialization::xavier;
    config.first_bias = 1;
    const auto xavier = network_of(config);
    expect_uniform(tensors_of(*xavier)["layer_0.bias"], 1, "bias beside xavier");
}

// ω W x has variance ω² n (a²/3) E[y²] = 2 E[y²] for a = √(6/n)/ω and the layer's inputs y,
// whatever n and ω. Sines of widely spread arguments have E[y²] = 1/2, so that it is 1 in the
// second layer; those of a normal argument of variance v have (1 - e^(-2v))/2. As ω multiplies the
// bias U(±1/√n) as well, it adds ω²/(3n) to v.
TEST(NetworkStart, PreActivationsOfASirenKeepTheirSpreadThroughDepth) {
    constexpr int layers = 8, seeds = 8;
    const int64_t width = 256;
    const auto mean_square = [](const Tensor& x) { return mean(square(x)).item() / seeds; };
    for (const double hidden_omega : {5.0, 30.0}) {
        NetworkConfig config = siren(layers, width);
        config.omega = hidden_omega;
        // Mean squares of ω W x, ω (W x + b) and its sine, over several networks.
        std::array<std::array<double, 3>, layers> found{};
        for (uint64_t seed = 0; seed < seeds; ++seed) {
            const auto network = network_of(config, seed);
            auto tensors = tensors_of(*network);
            Tensor y =
                random_uniform({500, 2}, {seed, RandomStream::user, 0}, DType::float64, -1, 1);
            for (int layer = 0; layer < layers; ++layer) {
                const std::string name = "layer_" + std::to_string(layer);
                const double scale = layer == 0 ? first_omega : hidden_omega;
                const Tensor weighted = matmul(y, transpose(tensors[name + ".weight"])) * scale;
                const Tensor z = weighted + tensors[name + ".bias"] * scale;
                y = sin(z);
                found[layer][0] += mean_square(weighted);
                found[layer][1] += mean_square(z);
                found[layer][2] += mean_square(y);
            }
        }
        // Of the first layer: two coordinates of variance 1/3 and weights of 1/12; biases of 1/6.
        const double first = first_omega * first_omega;
        EXPECT_NEAR(std::sqrt(found[0][0] / (first / 18)), 1, 0.05);
        EXPECT_NEAR(std::sqrt(found[0][1] / (first / 18 + first / 6)), 1, 0.05);
        EXPECT_NEAR(found[0][2], 0.5, 0.03);
        const double bias = hidden_omega * hidden_omega / (3.0 * width);
        double expected = 1;
        for (int layer = 1; layer < layers; ++layer) {
            SCOPED_TRACE(layer);
            EXPECT_NEAR(std::sqrt(found[layer][0] / expected), 1, 0.05);
            EXPECT_NEAR(std::sqrt(found[layer][1] / (expected + bias)), 1, 0.05);
            // Near 1 however deep: not below the fixed point 0.893² of v = 1 - e^(-2v).
            EXPECT_GT(expected, 0.79);
            expected = 1 - std::exp(-2 * (expected + bias));
            EXPECT_NEAR(found[layer][2], expected / 2, 0.03);
        }
    }
}

}  // namespace
}  // namespace ralimp
