// Chains of dense layers against the same layers one by one, in plain operations.
#include "autograd/layer_chain.h"

#include <gtest/gtest.h>

#include <cmath>

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
