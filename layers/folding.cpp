#include "layers/folding.h"

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

FoldedNetwork::FoldedNetwork(const std::vector<const Layer*>& layers)
    : FoldedNetwork(folded(layers)) {}

FoldedNetwork::FoldedNetwork(std::vector<ChainLayer> steps) : steps_(std::move(steps)) {
    check(!steps_.empty(), "folded network: no steps");
    int64_t width = steps_.front().weight.size(1);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const ChainLayer& layer = steps_[i];
        check(layer.weight.dims() == 2 && layer.weight.size(1) == width,
              "folded network: step {} has weights {} after {} features", i, layer.weight.shape(),
              width);
        check(layer.weight.dtype() == steps_.front().weight.dtype() &&
                  (!layer.bias.defined() || (layer.bias.dtype() == layer.weight.dtype() &&
                                             layer.bias.shape() == Shape{layer.weight.size(0)})),
              "folded network: the biases of step {} do not fit its weights", i);
        ExponentialForm form;
        if (layer.features) {
            const ChainFeatures& features = *layer.features;
            const int64_t products = layer.weight.size(0);
            bool fits = features.oscillating() ||
                        (features.growth.defined() && !features.norm_rotation.defined());
            for (const auto coefficient : chain_coefficients)
                if (const Tensor& tensor = features.*coefficient; tensor.defined())
                    fits = fits && tensor.shape() == Shape{features.exponentials()} &&
                           tensor.dtype() == layer.weight.dtype();
            check(fits && features.reads(products) &&
                      features.projections.dtype() == DType::int32 &&
                      features.projections.dims() == 1,
                  "folded network: the features of step {} do not fit its {} projections", i,
                  products);
            form = exponential_form(features);
        }
        fits_chain_ = fits_chain_ && layer.weight.size(0) <= LayerChainProgram::max_width &&
                      width <= 8 * LayerChainProgram::max_width;
        width = width_of(layer);
        forms_.push_back(std::move(form));
    }
}

int64_t FoldedNetwork::outputs() const { return width_of(steps_.back()); }

Tensor FoldedNetwork::forward(const Tensor& x) const {
    check(x.dims() == 2 && x.size(1) == inputs(), "folded network: {} is not [rows, {}]", x.shape(),
          inputs());
    const NoGrad pause;
    if (x.size(0) < 64 || !fits_chain_) return by_rows(x);
    Jet y = Jet::value_only(x);
    const std::span<const ChainLayer> all = steps_;
    for (std::size_t i = 0; i < all.size(); i += LayerChainProgram::max_steps)
        y = layer_chain(
            y, all.subspan(i, std::min<std::size_t>(LayerChainProgram::max_steps, all.size() - i)));
    return y.value();
}

// A chain takes 64 rows at a time; fewer of them are cheaper step by step.
Tensor FoldedNetwork::by_rows(const Tensor& x) const {
    Jet y = Jet::value_only(x);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const ChainLayer& layer = steps_[i];
        const Jet p = linear(y, layer.weight, layer.bias);
        if (!layer.features) {
            y = is_linear(layer) ? p : apply(layer.activation, p, layer.scale, layer.envelope);
            continue;
        }
        const ChainFeatures& features = *layer.features;
        const Jet read = slice_features(p, 0, features.exponential_rows);
        std::optional<Jet> norms;
        if (features.norm_weights.defined())
            norms = linear(square(y), unsqueeze(features.norm_weights, 0), Tensor());
        else if (features.has_norms())
            norms =
                sum_features(square(read)) * (1.0 / static_cast<double>(features.exponential_rows));
        std::vector<Jet> parts{exponential_features(read, norms ? &*norms : nullptr,
                                                    forms_[i].blocks, forms_[i].table,
                                                    features.oscillating(), features.limit)};
        for (int64_t k = 0; k < features.degree; ++k) {
            const int64_t first = features.polynomial_first() + k * features.rows;
            const Jet own = slice_features(p, first, first + features.rows);
            parts.push_back(k == 0 ? own : parts.back() * own);
        }
        y = parts.size() == 1 ? parts[0] : concatenate(parts);
    }
    return y.value();
}

}  // namespace ralimp
