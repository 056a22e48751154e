// The size that is told before a network is made against that of the network.
#include "layers/network_size.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "layers/ralimp.h"
#include "tests/layers/paper_ralimp.h"

namespace ralimp {
namespace {

// Of the network itself; its features are those that the layers tell.
NetworkSize real_size(const NetworkConfig& config) {
    const auto network = make_network(config, {{-1, -1, 0}, {1, 1, 1}}, 2, DType::float32, 1);
    NetworkSize real = size_of(*network);
    EXPECT_EQ(real.trained, static_cast<double>(network->count().trained));
    for (const Layer* layer : network->parts())
        if (const auto* ralimp = dynamic_cast<const Ralimp*>(layer))
            real.features += static_cast<double>(ralimp->feature_count());
    return real;
}

// Every matrix that was told is there, as often, with the sides that are known.
void expect_known_sides(std::vector<MatrixSize> told, std::vector<MatrixSize> real) {
    // Those that fit several come last.
    std::stable_partition(told.begin(), told.end(), [](const MatrixSize& matrix) {
        return matrix.rows > 0 && matrix.columns > 0;
    });
    for (const MatrixSize& matrix : told)
        for (double i = 0; i < matrix.count; ++i) {
            const auto found = std::find_if(real.begin(), real.end(), [&](const MatrixSize& each) {
                return (matrix.rows == 0 || matrix.rows == each.rows) &&
                       (matrix.columns == 0 || matrix.columns == each.columns);
            });
            ASSERT_NE(found, real.end()) << matrix.rows << " x " << matrix.columns;
            real.erase(found);
        }
    EXPECT_TRUE(real.empty());
}

// Of every kind but RaLiMP, whose nodes are known only when its surrogate is.
TEST(NetworkSize, IsExact) {
    SnnkConfig urf, trained;
    urf.form = SnnkForm::urf;
    trained.train_projections = true;
    EugenConfig shared;
    shared.share_rows = shared.train_projections = true;
    shared.degree = 3;
    // With the features of a layer.
    const std::pair<HiddenConfig, double> kinds[] = {{DenseHiddenConfig{}, 0},
                                                     {NarrowConfig{5}, 0},
                                                     {LowRankConfig{1}, 0},
                                                     {SnnkConfig{}, 32},
                                                     {trained, 32},
                                                     {urf, 32},
                                                     {EugenConfig{}, 2 * 16},
                                                     {shared, 3 * 16},
                                                     {MonarchConfig{}, 0},
                                                     {MonarchConfig{3}, 0},
                                                     {TensorTrainConfig{}, 0},
                                                     {TensorTrainConfig{3}, 0}};
    for (const auto& [hidden, features] : kinds)
        for (const int64_t layers : {1, 2, 5})
            for (const int64_t width : {1, 7, 64}) {
                SCOPED_TRACE(
                    fmt::format("kind {}, {} layers of {}", hidden.index(), layers, width));
                NetworkConfig config;
                config.hidden = hidden;
                config.hidden_layers = layers;
                config.width = width;
                config.scale_inputs = false;
                const NetworkSize size = size_of(config, 3, 2, DType::float32, 100);
                const NetworkSize real = real_size(config);
                EXPECT_EQ(size.trained, real.trained);
                EXPECT_EQ(size.held, real.held);
                EXPECT_EQ(size.start_bytes > 0, hidden.index() > 2 && layers > 1);
                EXPECT_EQ(size.draw_bytes > 0, features > 0 && layers > 1);
                EXPECT_EQ(size.features, features * static_cast<double>(layers - 1));
                expect_known_sides(size.matrices, real.matrices);
            }
}

TEST(NetworkSize, OfRalimpNetworksIsABoundBelowThatIsNotFar) {
    const std::array<int, 3> surrogates[] = {{2, 1, 1}, {-1, 2, 1}, {3, 0, 1}, {0, 1, 2}};
    // Every value of every option, with many pairs of them; a fit of each surrogate takes a while.
    for (int bits = 0; bits < 16; ++bits) {
        const auto& [degree, pairs, multiplicity] = surrogates[(bits + bits / 4) % 4];
        RalimpConfig ralimp = paper_ralimp();
        ralimp.features = 12;
        ralimp.degree = degree;
        ralimp.pole_pairs = pairs;
        ralimp.multiplicity = multiplicity;
        ralimp.split = static_cast<Split>(bits % 3);
        ralimp.layout = static_cast<FeatureLayout>(bits / 3 % 2);
        ralimp.psi = static_cast<PsiMode>((bits ^ bits >> 3) & 1);
        ralimp.share_projections = bits & 1;
        ralimp.share_rows = bits & 2;
        ralimp.antithetic = bits & 4;
        ralimp.train_projections = bits & 8;
        ralimp.share_polynomial =
            ralimp.share_projections && (ralimp.split != Split::symmetric || !ralimp.antithetic);
        NetworkConfig config;
        config.hidden_layers = 3;
        config.width = 25;  // which no number of rows or features is
        for (const std::optional<double> s_max : {std::optional<double>(), {0.5}}) {
            ralimp.s_max = s_max;
            if (s_max && pairs == 0) continue;
            config.hidden = ralimp;
            const NetworkSize size = size_of(config, 3, 2, DType::float32, 100);
            const NetworkSize real = real_size(config);
            EXPECT_LE(size.trained, real.trained) << bits;
            EXPECT_LE(size.held, real.held) << bits;
            EXPECT_GT(size.start_bytes, 0) << bits;
            EXPECT_EQ(size.weight_sides > 0, ralimp.psi == PsiMode::weights) << bits;
            EXPECT_LE(size.features, real.features) << bits;
            expect_known_sides(size.matrices, real.matrices);
            if (s_max) continue;
            EXPECT_GE(size.trained, 0.95 * real.trained) << bits;
            EXPECT_GE(size.held, 0.8 * real.held) << bits;
            EXPECT_EQ(size.features, real.features) << bits;
        }
    }
}

TEST(NetworkSize, HoldsWhatNoNetworkCanBe) {
    NetworkConfig config;
    config.width = 65536;
    config.hidden_layers = 1000;
    EXPECT_NEAR(size_of(config, 1, 1, DType::float32, 4096).trained / (999.0 * 65536 * 65537), 1,
                1e-6);
    RalimpConfig ralimp = paper_ralimp();
    ralimp.features = int64_t{1} << 62;
    config.hidden = ralimp;
    EXPECT_GT(size_of(config, 1, 1, DType::float32, 4096).held, 1e20);
    EXPECT_GT(size_of(config, 1, 1, DType::float32, 4096).start_bytes, 1e23);
    EXPECT_GT(size_of(config, 1, 1, DType::float32, 4096).draw_bytes, 1e23);
}

}  // namespace
}  // namespace ralimp
