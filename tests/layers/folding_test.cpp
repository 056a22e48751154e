// Folded networks against the networks they were made of.
#include "layers/folding.h"

#include <gtest/gtest.h>

#include "autograd/operations.h"
#include "core/cpu/dispatch.h"
#include "core/parallel.h"
#include "layers/gated.h"
#include "layers/network.h"
#include "tests/error_of.h"
#include "tests/layers/paper_ralimp.h"

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
    RalimpConfig config = paper_ralimp();
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

FoldedNetwork network_of(const std::vector<ChainLayer>& steps) {
    return FoldedNetwork(std::vector<FoldedStep>(steps.begin(), steps.end()));
}

// Of a network that is a chain.
std::vector<ChainLayer> chain_of(const FoldedNetwork& network) {
    std::vector<ChainLayer> steps;
    for (const FoldedStep& step : network.steps()) steps.push_back(std::get<ChainLayer>(step));
    return steps;
}

// The steps one by one in plain operations and double precision.
Tensor by_operations(const std::vector<ChainLayer>& steps, const Tensor& x) {
    const auto doubles = [](const Tensor& t) { return t.defined() ? to(t, DType::float64) : t; };
    Tensor y = doubles(x);
    for (const ChainLayer& step : steps) {
        Tensor p = matmul(y, transpose(doubles(step.weight)));
        if (step.bias.defined()) p = p + doubles(step.bias);
        if (!step.features) {
            const Jet jet = Jet::value_only(p);
            y = Jet(activation_reference(
                        jet.plan().composition(step.activation, step.scale, step.envelope),
                        jet.channels()),
                    jet.shared_plan())
                    .value();
            continue;
        }
        const ChainFeatures& f = *step.features;
        const Tensor read = slice(p, 1, 0, f.exponential_rows);
        const Tensor norms = f.norm_weights.defined()
                                 ? sum(square(y) * doubles(f.norm_weights), {1}, true)
                                 : mean(square(read), {1}, true);
        const Tensor own = index_select(read, 1, to(f.projections, DType::int64));
        const auto exponent = [&](const Tensor& factors, const Tensor& norm_factors) {
            Tensor z = Tensor::zeros(own.shape(), DType::float64);
            if (factors.defined()) z = z + own * doubles(factors);
            if (norm_factors.defined()) z = z + norms * doubles(norm_factors);
            return z;
        };
        const Tensor growth = exponent(f.growth, f.norm_growth);
        const Tensor limit = Tensor::scalar(f.limit.value, DType::float64);
        const Tensor size = exp(where(greater(growth, limit), limit, growth));
        Tensors parts{size};
        if (f.oscillating()) {
            const Tensor phase = exponent(f.rotation, f.norm_rotation);
            parts = {size * cos(phase), size * sin(phase)};
        }
        for (int64_t k = 0; k < f.degree; ++k) {
            const int64_t first = f.polynomial_first() + k * f.rows;
            const Tensor factor = slice(p, 1, first, first + f.rows);
            parts.push_back(k == 0 ? factor : parts.back() * factor);
        }
        y = concatenate(parts, 1);
    }
    return y;
}

// Few rows on every instruction set.
void expect_few_rows_agree(const std::vector<ChainLayer>& steps) {
    const FoldedNetwork folded = network_of(steps);
    const DType dtype = steps[0].weight.dtype();
    const cpu::SimdLevel before = cpu::simd_level();
    for (const int64_t rows : {1, 2, 5, 63}) {
        const Tensor x = random_uniform({rows, folded.inputs()}, {8}, dtype, -0.9, 0.9);
        const Tensor wanted = by_operations(steps, x);
        for (const cpu::SimdLevel level : cpu::available_simd_levels()) {
            cpu::set_simd_level(level);
            EXPECT_LT(largest_difference(folded.forward(x), wanted),
                      dtype == DType::float32 ? 2e-4 : 1e-11)
                << cpu::name_of(level) << ", " << rows << " rows";
        }
        cpu::set_simd_level(before);
    }
}

Tensor normal(const Shape& shape, uint32_t step, double deviation, DType dtype) {
    return random_normal(shape, {11, RandomStream::user, step}, dtype, 0, deviation);
}

// A dense network with one activation, then a linear layer.
std::vector<ChainLayer> dense_steps(const std::vector<int64_t>& widths, Activation activation,
                                    DType dtype) {
    std::vector<ChainLayer> steps;
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
        ChainLayer step;
        const auto number = static_cast<uint32_t>(2 * l);
        step.weight = normal({widths[l + 1], widths[l]}, number,
                             0.8 / std::sqrt(static_cast<double>(widths[l])), dtype);
        if (l % 3 != 1) step.bias = normal({widths[l + 1]}, number + 1, 0.3, dtype);
        if (l + 2 < widths.size()) {
            step.activation = activation;
            step.scale = l == 0 ? 1.5 : 1;
            step.envelope = 0.7;
        }
        steps.push_back(step);
    }
    return steps;
}

TEST(Folding, FewRowsOfEveryActivationAgreeWithOperations) {
    for (const auto& [activation, name] : enum_names(Activation{}))
        for (const DType dtype : {DType::float32, DType::float64}) {
            SCOPED_TRACE(fmt::format("{} {}", name, name_of(dtype)));
            std::vector<ChainLayer> steps = dense_steps({3, 20, 9, 2}, activation, dtype);
            // Arguments of log and the like are kept away from 0.
            steps[0].activation = Activation::sigmoid;
            steps[1].weight = abs(steps[1].weight) + 0.1;
            expect_few_rows_agree(steps);
        }
}

TEST(Folding, FewRowsOfEverySizeAgreeWithOperations) {
    for (const auto& widths : std::vector<std::vector<int64_t>>{
             {1, 1}, {3, 1, 2}, {2, 17, 33, 65, 5}, {5, 64, 100, 130, 31}, {40, 300, 7}})
        for (const DType dtype : {DType::float32, DType::float64}) {
            SCOPED_TRACE(fmt::format("{} {}", widths[1], name_of(dtype)));
            expect_few_rows_agree(dense_steps(widths, Activation::tanh, dtype));
        }
}

TEST(Folding, FewRowsOfEveryKindAgreeWithOperations) {
    std::vector<HiddenConfig> kinds{DenseHiddenConfig{}, LowRankConfig{}, SnnkConfig{}};
    for (const Split split : {Split::real_input, Split::phase_input, Split::symmetric})
        for (const FeatureNorm norm :
             {FeatureNorm::exact, FeatureNorm::projected, FeatureNorm::none})
            for (const int64_t degree : {-1, 1, 2, 3})
                for (const bool share : {false, true}) {
                    if (share && degree < 1) continue;
                    RalimpConfig config = ralimp_of(norm);
                    config.split = split;
                    config.degree = degree;
                    config.share_polynomial = share;
                    config.features = split == Split::symmetric ? 6 : 5;
                    config.antithetic = !share;  // pairs are of fewer rows than the polynomial's
                    kinds.push_back(config);
                }
    for (std::size_t kind = 0; kind < kinds.size(); ++kind)
        for (const DType dtype : {DType::float32, DType::float64}) {
            SCOPED_TRACE(fmt::format("kind {} {}", kind, name_of(dtype)));
            expect_few_rows_agree(
                chain_of(FoldedNetwork(network_of(kinds[kind], dtype, 13, 3)->parts())));
        }
}

std::vector<ChainLayer> ralimp_steps(Split split, DType dtype) {
    RalimpConfig config = ralimp_of(FeatureNorm::projected);
    config.split = split;
    return chain_of(FoldedNetwork(network_of(config, dtype)->parts()));
}

TEST(Folding, FewRowsClampExponents) {
    for (const Split split : {Split::real_input, Split::symmetric})
        for (const DType dtype : {DType::float32, DType::float64}) {
            std::vector<ChainLayer> steps = ralimp_steps(split, dtype);
            const Tensor x = random_uniform({5, 2}, {8}, dtype, -0.9, 0.9);
            const Tensor free = network_of(steps).forward(x);
            steps[1].features->limit.value = 0.05;
            expect_few_rows_agree(steps);
            EXPECT_GT(largest_difference(network_of(steps).forward(x), free), 1e-3);
        }
}

// What is not finite stays in its row.
TEST(Folding, FewRowsKeepWhatIsNotFinite) {
    for (const DType dtype : {DType::float32, DType::float64})
        for (const double wrong : {double(NAN), double(INFINITY), -double(INFINITY)})
            for (const auto& steps :
                 {ralimp_steps(Split::real_input, dtype), ralimp_steps(Split::symmetric, dtype),
                  dense_steps({2, 20, 20, 2}, Activation::sin, dtype)}) {
                const FoldedNetwork folded = network_of(steps);
                const Tensor x = random_uniform({5, 2}, {8}, dtype, -0.9, 0.9);
                const std::vector<double> clean = folded.forward(x).to_doubles();
                slice(slice(x, 0, 2, 3), 1, 0, 1).fill(wrong);
                const std::vector<double> y = folded.forward(x).to_doubles();
                const std::vector<double> wanted = by_operations(steps, x).to_doubles();
                EXPECT_TRUE(std::isinf(wrong) || std::isnan(y[4]));
                for (std::size_t i = 0; i < y.size(); ++i)
                    if (i / 2 == 2)  // tanh of infinity is 1
                        EXPECT_EQ(std::isfinite(y[i]), std::isfinite(wanted[i])) << wrong;
                    else
                        EXPECT_EQ(y[i], clean[i]);
            }
}

TEST(Folding, FewRowsAreOneKernelAndTheSameBitsOnAnyNumberOfThreads) {
    const int before = thread_count();
    const FoldedNetwork dense =
        network_of(dense_steps({3, 900, 1000, 2}, Activation::tanh, DType::float32));
    const FoldedNetwork ralimp = network_of(ralimp_steps(Split::symmetric, DType::float32));
    for (const FoldedNetwork* network : {&dense, &ralimp})
        for (const int64_t rows : {1, 63}) {
            const Tensor x =
                random_uniform({rows, network->inputs()}, {8}, DType::float32, -0.9, 0.9);
            set_thread_count(1);
            const int64_t launches = kernel_launches({});
            const Tensor y = network->forward(x);
            EXPECT_EQ(kernel_launches({}), launches + 1);
            const std::vector<double> wanted = y.to_doubles();
            for (const int threads : {2, 3}) {
                set_thread_count(threads);
                EXPECT_EQ(network->forward(x).to_doubles(), wanted) << threads;
            }
        }
    set_thread_count(before);
}

// More steps than a chain may have, and more rows of wider layers than go through it together.
TEST(Folding, DeepAndWideNetworksAgreeWithOperations) {
    expect_few_rows_agree(
        dense_steps(std::vector<int64_t>(70, 6), Activation::sin, DType::float64));
    const auto wide = dense_steps({3, 1100, 5}, Activation::tanh, DType::float64);
    expect_few_rows_agree(wide);
    const Tensor x = random_uniform({130, 3}, {8}, DType::float64, -0.9, 0.9);
    EXPECT_LT(largest_difference(network_of(wide).forward(x), by_operations(wide, x)), 1e-12);
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
    const GatedFeedForward gated({4, 5, 3, Activation::silu, DType::float64}, LinearStart{});
    const auto error = error_of([&] { FoldedNetwork(gated.parts()); });
    EXPECT_EQ(error.code, ExitCode::bad_config);
    EXPECT_NE(error.text.find("fold: gated 4 -> 5 -> 3, silu cannot be folded"), std::string::npos)
        << error.text;
    EXPECT_EQ(error_of([&] { deployed_numbers(gated); }).code, ExitCode::bad_config);
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
        std::vector<ChainLayer> steps = chain_of(network);
        (*steps[1].features).*member = tensor;
        EXPECT_NE(error_of([&] { network_of(steps); }).text.find("features of step 1 do not fit"),
                  std::string::npos);
    }
}

}  // namespace
}  // namespace ralimp
