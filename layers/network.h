// The network of a coordinate task as its config describes it.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/box.h"
#include "layers/hidden.h"
#include "layers/mlp.h"
#include "layers/periodic_features.h"

namespace ralimp {

// inputs -> width (dense) -> width … (hidden_layers of them in all) -> outputs (linear).
struct NetworkConfig {
    int64_t hidden_layers = 8;
    int64_t width = 20;
    Activation activation = Activation::tanh;
    double omega = 1;        // f(omega (W x + b)) in every hidden layer but the first
    double first_omega = 1;  // the same in the first
    double envelope = 10;    // s of wire, in every hidden layer
    Initialization initialization = Initialization::xavier;
    std::optional<double> first_bias;
    HiddenConfig hidden;  // the layers from width to width
    bool scale_inputs = true;

    static void describe(auto& config, auto& field) {
        field("hidden_layers", config.hidden_layers,
              "layers with an activation; the first one is always dense", between(1, 1000));
        field("width", config.width, "features of every hidden layer", between(1, 65536));
        field("activation", config.activation, "activation of the hidden layers");
        field("omega", config.omega, "f(omega (W x + b)) in the hidden layers after the first",
              more_than(0));
        field("first_omega", config.first_omega, "the same in the first layer", more_than(0));
        field("envelope", config.envelope,
              "s of the activation wire, cos(omega z) exp(-(s z)^2); others have none",
              more_than(0));
        field("initialization", config.initialization, "how weights start; siren divides by omega");
        field("first_bias", config.first_bias,
              "k: the first layer's bias starts in U(-k, k), as FINER's does; null: as "
              "initialization says",
              at_least(0));
        describe_hidden(config, field, "kind of the layers from width to width");
        field("scale_inputs", config.scale_inputs, "map the domain to [-1, 1] first");
    }
    static void describe_hidden(auto& config, auto& field, const char* help) {
        field("hidden", config.hidden, help);
        const auto* low_rank = std::get_if<LowRankConfig>(&config.hidden);
        field.check("hidden", !low_rank || low_rank->rank <= config.width,
                    "rank must be at most the width of the network");
    }
};

// Features of every hidden layer: `width`, but for narrow networks theirs.
int64_t hidden_width(const NetworkConfig& config);

// What the layer with the number `layer`, 1 … hidden_layers - 1, from width to width is asked for:
// the first layer is number 0. Fits may be null.
HiddenStart hidden_start(const NetworkConfig& config, int64_t layer, DType dtype, uint64_t seed,
                         std::shared_ptr<RationalFits> fits);
// make_hidden() of a network: Error(bad_config), beginning with network.activation, where the kind
// of hidden layers cannot stand in for the activation.
std::unique_ptr<Layer> make_hidden_layer(const NetworkConfig& config, const HiddenStart& start);

// All random starts follow from the seed. Inputs lie in the box; with periodic ones the first layer
// has more inputs than the box has axes. Errors as make_hidden_layer().
std::unique_ptr<Mlp> make_network(const NetworkConfig& config, const Box& box, int64_t outputs,
                                  DType dtype, uint64_t seed, const PeriodicInputs& periodic = {});

}  // namespace ralimp
