// The starts of hidden layers that take the place of a trained dense layer.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <map>

#include "autograd/operations.h"
#include "layers/network.h"
#include "layers/ralimp.h"
#include "tests/error_of.h"
#include "tests/layers/paper_ralimp.h"

namespace ralimp {
namespace {

Tensor normal(const Shape& shape, uint64_t seed, double deviation = 1) {
    return random_normal(shape, {seed, RandomStream::user, 0}, DType::float64, 0, deviation);
}

double rms(const Tensor& x) { return std::sqrt(mean(square(x)).item()); }
double largest_difference(const Tensor& a, const Tensor& b) { return max(abs(a - b)).item(); }

std::map<std::string, Tensor> tensors_of(Layer& layer) {
    std::map<std::string, Tensor> tensors;
    layer.visit("", [&](const std::string& name, Tensor& tensor, const ParameterInfo&) {
        tensors.emplace(name, tensor);
    });
    return tensors;
}

// Far from what any initialization draws, so that a start that ignores them is seen.
HiddenStart trained_start(int64_t outputs, int64_t inputs, Activation activation = Activation::tanh,
                          double scale = 1) {
    HiddenStart start;
    start.activation = activation;
    start.scale = scale;
    start.start = {Initialization::xavier, scale, {5, RandomStream::parameters, 3}, {}};
    start.dtype = DType::float64;
    start.weight = normal({outputs, inputs}, 1, 0.4 / scale) + 0.1 / scale;
    start.bias = normal({outputs}, 2, 0.5 / scale);
    return start;
}

Tensor dense(const Tensor& x, const HiddenStart& start) {
    return apply(start.activation, linear(x, start.weight, start.bias), start.scale);
}

// What hidden layers see: smooth, and of few directions.
Tensor hidden_inputs(int64_t width, uint64_t seed = 7) {
    return tanh(matmul(normal({500, 3}, seed), normal({3, width}, 8)));
}

struct Kind {
    const char* name;
    HiddenConfig config;
    double most_error;  // relative to the dense layer's outputs
};

std::vector<Kind> kinds() {
    RalimpConfig ralimp = paper_ralimp();
    ralimp.features = 12;
    SnnkConfig snnk;
    snnk.features = 24;
    EugenConfig eugen;
    eugen.features = 12;
    return {{"ralimp", ralimp, 0.08},
            {"low_rank", LowRankConfig{.rank = 5}, 0.15},
            {"low_rank, linear", LowRankConfig{.rank = 5, .activated = false}, 0.35},
            {"snnk", snnk, 0.2},
            {"eugen", eugen, 0.1},
            {"monarch", MonarchConfig{2}, 0.3},
            {"tensor_train", TensorTrainConfig{2}, 0.3}};
}

TEST(TrainedStart, OfEveryKindComesCloseToTheTrainedLayer) {
    for (const auto& [name, config, most_error] : kinds()) {
        const HiddenStart start = trained_start(12, 12);
        const Tensor x = hidden_inputs(12);
        const auto layer = make_hidden(config, 12, 12, start);
        const Tensor y = layer->initialize_from_data(x);
        const Tensor wanted = dense(x, start);
        EXPECT_LT(rms(y - wanted), most_error * rms(wanted)) << name;
        EXPECT_LT(largest_difference(layer->forward(x), y), 1e-12) << name;
        // The trained layer itself stays as it was.
        EXPECT_EQ(largest_difference(start.weight, trained_start(12, 12).weight), 0) << name;
    }
}

// What the dense layer sees is another thing than what the new one sees: there is less left to be
// made up for when that is known.
TEST(TrainedStart, MakesUpForOtherInputs) {
    const Tensor seen = hidden_inputs(12);
    const Tensor x = seen + matmul(square(seen), normal({12, 12}, 9, 0.05)) + 0.1;
    for (const auto& [name, config, most_error] : kinds()) {
        HiddenStart start = trained_start(12, 12);
        const Tensor wanted = dense(seen, start);
        const auto error = [&] {
            return rms(make_hidden(config, 12, 12, start)->initialize_from_data(x) - wanted);
        };
        const double without = error();
        start.seen = seen;
        EXPECT_LT(error(), 0.9 * without) << name;
        start.seen = slice(seen, 0, 0, 20);
        EXPECT_NE(error_of(error).text, "") << name;
    }
}

// Of the full rank they are the dense layer to rounding.
TEST(TrainedStart, OfTheFullRankIsTheDenseLayer) {
    for (const double scale : {1.0, 30.0})
        for (const auto& [inputs, outputs] : {std::pair{12, 12}, {7, 5}}) {
            const HiddenStart start = trained_start(
                outputs, inputs, scale == 1 ? Activation::tanh : Activation::sin, scale);
            const Tensor x = normal({200, inputs}, 3), elsewhere = normal({50, inputs}, 4, 3);
            const int64_t rank = std::min(inputs, outputs);
            for (const HiddenConfig& config :
                 {HiddenConfig(LowRankConfig{.rank = rank}), HiddenConfig(MonarchConfig{1}),
                  HiddenConfig(TensorTrainConfig{4})}) {
                const auto layer = make_hidden(config, inputs, outputs, start);
                layer->initialize_from_data(x);
                EXPECT_LT(largest_difference(layer->forward(elsewhere), dense(elsewhere, start)),
                          1e-9)
                    << layer->description();
            }
        }
}

// A matrix of the form of the layer is found again, whatever its sizes.
TEST(TrainedStart, FindsMatricesOfItsOwnForm) {
    for (const auto& [inputs, outputs] : {std::pair{16, 16}, {11, 7}, {6, 13}, {1, 1}}) {
        for (const HiddenConfig& config :
             {HiddenConfig(MonarchConfig{4}), HiddenConfig(TensorTrainConfig{1}),
              HiddenConfig(TensorTrainConfig{2})}) {
            HiddenStart start = trained_start(outputs, inputs);
            HiddenStart another = start;
            another.weight = another.bias = Tensor();
            another.start.key.seed = 99;
            const auto source = make_hidden(config, inputs, outputs, another);
            start.weight = dynamic_cast<const BlockFactored&>(*source).matrix();
            const auto layer = make_hidden(config, inputs, outputs, start);
            layer->initialize_from_data(normal({300, inputs}, 6));
            EXPECT_LT(largest_difference(dynamic_cast<const BlockFactored&>(*layer).matrix(),
                                         start.weight),
                      1e-9)
                << layer->description();
            EXPECT_LT(largest_difference(tensors_of(*layer).at("bias"), start.bias), 1e-9);
        }
    }
}

Eigen::MatrixXd matrix_of(const Tensor& tensor) {
    const std::vector<double> values = tensor.to_doubles();
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    return Eigen::Map<const RowMajor>(values.data(), tensor.size(0), tensor.size(1));
}

// With inputs that do not depend on each other every block of the matrix is the best of its rank,
// by its singular values.
TEST(TrainedStart, BlocksAreTheBestOfTheirRank) {
    const HiddenStart start = trained_start(16, 16);
    // Orthogonal columns without a mean.
    const Eigen::MatrixXd draws = matrix_of(normal({400, 16}, 11));
    const Eigen::MatrixXd centred = draws.rowwise() - draws.colwise().mean();
    const Eigen::MatrixXd q = Eigen::HouseholderQR<Eigen::MatrixXd>(centred).householderQ() *
                              Eigen::MatrixXd::Identity(400, 16);
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = q * 20;
    const Tensor x =
        Tensor::from(std::vector<double>(rows.data(), rows.data() + rows.size()), {400, 16});
    for (const int64_t rank : {1, 2}) {
        BlockFactored layer = rank == 1 ? BlockFactored(16, 16, MonarchConfig{4}, start)
                                        : BlockFactored(16, 16, TensorTrainConfig{2}, start);
        layer.initialize_from_data(x);
        const Eigen::MatrixXd difference = matrix_of(layer.matrix()) - matrix_of(start.weight);
        const Eigen::MatrixXd w = matrix_of(start.weight);
        for (int64_t o = 0; o < 4; ++o)
            for (int64_t i = 0; i < 4; ++i) {
                const Eigen::VectorXd values =
                    Eigen::JacobiSVD<Eigen::MatrixXd>(w.block(4 * o, 4 * i, 4, 4)).singularValues();
                EXPECT_NEAR(difference.block(4 * o, 4 * i, 4, 4).norm(),
                            values.tail(4 - rank).norm(), 1e-6);
            }
    }
}

// No other Ψ has a smaller error with its penalty.
TEST(TrainedStart, LeastSquaresHaveTheSmallestError) {
    const HiddenStart start = trained_start(6, 9);
    const Tensor x = hidden_inputs(9), wanted = dense(x, start);
    RalimpConfig ralimp = paper_ralimp();
    ralimp.features = 4;
    SnnkConfig snnk;
    snnk.features = 10;
    EugenConfig eugen;
    eugen.features = 4;
    for (const HiddenConfig& config :
         {HiddenConfig(ralimp), HiddenConfig(snnk), HiddenConfig(eugen)}) {
        const auto layer = make_hidden(config, 9, 6, start);
        layer->initialize_from_data(x);
        auto tensors = tensors_of(*layer);
        const Tensor psi = tensors.at("psi"), bias = tensors.at("psi_bias");
        // The mean over the rows of the sum over the outputs, and the default penalty.
        const auto objective = [&] {
            return 6 * mean(square(layer->forward(x) - wanted)).item() +
                   1e-4 * sum(square(psi)).item();
        };
        const double least = objective();
        const Tensor best = psi.clone(), best_bias = bias.clone();
        for (uint64_t seed = 20; seed < 40; ++seed)
            for (const double size : {1e-3, 1e-1}) {
                psi.copy_from(best + normal(psi.shape(), seed, size));
                bias.copy_from(best_bias + normal(bias.shape(), seed + 100, size));
                EXPECT_GT(objective(), least) << layer->description();
            }
    }
}

// psi: weights estimates the trained layer without bias: τ = 1 whatever the rule, and the mean of
// many draws is the surrogate of W x + b.
TEST(TrainedStart, OfTheWeightsModeIsUnbiased) {
    HiddenStart start = trained_start(3, 4);
    start.weight = start.weight * 0.5;
    const Tensor x = normal({16, 4}, 5, 0.5);
    RalimpConfig config = paper_ralimp();
    config.psi = PsiMode::weights;
    config.features = 64;
    for (const ScaleOptions& scale :
         {ScaleOptions{ScaleRule::variance, 1, 4, 0.01}, ScaleOptions{ScaleRule::fixed, 3, 4, 1}}) {
        config.scale = scale;
        Ralimp layer(4, 3, config, start);
        layer.initialize_from_data(x);
        EXPECT_EQ(layer.scale(), 1);
        EXPECT_EQ(largest_difference(layer.weight(), start.weight), 0);
        EXPECT_EQ(largest_difference(layer.bias(), start.bias), 0);
        constexpr int draws = 400;
        Tensor total = Tensor::zeros({16, 3}, DType::float64), squares = total.clone();
        for (int draw = 0; draw < draws; ++draw) {
            layer.redraw_projections(static_cast<uint64_t>(draw) + 1000);
            const Tensor y = layer.forward(x);
            total = total + y;
            squares = squares + square(y);
        }
        const Tensor average = total / draws;
        const Tensor deviation = sqrt((squares / draws - square(average)) / draws);
        const Tensor t = linear(x, start.weight, start.bias);
        EXPECT_LT(max(abs(average - layer.surrogate(t)) / deviation).item(), 4.5);
        // The surrogate of tanh with one pair of poles, its frequencies cut off.
        EXPECT_LT(rms(layer.surrogate(t) - tanh(t)), 0.1);
    }
}

TEST(TrainedStart, RefusesWhatDoesNotFit) {
    for (const auto& [name, config, most_error] : kinds()) {
        HiddenStart start = trained_start(12, 12);
        start.weight = normal({12, 11}, 1);
        EXPECT_NE(error_of([&] {
                      make_hidden(config, 12, 12, start)->initialize_from_data(hidden_inputs(12));
                  }).text,
                  "")
            << name;
    }
    const HiddenStart start = trained_start(4, 4);
    BlockFactored layer(4, 4, MonarchConfig{2}, start);
    EXPECT_EQ(error_of([&] {
                  layer.initialize_from_data(Tensor::zeros({9, 4}, DType::float64));
              }).code,
              ExitCode::bad_config);
}

}  // namespace
}  // namespace ralimp
