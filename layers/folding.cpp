#include "layers/folding.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "autograd/operations.h"
#include "core/parallel.h"

namespace ralimp {
namespace {

// A block product of so many features is computed as one matrix: measured on two cores, products of
// its blocks are no faster up to there.
constexpr int64_t widest_multiplied_out = 512;

// Of products with a matrix; 0 for other steps.
struct ProductSizes {
    int64_t inputs = 0, outputs = 0, weights = 0;
};

ProductSizes product_of(const FoldedStep& step) {
    ProductSizes sizes;
    const auto add = [&](const Tensor& block) {
        sizes.outputs += block.size(0);
        sizes.inputs += block.size(1);
        sizes.weights += block.elements();
    };
    if (const auto* layer = std::get_if<ChainLayer>(&step)) add(layer->weight);
    if (const auto* product = std::get_if<BlockProduct>(&step))
        std::for_each(product->blocks.begin(), product->blocks.end(), add);
    return sizes;
}

bool is_linear(const FoldedStep& step) {
    const auto has_no_activation = [](const auto& product) {
        return product.activation == Activation::identity && product.scale == 1;
    };
    if (const auto* layer = std::get_if<ChainLayer>(&step))
        return !layer->features && has_no_activation(*layer);
    const auto* product = std::get_if<BlockProduct>(&step);
    return product && has_no_activation(*product);
}

// Whether it looks at its input by a product alone.
bool is_of_products(const FoldedStep& step) {
    if (const auto* layer = std::get_if<ChainLayer>(&step))
        return !layer->features || !layer->features->norm_weights.defined();
    return std::holds_alternative<BlockProduct>(step);
}

ChainLayer as_matrix(const FoldedStep& step) {
    const auto* product = std::get_if<BlockProduct>(&step);
    return product ? multiplied_out(*product) : std::get<ChainLayer>(step);
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

// Whether one matrix may take the place of both: it must not be larger.
bool may_merge(const FoldedStep& first, const FoldedStep& second) {
    if (!is_linear(first) || !is_of_products(second)) return false;
    const ProductSizes inner = product_of(first), outer = product_of(second);
    return outer.outputs * inner.inputs <= inner.weights + outer.weights;
}

std::vector<FoldedStep> collapsed(std::vector<FoldedStep> steps) {
    std::vector<FoldedStep> result;
    for (FoldedStep& next : steps) {
        while (!result.empty() && may_merge(result.back(), next)) {
            next = merged(as_matrix(result.back()), as_matrix(next));
            result.pop_back();
        }
        result.push_back(std::move(next));
    }
    return result;
}

void detach(ChainLayer& step) {
    for (Tensor* tensor : {&step.weight, &step.bias})
        if (tensor->defined()) *tensor = tensor->detach().contiguous();
    if (!step.features) return;
    ChainFeatures& features = *step.features;
    for (const auto member :
         {&ChainFeatures::growth, &ChainFeatures::norm_growth, &ChainFeatures::rotation,
          &ChainFeatures::norm_rotation, &ChainFeatures::norm_weights})
        if (Tensor& tensor = features.*member; tensor.defined())
            tensor = tensor.detach().contiguous();
    // Counts of clamped exponents are a matter of training.
    features.limit.counts = Tensor();
}

void detach(BlockProduct& step) {
    for (Tensor& block : step.blocks) block = block.detach().contiguous();
    if (step.bias.defined()) step.bias = step.bias.detach().contiguous();
}

void detach(RowProducts&) {}
void detach(InputNorm&) {}

std::vector<FoldedStep> folded(const std::vector<const Layer*>& layers) {
    const NoGrad pause;
    std::vector<FoldedStep> steps;
    for (const Layer* layer : layers) {
        std::vector<FoldedStep> own = layer->folded_steps();
        if (own.empty())
            fail_with(ExitCode::bad_config,
                      "fold: {} cannot be folded: it is not made of the steps of folded networks",
                      layer->description());
        for (FoldedStep& step : own) {
            std::visit([](auto& kind) { detach(kind); }, step);
            steps.push_back(std::move(step));
        }
    }
    return collapsed(std::move(steps));
}

// What is computed for these steps.
std::vector<FoldedStep> with_matrices(std::vector<FoldedStep> steps) {
    for (FoldedStep& step : steps) {
        const ProductSizes sizes = product_of(step);
        if (std::holds_alternative<BlockProduct>(step) &&
            std::max(sizes.inputs, sizes.outputs) <= widest_multiplied_out)
            step = as_matrix(step);
    }
    return collapsed(std::move(steps));
}

DType dtype_of(const std::vector<FoldedStep>& steps) {
    for (const FoldedStep& step : steps) {
        if (const auto* layer = std::get_if<ChainLayer>(&step)) return layer->weight.dtype();
        const auto* product = std::get_if<BlockProduct>(&step);
        if (product && !product->blocks.empty()) return product->blocks.front().dtype();
    }
    fail("folded network: no step has weights");
}

int64_t different_magnitudes(const Tensor& x) {
    std::set<double> magnitudes;
    for (const double value : x.to_doubles()) magnitudes.insert(std::abs(value));
    return static_cast<int64_t>(magnitudes.size());
}

int64_t numbers_beside_weights(const ChainLayer& step) {
    int64_t numbers = step.bias.defined() ? step.bias.elements() : 0;
    if (!step.features) return numbers;
    for (const auto coefficient : chain_coefficients)
        if (const Tensor& tensor = (*step.features).*coefficient; tensor.defined())
            numbers += different_magnitudes(tensor);
    if (step.features->norm_weights.defined())
        numbers += different_magnitudes(step.features->norm_weights);
    return numbers;
}

int64_t numbers_beside_weights(const BlockProduct& step) {
    return step.bias.defined() ? step.bias.elements() : 0;
}
int64_t numbers_beside_weights(const RowProducts&) { return 0; }
int64_t numbers_beside_weights(const InputNorm&) { return 1; }

}  // namespace

NetworkCost cost_of(std::span<const FoldedStep> steps) {
    NetworkCost cost;
    for (const FoldedStep& step : steps) {
        const int64_t weights = product_of(step).weights;
        cost.multiply_adds += weights;
        cost.numbers +=
            weights +
            std::visit([](const auto& kind) { return numbers_beside_weights(kind); }, step);
    }
    return cost;
}

int64_t deployed_numbers(const Layer& network) { return cost_of(folded(network.parts())).numbers; }

FoldedNetwork::FoldedNetwork(const std::vector<const Layer*>& layers)
    : FoldedNetwork(folded(layers)) {}

FoldedNetwork::FoldedNetwork(std::vector<FoldedStep> steps) : steps_(std::move(steps)) {
    const NoGrad pause;
    check(!steps_.empty(), "folded network: no steps");
    dtype_ = dtype_of(steps_);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const StepSizes sizes = sizes_of(steps_[i], dtype_, i);
        if (i == 0) inputs_ = sizes.inputs;
        check(i == 0 || sizes.inputs == outputs_,
              "folded network: step {} takes {} features after {}", i, sizes.inputs, outputs_);
        outputs_ = sizes.outputs;
    }
    std::vector<ChainLayer> chain;
    const auto finish_chain = [&] {
        if (!chain.empty()) parts_.emplace_back(Chain(std::exchange(chain, {})));
    };
    for (const FoldedStep& step : with_matrices(steps_)) {
        if (const auto* layer = std::get_if<ChainLayer>(&step)) {
            if (chain.size() == LayerChainProgram::max_steps) finish_chain();
            chain.push_back(*layer);
        } else {
            finish_chain();
            parts_.emplace_back(step);
        }
    }
    finish_chain();
}

FoldedNetwork::Chain::Chain(std::vector<ChainLayer> steps)
    : layers(std::move(steps)), packed(layers) {
    constexpr int64_t most = LayerChainProgram::max_width;
    fits = std::all_of(layers.begin(), layers.end(), [](const ChainLayer& layer) {
        return layer.weight.size(0) <= most && layer.weight.size(1) <= 8 * most;
    });
}

Tensor FoldedNetwork::Chain::forward(const Tensor& x) const {
    if (x.size(0) < 64 || !fits) return packed.forward(x);
    return layer_chain(Jet::value_only(x), layers).value();
}

// All steps of some rows before the next ones, whose numbers then stay in the caches: a single
// chain does so itself.
Tensor FoldedNetwork::forward(const Tensor& x) const {
    check(x.dims() == 2 && x.size(1) == inputs(), "folded network: {} is not [rows, {}]", x.shape(),
          inputs());
    constexpr int64_t rows_together = 256;
    if (x.size(0) <= rows_together || parts_.size() == 1) return rows_of(x);
    const Tensor out = Tensor::empty({x.size(0), outputs()}, x.dtype());
    parallel_for(x.size(0), rows_together, [&](int64_t begin, int64_t end) {
        slice(out, 0, begin, end).copy_from(rows_of(slice(x, 0, begin, end)));
    });
    return out;
}

Tensor FoldedNetwork::rows_of(const Tensor& x) const {
    const NoGrad pause;
    Tensor y = x;
    for (const Part& part : parts_) {
        const auto* chain = std::get_if<Chain>(&part);
        y = chain ? chain->forward(y) : ralimp::forward(std::get<FoldedStep>(part), y);
    }
    return y;
}

}  // namespace ralimp
