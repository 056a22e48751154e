// A network as it is deployed: consecutive linear maps are one matrix, and what a layer keeps only
// for its training is multiplied in.
#pragma once
#include <span>
#include <vector>

#include "layers/layer.h"

namespace ralimp {

// What steps of a chain store and compute.
struct NetworkCost {
    // Weights, biases, and of the coefficients of exponents their different magnitudes.
    int64_t numbers = 0;
    int64_t multiply_adds = 0;  // of one input, in matrix products
};
NetworkCost cost_of(std::span<const ChainLayer> steps);

// Numbers that a network needs when it is deployed: folded where that is possible, else as its
// layers count them.
int64_t deployed_numbers(const Layer& network);

class FoldedNetwork {
public:
    // Of layers that follow each other. Error(bad_config) names the first that has not the form of
    // a chain (Layer::as_chain).
    explicit FoldedNetwork(const std::vector<const Layer*>& layers);
    // Of steps that are folded already; throws Error when they do not fit each other.
    explicit FoldedNetwork(std::vector<ChainLayer> steps);

    int64_t inputs() const { return steps_.front().weight.size(1); }
    int64_t outputs() const;
    const std::vector<ChainLayer>& steps() const { return steps_; }
    NetworkCost cost() const { return cost_of(steps_); }

    // x [rows, inputs] -> [rows, outputs], not recorded.
    Tensor forward(const Tensor& x) const;

private:
    std::vector<ChainLayer> steps_;
    std::vector<PackedChain> packed_;  // the same in parts of as many steps as a chain may have
    bool fits_chain_ = true;
};

}  // namespace ralimp
