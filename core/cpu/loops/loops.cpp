#include "core/cpu/loops/loops.h"

#include "core/cpu/loops/parts.h"

namespace ralimp::cpu::SIMD_LEVEL {

const Loops& loops() {
    static const Loops table = []() noexcept {
        Loops all{};
        add_unary(all);
        add_binary(all);
        add_compare(all);
        add_reduce(all);
        add_convert(all);
        add_random(all);
        add_activation(all);
        add_exponential_features(all);
        add_layer_chain(all);
        add_packed_chain(all);
        add_softmax(all);
        return all;
    }();
    return table;
}

}  // namespace ralimp::cpu::SIMD_LEVEL
