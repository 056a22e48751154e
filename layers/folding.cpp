#include "layers/folding.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "autograd/operations.h"

namespace ralimp {
namespace {

bool is_linear(const ChainLayer& step) {
    return !step.features && step.activation == Activation::identity && step.scale == 1;
}

int64_t width_of(const ChainLayer& step) {
    return step.features ? step.features->width() : step.weight.size(0);
}

// W' (W x + b) + b' as one map, computed in double precision.
ChainLayer merged(const ChainLayer& first, const ChainLayer& second) {
    const DType type = first.weight.dtype();
    const Tensor outer = to(second.weight, DType::float64);
    ChainLayer result = second;
    result.weight = to(matmul(outer, to(first.weight, DType::float64)), type);
    if (first.bias.defined()) {
        const Tensor moved =
            squeeze(matmul(outer, unsqueeze(to(first.bias, DType::float64), 1)), 1);
        const Tensor bias = second.bias.defined() ? moved + to(second.bias, DType::float64) : moved;
        result.bias = to(bias, type);
    }
    return result;
}

// Whether the second step may take the place of both: it must not look at its input otherwise, and
// it must not become larger.
bool may_merge(const ChainLayer& first, const ChainLayer& second) {
    if (!is_linear(first) || (second.features && second.features->norm_weights.defined()))
        return false;
    const int64_t inputs = first.weight.size(1), inner = first.weight.size(0);
    const int64_t outputs = second.weight.size(0);
    return outputs * inputs <= inner * (inputs + outputs);
}

ChainLayer detached(ChainLayer step) {
    for (Tensor* tensor : {&step.weight, &step.bias})
        if (tensor->defined()) *tensor = tensor->detach().contiguous();
    if (!step.features) return step;
    ChainFeatures& features = *step.features;
    for (const auto member :
         {&ChainFeatures::growth, &ChainFeatures::norm_growth, &ChainFeatures::rotation,
          &ChainFeatures::norm_rotation, &ChainFeatures::norm_weights})
        if (Tensor& tensor = features.*member; tensor.defined())
            tensor = tensor.detach().contiguous();
    // Counts of clamped exponents are a matter of training.
    features.limit.counts = Tensor();
    return step;
}

std::vector<ChainLayer> folded(const std::vector<const Layer*>& layers) {
    const NoGrad pause;
    std::vector<ChainLayer> steps;
    for (const Layer* layer : layers) {
        const std::vector<ChainLayer> own = layer->as_chain();
        if (own.empty())
            fail_with(ExitCode::bad_config,
                      "fold: {} cannot be folded: it is no chain of products, "
                      "activations and exponential features",
                      layer->description());
        for (const ChainLayer& step : own) {
            ChainLayer next = detached(step);
            while (!steps.empty() && may_merge(steps.back(), next)) {
                next = merged(steps.back(), next);
                steps.pop_back();
            }
            steps.push_back(std::move(next));
        }
    }
    return steps;
}

constexpr std::size_t most_steps = LayerChainProgram::max_steps;

// From step `first` on, as many as a chain may have.
std::span<const ChainLayer> part_of(const std::vector<ChainLayer>& steps, std::size_t first) {
    return std::span(steps).subspan(first, std::min(most_steps, steps.size() - first));
}

int64_t different_magnitudes(const Tensor& x) {
    std::set<double> magnitudes;
    for (const double value : x.to_doubles()) magnitudes.insert(std::abs(value));
    return static_cast<int64_t>(magnitudes.size());
}

}  // namespace

NetworkCost cost_of(std::span<const ChainLayer> steps) {
    NetworkCost cost;
    for (const ChainLayer& step : steps) {
        cost.multiply_adds += step.weight.elements();
        cost.numbers += step.weight.elements();
        if (step.bias.defined()) cost.numbers += step.bias.elements();
        if (!step.features) continue;
        for (const auto coefficient : chain_coefficients)
            if (const Tensor& tensor = (*step.features).*coefficient; tensor.defined())
                cost.numbers += different_magnitudes(tensor);
        if (step.features->norm_weights.defined())
            cost.numbers += different_magnitudes(step.features->norm_weights);
    }
    return cost;
}

int64_t deployed_numbers(const Layer& network) {
    try {
        return cost_of(folded(network.parts())).numbers;
    } catch (const Error& error) {
        if (error.code() != ExitCode::bad_config) throw;
        return network.count().deployed;
    }
}

FoldedNetwork::FoldedNetwork(const std::vector<const Layer*>& layers)
    : FoldedNetwork(folded(layers)) {}

FoldedNetwork::FoldedNetwork(std::vector<ChainLayer> steps) : steps_(std::move(steps)) {
    check(!steps_.empty(), "folded network: no steps");
    int64_t width = steps_.front().weight.size(1);
    for (std::size_t i = 0; i < steps_.size(); i += most_steps) {
        const std::span<const ChainLayer> part = part_of(steps_, i);
        check(part[0].weight.size(1) == width &&
                  part[0].weight.dtype() == steps_.front().weight.dtype(),
              "folded network: step {} has weights {} after {} features", i, part[0].weight.shape(),
              width);
        packed_.emplace_back(part, i);
        for (const ChainLayer& layer : part) {
            fits_chain_ = fits_chain_ && layer.weight.size(0) <= LayerChainProgram::max_width &&
                          width <= 8 * LayerChainProgram::max_width;
            width = width_of(layer);
        }
    }
}

int64_t FoldedNetwork::outputs() const { return width_of(steps_.back()); }

Tensor FoldedNetwork::forward(const Tensor& x) const {
    check(x.dims() == 2 && x.size(1) == inputs(), "folded network: {} is not [rows, {}]", x.shape(),
          inputs());
    const NoGrad pause;
    if (x.size(0) < 64 || !fits_chain_) {
        Tensor y = x;
        for (const PackedChain& part : packed_) y = part.forward(y);
        return y;
    }
    Jet y = Jet::value_only(x);
    for (std::size_t i = 0; i < steps_.size(); i += most_steps)
        y = layer_chain(y, part_of(steps_, i));
    return y.value();
}

}  // namespace ralimp
