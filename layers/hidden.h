// The kinds of hidden layer a network can be built from: `hidden: {kind: …}` in every model config.
// A new kind is one file with its layer, one alternative here and one case in make_hidden.
#pragma once
#include <memory>
#include <variant>

#include "core/describe.h"
#include "layers/linear.h"
#include "layers/ralimp_config.h"

namespace ralimp {

struct DenseHiddenConfig {
    static constexpr const char* kind = "dense";
    static void describe(auto&, auto&) {}
};

using HiddenConfig = std::variant<DenseHiddenConfig, RalimpConfig>;

// What every kind is asked for: a layer that computes, or stands in for, f(scale (W x + b)).
struct HiddenStart {
    Activation activation = Activation::tanh;
    double scale = 1;     // omega of a sine network
    double envelope = 1;  // s of wire
    LinearStart start;    // of W and b; its key is the source of every random number of the layer
    DType dtype = DType::float32;
    // Where layers of a network keep the fits they share; null: a layer makes its own.
    std::shared_ptr<RationalFits> fits;
};

std::unique_ptr<Layer> make_hidden(const HiddenConfig& config, int64_t inputs, int64_t outputs,
                                   const HiddenStart& start);

}  // namespace ralimp
