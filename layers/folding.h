// A network as it is deployed: consecutive linear maps are one matrix, and what a layer keeps only
// for its training is multiplied in.
#pragma once
#include <span>
#include <vector>

#include "layers/layer.h"

namespace ralimp {

// What steps store and compute.
struct NetworkCost {
    // Weights, biases, and of the coefficients of exponents their different magnitudes.
    int64_t numbers = 0;
    int64_t multiply_adds = 0;  // of one input, in matrix products
};
NetworkCost cost_of(std::span<const FoldedStep> steps);

// Numbers that a network needs when it is deployed: those of its FoldedNetwork, and its errors.
int64_t deployed_numbers(const Layer& network);

class FoldedNetwork {
public:
    // Of layers that follow each other. Error(bad_config) names the first that is not made of such
    // steps (Layer::folded_steps).
    explicit FoldedNetwork(const std::vector<const Layer*>& layers);
    // Of steps that are folded already; throws Error when they do not fit each other.
    explicit FoldedNetwork(std::vector<FoldedStep> steps);

    int64_t inputs() const { return inputs_; }
    int64_t outputs() const { return outputs_; }
    DType dtype() const { return dtype_; }
    const std::vector<FoldedStep>& steps() const { return steps_; }
    NetworkCost cost() const { return cost_of(steps_); }

    // x [rows, inputs] -> [rows, outputs], not recorded.
    Tensor forward(const Tensor& x) const;

private:
    // Steps that follow each other, as many as a chain may have.
    struct Chain {
        explicit Chain(std::vector<ChainLayer> steps);
        Tensor forward(const Tensor& x) const;

        std::vector<ChainLayer> layers;
        PackedChain packed;  // the same
        bool fits = true;    // whether many rows go through layer_chain()
    };
    using Part = std::variant<Chain, FoldedStep>;
    Tensor rows_of(const Tensor& x) const;

    std::vector<FoldedStep> steps_;
    std::vector<Part> parts_;  // what is computed
    int64_t inputs_ = 0, outputs_ = 0;
    DType dtype_ = DType::float32;
};

}  // namespace ralimp
