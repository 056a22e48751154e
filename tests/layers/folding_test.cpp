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
            for (const bool share : {false, true}) {
                RalimpConfig config = ralimp_of(norm, psi);
                config.share_polynomial = share;
                kinds.push_back(config);
            }
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

TEST(Folding, PeriodicInputsAreCosinesAndSines) {
    const Box box{{-1, 0, 2}, {1, 3, 2.5}};
    for (const std::vector<int64_t>& axes :
         std::vector<std::vector<int64_t>>{{0}, {2, 0}, {0, 1, 2}})
        for (const int64_t harmonics : {1, 3})
            for (const bool scale : {false, true}) {
                NetworkConfig config;
                config.hidden = ralimp_of(FeatureNorm::projected);
                config.width = 9;
                config.hidden_layers = 3;
                config.scale_inputs = scale;
                const auto network =
                    make_network(config, box, 2, DType::float64, 3, {axes, harmonics});
                const Tensor x = random_uniform({70, 3}, {8}, DType::float64, -0.5, 2.4);
                network->initialize_from_data(x);
                const FoldedNetwork folded(network->parts());
                const NoGrad pause;
                for (const int64_t rows : {1, 70})
                    EXPECT_LT(largest_difference(folded.forward(slice(x, 0, 0, rows)),
                                                 network->forward(slice(x, 0, 0, rows))),
                              1e-11)
                        << axes.size() << " " << harmonics << " " << scale;
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
    // Where the first degree shares the rows of the exponents, m fewer.
    RalimpConfig sharing = ralimp_of(FeatureNorm::projected);
    sharing.share_polynomial = true;
    const FoldedNetwork shared(network_of(sharing, DType::float64)->parts());
    EXPECT_EQ(shared.cost().multiply_adds,
              2 * width + 2 * m * width + 2 * 2 * m * features + 2 * features);
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

// Cosines and sines by themselves or in an envelope, in odd sizes.
TEST(Folding, AgreesForFeaturesThatOscillate) {
    for (const Split split : {Split::phase_input, Split::symmetric})
        for (const FeatureLayout layout : {FeatureLayout::merged, FeatureLayout::concatenated})
            for (const FeatureNorm norm :
                 {FeatureNorm::exact, FeatureNorm::projected, FeatureNorm::none})
                for (const PsiMode psi : {PsiMode::free, PsiMode::weights})
                    for (const int64_t degree : {-1, 2})
                        for (const DType dtype : {DType::float32, DType::float64}) {
                            RalimpConfig config = ralimp_of(norm, psi);
                            config.split = split;
                            config.layout = layout;
                            config.degree = degree;
                            config.features = split == Split::symmetric ? 6 : 5;
                            SCOPED_TRACE(fmt::format("{} {}, norm {}, psi {}, degree {}, {}",
                                                     name_of(split), enum_name(layout),
                                                     enum_name(norm), enum_name(psi), degree,
                                                     name_of(dtype)));
                            const auto network = network_of(config, dtype, 13, 3);
                            const FoldedNetwork folded(network->parts());
                            const NoGrad pause;
                            for (const int64_t rows : {1, 63, 131}) {
                                const Tensor x = random_uniform({rows, 2}, {8}, dtype, -0.9, 0.9);
                                EXPECT_LT(
                                    largest_difference(folded.forward(x), network->forward(x)),
                                    dtype == DType::float32 ? 2e-4 : 1e-11)
                                    << rows;
                            }
                        }
}

// By hand: the projections of a layer meet the Psi before it, and of the exponents' coefficients
// each frequency is kept once.
TEST(Folding, CountsFeaturesThatOscillate) {
    const int64_t width = 12, m = 4, waves = 3, features = 2 * waves * m;
    RalimpConfig config = ralimp_of(FeatureNorm::none);
    config.split = Split::phase_input;
    config.degree = -1;
    const FoldedNetwork phases(network_of(config, DType::float64)->parts());
    EXPECT_EQ(phases.steps().size(), 5u);
    EXPECT_EQ(phases.cost().multiply_adds, 2 * width + m * width + 2 * m * features + 2 * features);
    EXPECT_EQ(phases.cost().numbers, phases.cost().multiply_adds + width + 3 * m + 2 + 3 * waves);
    config.norm = FeatureNorm::projected;
    const FoldedNetwork enveloped(network_of(config, DType::float64)->parts());
    EXPECT_EQ(enveloped.cost().multiply_adds, phases.cost().multiply_adds);
    EXPECT_EQ(enveloped.cost().numbers, phases.cost().numbers + 3 * waves);
    // The two signs of the antithetic rows have the same frequencies; the amplitudes are in Psi,
    // and with them the features of the paper's layout are half as many.
    config.split = Split::symmetric;
    config.layout = FeatureLayout::concatenated;
    const FoldedNetwork symmetric(network_of(config, DType::float64)->parts());
    EXPECT_EQ(symmetric.cost().multiply_adds,
              2 * width + m / 2 * width + 2 * (m / 2) * features + 2 * features);
    EXPECT_EQ(symmetric.cost().numbers,
              symmetric.cost().multiply_adds + width + 3 * m / 2 + 2 + 3 * 3 * waves);
}

TEST(Folding, SaysWhichLayerCannotBeFolded) {
    RalimpConfig config = ralimp_of(FeatureNorm::exact);
    config.share_rows = false;
    const auto network = network_of(config, DType::float64);
    const auto error = error_of([&] { FoldedNetwork(network->parts()); });
    EXPECT_EQ(error.code, ExitCode::bad_config);
    EXPECT_NE(error.text.find("fold: ralimp 12 -> 12, tanh"), std::string::npos) << error.text;
}

TEST(Folding, RefusesExponentsThatDoNotFit) {
    RalimpConfig config = ralimp_of(FeatureNorm::projected);
    config.split = Split::symmetric;
    const FoldedNetwork network(network_of(config, DType::float64)->parts());
    const std::pair<Tensor ChainFeatures::*, Tensor> changes[] = {
        {&ChainFeatures::rotation, Tensor()},
        {&ChainFeatures::rotation, Tensor::zeros({23}, DType::float64)},
        {&ChainFeatures::norm_rotation, Tensor::zeros({12}, DType::float32)}};
    for (const auto& [member, tensor] : changes) {
        std::vector<ChainLayer> steps = network.steps();
        (*steps[1].features).*member = tensor;
        EXPECT_NE(
            error_of([&] { FoldedNetwork{steps}; }).text.find("features of step 1 do not fit"),
            std::string::npos);
    }
}

}  // namespace
}  // namespace ralimp
