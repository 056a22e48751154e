// The kinds of hidden layer a network can be built from: `hidden: {kind: …}` in every model config.
// A new kind is one file with its layer, one alternative here and one case in make_hidden.
#pragma once
#include <memory>
#include <variant>

#include "core/describe.h"
#include "layers/hidden_start.h"
#include "layers/ralimp_config.h"

namespace ralimp {

struct DenseHiddenConfig {
    static constexpr const char* kind = "dense";
    static void describe(auto&, auto&) {}
};

using HiddenConfig = std::variant<DenseHiddenConfig, RalimpConfig>;

std::unique_ptr<Layer> make_hidden(const HiddenConfig& config, int64_t inputs, int64_t outputs,
                                   const HiddenStart& start);

}  // namespace ralimp
