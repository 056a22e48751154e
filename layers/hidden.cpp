#include "layers/hidden.h"

#include "layers/dense.h"
#include "layers/ralimp.h"

namespace ralimp {
namespace {

template <class Config>
struct Made;
template <>
struct Made<RalimpConfig> : std::type_identity<Ralimp> {};
template <>
struct Made<LowRankConfig> : std::type_identity<LowRank> {};
template <>
struct Made<SnnkConfig> : std::type_identity<Snnk> {};
template <>
struct Made<EugenConfig> : std::type_identity<Eugen> {};
template <>
struct Made<MonarchConfig> : std::type_identity<BlockFactored> {};
template <>
struct Made<TensorTrainConfig> : std::type_identity<BlockFactored> {};

template <class Config>
std::unique_ptr<Layer> make(const Config& config, int64_t inputs, int64_t outputs,
                            const HiddenStart& start) {
    return std::make_unique<typename Made<Config>::type>(inputs, outputs, config, start);
}

std::unique_ptr<Layer> make_dense(int64_t inputs, int64_t outputs, const HiddenStart& start) {
    return std::make_unique<Dense>(inputs, outputs, start.dtype, start.start, start.activation,
                                   start.scale, start.envelope);
}
std::unique_ptr<Layer> make(const DenseHiddenConfig&, int64_t inputs, int64_t outputs,
                            const HiddenStart& start) {
    return make_dense(inputs, outputs, start);
}
std::unique_ptr<Layer> make(const NarrowConfig&, int64_t inputs, int64_t outputs,
                            const HiddenStart& start) {
    return make_dense(inputs, outputs, start);
}

}  // namespace

std::unique_ptr<Layer> make_hidden(const HiddenConfig& config, int64_t inputs, int64_t outputs,
                                   const HiddenStart& start) {
    return std::visit([&](const auto& kind) { return make(kind, inputs, outputs, start); }, config);
}

}  // namespace ralimp
