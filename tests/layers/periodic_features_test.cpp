// Periodic inputs of a network: features by their formula, agreement of both ends, counts.
#include "layers/periodic_features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "autograd/operations.h"
#include "layers/network.h"
#include "tests/error_of.h"

namespace ralimp {
namespace {

const Box box{{-2, 2, 0.5}, {1, 5, 0.75}};
constexpr double pi = std::numbers::pi;

TEST(PeriodicFeatures, AreTheHarmonicsOfTheirAxis) {
    const std::vector<double> point{0.3, 4.1, 0.6};
    const Tensor x = Tensor::from(point, {1, 3});
    const auto plan = JetPlan::make({{1, 1}});
    for (const bool scale : {true, false}) {
        const PeriodicFeatures layer(box, {{1}, 2}, scale, DType::float64);
        EXPECT_EQ(layer.inputs(), 3);
        EXPECT_EQ(layer.outputs(), 6);
        const Jet y = layer.forward(Jet::input(x, plan));
        const double omega = 2 * pi / 3, phase = omega * (4.1 - 2);
        const std::vector<double> values{scale ? 0.8 / 1.5 : 0.3, std::cos(phase),
                                         std::cos(2 * phase),     std::sin(phase),
                                         std::sin(2 * phase),     scale ? -0.2 : 0.6};
        const std::vector<double> second{0,
                                         -omega * omega * std::cos(phase),
                                         -4 * omega * omega * std::cos(2 * phase),
                                         -omega * omega * std::sin(phase),
                                         -4 * omega * omega * std::sin(2 * phase),
                                         0};
        for (std::size_t i = 0; i < 6; ++i) {
            EXPECT_NEAR(y.value().to_doubles()[i], values[i], 1e-14) << i;
            EXPECT_NEAR(y.derivative({1, 1}).to_doubles()[i], second[i], 1e-13) << i;
        }
    }
}

// Value and every derivative, to rounding, for two periodic axes of three.
TEST(PeriodicFeatures, BothEndsAgree) {
    NetworkConfig config;
    config.hidden_layers = 3;
    config.width = 9;
    const auto plan = JetPlan::make({{0, 0, 0}, {0, 0, 2}, {0, 1, 2}, {2, 2, 2}});
    for (const auto& [dtype, tolerance] :
         {std::pair{DType::float64, 1e-11}, std::pair{DType::float32, 3e-3}}) {
        const auto network = make_network(config, box, 2, dtype, 5, {{0, 2}, 3});
        EXPECT_EQ(network->inputs(), 3);
        const auto at = [&](double x, double z) {
            return network->forward(
                Jet::input(to(Tensor::from(std::vector<double>{x, 2.7, z}, {1, 3}), dtype), plan));
        };
        const std::vector<double> lower = at(-2, 0.6).channels().to_doubles();
        const std::vector<double> upper = at(1, 0.6).channels().to_doubles();
        const std::vector<double> start = at(0.25, 0.5).channels().to_doubles();
        const std::vector<double> end = at(0.25, 0.75).channels().to_doubles();
        double largest = 1;
        for (double value : start) largest = std::max(largest, std::abs(value));
        for (std::size_t i = 0; i < lower.size(); ++i) {
            EXPECT_NEAR(lower[i], upper[i], tolerance * largest) << i;
            EXPECT_NEAR(start[i], end[i], tolerance * largest) << i;
        }
        const std::vector<double> middle = at(0.1, 0.6).channels().to_doubles();
        EXPECT_GT(std::abs(middle[0] - lower[0]), 1e-3);
    }
}

TEST(PeriodicFeatures, WidenTheFirstLayerAlone) {
    NetworkConfig config;
    config.hidden_layers = 2;
    config.width = 7;
    const auto plain = make_network(config, box, 1, DType::float64, 0);
    const auto periodic = make_network(config, box, 1, DType::float64, 0, {{0, 2}, 2});
    EXPECT_EQ(periodic->count().trained - plain->count().trained, 7 * 6);
    EXPECT_EQ(periodic->count().deployed - plain->count().deployed, 7 * 6);
    EXPECT_EQ(periodic->parts().size(), plain->parts().size());
    EXPECT_EQ(periodic->parts()[0]->description(),
              "cos and sin of 2 harmonics of input 0, 2, the others scaled to [-1, 1]");
}

TEST(PeriodicFeatures, RefuseWhatDoesNotFit) {
    const auto complaint = [](const PeriodicInputs& inputs) {
        return error_of([&] { PeriodicFeatures(box, inputs, true, DType::float64); }).text;
    };
    EXPECT_NE(complaint({{3}, 1}).find("axis 3 of 3"), std::string::npos);
    EXPECT_NE(complaint({{-1}, 1}).find("axis -1 of 3"), std::string::npos);
    EXPECT_NE(complaint({{0, 0}, 1}).find("axis 0 stands twice"), std::string::npos);
    EXPECT_NE(complaint({{0}, 0}).find("0 harmonics"), std::string::npos);
}

}  // namespace
}  // namespace ralimp
