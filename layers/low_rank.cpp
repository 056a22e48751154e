#include "layers/low_rank.h"

#include <cmath>

#include "autograd/operations.h"
#include "layers/ridge.h"

namespace ralimp {

LowRank::LowRank(int64_t inputs, int64_t outputs, const LowRankConfig& config,
                 const HiddenStart& start)
    : config_(config), start_(start), bias_(dense_bias(outputs, inputs, start)) {
    check(config.rank <= std::min(inputs, outputs),
          "low_rank: the rank {} is more than the smaller of {} inputs and {} outputs", config.rank,
          inputs, outputs);
    LinearStart own = start.start;
    own.key.seed += uint64_t{1} << 32;  // the key itself is that of the dense layer's weight
    left_ = start_weight(outputs, config.rank, start.dtype, own);
    right_ = start_weight(config.rank, inputs, start.dtype, start.start);
}

Jet LowRank::forward(const Jet& x) const {
    const Jet y = linear(linear(x, right_, Tensor()), left_, bias_);
    return config_.activated ? apply(start_.activation, y, start_.scale, start_.envelope) : y;
}

std::vector<ChainLayer> LowRank::as_chain() const {
    ChainLayer last{.weight = left_, .bias = bias_};
    if (config_.activated) {
        last.activation = start_.activation;
        last.scale = start_.scale;
        last.envelope = start_.envelope;
    }
    return {{.weight = right_}, last};
}

Tensor LowRank::initialize_from_data(const Tensor& x) {
    NoGrad no_grad;
    const Tensor seen = calibration_part("low_rank", x, inputs());
    // Of the dense layer what U V x + b is to be: its pre-activations or its outputs.
    HiddenStart dense = start_;
    Tensor weight;
    if (config_.activated) {
        dense.activation = Activation::identity;
        dense.scale = 1;
        weight = dense_weight(outputs(), inputs(), start_);
    }
    const Tensor wanted = dense_outputs(seen, outputs(), dense);
    if (!config_.activated) weight = ridge_regression(seen, wanted, config_.ridge).weight;
    const LowRankFactors factors = principal_factors(weight, seen, config_.rank);
    const bool trained = start_.weight.defined();
    const double scale = config_.activated && !trained ? std::pow(factors.kept, -0.25) : 1;
    left_.copy_from(factors.left * scale);
    right_.copy_from(factors.right * scale);
    bias_.copy_from(
        mean(wanted, {0}) -
        squeeze(linear(linear(mean(seen, {0}, true), right_, Tensor()), left_, Tensor()), 0));
    if (trained && config_.activated) {
        // What the dense layer saw is not quite what this one sees: U makes up for it.
        const Tensor between = linear(seen, right_, Tensor());
        const RidgeSolution rest =
            ridge_regression(between, wanted - linear(between, left_, bias_), config_.ridge);
        left_.copy_from(left_ + rest.weight);
        bias_.copy_from(bias_ + rest.bias);
    }
    return Layer::initialize_from_data(x);
}

void LowRank::visit(const std::string& prefix, const ParameterVisitor& visitor) {
    visitor(join(prefix, "left.weight"), left_, {});
    visitor(join(prefix, "right.weight"), right_, {});
    visitor(join(prefix, "bias"), bias_, {.decay = false});
}

ParameterCount LowRank::count() const {
    const int64_t numbers = left_.elements() + right_.elements() + bias_.elements();
    return {numbers, numbers, numbers};
}

std::string LowRank::description() const {
    return fmt::format("low_rank {} -> {} -> {}, {}", inputs(), config_.rank, outputs(),
                       config_.activated ? name_of(start_.activation) : "linear");
}

}  // namespace ralimp
