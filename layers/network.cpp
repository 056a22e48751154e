#include "layers/network.h"

#include "layers/dense.h"
#include "layers/scaling.h"

namespace ralimp {

int64_t hidden_width(const NetworkConfig& config) {
    const auto* narrow = std::get_if<NarrowConfig>(&config.hidden);
    return narrow ? narrow->width : config.width;
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
    uint32_t layer = 0;
    const auto next_start = [&](Initialization initialization, double omega) {
        return LinearStart{initialization, omega, {seed, RandomStream::parameters, layer++}, {}};
    };
    const bool siren = config.initialization == Initialization::siren;
    LinearStart first =
        next_start(siren ? Initialization::siren_first : config.initialization, config.first_omega);
    first.bias = config.first_bias;
    layers.push_back(std::make_unique<Dense>(inputs, width, dtype, first, config.activation,
                                             config.first_omega, config.envelope));
    for (int64_t i = 1; i < config.hidden_layers; ++i) {
        const HiddenStart start{config.activation,
                                config.omega,
                                config.envelope,
                                next_start(config.initialization, config.omega),
                                dtype,
                                fits};
        try {
            layers.push_back(make_hidden(config.hidden, width, width, start));
        } catch (const Error& error) {  // nothing can stand in for the activation
            if (error.code() != ExitCode::bad_config) throw;
            fail_with(ExitCode::bad_config, "network.activation: {}: {}",
                      name_of(config.activation), error.what());
        }
    }
    layers.push_back(std::make_unique<Linear>(width, outputs, dtype,
                                              next_start(config.initialization, config.omega)));
    return std::make_unique<Mlp>(std::move(layers));
}

}  // namespace ralimp
