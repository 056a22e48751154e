// Times single operations, layers and optimizer updates as a program calls them; one line of JSON,
// {name: microseconds}. peer_operations.py times the same in PyTorch.
//   bench_operations [FIRST_WORDS_OF_NAMES…]
#include "autograd/operations.h"
#include "core/denormals.h"
#include "core/kernels.h"
#include "layers/hidden.h"
#include "layers/mlp.h"
#include "layers/parameters.h"
#include "optim/make_optimizer.h"
#include "tests/bench/timing.h"

using namespace ralimp;

namespace {

Tensor normal(const Shape& shape, uint64_t seed) { return random_normal(shape, {seed}); }

// Each by itself, and recorded: with a graph node for a backward pass.
void time_elementwise(Timings& timings) {
    const std::pair<const char*, Tensor (*)(const Tensor&)> operations[] = {
        {"sin", sin},
        {"tanh", tanh},
        {"exp", exp},
        {"gelu", gelu},
        {"sum", [](const Tensor& x) { return sum(x); }},
        {"softmax", [](const Tensor& x) { return softmax(x); }}};
    for (const int64_t size : {1000, 100'000, 10'000'000}) {
        const Tensor x = normal({size}, 1), leaf = requires_grad(x);
        for (const auto& [name, operation] : operations) {
            const std::string suffix = fmt::format("{}/{}", name, size);
            timings.time("plain/" + suffix, [&] {
                const NoGrad pause;
                operation(x);
            });
            timings.time("recorded/" + suffix, [&] { operation(leaf); });
        }
    }
}

void time_products(Timings& timings) {
    for (const auto& [rows, width] : {std::pair{65'536, 256}, {16'384, 256}, {16'384, 768}}) {
        const Tensor a = normal({rows, width}, 1), b = normal({width, width}, 2);
        timings.time(fmt::format("product/{}x{}x{}", rows, width, width), [&] { matmul(a, b); });
    }
}

RalimpConfig ralimp_of(int64_t features) {
    RalimpConfig config;
    config.features = features;
    config.degree = 2;
    config.share_polynomial = false;
    config.norm = FeatureNorm::exact;
    config.train_projections = false;
    return config;
}

// f(W x + b) of 16,384 rows: dense, and RaLiMP with two thirds and with one third of its
// multiplications.
void time_layers(Timings& timings) {
    for (const int64_t width : {256, 768}) {
        const std::pair<std::string, HiddenConfig> kinds[] = {
            {"dense", DenseHiddenConfig{}},
            {"ralimp_two_thirds", ralimp_of(width / 16)},
            {"ralimp_third", ralimp_of(width / 32)}};
        for (const auto& [name, config] : kinds) {
            const std::string path = fmt::format("layer/{}/{}", width, name);
            if (!timings.wants(path)) continue;
            // In a network, as layers are used.
            std::vector<std::unique_ptr<Layer>> layers;
            layers.push_back(make_hidden(config, width, width, HiddenStart{}));
            Mlp network(std::move(layers));
            const Tensor x = normal({16'384, width}, 2), weight = normal({16'384, width}, 3);
            network.initialize_from_data(slice(x, 0, 0, 2048));
            const ParameterCount count = network.count();
            timings.note(path + "/multiply_adds", static_cast<double>(count.deployed));
            timings.time(path + "/forward", [&] {
                const NoGrad pause;
                network.forward(x);
            });
            const Parameters parameters(network);  // makes them require gradients
            Tensors inputs{requires_grad(x)};
            network.visit("", [&](const std::string&, Tensor& tensor, const ParameterInfo& info) {
                if (info.trained) inputs.push_back(tensor);
            });
            timings.time(path + "/forward_backward", [&] {
                grad(Tensors{network.forward(inputs[0])}, inputs, Tensors{weight});
            });
        }
    }
}

// A million parameters. The objective is a quadratic form so ill-conditioned that it is far from
// its minimum for as long as this takes; one evaluation is a small part of a step of L-BFGS.
void time_updates(Timings& timings) {
    constexpr int64_t count = 1'000'000;
    const Tensor curvature = exp(random_uniform({count}, {2}) * -12.0);
    for (const auto& [name, config] :
         {std::pair<std::string, OptimizerConfig>{"adam", AdamConfig{}},
          {"lbfgs", LbfgsConfig{.tolerance_gradient = 0, .tolerance_change = 0}}}) {
        if (!timings.wants("update/" + name)) continue;
        const auto optimizer =
            make_optimizer(config, ParameterLayout::single(count, DType::float32));
        const Tensor parameters = normal({count}, 1);
        const FlatKernels& flat = kernels({}).flat;
        const auto step = [&] {
            const StepResult result = optimizer->step(parameters, learning_rate_of(config), [&] {
                const Tensor gradient = parameters * curvature;
                return Evaluation{0.5 * flat.dot(parameters, gradient), gradient};
            });
            check(result.stop == StopReason::none, "update/{}: {}", name, result.message);
        };
        // Adam's gradient is free: it is measured alone.
        const Tensor gradient = normal({count}, 3);
        const auto update = [&] {
            optimizer->step(parameters, learning_rate_of(config), [&] {
                return Evaluation{1, gradient};
            });
        };
        const bool is_lbfgs = std::holds_alternative<LbfgsConfig>(config);
        if (is_lbfgs)
            for (int i = 0; i < 60; ++i) step();  // until the history is full
        timings.time("update/" + name, [&] { is_lbfgs ? step() : update(); });
    }
}

}  // namespace

int main(int argc, char** argv) {
    flush_denormals();
    Timings timings(argc, argv);
    time_elementwise(timings);
    time_products(timings);
    time_layers(timings);
    time_updates(timings);
    timings.print();
}
