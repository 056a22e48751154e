#include "layers/gated.h"

#include "autograd/operations.h"

namespace ralimp {
namespace {

LinearStart start_of(const LinearStart& start, uint64_t matrix) {
    LinearStart own = start;
    own.key.seed += matrix << 32;
    return own;
}

Tensor random_signs(const Shape& shape, const RandomKey& key, DType dtype) {
    return sign(random_uniform(shape, key, dtype, -1, 1) + 1e-30);
}

Ralimp feature_map(const GatedFeedForward& block, const RalimpConfig& config, HiddenStart start) {
    check(config.psi == PsiMode::weights && config.scale.rule == ScaleRule::fixed &&
              config.scale.value == 1,
          "gated: the features must have psi: weights and a fixed scale of 1");
    start.activation = block.activation();
    start.dtype = block.gate().dtype();
    const int64_t hidden = block.gate().size(0);
    Ralimp features(block.inputs(), hidden, config, start);
    features.set_weights(block.gate(), Tensor::zeros({hidden}, start.dtype));
    return features;
}

}  // namespace

GatedFeedForward::GatedFeedForward(const GatedConfig& config, const LinearStart& start)
    : activation_(config.activation),
      gate_(start_weight(config.hidden, config.inputs, config.dtype, start_of(start, 1))),
      up_(start_weight(config.hidden, config.inputs, config.dtype, start_of(start, 2))),
      down_(start_weight(config.outputs, config.hidden, config.dtype, start_of(start, 3))) {}

Jet GatedFeedForward::forward(const Jet& x) const {
    const Jet gate = apply(activation_, linear(x, gate_, Tensor()));
    return linear(gate * linear(x, up_, Tensor()), down_, Tensor());
}

void GatedFeedForward::visit(const std::string& prefix, const ParameterVisitor& visitor) {
    visitor(join(prefix, "gate.weight"), gate_, {});
    visitor(join(prefix, "up.weight"), up_, {});
    visitor(join(prefix, "down.weight"), down_, {});
}

ParameterCount GatedFeedForward::count() const {
    const int64_t numbers = gate_.elements() + up_.elements() + down_.elements();
    return {numbers, numbers, numbers};
}

std::string GatedFeedForward::description() const {
    return fmt::format("gated {} -> {} -> {}, {}", inputs(), gate_.size(0), outputs(),
                       name_of(activation_));
}

HadamardGated::HadamardGated(const GatedFeedForward& block, int64_t rank,
                             const RalimpConfig& features, const HiddenStart& start)
    : features_(feature_map(block, features, start)) {
    check(rank >= 1, "gated: a rank of {}", rank);
    NoGrad no_grad;
    const DType dtype = block.gate().dtype();
    const Ralimp::WeightSide side = features_.weight_side();
    const Jet origin = Jet::value_only(Tensor::zeros({1, block.inputs()}, dtype));
    const Tensor of_zero = features_.features(origin).value();  // [1, F]
    const Tensor constant = linear(of_zero, side.psi, side.constant);
    const int64_t count = features_.feature_count();
    const Tensor signs = random_signs({rank, count + 1}, start_of(start.start, 1).key, dtype);
    left_ = slice(signs, 1, 0, count).contiguous();
    left_bias_ = select(signs, 1, count) - squeeze(linear(of_zero, left_, Tensor()), 0);
    right_ = random_signs({rank, block.inputs()}, start_of(start.start, 2).key, dtype);
    const Tensor of_psi =
        linear(concatenate({side.psi, transpose(constant)}, 1), signs, Tensor());  // [l, r]
    const Tensor pairs = of_psi * linear(block.up(), right_, Tensor());
    down_ = matmul(block.down(), pairs) / static_cast<double>(rank);
}

Jet HadamardGated::forward(const Jet& x) const {
    const Jet gate = linear(features_.features(x), left_, left_bias_);
    return linear(gate * linear(x, right_, Tensor()), down_, Tensor());
}

void HadamardGated::visit(const std::string& prefix, const ParameterVisitor& visitor) {
    visitor(join(prefix, "left.weight"), left_, {});
    visitor(join(prefix, "left.bias"), left_bias_, {.decay = false});
    visitor(join(prefix, "right.weight"), right_, {});
    visitor(join(prefix, "down.weight"), down_, {});
    // What W_g was made into is in D; the rest of the feature map stays.
    features_.visit("", [&](const std::string& name, Tensor& tensor, const ParameterInfo&) {
        if (name != "weight" && name != "bias" && name != "weight_scale")
            visitor(join(prefix, "features." + name), tensor, {.trained = false});
    });
}

ParameterCount HadamardGated::count() const {
    const int64_t numbers =
        left_.elements() + left_bias_.elements() + right_.elements() + down_.elements();
    // Of the feature map what its own count has besides Ψ and its constant term.
    const ParameterCount map = features_.count();
    const int64_t psi = (features_.feature_count() + 1) * features_.outputs();
    return {numbers, numbers + map.deployed - psi, numbers + map.regenerated - psi};
}

std::string HadamardGated::description() const {
    return fmt::format("gated {} -> {}, rank {}, features of {}", inputs(), outputs(),
                       left_.size(0), features_.description());
}

int64_t HadamardGated::multiply_adds() const {
    return (features_.projection_rows() + right_.size(0)) * inputs() + left_.elements() +
           left_bias_.elements() + right_.size(0) + down_.elements();
}

}  // namespace ralimp
