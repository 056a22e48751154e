// The kinds of hidden layer a network can be built from: `hidden: {kind: …}` in every model config.
// A new kind is one pair of files with its config and its layer, one alternative here, one case in
// make_hidden and one in network_size.cpp.
#pragma once
#include <memory>
#include <variant>

#include "core/describe.h"
#include "layers/block_factored.h"
#include "layers/eugen.h"
#include "layers/hidden_start.h"
#include "layers/low_rank.h"
#include "layers/ralimp_config.h"
#include "layers/snnk.h"

namespace ralimp {

struct DenseHiddenConfig {
    static constexpr const char* kind = "dense";
    static void describe(auto&, auto&) {}
};

// A dense network of another width: what a layer with fewer parameters has to be better than.
struct NarrowConfig {
    static constexpr const char* kind = "narrow";

    int64_t width = 10;

    static void describe(auto& config, auto& field) {
        field("width", config.width,
              "features of every hidden layer of the network, in place of its width",
              between(1, 65536));
    }
};

using HiddenConfig = std::variant<DenseHiddenConfig, RalimpConfig, NarrowConfig, LowRankConfig,
                                  SnnkConfig, EugenConfig, MonarchConfig, TensorTrainConfig>;

std::unique_ptr<Layer> make_hidden(const HiddenConfig& config, int64_t inputs, int64_t outputs,
                                   const HiddenStart& start);

}  // namespace ralimp
