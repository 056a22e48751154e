#include "layers/hidden.h"

#include "layers/dense.h"
#include "layers/ralimp.h"

namespace ralimp {
namespace {

std::unique_ptr<Layer> make(const DenseHiddenConfig&, int64_t inputs, int64_t outputs,
                            const HiddenStart& start) {
    return std::make_unique<Dense>(inputs, outputs, start.dtype, start.start, start.activation,
                                   start.scale, start.envelope);
}

std::unique_ptr<Layer> make(const RalimpConfig& config, int64_t inputs, int64_t outputs,
                            const HiddenStart& start) {
    return std::make_unique<Ralimp>(inputs, outputs, config, start);
}

}  // namespace

std::unique_ptr<Layer> make_hidden(const HiddenConfig& config, int64_t inputs, int64_t outputs,
                                   const HiddenStart& start) {
    return std::visit([&](const auto& kind) { return make(kind, inputs, outputs, start); }, config);
}

}  // namespace ralimp
