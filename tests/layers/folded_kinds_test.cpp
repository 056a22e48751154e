// Folded networks of every kind of hidden layer: what they compute, and how many numbers are left.
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/operations.h"
#include "core/parallel.h"
#include "layers/folding.h"
#include "layers/network.h"
#include "layers/rational_fit.h"
#include "tests/error_of.h"
#include "tests/layers/paper_ralimp.h"

namespace ralimp {
namespace {

const Box square_box{{-1, 0}, {1, 3}};
constexpr int64_t hidden_layers = 4, replaced = hidden_layers - 1;

std::unique_ptr<Mlp> network_of(const HiddenConfig& hidden, DType dtype, int64_t width,
                                Activation activation = Activation::tanh) {
    NetworkConfig config;
    config.hidden = hidden;
    config.width = width;
    config.hidden_layers = hidden_layers;
    config.activation = activation;
    auto network = make_network(config, square_box, 2, dtype, 3);
    network->initialize_from_data(random_uniform({500, 2}, {7}, dtype, -1, 1));
    return network;
}

struct Kind {
    std::string name;
    HiddenConfig config;
};

// RaLiMP in every form, with rows of their own for the degrees of the polynomial and without.
void add_ralimp(std::vector<Kind>& kinds) {
    for (const Split split : {Split::real_input, Split::phase_input, Split::symmetric})
        for (const FeatureNorm norm :
             {FeatureNorm::exact, FeatureNorm::projected, FeatureNorm::none})
            for (const PsiMode psi : {PsiMode::free, PsiMode::weights})
                for (const int64_t degree : {1, 3})
                    for (const bool share_rows : {true, false})
                        for (const bool share_polynomial : {true, false})
                            for (const bool share_projections : {true, false}) {
                                if (share_polynomial && !share_projections) continue;
                                RalimpConfig config = paper_ralimp();
                                config.features = 4;
                                config.split = split;
                                config.norm = norm;
                                config.psi = psi;
                                config.degree = degree;
                                config.share_rows = share_rows;
                                config.share_polynomial = share_polynomial;
                                config.share_projections = share_projections;
                                config.antithetic = !share_polynomial;
                                kinds.push_back(
                                    {fmt::format("ralimp {} {} {}, degree {}, share rows {} "
                                                 "polynomial {} projections {}",
                                                 name_of(split), enum_name(norm), enum_name(psi),
                                                 degree, share_rows, share_polynomial,
                                                 share_projections),
                                     config});
                            }
}

std::vector<Kind> all_kinds() {
    SnnkConfig urf;
    urf.form = SnnkForm::urf;
    std::vector<Kind> kinds{{"dense", DenseHiddenConfig{}},
                            {"narrow", NarrowConfig{9}},
                            {"low_rank", LowRankConfig{.rank = 3}},
                            {"low_rank linear", LowRankConfig{.rank = 3, .activated = false}},
                            {"snnk relu", SnnkConfig{}},
                            {"snnk urf", urf}};
    for (const bool share_rows : {false, true})
        for (const int64_t degree : {1, 2, 4}) {
            kinds.push_back(
                {fmt::format("eugen, degree {}, share rows {}", degree, share_rows),
                 EugenConfig{.features = 5, .degree = degree, .share_rows = share_rows}});
            RalimpConfig polynomial = paper_ralimp();
            polynomial.pole_pairs = 0;
            polynomial.features = 5;
            polynomial.degree = degree;
            polynomial.share_rows = share_rows;
            for (const PsiMode psi : {PsiMode::free, PsiMode::weights}) {
                polynomial.psi = psi;
                kinds.push_back({fmt::format("ralimp without poles {}, degree {}, share rows {}",
                                             enum_name(psi), degree, share_rows),
                                 polynomial});
            }
        }
    for (const int64_t blocks : {1, 3, 4, 100})
        kinds.push_back({fmt::format("monarch {}", blocks), MonarchConfig{blocks}});
    for (const int64_t rank : {1, 3})
        kinds.push_back({fmt::format("tensor_train {}", rank), TensorTrainConfig{rank}});
    add_ralimp(kinds);
    return kinds;
}

double largest_difference(const Tensor& a, const Tensor& b) {
    const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
    EXPECT_EQ(x.size(), y.size());
    double largest = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        largest = std::isfinite(x[i]) ? std::max(largest, std::abs(x[i] - y[i])) : INFINITY;
        size = std::max(size, std::abs(y[i]));
    }
    return largest / size;
}

TEST(FoldedKinds, AgreeWithTheNetwork) {
    for (const auto& [name, config] : all_kinds())
        for (const DType dtype : {DType::float64, DType::float32}) {
            const auto network = network_of(config, dtype, 13);
            const FoldedNetwork folded(network->parts());
            EXPECT_EQ(folded.inputs(), 2);
            EXPECT_EQ(folded.outputs(), 2);
            EXPECT_EQ(folded.dtype(), dtype);
            const NoGrad pause;
            for (const int64_t rows : {1, 63, 131, 600}) {
                const Tensor x = random_uniform({rows, 2}, {8}, dtype, -0.9, 0.9);
                EXPECT_LT(largest_difference(folded.forward(x), network->forward(x)),
                          dtype == DType::float64 ? 1e-10 : 1e-3)
                    << name << ", " << name_of(dtype) << ", " << rows << " rows";
            }
        }
}

// Many rows are computed in parts.
TEST(FoldedKinds, AreTheSameBitsOnAnyNumberOfThreads) {
    const int before = thread_count();
    for (const HiddenConfig& config :
         std::vector<HiddenConfig>{EugenConfig{}, MonarchConfig{}, TensorTrainConfig{}})
        for (const int64_t width : {13, 521}) {
            const FoldedNetwork folded(network_of(config, DType::float32, width)->parts());
            for (const int64_t rows : {3, 700}) {
                const Tensor x = random_uniform({rows, 2}, {8}, DType::float32, -0.9, 0.9);
                set_thread_count(1);
                const std::vector<double> wanted = folded.forward(x).to_doubles();
                for (const int threads : {2, 3}) {
                    set_thread_count(threads);
                    EXPECT_EQ(folded.forward(x).to_doubles(), wanted) << threads;
                }
            }
        }
    set_thread_count(before);
}

// A single layer, as the task `layer` trains it, of odd sizes.
TEST(FoldedKinds, AgreeForSingleLayers) {
    const auto fits = std::make_shared<RationalFits>();
    for (const auto& [inputs, outputs] : {std::pair{7, 5}, {1, 1}, {3, 11}, {17, 2}})
        for (const auto& [name, config] : all_kinds()) {
            if (std::holds_alternative<LowRankConfig>(config) && std::min(inputs, outputs) < 3)
                continue;
            HiddenStart start;
            start.start.key = {3, RandomStream::parameters, 1};
            start.dtype = DType::float64;
            start.fits = fits;
            const auto layer = make_hidden(config, inputs, outputs, start);
            const Tensor x =
                random_normal({300, inputs}, {5, RandomStream::user, 0}, DType::float64, 0, 0.5);
            const Tensor y = layer->initialize_from_data(x);
            const FoldedNetwork folded(layer->parts());
            EXPECT_EQ(folded.inputs(), inputs);
            EXPECT_LT(largest_difference(folded.forward(x), y), 1e-10) << name;
        }
}

// Wider than what is multiplied out: each block by itself.
TEST(FoldedKinds, WideBlocksAgree) {
    for (const HiddenConfig& config :
         std::vector<HiddenConfig>{MonarchConfig{5}, TensorTrainConfig{2}})
        for (const Activation activation : {Activation::wire, Activation::identity}) {
            const auto network = network_of(config, DType::float64, 521, activation);
            const FoldedNetwork folded(network->parts());
            const NoGrad pause;
            for (const int64_t rows : {1, 70}) {
                const Tensor x = random_uniform({rows, 2}, {8}, DType::float64, -0.9, 0.9);
                EXPECT_LT(largest_difference(folded.forward(x), network->forward(x)), 1e-10)
                    << rows;
            }
        }
}

// Sizes that differ by at most one.
int64_t part(int64_t total, int64_t parts, int64_t index) {
    return total / parts + (index < total % parts ? 1 : 0);
}

int64_t monarch_numbers(int64_t width, int64_t blocks) {
    int64_t numbers = width;
    for (int64_t k = 0; k < blocks; ++k)
        numbers += 2 * part(width, blocks, k) * part(width, blocks, k);
    return numbers;
}

// The first layer, with the scaling of the inputs in it, and the last one are 2 -> width -> 2.
TEST(FoldedKinds, CountWhatIsLeft) {
    const int64_t width = 13, ends = 3 * width + 2 * width + 2;
    const auto cost = [&](const HiddenConfig& config) {
        const auto network = network_of(config, DType::float64, width);
        const NetworkCost own = FoldedNetwork(network->parts()).cost();
        EXPECT_EQ(deployed_numbers(*network), own.numbers);
        return own;
    };
    for (const int64_t blocks : {3, 4, 13})
        EXPECT_EQ(cost(MonarchConfig{blocks}).numbers,
                  ends + replaced * monarch_numbers(width, blocks));
    // 13 are 4 blocks: each of the first 4 gives `rank` numbers to each of the second 4. Of rank 2
    // a dense matrix is smaller.
    for (const int64_t rank : {1, 2}) {
        const NetworkCost own = cost(TensorTrainConfig{rank});
        const int64_t weights = rank == 1 ? 2 * 4 * rank * width : width * width;
        EXPECT_EQ(own.numbers, ends + replaced * (weights + width));
        EXPECT_EQ(own.multiply_adds, 4 * width + replaced * weights);
    }
    // The last Psi goes into the last layer; the rows have a place for |x|, a bias and its floor.
    for (const bool share_rows : {false, true}) {
        const int64_t rows = 5 * (share_rows ? 3 : 6), features = 5 * 3;
        const NetworkCost own =
            cost(EugenConfig{.features = 5, .degree = 3, .share_rows = share_rows});
        EXPECT_EQ(own.numbers, 3 * width + replaced * (rows * (width + 1) + rows + 1) +
                                   2 * (features * width + width) + features * 2 + 2);
        EXPECT_EQ(own.multiply_adds,
                  2 * width + replaced * rows * (width + 1) + 2 * features * width + features * 2);
    }
    // Of RaLiMP each Psi meets the next rows: 2 for three frequencies, 2 for each factor.
    for (const bool share_rows : {false, true}) {
        RalimpConfig config = paper_ralimp();
        config.features = 2;
        config.norm = FeatureNorm::none;
        config.degree = 3;
        config.share_rows = share_rows;
        const int64_t rows = 2 + 2 * (share_rows ? 3 : 6), features = 2 * 3 * 2 + 3 * 2;
        const NetworkCost own = cost(config);
        EXPECT_EQ(own.multiply_adds, 2 * width + rows * width + 2 * rows * features + 2 * features);
        EXPECT_EQ(own.numbers, own.multiply_adds + width + replaced * (rows + 3) + 2);
    }
}

// Steps that are as large as what they stand for, and no larger.
TEST(FoldedKinds, FactorsAreMultipliedOnlyWhereThatIsSmaller) {
    const auto linear = [](int64_t inputs, int64_t outputs) -> std::unique_ptr<Layer> {
        return std::make_unique<Linear>(inputs, outputs, DType::float64, LinearStart{});
    };
    const auto monarch = [](Activation activation, int64_t inputs = 16) -> std::unique_ptr<Layer> {
        HiddenStart start;
        start.activation = activation;
        start.dtype = DType::float64;
        return std::make_unique<BlockFactored>(inputs, 16, MonarchConfig{4}, start);
    };
    const auto folded = [](auto... layers) {
        std::vector<std::unique_ptr<Layer>> all;
        (all.push_back(std::move(layers)), ...);
        const Mlp network(std::move(all));
        const FoldedNetwork result(network.parts());
        const NoGrad pause;
        const Tensor x =
            random_normal({9, network.inputs()}, {5, RandomStream::user, 0}, DType::float64);
        EXPECT_LT(largest_difference(result.forward(x), network.forward(x)), 1e-12);
        return std::pair{result.steps().size(), result.cost().multiply_adds};
    };
    using Result = std::pair<std::size_t, int64_t>;
    // 16 x 16 of two factors with 64 numbers each, 16 x 64 with 64 and 256.
    EXPECT_EQ(folded(monarch(Activation::identity)), Result(2, 64 + 64));
    EXPECT_EQ(folded(monarch(Activation::identity, 64)), Result(2, 256 + 64));
    EXPECT_EQ(folded(monarch(Activation::tanh), linear(16, 16)), Result(3, 64 + 64 + 256));
    // What a dense matrix sees fewer numbers of stays a factor, what keeps their number does not.
    EXPECT_EQ(folded(monarch(Activation::identity, 64), linear(16, 64)), Result(2, 256 + 1024));
    EXPECT_EQ(folded(monarch(Activation::identity), linear(16, 16)), Result(1, 256));
    EXPECT_EQ(folded(linear(16, 16), monarch(Activation::tanh), linear(16, 16)), Result(2, 512));
    // To one number all is one row, from one number one column.
    EXPECT_EQ(folded(monarch(Activation::identity), linear(16, 1)), Result(1, 16));
    EXPECT_EQ(folded(linear(1, 16), monarch(Activation::tanh)), Result(1, 16));
    EXPECT_EQ(folded(linear(1, 16), monarch(Activation::tanh), linear(16, 16)),
              Result(2, 16 + 256));
}

TEST(FoldedKinds, RefuseStepsThatDoNotFit) {
    const auto zeros = [](const Shape& shape, DType dtype = DType::float64) {
        return Tensor::zeros(shape, dtype);
    };
    const ChainLayer layer{.weight = zeros({4, 2})};
    const BlockProduct blocks{.blocks = {zeros({3, 2}), zeros({1, 2})}, .bias = zeros({4})};
    const auto changed = [&](auto change) {
        BlockProduct step = blocks;
        change(step);
        return step;
    };
    const std::pair<std::vector<FoldedStep>, const char*> cases[] = {
        {{}, "no steps"},
        {{InputNorm{.inputs = 2}}, "no step has weights"},
        {{BlockProduct{}}, "no step has weights"},
        {{layer, BlockProduct{}}, "step 1 has 0 blocks"},
        {{layer, changed([&](auto& s) {
              s.blocks[1] = zeros({1, 3});
          })},
         "step 1 takes 5 features after 4"},
        {{layer, changed([&](auto& s) { s.blocks[1] = zeros({2}); })}, "a block of step 1 is"},
        {{layer, changed([&](auto& s) {
              s.blocks[1] = zeros({0, 2});
          })},
         "a block of step 1 is"},
        {{layer, changed([&](auto& s) {
              s.blocks[1] = zeros({1, 2}, DType::float32);
          })},
         "a block of step 1 is float32"},
        {{layer, changed([&](auto& s) { s.bias = zeros({5}); })}, "step 1 has biases"},
        {{layer, changed([&](auto& s) { s.turn = -1; })}, "-1 results of each in turn"},
        {{layer, RowProducts{.rows = 3, .degree = 1}}, "step 1 takes 3 features after 4"},
        {{layer, RowProducts{.kept = 1, .rows = 1, .degree = 3}}, "step 1 takes 7 features"},
        {{layer, RowProducts{.kept = -2, .rows = 6, .degree = 1}}, "step 1 keeps -2 features"},
        {{layer, RowProducts{.kept = 4, .rows = 0, .degree = 1}}, "multiplies 0 rows"},
        {{layer, RowProducts{.kept = 4, .rows = 1, .degree = 0}}, "up to degree 0"},
        {{layer, RowProducts{.rows = int64_t{1} << 40, .degree = 1}}, "step 1 keeps"},
        {{layer, RowProducts{.rows = 4, .degree = int64_t{1} << 62}}, "step 1 keeps"},
        {{layer, InputNorm{.inputs = 3}}, "step 1 takes 3 features after 4"},
        {{layer, InputNorm{.inputs = 4, .floor = NAN}}, "a floor of nan"},
        {{layer, InputNorm{.inputs = 4, .floor = -1}}, "a floor of -1"},
        {{layer, InputNorm{.inputs = 4}, ChainLayer{.weight = zeros({2, 4})}},
         "step 2 takes 4 features after 5"}};
    int number = 0;
    for (const auto& [steps, expected] : cases) {
        const std::string text = error_of([&] { FoldedNetwork{steps}; }).text;
        EXPECT_NE(text.find(expected), std::string::npos) << number << ": " << text;
        ++number;
    }
    EXPECT_EQ(FoldedNetwork({layer, blocks}).outputs(), 4);
}

// Features of x that is 0: the norm is its floor.
TEST(FoldedKinds, TheNormIsFiniteAtZero) {
    const FoldedNetwork network(
        {InputNorm{.inputs = 2, .floor = 0.25},
         ChainLayer{.weight = Tensor::from(std::vector<double>{0, 0, 1}, {1, 3})}});
    const Tensor x = Tensor::from(std::vector<double>{0, 0, 3, -4}, {2, 2});
    const std::vector<double> y = network.forward(x).to_doubles();
    EXPECT_EQ(y[0], 0.25);
    EXPECT_NEAR(y[1], std::hypot(5, 0.25), 1e-14);
}

// Behind two that are kept the projections a, b, … of one row.
TEST(FoldedKinds, ProductsAreOfTheRowsOfTheirDegree) {
    const auto products = [](RowProducts step, const std::vector<double>& x) {
        const auto n = static_cast<int64_t>(x.size());
        return forward(step, Tensor::from(x, {1, n})).to_doubles();
    };
    EXPECT_EQ(products({.kept = 2, .rows = 1, .degree = 3}, {7, 8, 2, 3, 5, 11, 13, 17}),
              (std::vector<double>{7, 8, 2, 15, 11 * 13 * 17}));
    EXPECT_EQ(products({.kept = 2, .rows = 1, .degree = 3, .share_rows = true}, {7, 8, 2, 3, 5}),
              (std::vector<double>{7, 8, 2, 6, 30}));
    EXPECT_EQ(products({.rows = 2, .degree = 2}, {2, 3, 5, 7, 11, 13}),
              (std::vector<double>{2, 3, 55, 91}));
}

}  // namespace
}  // namespace ralimp
