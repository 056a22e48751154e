// The RaLiMP layer as steps of a chain against the same layer operation by operation.
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/operations.h"
#include "core/cpu/dispatch.h"
#include "core/parallel.h"
#include "layers/dense.h"
#include "layers/parameters.h"
#include "layers/ralimp.h"
#include "tests/layers/paper_ralimp.h"

namespace ralimp {
namespace {

HiddenStart start_of(DType dtype) {
    HiddenStart start;
    start.activation = Activation::tanh;
    start.start.key = {3, RandomStream::parameters, 3};
    start.dtype = dtype;
    return start;
}

Tensor normal(const Shape& shape, uint64_t seed, double deviation, DType dtype) {
    return random_normal(shape, {seed, RandomStream::user, 0}, dtype, 0, deviation);
}

// Relative to the largest value.
double difference(const Tensor& a, const Tensor& b) {
    EXPECT_EQ(to_string(a.shape()), to_string(b.shape()));
    const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
    double size = 1e-30, largest = 0;
    for (double value : y) size = std::max(size, std::abs(value));
    for (std::size_t i = 0; i < x.size(); ++i)
        largest = std::isfinite(x[i]) ? std::max(largest, std::abs(x[i] - y[i])) : INFINITY;
    return largest / size;
}

struct Trained {
    Ralimp layer;
    Parameters parameters;

    Trained(const RalimpConfig& config, DType dtype)
        : layer(started(config, dtype)), parameters(layer) {}

    static Ralimp started(const RalimpConfig& config, DType dtype) {
        Ralimp layer(5, 4, config, start_of(dtype));
        layer.initialize_from_data(normal({300, 5}, 1, 0.6, dtype));
        return layer;
    }
};

std::vector<int64_t> take_clamps(const Ralimp& layer) {
    std::vector<int64_t> result;
    layer.visit_clamps("", [&](const std::string&, const Tensor& counts) {
        result = counts.to_vector<int64_t>();
        counts.fill(0);
    });
    return result;
}

RalimpConfig real_input() {
    RalimpConfig config = paper_ralimp();
    config.split = Split::real_input;
    config.features = 6;
    config.train_projections = true;
    return config;
}

// Without a chain, as the layers do that have none.
Jet one_by_one(const Ralimp& layer, const Jet& x) {
    const Ralimp::WeightSide side = layer.weight_side();
    return linear(layer.features(x), side.psi, side.constant);
}

void expect_agreement(const RalimpConfig& config, const std::shared_ptr<const JetPlan>& plan,
                      DType dtype, double tolerance, double deviation = 0.6) {
    Trained trained(config, dtype);
    const std::vector<ChainLayer> steps = trained.layer.as_chain();
    ASSERT_EQ(steps.size(), 2u);
    const Tensor channels =
        requires_grad((Jet::input(normal({70, 5}, 2, deviation, dtype), plan).channels() +
                       normal({plan->channels(), 70, 5}, 4, 0.1, dtype))
                          .detach());
    const Jet x(channels, plan);
    take_clamps(trained.layer);
    const Jet chained = layer_chain(x, trained.layer.as_chain());
    const auto chained_clamps = take_clamps(trained.layer);
    const Jet plain = one_by_one(trained.layer, x);
    // The paper's layout has every exponent twice as often as the chain.
    const auto plain_clamps = take_clamps(trained.layer);
    if (config.split != Split::symmetric || config.layout == FeatureLayout::merged) {
        EXPECT_EQ(chained_clamps, plain_clamps);
    }
    EXPECT_LT(difference(chained.channels(), plain.channels()), tolerance);
    const Tensor weights = normal(plain.channels().shape(), 5, 1, dtype);
    const auto gradients = [&](const Jet& y) {
        const Tensor loss = sum(y.channels() * weights);
        return Tensors{trained.parameters.gradient(loss), grad(loss, channels)};
    };
    const Tensors ours = gradients(chained), theirs = gradients(plain);
    for (const auto& entry : trained.parameters.entries()) {
        const int64_t end = entry.offset + entry.shape.elements();
        EXPECT_LT(difference(slice(ours[0], 0, entry.offset, end),
                             slice(theirs[0], 0, entry.offset, end)),
                  tolerance)
            << entry.name;
    }
    EXPECT_LT(difference(ours[1], theirs[1]), tolerance);
}

const auto value_only = JetPlan::value_only();
const auto second_order = JetPlan::make({{0, 0}, {1, 2}}, {0, 3});
const auto third_order = JetPlan::make({{0, 0, 0}, {0, 1, 2}});

TEST(RalimpChain, AgreesWithTheLayerForEveryOption) {
    for (const auto& plan : {value_only, second_order, third_order})
        for (const FeatureNorm norm :
             {FeatureNorm::exact, FeatureNorm::projected, FeatureNorm::none})
            for (int64_t degree : {-1, 0, 1, 2, 3})
                for (bool shared : {true, false}) {
                    SCOPED_TRACE(fmt::format("{} channels, norm {}, degree {}, shared {}",
                                             plan->channels(), enum_name(norm), degree, shared));
                    RalimpConfig config = real_input();
                    config.norm = norm;
                    config.degree = degree;
                    config.share_projections = shared;
                    config.share_polynomial = shared && degree != 2;
                    expect_agreement(config, plan, DType::float64, 1e-11);
                }
}

// Of every way in which waves share rows and exponents, with both kinds of Psi.
TEST(RalimpChain, OscillatingLayersAgreeForEveryOption) {
    struct Waves {
        Split split;
        FeatureLayout layout = FeatureLayout::merged;
        bool antithetic = true;
    };
    for (const Waves& waves : {Waves{Split::phase_input}, Waves{Split::symmetric},
                               Waves{Split::symmetric, FeatureLayout::merged, false},
                               Waves{Split::symmetric, FeatureLayout::concatenated},
                               Waves{Split::symmetric, FeatureLayout::concatenated, false}})
        for (const FeatureNorm norm :
             {FeatureNorm::exact, FeatureNorm::projected, FeatureNorm::none})
            for (const PsiMode psi : {PsiMode::free, PsiMode::weights})
                for (int64_t degree : {-1, 2})
                    for (bool shared : {true, false})
                        for (const auto& plan : {value_only, third_order}) {
                            SCOPED_TRACE(fmt::format(
                                "{} {}, antithetic {}, norm {}, psi {}, degree {}, shared {}, {} "
                                "channels",
                                name_of(waves.split), enum_name(waves.layout), waves.antithetic,
                                enum_name(norm), enum_name(psi), degree, shared, plan->channels()));
                            RalimpConfig config = real_input();
                            config.split = waves.split;
                            config.layout = waves.layout;
                            config.antithetic = waves.antithetic;
                            config.norm = norm;
                            config.psi = psi;
                            config.degree = degree;
                            config.share_projections = shared;
                            config.share_polynomial =
                                shared && (waves.split != Split::symmetric || !waves.antithetic);
                            expect_agreement(config, plan, DType::float64, 1e-10);
                        }
}

// Cosines and sines alone have no exponent, and four features of the paper's layout are two.
TEST(RalimpChain, LeavesOutWhatIsZeroOrTwice) {
    RalimpConfig config = real_input();
    config.split = Split::phase_input;
    config.norm = FeatureNorm::none;
    config.degree = -1;
    const auto features = [&] {
        return *Trained(config, DType::float64).layer.as_chain()[0].features;
    };
    EXPECT_FALSE(features().growth.defined());
    EXPECT_FALSE(features().has_norms());
    EXPECT_EQ(features().width(), 2 * 3 * 6);
    config.norm = FeatureNorm::projected;
    EXPECT_TRUE(features().norm_growth.defined());
    EXPECT_FALSE(features().norm_rotation.defined());
    config.split = Split::symmetric;
    EXPECT_FALSE(features().norm_growth.defined());
    EXPECT_TRUE(features().norm_rotation.defined());
    const int64_t merged = features().width();
    config.layout = FeatureLayout::concatenated;
    EXPECT_EQ(features().width(), merged);
    EXPECT_EQ(Trained(config, DType::float64).layer.feature_count(), 2 * merged);
}

TEST(RalimpChain, AgreesInFloat32OnEveryInstructionSet) {
    const cpu::SimdLevel before = cpu::simd_level();
    for (const cpu::SimdLevel level : cpu::available_simd_levels()) {
        SCOPED_TRACE(cpu::name_of(level));
        cpu::set_simd_level(level);
        expect_agreement(real_input(), second_order, DType::float64, 1e-11);
        expect_agreement(real_input(), second_order, DType::float32, 1e-3);
    }
    cpu::set_simd_level(before);
}

TEST(RalimpChain, AgreesForWeightsAndMorePoles) {
    RalimpConfig config = real_input();
    config.psi = PsiMode::weights;
    config.pole_pairs = 2;
    config.multiplicity = 2;
    expect_agreement(config, second_order, DType::float64, 1e-11);
    config.psi = PsiMode::free;
    config.layout = FeatureLayout::concatenated;
    expect_agreement(config, second_order, DType::float64, 1e-11);
}

TEST(RalimpChain, ClampsAndCountsLikeTheLayer) {
    RalimpConfig config = real_input();
    config.exponent_limit = 0.5;
    expect_agreement(config, third_order, DType::float64, 1e-11, 2);
    Trained trained(config, DType::float64);
    take_clamps(trained.layer);
    layer_chain(Jet::value_only(normal({70, 5}, 2, 2, DType::float64)), trained.layer.as_chain());
    const auto counts = take_clamps(trained.layer);
    EXPECT_GT(counts[0], 100);
    EXPECT_LT(counts[0], counts[1]);
}

TEST(RalimpChain, ClampsAndCountsOscillatingLayersLikeThem) {
    RalimpConfig config = real_input();
    config.split = Split::symmetric;
    config.exponent_limit = 0.5;
    expect_agreement(config, third_order, DType::float64, 1e-11, 2);
    config.layout = FeatureLayout::concatenated;
    expect_agreement(config, third_order, DType::float64, 1e-11, 2);
    Trained trained(config, DType::float64);
    take_clamps(trained.layer);
    const Jet x = Jet::value_only(normal({70, 5}, 2, 2, DType::float64));
    one_by_one(trained.layer, x);
    const auto plain = take_clamps(trained.layer);
    layer_chain(x, trained.layer.as_chain());
    const auto chained = take_clamps(trained.layer);
    EXPECT_GT(chained[0], 100);
    EXPECT_EQ(plain[0], 2 * chained[0]);
    EXPECT_EQ(plain[1], 2 * chained[1]);
}

TEST(RalimpChain, HasSecondGradients) {
    Trained trained(real_input(), DType::float64);
    const Tensor points = requires_grad(normal({9, 5}, 2, 0.6, DType::float64));
    const auto second = [&](bool chained) {
        const Jet x = Jet::input(points, JetPlan::make({{0, 0}}));
        const Jet y =
            chained ? layer_chain(x, trained.layer.as_chain()) : one_by_one(trained.layer, x);
        const Tensor first = sum(square(y.channels()));
        return trained.parameters.gradient(sum(square(grad(first, points, true))));
    };
    EXPECT_LT(difference(second(true), second(false)), 1e-10);
}

TEST(RalimpChain, GivesTheSameBitsForAnyNumberOfThreads) {
    Trained trained(real_input(), DType::float32);
    const Tensor points = normal({5000, 5}, 2, 0.6, DType::float32);
    const int before = thread_count();
    std::vector<std::vector<double>> results;
    for (int threads : {1, 2, 3}) {
        set_thread_count(threads);
        const Jet y = layer_chain(Jet::input(points, second_order), trained.layer.as_chain());
        results.push_back(y.channels().to_doubles());
        const Tensor gradient = trained.parameters.gradient(sum(square(y.channels())));
        for (double value : gradient.to_doubles()) results.back().push_back(value);
    }
    set_thread_count(before);
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
}

// Polynomials of rows of their own stay with the layer's own operations.
TEST(RalimpChain, IsNotOfferedForWhatItCannotDo) {
    for (Split split : {Split::real_input, Split::symmetric, Split::phase_input}) {
        RalimpConfig config = real_input();
        config.split = split;
        config.share_rows = false;
        EXPECT_TRUE(Trained::started(config, DType::float64).as_chain().empty());
    }
}

// Decided by sizes, before anything is computed for it; by itself a wide layer still has the form.
TEST(RalimpChain, WideLayersAreLeftToABlas) {
    const auto layer = [](int64_t inputs, int64_t outputs, const RalimpConfig& config) {
        return Ralimp(inputs, outputs, config, HiddenStart{});
    };
    EXPECT_TRUE(layer(64, 64, real_input()).fits_chain(64));
    EXPECT_FALSE(layer(65, 64, real_input()).fits_chain(64));
    EXPECT_FALSE(layer(64, 65, real_input()).fits_chain(64));
    EXPECT_TRUE(layer(65, 64, real_input()).fits_chain(65));
    RalimpConfig config = real_input();
    config.features = 22;  // 66 projection rows
    EXPECT_FALSE(layer(20, 20, config).fits_chain(64));
    EXPECT_TRUE(Dense(64, 64, DType::float32, {}, Activation::tanh).fits_chain(64));
    EXPECT_FALSE(Dense(64, 65, DType::float32, {}, Activation::tanh).fits_chain(64));
    EXPECT_FALSE(Linear(65, 1, DType::float32, {}).fits_chain(64));
}

// Whole, features alone, or one by one, as rows, width and record have it: the same function.
TEST(RalimpChain, WideLayersAgreeHoweverTheyAreComputed) {
    for (const bool trained : {false, true}) {
        RalimpConfig config = real_input();
        config.train_projections = trained;
        Ralimp layer(70, 5, config, start_of(DType::float64));
        layer.initialize_from_data(normal({300, 70}, 1, 0.6, DType::float64));
        for (const int64_t rows : {1, 63, 64, 200}) {
            const Jet x = Jet::value_only(normal({rows, 70}, 2, 0.6, DType::float64));
            const Tensor expected = one_by_one(layer, x).channels();
            EXPECT_LT(difference(layer.forward(x).channels(), expected), 1e-12) << rows;
            const NoGrad pause;
            EXPECT_LT(difference(layer.forward(x).channels(), expected), 1e-12) << rows;
        }
    }
}

}  // namespace
}  // namespace ralimp
