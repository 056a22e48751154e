#include "layers/network.h"

#include "layers/dense.h"
#include "layers/scaling.h"

namespace ralimp {

int64_t hidden_width(const NetworkConfig& config) {
    const auto* narrow = std::get_if<NarrowConfig>(&config.hidden);
    return narrow ? narrow->width : config.width;
}

namespace {

// The layer's number tells its draws apart.
LinearStart linear_start(Initialization initialization, double omega, int64_t layer,
                         uint64_t seed) {
    return {
        initialization, omega, {seed, RandomStream::parameters, static_cast<uint32_t>(layer)}, {}};
}

}  // namespace

HiddenStart hidden_start(const NetworkConfig& config, int64_t layer, DType dtype, uint64_t seed,
                         std::shared_ptr<RationalFits> fits) {
    return {config.activation,
            config.omega,
            config.envelope,
            linear_start(config.initialization, config.omega, layer, seed),
            dtype,
            std::move(fits)};
}

std::unique_ptr<Layer> make_hidden_layer(const NetworkConfig& config, const HiddenStart& start) {
    const int64_t width = hidden_width(config);
    try {
        return make_hidden(config.hidden, width, width, start);
    } catch (const Error& error) {  // nothing can stand in for the activation
        if (error.code() != ExitCode::bad_config) throw;
        fail_with(ExitCode::bad_config, "network.activation: {}: {}", name_of(config.activation),
                  error.what());
    }
}

std::unique_ptr<Mlp> make_network(const NetworkConfig& config, const Box& box, int64_t outputs,
                                  DType dtype, uint64_t seed, const PeriodicInputs& periodic) {
    std::vector<std::unique_ptr<Layer>> layers;
    if (!periodic.axes.empty())
        layers.push_back(
            std::make_unique<PeriodicFeatures>(box, periodic, config.scale_inputs, dtype));
    else if (config.scale_inputs)
        layers.push_back(std::make_unique<Scaling>(box, dtype));
    const int64_t inputs = layers.empty() ? box.dims() : layers.back()->outputs();
    const int64_t width = hidden_width(config);
    const auto fits = std::make_shared<RationalFits>();
    const bool siren = config.initialization == Initialization::siren;
    LinearStart first = linear_start(siren ? Initialization::siren_first : config.initialization,
                                     config.first_omega, 0, seed);
    first.bias = config.first_bias;
    layers.push_back(std::make_unique<Dense>(inputs, width, dtype, first, config.activation,
                                             config.first_omega, config.envelope));
    for (int64_t layer = 1; layer < config.hidden_layers; ++layer)
        layers.push_back(make_hidden_layer(config, hidden_start(config, layer, dtype, seed, fits)));
    layers.push_back(std::make_unique<Linear>(
        width, outputs, dtype,
        linear_start(config.initialization, config.omega, config.hidden_layers, seed)));
    return std::make_unique<Mlp>(std::move(layers));
}

}  // namespace ralimp
