#include "layers/linear.h"

#include <cmath>

#include "autograd/operations.h"

namespace ralimp {

Tensor start_weight(int64_t outputs, int64_t inputs, DType dtype, const LinearStart& start) {
    check(inputs > 0 && outputs > 0, "linear: {} inputs and {} outputs; both must be positive",
          inputs, outputs);
    const double fan_in = static_cast<double>(inputs), fan_out = static_cast<double>(outputs);
    double bound = 0;
    switch (start.initialization) {
        case Initialization::xavier:
            bound = std::sqrt(6 / (fan_in + fan_out));
            break;
        case Initialization::kaiming:
            bound = std::sqrt(6 / fan_in);
            break;
        case Initialization::siren:
            bound = std::sqrt(6 / fan_in) / start.omega;
            break;
        case Initialization::siren_first:
            bound = 1 / fan_in;
            break;
        case Initialization::fan_in:
            bound = 1 / std::sqrt(fan_in);
            break;
        case Initialization::xavier_normal:
            return random_normal({outputs, inputs}, start.key, dtype, 0,
                                 std::sqrt(2 / (fan_in + fan_out)));
    }
    return random_uniform({outputs, inputs}, start.key, dtype, -bound, bound);
}

Tensor start_bias(int64_t outputs, int64_t inputs, DType dtype, const LinearStart& start) {
    using enum Initialization;
    const bool random = start.bias || start.initialization == siren ||
                        start.initialization == siren_first || start.initialization == fan_in;
    if (!random) return Tensor::zeros({outputs}, dtype);
    // The weight used the first outputs·inputs draws of the key; the bias has a key of its own.
    RandomKey key = start.key;
    key.step ^= 0x80000000u;
    const double bound = start.bias.value_or(1 / std::sqrt(static_cast<double>(inputs)));
    return random_uniform({outputs}, key, dtype, -bound, bound);
}

Linear::Linear(int64_t inputs, int64_t outputs, DType dtype, const LinearStart& start, bool bias)
    : weight_(start_weight(outputs, inputs, dtype, start)),
      bias_(bias ? start_bias(outputs, inputs, dtype, start) : Tensor()) {}

void Linear::visit(const std::string& prefix, const ParameterVisitor& visitor) {
    visitor(join(prefix, "weight"), weight_, {});
    if (bias_.defined()) visitor(join(prefix, "bias"), bias_, {.decay = false});
}

ParameterCount Linear::count() const {
    const int64_t numbers = weight_.elements() + (bias_.defined() ? bias_.elements() : 0);
    return {numbers, numbers, numbers};
}

std::string Linear::description() const {
    return fmt::format("linear {} -> {}{}", inputs(), outputs(),
                       bias_.defined() ? "" : ", no bias");
}

}  // namespace ralimp
