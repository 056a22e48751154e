// Folded networks against the networks they were made of.
#include "layers/folding.h"

#include <gtest/gtest.h>

#include "autograd/operations.h"
#include "layers/network.h"
#include "tests/error_of.h"

namespace ralimp {
namespace {

const Box square_box{{-1, 0}, {1, 3}};

std::unique_ptr<Mlp> network_of(const HiddenConfig& hidden, DType dtype, int64_t width = 12,
                                int64_t hidden_layers = 4) {
    NetworkConfig config;
    config.hidden = hidden;
    config.width = width;
    config.hidden_layers = hidden_layers;
    auto network = make_network(config, square_box, 2, dtype, 3);
    network->initialize_from_data(random_uniform({500, 2}, {7}, dtype, -1, 1));
    return network;
}

RalimpConfig ralimp_of(FeatureNorm norm, PsiMode psi = PsiMode::free) {
    RalimpConfig config;
    config.features = 4;
    config.norm = norm;
    config.psi = psi;
    return config;
}

double largest_difference(const Tensor& a, const Tensor& b) {
    const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
    double largest = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        largest = std::isfinite(x[i]) ? std::max(largest, std::abs(x[i] - y[i])) : INFINITY;
        size = std::max(size, std::abs(y[i]));
    }
    return largest / size;
}

TEST(Folding, AgreesWithTheNetworkForEveryKindAndNumberOfRows) {
    std::vector<HiddenConfig> kinds{DenseHiddenConfig{}};
    for (const FeatureNorm norm : {FeatureNorm::exact, FeatureNorm::projected, FeatureNorm::none})
        for (const PsiMode psi : {PsiMode::free, PsiMode::weights})
            kinds.push_back(ralimp_of(norm, psi));
    for (const HiddenConfig& kind : kinds)
        for (const DType dtype : {DType::float32, DType::float64}) {
            const auto network = network_of(kind, dtype);
            const FoldedNetwork folded(network->parts());
            EXPECT_EQ(folded.inputs(), 2);
            EXPECT_EQ(folded.outputs(), 2);
            for (const int64_t rows : {1, 5, 63, 64, 65, 300}) {
                const Tensor x = random_uniform({rows, 2}, {8}, dtype, -0.9, 0.9);
                const NoGrad pause;
                EXPECT_LT(largest_difference(folded.forward(x), network->forward(x)),
                          dtype == DType::float32 ? 2e-4 : 1e-11)
                    << kind.index() << " " << rows;
            }
        }
}

// By hand: the scaling goes into the first layer, each Psi into the next projections.
TEST(Folding, CountsWhatIsLeft) {
    const int64_t width = 12, m = 4;
    const FoldedNetwork dense(network_of(DenseHiddenConfig{}, DType::float64)->parts());
    EXPECT_EQ(dense.cost().multiply_adds, 2 * width + 3 * width * width + 2 * width);
    EXPECT_EQ(dense.cost().numbers, dense.cost().multiply_adds + 4 * width + 2);

    // Rows: m that the exponents share, and m for each of two degrees; features: two for each of
    // three frequencies and row, and m of each degree.
    const int64_t rows = 3 * m, features = 2 * 3 * m + 2 * m;
    const auto network = network_of(ralimp_of(FeatureNorm::projected), DType::float64);
    const FoldedNetwork projected(network->parts());
    EXPECT_EQ(projected.steps().size(), 5u);
    EXPECT_EQ(projected.cost().multiply_adds,
              2 * width + rows * width + 2 * rows * features + 2 * features);
    // With exact norms only the last one.
    const FoldedNetwork exact(network_of(ralimp_of(FeatureNorm::exact), DType::float64)->parts());
    EXPECT_EQ(exact.cost().multiply_adds,
              2 * width + 3 * rows * width + 2 * features * width + 2 * features);
}

TEST(Folding, DoesNotGrowWhatIsSmaller) {
    // 12 -> 3 -> 12 must stay two maps.
    std::vector<std::unique_ptr<Layer>> layers;
    LinearStart start;
    layers.push_back(std::make_unique<Linear>(12, 3, DType::float64, start));
    layers.push_back(std::make_unique<Linear>(3, 12, DType::float64, start));
    layers.push_back(std::make_unique<Linear>(12, 1, DType::float64, start));
    const Mlp network(std::move(layers));
    const FoldedNetwork folded(network.parts());
    EXPECT_EQ(folded.cost().multiply_adds, 12);  // all three are one map to a number
    std::vector<std::unique_ptr<Layer>> two;
    two.push_back(std::make_unique<Linear>(12, 3, DType::float64, start));
    two.push_back(std::make_unique<Linear>(3, 12, DType::float64, start));
    EXPECT_EQ(FoldedNetwork(Mlp(std::move(two)).parts()).cost().multiply_adds, 72);
}

TEST(Folding, SaysWhichLayerCannotBeFolded) {
    RalimpConfig config = ralimp_of(FeatureNorm::exact);
    config.split = Split::phase_input;
    const auto network = network_of(config, DType::float64);
    const auto error = error_of([&] { FoldedNetwork(network->parts()); });
    EXPECT_EQ(error.code, ExitCode::bad_config);
    EXPECT_NE(error.text.find("fold: ralimp 12 -> 12, tanh"), std::string::npos) << error.text;
}

}  // namespace
}  // namespace ralimp
