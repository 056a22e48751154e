// Chains of dense layers against the same layers one by one, in plain operations.
#include "autograd/layer_chain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "autograd/operations.h"
#include "core/cpu/dispatch.h"
#include "core/parallel.h"

namespace ralimp {
namespace {

Tensor normal(const Shape& shape, uint32_t step, double deviation, DType dtype) {
    return random_normal(shape, {11, RandomStream::user, step}, dtype, 0, deviation);
}

struct Network {
    std::vector<ChainLayer> layers;

    // The last layer is linear, the others have the activations in turn.
    Network(const std::vector<int64_t>& widths, const std::vector<Activation>& activations,
            DType dtype) {
        for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
            const auto step = static_cast<uint32_t>(10 + 2 * l);
            const double deviation = 0.8 / std::sqrt(static_cast<double>(widths[l]));
            ChainLayer layer;
            layer.weight =
                requires_grad(normal({widths[l + 1], widths[l]}, step, deviation, dtype));
            layer.bias = requires_grad(normal({widths[l + 1]}, step + 1, 0.3, dtype));
            if (l + 2 < widths.size()) {
                layer.activation = activations[l % activations.size()];
                layer.scale = l == 0 ? 1.5 : 1;
                layer.envelope = 0.7;
            }
            layers.push_back(layer);
        }
    }

    Tensors parameters() const {
        Tensors all;
        for (const ChainLayer& layer : layers) {
            all.push_back(layer.weight);
            all.push_back(layer.bias);
        }
        return all;
    }

    // In plain operations: neither the chain's kernels nor those of apply().
    Jet one_by_one(const Jet& x) const {
        Jet y = x;
        for (const ChainLayer& layer : layers) {
            y = linear(y, layer.weight, layer.bias);
            y = Jet(activation_reference(
                        y.plan().composition(layer.activation, layer.scale, layer.envelope),
                        y.channels()),
                    y.shared_plan());
        }
        return y;
    }
};

double largest_difference(const Tensor& a, const Tensor& b) {
    EXPECT_EQ(to_string(a.shape()), to_string(b.shape()));
    const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
    double size = 1e-30, largest = 0;
    for (double value : y) size = std::max(size, std::abs(value));
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!std::isfinite(x[i])) return INFINITY;
        largest = std::max(largest, std::abs(x[i] - y[i]));
    }
    return largest / size;
}

std::shared_ptr<const JetPlan> plan_of(int order) {
    switch (order) {
        case 0:
            return JetPlan::value_only();
        case 1:
            return JetPlan::make({{0}, {1}});
        case 2:
            return JetPlan::make({{0, 0}, {0, 1}}, {0, 1});
        default:
            return JetPlan::make({{0, 0, 0}, {0, 1, 1}, {1}});
    }
}

void expect_agreement(const Network& network, int order, int64_t rows, DType dtype,
                      double tolerance) {
    const int64_t inputs = network.layers.front().weight.size(1);
    const auto plan = plan_of(order);
    const Tensor points = normal({rows, inputs}, 1, 0.7, dtype);
    const Tensor channels = requires_grad((Jet::input(points, plan).channels() +
                                           normal({plan->channels(), rows, inputs}, 2, 0.2, dtype))
                                              .detach());
    const Jet x(channels, plan);
    const Jet chained = layer_chain(x, network.layers), plain = network.one_by_one(x);
    EXPECT_LT(largest_difference(chained.channels(), plain.channels()), tolerance);
    Tensors wanted = network.parameters();
    wanted.push_back(channels);
    const Tensor weights = normal(plain.channels().shape(), 3, 1, dtype);
    const Tensors ours = grad({chained.channels()}, wanted, {weights});
    const Tensors theirs = grad({plain.channels()}, wanted, {weights});
    for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_LT(largest_difference(ours[i], theirs[i]), tolerance) << "gradient " << i;
}

TEST(LayerChain, AgreesWithItsLayersForEverySize) {
    const std::vector<Activation> activations = {Activation::tanh, Activation::sin};
    for (const auto& [dtype, tolerance] :
         {std::pair(DType::float64, 1e-13), std::pair(DType::float32, 2e-4)})
        for (const auto& widths : std::vector<std::vector<int64_t>>{
                 {2, 20, 20, 1}, {3, 1, 2}, {2, 7}, {2, 64, 33, 5, 3}, {2, 13, 6, 4}})
            for (int order : {0, 1, 2, 3})
                for (int64_t rows : {1, 31, 32, 33, 64, 65, 200}) {
                    SCOPED_TRACE(fmt::format("{} order {}, {} rows, {} wide", name_of(dtype), order,
                                             rows, widths[1]));
                    expect_agreement(Network(widths, activations, dtype), order, rows, dtype,
                                     tolerance);
                }
}

TEST(LayerChain, AgreesWithItsLayersForEveryActivation) {
    for (const auto& [activation, name] : enum_names(Activation{})) {
        SCOPED_TRACE(name);
        // Arguments of log and the like are kept away from 0.
        Network network({2, 9, 6, 2}, {Activation::sigmoid, activation}, DType::float64);
        for (Tensor* positive : {&network.layers[1].weight, &network.layers[1].bias})
            *positive = requires_grad((abs(*positive) + 0.2).detach());
        expect_agreement(network, 3, 37, DType::float64, 1e-11);
    }
}

TEST(LayerChain, AgreesWithItsLayersOnEveryInstructionSet) {
    const cpu::SimdLevel before = cpu::simd_level();
    for (const cpu::SimdLevel level : cpu::available_simd_levels()) {
        SCOPED_TRACE(cpu::name_of(level));
        cpu::set_simd_level(level);
        for (const auto& [dtype, tolerance] :
             {std::pair(DType::float64, 1e-13), std::pair(DType::float32, 2e-4)})
            for (int64_t rows : {5, 150})
                expect_agreement(Network({3, 20, 11, 2}, {Activation::tanh}, dtype), 2, rows, dtype,
                                 tolerance);
    }
    cpu::set_simd_level(before);
}

// A loss of gradients needs the second gradient of the chain.
TEST(LayerChain, HasSecondGradients) {
    const Network network({2, 8, 5, 1}, {Activation::tanh, Activation::gelu}, DType::float64);
    const Tensor points = requires_grad(normal({9, 2}, 1, 0.7, DType::float64));
    const auto loss = [&](bool chained) {
        const Jet x = Jet::input(points, JetPlan::make({{0, 0}}));
        const Jet u = chained ? layer_chain(x, network.layers) : network.one_by_one(x);
        Tensors wanted = network.parameters();
        wanted.push_back(points);
        const Tensor first = sum(square(u.channels()));
        Tensor total = first;
        for (const Tensor& gradient : grad({first}, wanted, {}, true))
            total = total + sum(square(gradient));
        return grad({total}, wanted);
    };
    const Tensors ours = loss(true), theirs = loss(false);
    for (std::size_t i = 0; i < ours.size(); ++i)
        EXPECT_LT(largest_difference(ours[i], theirs[i]), 1e-11) << "gradient " << i;
}

TEST(LayerChain, GivesTheSameBitsForAnyNumberOfThreadsAndWithoutRecording) {
    const Network network({2, 20, 20, 2}, {Activation::tanh}, DType::float32);
    const Tensor points = normal({5000, 2}, 1, 0.7, DType::float32);
    const int before = thread_count();
    std::vector<std::vector<double>> values, gradients;
    for (int threads : {1, 2, 3}) {
        set_thread_count(threads);
        const Jet u = layer_chain(Jet::input(points, JetPlan::make({{0, 0}, {1}})), network.layers);
        values.push_back(u.channels().to_doubles());
        gradients.emplace_back();
        for (const Tensor& gradient : grad({u.channels()}, network.parameters()))
            for (double value : gradient.to_doubles()) gradients.back().push_back(value);
        NoGrad no_grad;
        values.push_back(
            layer_chain(Jet::input(points, JetPlan::make({{0, 0}, {1}})), network.layers)
                .channels()
                .to_doubles());
    }
    set_thread_count(before);
    for (const auto& other : values) EXPECT_EQ(other, values[0]);
    for (const auto& other : gradients) EXPECT_EQ(other, gradients[0]);
}

TEST(LayerChain, ComputesOnlyTheGradientsAskedFor) {
    Network network({2, 6, 6, 1}, {Activation::tanh}, DType::float64);
    const Tensor frozen = network.layers[1].weight.detach();
    network.layers[1].weight = frozen;
    const Jet x = Jet::input(normal({70, 2}, 1, 0.7, DType::float64), JetPlan::make({{0}}));
    const Tensors wanted = {network.layers[0].bias, network.layers[2].weight};
    const Tensors ours = grad({layer_chain(x, network.layers).channels()}, wanted);
    const Tensors theirs = grad({network.one_by_one(x).channels()}, wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_LT(largest_difference(ours[i], theirs[i]), 1e-13);
}

// 3 -> features of 4 + 2 degree projections, which the exponents read in no order -> 2. Shared: the
// last two of the 4 are the first of the polynomial.
struct Oscillating {
    static constexpr int64_t exponents = 5, inputs = 3;
    std::vector<int32_t> read{2, 0, 3, 3, 1};
    std::vector<ChainLayer> layers;
    Tensors trained;

    struct Options {
        bool growth = true, norm_growth = true, norm_rotation = true, norm_weights = true;
        int64_t degree = 2;
        bool shared = false;
        double limit = default_exponent_limit;
        int64_t polynomial_first() const { return shared ? 2 : 4; }
        std::string description() const {
            return fmt::format(
                "growth {}, norm growth {}, norm rotation {}, weights {}, degree {}, shared {}",
                growth, norm_growth, norm_rotation, norm_weights, degree, shared);
        }
    };

    Oscillating(const Options& options, DType dtype) {
        const auto parameter = [&](const Shape& shape, uint32_t step, double deviation) {
            return trained.emplace_back(requires_grad(normal(shape, step, deviation, dtype)));
        };
        const int64_t products = options.polynomial_first() + 2 * options.degree;
        ChainFeatures f;
        f.projections = Tensor::from(read, {exponents});
        if (options.growth) f.growth = parameter({exponents}, 30, 0.7);
        if (options.norm_growth) f.norm_growth = parameter({exponents}, 31, 0.3);
        f.rotation = parameter({exponents}, 32, 2);
        if (options.norm_rotation) f.norm_rotation = parameter({exponents}, 33, 0.5);
        if (options.norm_weights && f.has_norms())
            f.norm_weights = square(normal({inputs}, 34, 1, dtype));
        f.exponential_rows = 4;
        f.rows = options.degree > 0 ? 2 : 0;
        f.degree = options.degree;
        f.shared_rows = options.shared ? 2 : 0;
        f.limit = {options.limit, Tensor::zeros({2}, DType::int64)};
        const Tensor weight = parameter({products, inputs}, 35, 0.6);
        const Tensor bias = parameter({products}, 36, 0.3);
        const Tensor last = parameter({2, f.width()}, 37, 0.5);
        layers = {{.weight = weight, .bias = bias, .features = f}, {.weight = last}};
    }

    // By exponential_features(), feature by feature.
    Jet one_by_one(const Jet& x) const {
        const ChainFeatures& f = *layers[0].features;
        const Jet p = linear(x, layers[0].weight, layers[0].bias);
        const Jet own = slice_features(p, 0, f.exponential_rows);
        const Tensor none = Tensor::zeros({exponents}, x.channels().dtype());
        const Tensor ones = Tensor::ones({exponents}, x.channels().dtype());
        const auto twice = [&](const Tensor& row) {
            return row.defined() ? concatenate({row, row}) : concatenate({none, none});
        };
        const Tensor table =
            stack({twice(f.growth), twice(f.norm_growth), twice(f.rotation), twice(f.norm_rotation),
                   concatenate({ones, none}), concatenate({none, ones}), twice(Tensor())});
        std::vector<FeatureBlock> blocks;
        for (int32_t i = 0; i < 2 * exponents; ++i)
            blocks.push_back({i, read[static_cast<std::size_t>(i % exponents)], 1});
        std::optional<Jet> norms;
        if (f.norm_weights.defined())
            norms = linear(square(x), unsqueeze(f.norm_weights, 0), Tensor());
        else if (f.has_norms())
            norms = sum_features(square(own)) * 0.25;
        std::vector<Jet> parts{exponential_features(own, norms ? &*norms : nullptr,
                                                    feature_blocks(blocks, 2 * exponents, 4), table,
                                                    true, {f.limit.value, f.limit.counts})};
        for (int64_t k = 0; k < f.degree; ++k) {
            const int64_t first = f.polynomial_first() + 2 * k;
            const Jet factor = slice_features(p, first, first + 2);
            parts.push_back(k == 0 ? factor : parts.back() * factor);
        }
        return linear(concatenate(parts), layers[1].weight, Tensor());
    }
};

void expect_agreement(const Oscillating& network, int order, int64_t rows, DType dtype,
                      double tolerance) {
    const auto plan = plan_of(order);
    const Tensor points = normal({rows, 3}, 1, 0.7, dtype);
    const Tensor channels = requires_grad(
        (Jet::input(points, plan).channels() + normal({plan->channels(), rows, 3}, 2, 0.2, dtype))
            .detach());
    const Jet x(channels, plan);
    const Tensor counts = network.layers[0].features->limit.counts;
    const auto take_counts = [&] {
        const std::vector<double> taken = counts.to_doubles();
        counts.fill(0);
        return taken;
    };
    const Jet chained = layer_chain(x, network.layers);
    const std::vector<double> ours_clamped = take_counts();
    const Jet plain = network.one_by_one(x);
    EXPECT_EQ(ours_clamped, take_counts());
    EXPECT_LT(largest_difference(chained.channels(), plain.channels()), tolerance);
    Tensors wanted = network.trained;
    wanted.push_back(channels);
    const Tensor weights = normal(plain.channels().shape(), 3, 1, dtype);
    const Tensors ours = grad({chained.channels()}, wanted, {weights});
    const Tensors theirs = grad({plain.channels()}, wanted, {weights});
    for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_LT(largest_difference(ours[i], theirs[i]), tolerance) << "gradient " << i;
}

std::vector<Oscillating::Options> oscillating_options() {
    std::vector<Oscillating::Options> all;
    for (int bits = 0; bits < 16; ++bits)
        for (int64_t degree : {0, 1, 3})
            all.push_back({(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0,
                           degree, degree > 0 && (bits % 3 != 0)});
    return all;
}

TEST(LayerChain, OscillatingFeaturesAgreeWithTheirOwnOperation) {
    for (const auto& [dtype, tolerance] :
         {std::pair(DType::float64, 1e-12), std::pair(DType::float32, 2e-4)})
        for (const Oscillating::Options& options : oscillating_options())
            for (int order : {0, 1, 2, 3})
                for (int64_t rows : {1, 33, 70}) {
                    SCOPED_TRACE(fmt::format("{}, {} order {}, {} rows", options.description(),
                                             name_of(dtype), order, rows));
                    expect_agreement(Oscillating(options, dtype), order, rows, dtype, tolerance);
                }
}

TEST(LayerChain, OscillatingFeaturesAgreeOnEveryInstructionSet) {
    const cpu::SimdLevel before = cpu::simd_level();
    for (const cpu::SimdLevel level : cpu::available_simd_levels()) {
        cpu::set_simd_level(level);
        for (const bool envelope : {true, false})
            for (const auto& [dtype, tolerance] :
                 {std::pair(DType::float64, 1e-12), std::pair(DType::float32, 2e-4)}) {
                SCOPED_TRACE(fmt::format("{}, envelope {}", cpu::name_of(level), envelope));
                expect_agreement(Oscillating({.growth = envelope, .norm_growth = envelope}, dtype),
                                 3, 70, dtype, tolerance);
            }
    }
    cpu::set_simd_level(before);
}

// Where the exponent stands at its limit the phase still moves.
TEST(LayerChain, ClampsAndCountsOscillatingFeatures) {
    const Oscillating network({.limit = 0.3}, DType::float64);
    for (int order : {0, 3}) expect_agreement(network, order, 70, DType::float64, 1e-12);
    layer_chain(Jet::value_only(normal({70, 3}, 1, 0.7, DType::float64)), network.layers);
    const std::vector<double> counts = network.layers[0].features->limit.counts.to_doubles();
    EXPECT_GT(counts[0], 50);
    EXPECT_EQ(counts[1], 70 * 2 * Oscillating::exponents);
}

TEST(LayerChain, OscillatingFeaturesHaveSecondGradients) {
    for (const bool envelope : {true, false}) {
        const Oscillating network({.growth = envelope, .norm_growth = envelope}, DType::float64);
        const Tensor points = requires_grad(normal({9, 3}, 1, 0.7, DType::float64));
        const auto loss = [&](bool chained) {
            const Jet x = Jet::input(points, JetPlan::make({{0, 0}}));
            const Jet u = chained ? layer_chain(x, network.layers) : network.one_by_one(x);
            Tensors wanted = network.trained;
            wanted.push_back(points);
            const Tensor first = sum(square(u.channels()));
            Tensor total = first;
            for (const Tensor& gradient : grad({first}, wanted, {}, true))
                total = total + sum(square(gradient));
            return grad({total}, wanted);
        };
        const Tensors ours = loss(true), theirs = loss(false);
        for (std::size_t i = 0; i < ours.size(); ++i)
            EXPECT_LT(largest_difference(ours[i], theirs[i]), 1e-11) << "gradient " << i;
    }
}

TEST(LayerChain, OscillatingFeaturesGiveTheSameBitsForAnyNumberOfThreads) {
    const Oscillating network({}, DType::float32);
    const Tensor points = normal({5000, 3}, 1, 0.7, DType::float32);
    const int before = thread_count();
    std::vector<std::vector<double>> results;
    for (int threads : {1, 2, 3}) {
        set_thread_count(threads);
        const Jet u = layer_chain(Jet::input(points, plan_of(2)), network.layers);
        results.push_back(u.channels().to_doubles());
        for (const Tensor& gradient : grad({u.channels()}, network.trained))
            for (double value : gradient.to_doubles()) results.back().push_back(value);
    }
    set_thread_count(before);
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
}

TEST(LayerChain, RefusesExponentsThatDoNotFit) {
    const Jet x = Jet::value_only(normal({4, 3}, 1, 1, DType::float64));
    const std::vector<ChainLayer> good = Oscillating({}, DType::float64).layers;
    EXPECT_NO_THROW(layer_chain(x, good));
    const std::pair<Tensor ChainFeatures::*, Tensor> changes[] = {
        {&ChainFeatures::growth, Tensor::ones({4}, DType::float64)},
        {&ChainFeatures::norm_growth, Tensor::ones({5}, DType::float32)},
        {&ChainFeatures::rotation, Tensor()},  // a norm rotation alone
        {&ChainFeatures::rotation, Tensor::ones({6}, DType::float64)},
        {&ChainFeatures::norm_rotation, Tensor::ones({5, 1}, DType::float64)},
        {&ChainFeatures::norm_weights, Tensor::ones({4}, DType::float64)},
        {&ChainFeatures::projections, Tensor::full({5}, 4, DType::int32)}};
    for (const auto& [member, tensor] : changes) {
        std::vector<ChainLayer> layers = good;
        (*layers[0].features).*member = tensor;
        EXPECT_THROW(layer_chain(x, layers), Error);
    }
}

TEST(LayerChain, RefusesWhatDoesNotFit) {
    const Network network({2, 6, 3, 1}, {Activation::tanh}, DType::float64);
    const Jet x = Jet::value_only(normal({4, 2}, 1, 1, DType::float64));
    const Jet wide = Jet::value_only(normal({4, 3}, 1, 1, DType::float64));
    const Jet single = Jet::value_only(normal({4, 2}, 1, 1, DType::float32));
    EXPECT_THROW(layer_chain(wide, network.layers), Error);
    EXPECT_THROW(layer_chain(single, network.layers), Error);
    EXPECT_THROW(layer_chain(x, {}), Error);
    std::vector<ChainLayer> swapped = network.layers;
    std::swap(swapped[0], swapped[1]);
    EXPECT_THROW(layer_chain(x, swapped), Error);
    const std::vector<ChainLayer> many(
        LayerChainProgram::max_steps + 1,
        {Tensor::ones({2, 2}, DType::float64), Tensor::zeros({2}, DType::float64)});
    EXPECT_THROW(layer_chain(x, many), Error);
}

}  // namespace
}  // namespace ralimp
