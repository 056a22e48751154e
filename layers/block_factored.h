// Layers whose matrix is two block-diagonal factors with a permutation between them:
// f(scale (M x + b)), M = L P R. Monarch matrices and block tensor-trains of two cores are of this
// form.
#pragma once
#include "core/describe.h"
#include "layers/hidden_start.h"

namespace ralimp {

// Monarch matrices (Dao et al., "Monarch: Expressive Structured Matrices for Efficient and Accurate
// Training", ICML 2022): `blocks` blocks in each factor, as evenly as sizes allow. The permutation
// takes one result of each block of R in turn. Entries start uniform in ±1/√fan_in.
struct MonarchConfig {
    static constexpr const char* kind = "monarch";

    int64_t blocks = 4;

    static void describe(auto& config, auto& field) {
        field("blocks", config.blocks,
              "blocks in each of the two factors; at most the width are made", at_least(1));
    }
};

// Block tensor-trains of two cores (Qiu et al., "Compute Better Spent: Replacing Dense Layers with
// Structured Matrices", ICML 2024): about √inputs blocks in R and √outputs in L, and `rank` results
// of each block of R for each block of L. Entries start as N(0, min(1, d_out / d_in) / d_in) and
// the learning rate of a core is scaled by d_in(layer) / d_in(core) / 2, d_in and d_out being sizes
// of its blocks: both are the paper's.
struct TensorTrainConfig {
    static constexpr const char* kind = "tensor_train";

    int64_t rank = 1;

    static void describe(auto& config, auto& field) {
        field("rank", config.rank, "of the two cores", at_least(1));
    }
};

// Blocks of each factor of a Monarch matrix, and of each core of a tensor-train.
int64_t monarch_blocks(int64_t inputs, int64_t outputs, const MonarchConfig& config);
struct TensorTrainBlocks {
    int64_t first, second;
};
TensorTrainBlocks tensor_train_blocks(int64_t inputs, int64_t outputs);

class BlockFactored : public Layer {
public:
    BlockFactored(int64_t inputs, int64_t outputs, const MonarchConfig& config,
                  const HiddenStart& start);
    BlockFactored(int64_t inputs, int64_t outputs, const TensorTrainConfig& config,
                  const HiddenStart& start);

    using Layer::forward;
    Jet forward(const Jet& x) const override;
    std::vector<FoldedStep> folded_steps() const override;
    int64_t inputs() const override { return inputs_; }
    int64_t outputs() const override { return bias_.elements(); }
    void visit(const std::string& prefix, const ParameterVisitor& visitor) override;
    // Scales both factors, so that M x has the variance that W x of the dense layer has on the
    // batch. In place of a trained layer each block of M starts with the best factors for the same
    // block of W on the batch, and L is fitted to W x + b with R as it is.
    Tensor initialize_from_data(const Tensor& x) override;
    ParameterCount count() const override;
    std::string description() const override;

    // M multiplied out, [outputs, inputs].
    Tensor matrix() const;

private:
    // P R x.
    Jet between(const Jet& x) const;
    // M x + b, for b [out] or undefined.
    Jet product(const Jet& x, const Tensor& bias) const;
    void start_from_trained(const Tensor& x);

    HiddenStart start_;
    const char* name_;
    int64_t inputs_;
    Tensors first_, second_;  // blocks of R and of L, [outputs, inputs] each
    int64_t turn_;            // results that P takes of each block of R in turn
    Tensor order_;            // P, int64: for each input of L the output of R that it is
    Tensor bias_;             // [out]
    double first_rate_ = 1, second_rate_ = 1;  // factors of the learning rate
};

}  // namespace ralimp
