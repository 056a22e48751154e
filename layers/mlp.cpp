#include "layers/mlp.h"

#include <iterator>

namespace ralimp {

Mlp::Mlp(std::vector<std::unique_ptr<Layer>> layers) : layers_(std::move(layers)) {
    check(!layers_.empty(), "mlp: no layers");
    for (std::size_t i = 1; i < layers_.size(); ++i)
        check(layers_[i]->inputs() == layers_[i - 1]->outputs(),
              "mlp: layer {} ({}) follows layer {} ({}): sizes differ", i,
              layers_[i]->description(), i - 1, layers_[i - 1]->description());
}

// Neighbouring layers that are small enough are computed as one chain.
Jet Mlp::forward(const Jet& x) const {
    Jet y = x;
    const int64_t width = chain_width(x.rows());
    std::vector<ChainLayer> chain;
    const auto finish_chain = [&] {
        if (!chain.empty()) y = layer_chain(y, chain);
        chain.clear();
    };
    for (const auto& layer : layers_) {
        if (!layer->fits_chain(width)) {
            finish_chain();
            y = layer->forward(y);
            continue;
        }
        std::vector<ChainLayer> steps = layer->as_chain();
        if (chain.size() + steps.size() > LayerChainProgram::max_steps) finish_chain();
        std::move(steps.begin(), steps.end(), std::back_inserter(chain));
    }
    finish_chain();
    return y;
}

namespace {
std::string layer_name(const std::string& prefix, std::size_t index) {
    return join(prefix, "layer_" + std::to_string(index));
}
}  // namespace

void Mlp::visit(const std::string& prefix, const ParameterVisitor& visitor) {
    for (std::size_t i = 0; i < layers_.size(); ++i)
        layers_[i]->visit(layer_name(prefix, i), visitor);
}

void Mlp::visit_clamps(const std::string& prefix, const ClampVisitor& visitor) const {
    for (std::size_t i = 0; i < layers_.size(); ++i)
        layers_[i]->visit_clamps(layer_name(prefix, i), visitor);
}

Tensor Mlp::initialize_from_data(const Tensor& x) {
    Tensor y = x;
    for (const auto& layer : layers_) y = layer->initialize_from_data(y);
    return y;
}

std::vector<const Layer*> Mlp::parts() const {
    std::vector<const Layer*> parts;
    for (const auto& layer : layers_) parts.push_back(layer.get());
    return parts;
}

ParameterCount Mlp::count() const {
    ParameterCount total;
    for (const auto& layer : layers_) total += layer->count();
    return total;
}

std::string Mlp::description() const {
    std::string text;
    for (const auto& layer : layers_) text += (text.empty() ? "" : "; ") + layer->description();
    return text;
}

}  // namespace ralimp
