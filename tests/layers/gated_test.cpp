// The gated block and its linearized form: unbiased, folded without a difference, and as cheap as
// its rank says.
#include "layers/gated.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/gradcheck.h"
#include "autograd/operations.h"
#include "layers/parameters.h"
#include "tests/layers/paper_ralimp.h"

namespace ralimp {
namespace {

constexpr int64_t inputs = 5, hidden = 7, outputs = 3;

LinearStart block_start() {
    return {Initialization::xavier, 1, {1, RandomStream::parameters, 0}, {}};
}

GatedFeedForward small_block() {
    return {{inputs, hidden, outputs, Activation::silu, DType::float64}, block_start()};
}

RalimpConfig gate_config() {
    RalimpConfig config = paper_ralimp();
    config.psi = PsiMode::weights;
    config.split = Split::real_input;
    config.features = 4;
    config.scale = {ScaleRule::fixed, 1, 4, 0.5};
    return config;
}

HiddenStart start_of(uint64_t seed) {
    static const auto fits = std::make_shared<RationalFits>();
    HiddenStart start;
    start.start.key = {seed, RandomStream::parameters, 3};
    start.fits = fits;
    return start;
}

Tensor points(int64_t rows) {
    return random_normal({rows, inputs}, {2, RandomStream::user, 0}, DType::float64, 0, 0.5);
}

double rms(const Tensor& x) { return std::sqrt(mean(square(x)).item()); }

// W_d ((Ψ Φ(x) + constant) ⊙ (W_u x)): the features without random pairs.
Tensor with_features(const GatedFeedForward& block, const HadamardGated& layer, const Tensor& x) {
    const Ralimp::WeightSide side = layer.features().weight_side();
    const Tensor phi = layer.features().features(Jet::value_only(x)).value();
    return linear(linear(phi, side.psi, side.constant) * linear(x, block.up(), Tensor()),
                  block.down(), Tensor());
}

TEST(Gated, IsTheFormulaOfSwiGlu) {
    const GatedFeedForward block = small_block();
    const Tensor x = points(4), y = block.forward(x);
    const auto at = [](const Tensor& matrix, int64_t i, int64_t j) {
        return select(select(matrix, 0, i), 0, j).item();
    };
    for (int64_t row = 0; row < 4; ++row)
        for (int64_t o = 0; o < outputs; ++o) {
            double sum = 0;
            for (int64_t i = 0; i < hidden; ++i) {
                double gate = 0, up = 0;
                for (int64_t j = 0; j < inputs; ++j) {
                    gate += at(block.gate(), i, j) * at(x, row, j);
                    up += at(block.up(), i, j) * at(x, row, j);
                }
                sum += at(block.down(), o, i) * gate / (1 + std::exp(-gate)) * up;
            }
            EXPECT_NEAR(at(y, row, o), sum, 1e-14);
        }
    EXPECT_EQ(block.count().trained, inputs * hidden * 2 + hidden * outputs);
    EXPECT_GT(rms(block.gate() - block.up()), 0.1);
}

// Over all random numbers the mean is the block with the rational surrogate of its activation.
TEST(HadamardGated, IsUnbiased) {
    constexpr int layers = 600;
    const GatedFeedForward block = small_block();
    const Tensor x = points(4) * 0.5;
    RalimpConfig config = gate_config();
    config.features = 32;
    config.nodes_per_atom = 2;
    Tensor sum, squares, wanted;
    for (int i = 0; i < layers; ++i) {
        const HadamardGated layer(block, 256, config, start_of(static_cast<uint64_t>(i)));
        const Tensor y = layer.forward(x);
        sum = i == 0 ? y : sum + y;
        squares = i == 0 ? square(y) : squares + square(y);
        if (i == 0)
            wanted = linear(layer.features().surrogate(linear(x, block.gate(), Tensor())) *
                                linear(x, block.up(), Tensor()),
                            block.down(), Tensor());
    }
    const Tensor average = sum / layers;
    const Tensor error = sqrt((squares / layers - square(average)) / layers);
    EXPECT_LT(max(abs(average - wanted) / error).item(), 4);
    EXPECT_LT(max(error).item(), 0.2 * rms(wanted));
    // And the surrogate is near the activation.
    EXPECT_LT(rms(wanted - block.forward(x)), 0.02 * rms(wanted));
}

TEST(HadamardGated, FoldedAndUnfoldedAgree) {
    const GatedFeedForward block = small_block();
    for (const Split split : {Split::real_input, Split::phase_input, Split::symmetric}) {
        RalimpConfig config = gate_config();
        config.split = split;
        const HadamardGated layer(block, 6, config, start_of(4));
        const Tensor x = points(9);
        const Ralimp::WeightSide side = layer.features().weight_side();
        const auto features = [&](const Tensor& at) {
            return layer.features().features(Jet::value_only(at)).value();
        };
        const Tensor of_zero = features(Tensor::zeros({1, inputs}, DType::float64));
        const Tensor one = Tensor::ones({9, 1}, DType::float64);
        const Tensor phi = concatenate({features(x) - of_zero, one}, 1);
        const Tensor psi =
            concatenate({side.psi, transpose(linear(of_zero, side.psi, side.constant))}, 1);
        // The sign that meets the 1.
        const Tensor last = layer.left_bias() + squeeze(linear(of_zero, layer.left(), Tensor()), 0);
        EXPECT_LT(max(abs(abs(last) - 1)).item(), 1e-12);
        const Tensor left = concatenate({layer.left(), unsqueeze(last, 1)}, 1);
        Tensor product;  // [rows, l]
        for (int64_t pair = 0; pair < 6; ++pair) {
            const Tensor alpha = unsqueeze(select(left, 0, pair), 1);
            const Tensor beta = unsqueeze(select(layer.right(), 0, pair), 1);
            const Tensor of_x = matmul(phi, alpha) * matmul(x, beta);
            const Tensor of_weights = matmul(psi, alpha) * matmul(block.up(), beta);
            const Tensor term = matmul(of_x, transpose(of_weights)) / 6.0;
            product = pair == 0 ? term : product + term;
        }
        const Tensor unfolded = linear(product, block.down(), Tensor());
        EXPECT_LT(max(abs(unfolded - layer.forward(x))).item(), 1e-12 * (1 + rms(unfolded)));
    }
}

TEST(HadamardGated, TheErrorFallsAsTheRootOfTheRank) {
    const GatedFeedForward block = small_block();
    const Tensor x = points(64);
    std::vector<double> errors;
    for (int64_t rank : {64, 1024, 16384}) {
        double squares = 0;
        for (uint64_t seed = 0; seed < 4; ++seed) {
            const HadamardGated layer(block, rank, gate_config(), start_of(seed));
            squares += mean(square(layer.forward(x) - with_features(block, layer, x))).item();
        }
        errors.push_back(std::sqrt(squares));
    }
    EXPECT_NEAR(errors[0] / errors[1], 4, 1.2);
    EXPECT_NEAR(errors[1] / errors[2], 4, 1.2);
}

// What a token costs knows nothing of the hidden width.
TEST(HadamardGated, CostsAsMuchAsItsRank) {
    const auto layer_of = [](int64_t d, int64_t l, int64_t rank) {
        const GatedFeedForward block({d, l, d, Activation::silu, DType::float32}, block_start());
        return HadamardGated(block, rank, gate_config(), start_of(5));
    };
    // Rows 4 + 2·4; F = 2·4 + 2·3·4 = 32.
    for (int64_t rank : {16, 64})
        for (int64_t l : {32, 512}) {
            const HadamardGated layer = layer_of(64, l, rank);
            EXPECT_EQ(layer.multiply_adds(), 12 * 64 + rank * (64 + 33 + 1 + 64));
            EXPECT_LE(layer.multiply_adds(), 4 * rank * 64);
            // A number for each of them but the products of pairs, and the four of the pole pair.
            EXPECT_EQ(layer.count().deployed, layer.multiply_adds() - rank + 4);
            EXPECT_EQ(layer.count().regenerated, layer.count().deployed - 12 * 64 + 1);
            EXPECT_EQ(layer.count().trained, rank * (64 + 33 + 64));
        }
}

TEST(HadamardGated, TrainsItsThreeMatrices) {
    HadamardGated layer(small_block(), 4, gate_config(), start_of(6));
    int64_t trained = 0;
    Tensors values{points(3)};
    layer.visit("x", [&](const std::string& name, Tensor& tensor, const ParameterInfo& info) {
        EXPECT_EQ(name.find("features.weight"), std::string::npos);
        if (!info.trained) return;
        trained += tensor.elements();
        values.push_back(tensor);
    });
    EXPECT_EQ(trained, layer.count().trained);
    const TensorFunction function = [&](const Tensors& given) -> Tensors {
        std::size_t next = 1;
        layer.visit("", [&](const std::string&, Tensor& tensor, const ParameterInfo& info) {
            if (info.trained) tensor = given[next++];
        });
        const Jet y = layer.forward(Jet::input(given[0], JetPlan::make({{0, 0}})));
        return {y.channels()};
    };
    EXPECT_EQ(gradcheck(function, values, {.tolerance = 1e-6}), "");
    EXPECT_EQ(Parameters(layer).count(), trained);
}

TEST(HadamardGated, RejectsFeaturesOfAnotherFunction) {
    RalimpConfig config = gate_config();
    config.psi = PsiMode::free;
    EXPECT_THROW(HadamardGated(small_block(), 4, config, start_of(7)), Error);
    config = gate_config();
    config.scale.rule = ScaleRule::rms;
    EXPECT_THROW(HadamardGated(small_block(), 4, config, start_of(7)), Error);
    config = gate_config();
    config.scale.value = 2;
    EXPECT_THROW(HadamardGated(small_block(), 4, config, start_of(7)), Error);
    EXPECT_THROW(HadamardGated(small_block(), 0, gate_config(), start_of(7)), Error);
}

}  // namespace
}  // namespace ralimp
