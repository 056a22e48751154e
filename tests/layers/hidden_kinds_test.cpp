// What every kind of hidden layer owes: a start that stands in for the dense layer, derivatives,
// counts, names, odd sizes, the form of a chain. Closed forms of the single kinds are in files of
// their own.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "autograd/gradcheck.h"
#include "autograd/operations.h"
#include "layers/dense.h"
#include "layers/folding.h"
#include "layers/network.h"
#include "layers/parameters.h"
#include "tests/error_of.h"

namespace ralimp {
namespace {

struct Kind {
    const char* name;
    HiddenConfig config;
    double most_error;  // of the start, relative to the dense layer's outputs, of smooth inputs
};

// Of kinds that start with random numbers of their own.
constexpr double no_bound = INFINITY;

// Small enough for every width from 2 on.
std::vector<Kind> kinds() {
    SnnkConfig relu, urf;
    relu.features = urf.features = 12;
    relu.train_projections = true;
    urf.form = SnnkForm::urf;
    urf.exponent_limit = 5;
    EugenConfig eugen, shared;
    eugen.features = shared.features = 5;
    eugen.train_projections = true;
    shared.degree = 3;
    shared.share_rows = true;
    return {{"low_rank", LowRankConfig{.rank = 2}, 0.35},
            {"low_rank, linear", LowRankConfig{.rank = 2, .activated = false}, 0.35},
            {"snnk, relu", relu, 0.1},
            {"snnk, urf", urf, 0.05},
            {"eugen", eugen, 0.1},
            {"eugen, shared rows", shared, 0.05},
            {"monarch", MonarchConfig{3}, no_bound},
            {"tensor_train", TensorTrainConfig{2}, no_bound}};
}

HiddenStart start_of(Activation activation = Activation::tanh, DType dtype = DType::float64,
                     double scale = 1) {
    HiddenStart start;
    start.activation = activation;
    start.scale = scale;
    start.start = {scale == 1 ? Initialization::xavier : Initialization::siren,
                   scale,
                   {5, RandomStream::parameters, 3},
                   0.2};
    start.dtype = dtype;
    return start;
}

Tensor normal(const Shape& shape, uint64_t seed, double deviation, DType dtype = DType::float64) {
    return random_normal(shape, {seed, RandomStream::user, 0}, dtype, 0, deviation);
}

// What a hidden layer sees: the outputs of a first layer of two coordinates.
Tensor hidden_inputs(int64_t width, Activation activation, DType dtype = DType::float64) {
    const LinearStart start{
        Initialization::siren_first, 1, {7, RandomStream::parameters, 0}, std::nullopt};
    const Dense first(2, width, dtype, start, activation, 3);
    return first.forward(random_uniform({600, 2}, {8, RandomStream::user, 0}, dtype, -1, 1));
}

double largest_difference(const Tensor& a, const Tensor& b) {
    return max(abs(to(a, DType::float64) - to(b, DType::float64))).item();
}

double relative_error(const Tensor& y, const Tensor& wanted) {
    return std::sqrt(sum(square(y - wanted)).item() / sum(square(wanted)).item());
}

TEST(HiddenKinds, StartLikeTheDenseLayer) {
    for (const auto& [name, config, most_error] : kinds()) {
        for (const double scale : {1.0, 5.0}) {
            const Activation activation = scale == 1 ? Activation::tanh : Activation::sin;
            const HiddenStart start = start_of(activation, DType::float64, scale);
            const Tensor x = hidden_inputs(20, activation);
            const auto layer = make_hidden(config, 20, 9, start);
            const Tensor y = layer->initialize_from_data(x);
            const Tensor dense = dense_outputs(x, 9, start);
            // 1 is the error of zeros.
            if (most_error != no_bound) {
                EXPECT_LT(relative_error(y, dense), scale == 1 ? most_error : 0.9) << name;
            }
            EXPECT_EQ(largest_difference(layer->forward(x), y), 0) << name;
            // The same again: nothing is left over from the first start.
            EXPECT_LT(largest_difference(layer->initialize_from_data(x), y), 1e-12) << name;
        }
    }
}

// More features or a larger rank come closer.
TEST(HiddenKinds, StartCloserWithMoreNumbers) {
    const HiddenStart start = start_of(Activation::sin, DType::float64, 5);
    const Tensor x = hidden_inputs(24, Activation::sin), dense = dense_outputs(x, 24, start);
    const auto error = [&](const HiddenConfig& config) {
        return relative_error(make_hidden(config, 24, 24, start)->initialize_from_data(x), dense);
    };
    for (const bool activated : {true, false})
        EXPECT_LT(error(LowRankConfig{.rank = 16, .activated = activated}),
                  0.7 * error(LowRankConfig{.rank = 4, .activated = activated}));
    EXPECT_LT(error(LowRankConfig{.rank = 24}), 1e-12);
    for (const SnnkForm form : {SnnkForm::relu, SnnkForm::urf}) {
        SnnkConfig few, many;
        few.form = many.form = form;
        few.features = 12;
        many.features = 96;
        EXPECT_LT(error(many), 0.7 * error(few));
    }
    EugenConfig few, many;
    few.features = 4;
    many.features = 48;
    EXPECT_LT(error(many), 0.7 * error(few));
}

// Gradients of u, u_x and u_xx, and their gradients, against differences.
TEST(HiddenKinds, GradientsAgreeWithDifferences) {
    for (const auto& [name, config, most_error] : kinds()) {
        const auto layer = make_hidden(config, 2, 3, start_of());
        const Tensor x = normal({4, 2}, 19, 0.8);
        layer->initialize_from_data(x);
        Tensors inputs{x};
        layer->visit("", [&](const std::string&, Tensor& tensor, const ParameterInfo& info) {
            if (info.trained) inputs.push_back(tensor);
        });
        const TensorFunction function = [&](const Tensors& values) -> Tensors {
            std::size_t next = 1;
            layer->visit("", [&](const std::string&, Tensor& tensor, const ParameterInfo& info) {
                if (info.trained) tensor = values[next++];
            });
            const Jet y = layer->forward(Jet::input(values[0], JetPlan::make({{0, 0}, {1}})));
            return {y.value(), y.derivative({0}), y.derivative({0, 0})};
        };
        EXPECT_EQ(gradcheck(function, inputs, {.tolerance = 1e-6}), "") << name;
        EXPECT_EQ(gradgradcheck(function, inputs, {.tolerance = 1e-5}), "") << name;
    }
}

// At 70 inputs none is computed as a chain of small products.
TEST(HiddenKinds, GradientsOfWideLayersAgreeWithDifferences) {
    for (const auto& [name, config, most_error] : kinds()) {
        const auto layer = make_hidden(config, 70, 2, start_of());
        const Tensor x = normal({2, 70}, 20, 0.4);
        layer->initialize_from_data(x);
        const auto function = [&](const Tensors& values) -> Tensors {
            const Jet y = layer->forward(Jet::input(values[0], JetPlan::make({{0, 0}})));
            return {y.channels()};
        };
        EXPECT_EQ(gradcheck(function, {x}, {.tolerance = 1e-6}), "") << name;
    }
}

TEST(HiddenKinds, TaylorModeAgreesWithNestedGradients) {
    for (const auto& [name, config, most_error] : kinds()) {
        const auto layer = make_hidden(config, 2, 2, start_of());
        const Tensor points = requires_grad(normal({5, 2}, 21, 0.8));
        layer->initialize_from_data(points.detach());
        const Jet jet =
            layer->forward(Jet::input(points, JetPlan::make({{0}, {1}, {0, 0}, {0, 1}})));
        const Tensor value = slice(layer->forward(points), 1, 0, 1);
        const Tensor first = grad(value, points, true);
        const Tensor second = grad(slice(first, 1, 0, 1), points);
        const auto of_jet = [&](const std::vector<int>& axes) {
            return slice(jet.derivative(axes), 1, 0, 1);
        };
        EXPECT_LT(largest_difference(slice(jet.value(), 1, 0, 1), value), 1e-12) << name;
        EXPECT_LT(largest_difference(of_jet({0}), slice(first, 1, 0, 1)), 1e-10) << name;
        EXPECT_LT(largest_difference(of_jet({1}), slice(first, 1, 1, 2)), 1e-10) << name;
        EXPECT_LT(largest_difference(of_jet({0, 0}), slice(second, 1, 0, 1)), 1e-9) << name;
        EXPECT_LT(largest_difference(of_jet({0, 1}), slice(second, 1, 1, 2)), 1e-9) << name;
    }
}

TEST(HiddenKinds, AreTheSameAsStepsOfAChain) {
    for (const DType dtype : {DType::float64, DType::float32})
        for (const auto& [name, config, most_error] : kinds()) {
            const auto layer = make_hidden(config, 7, 5, start_of(Activation::tanh, dtype));
            layer->initialize_from_data(normal({300, 7}, 1, 0.6, dtype));
            const std::vector<ChainLayer> steps = layer->as_chain();
            // |x| is no product of the input, and blocks are no matrix: a folded network has steps
            // of their own for them.
            EXPECT_EQ(steps.size(), std::holds_alternative<EugenConfig>(config) ||
                                            std::holds_alternative<MonarchConfig>(config) ||
                                            std::holds_alternative<TensorTrainConfig>(config)
                                        ? 0u
                                        : 2u)
                << name;
            EXPECT_EQ(layer->fits_chain(64), !steps.empty()) << name;
            EXPECT_FALSE(make_hidden(config, 65, 5, start_of())->fits_chain(64)) << name;
            EXPECT_FALSE(make_hidden(config, 5, 65, start_of())->fits_chain(64)) << name;
            if (steps.empty()) continue;
            const Jet x =
                Jet::input(normal({70, 7}, 2, 0.6, dtype), JetPlan::make({{0, 0}}, {0, 3}));
            const Jet plain = layer->forward(x);
            const double size = max(abs(plain.channels())).item();
            EXPECT_LT(largest_difference(layer_chain(x, steps).channels(), plain.channels()),
                      (dtype == DType::float64 ? 1e-12 : 1e-4) * size)
                << name;
        }
}

TEST(HiddenKinds, CountWhatIsTrained) {
    for (const auto& [name, config, most_error] : kinds()) {
        const auto layer = make_hidden(config, 10, 7, start_of());
        const ParameterCount count = layer->count();
        std::set<std::string> names;
        layer->visit("a.b", [&](const std::string& each, Tensor&, const ParameterInfo&) {
            EXPECT_EQ(each.substr(0, 4), "a.b.") << name;
            EXPECT_TRUE(names.insert(each).second) << name << ": " << each;
        });
        EXPECT_EQ(Parameters(*layer).count(), count.trained) << name;
        EXPECT_GE(count.deployed, count.regenerated) << name;
        EXPECT_NE(layer->description().find("10 -> "), std::string::npos) << name;
    }
}

TEST(HiddenKinds, HaveNetworksOfEveryWidth) {
    for (const int64_t width : {1, 7, 13})
        for (auto [name, hidden, most_error] : kinds()) {
            if (auto* low_rank = std::get_if<LowRankConfig>(&hidden))
                low_rank->rank = std::min<int64_t>(low_rank->rank, width);
            NetworkConfig config;
            config.hidden_layers = 3;
            config.width = width;
            config.hidden = hidden;
            const auto network = make_network(config, {{-1, 0}, {1, 2}}, 2, DType::float32, 1);
            const Tensor x = random_uniform({200, 2}, {8, RandomStream::user, 0}, DType::float32);
            network->initialize_from_data(x);
            const Jet u = network->forward(Jet::input(x, JetPlan::make({{0, 0}})));
            EXPECT_EQ(u.features(), 2);
            EXPECT_TRUE(std::isfinite(max(abs(u.channels())).item())) << name << " " << width;
        }
}

// What is deployed is at most what they count.
TEST(HiddenKinds, FoldWithTheirNeighbours) {
    for (const auto& [name, hidden, most_error] : kinds()) {
        NetworkConfig config;
        config.hidden_layers = 3;
        config.width = 9;
        config.hidden = hidden;
        const auto network = make_network(config, {{-1, 0}, {1, 2}}, 2, DType::float64, 1);
        const Tensor x = random_uniform({200, 2}, {8, RandomStream::user, 0}, DType::float64);
        network->initialize_from_data(x);
        const FoldedNetwork folded(network->parts());
        EXPECT_LT(largest_difference(folded.forward(x), network->forward(x)), 1e-9) << name;
        // Two layers of urf have each a growth and a weight of |x|² that are 1.
        EXPECT_LE(folded.cost().numbers, network->count().deployed + 2 * 2) << name;
    }
}

// The honest rival: every layer, the first included, has the other width.
TEST(HiddenKinds, NarrowNetworksAreDenseOnesOfTheirWidth) {
    NetworkConfig dense, narrow;
    dense.hidden_layers = narrow.hidden_layers = 4;
    dense.width = 7;
    narrow.width = 20;
    narrow.hidden = NarrowConfig{7};
    EXPECT_EQ(hidden_width(narrow), 7);
    EXPECT_EQ(hidden_width(dense), 7);
    const Box box{{-1, 0}, {1, 2}};
    const auto one = make_network(dense, box, 2, DType::float64, 1);
    const auto other = make_network(narrow, box, 2, DType::float64, 1);
    EXPECT_EQ(one->description(), other->description());
    EXPECT_EQ(other->count().deployed, 2 * 7 + 7 + 3 * (7 * 7 + 7) + 7 * 2 + 2);
    const Tensor x = normal({5, 2}, 3, 1);
    EXPECT_EQ(largest_difference(one->forward(x), other->forward(x)), 0);
}

TEST(HiddenKinds, RejectBatchesThatDoNotFit) {
    for (const auto& [name, config, most_error] : kinds()) {
        const auto layer = make_hidden(config, 5, 4, start_of());
        EXPECT_THROW(layer->initialize_from_data(normal({8, 4}, 1, 1)), Error) << name;
        EXPECT_THROW(layer->initialize_from_data(normal({1, 5}, 1, 1)), Error) << name;
        // Data that no layer can start from are a matter of the config.
        const Thrown error = error_of([&] {
            layer->initialize_from_data(normal({8, 5}, 1, 1) * NAN);
        });
        EXPECT_EQ(error.code, ExitCode::bad_config) << name << ": " << error.text;
    }
}

}  // namespace
}  // namespace ralimp
