// What a folded network (layers/folding.h) consists of: the steps of chains, and what is no chain.
#pragma once
#include <variant>
#include <vector>

#include "autograd/layer_chain.h"

namespace ralimp {

// y = f(scale (P B x + b)). B has blocks on its diagonal, each of features and results of its own.
// P takes `turn` results of each block in turn, as long as a block has any; with turn = 0 it leaves
// them in their order.
struct BlockProduct {
    Tensors blocks = {};  // [results, features] each
    Tensor bias = {};     // [all results], or undefined
    int64_t turn = 0;
    Activation activation = Activation::identity;
    double scale = 1;
    double envelope = 1;  // s of wire
};

// The first `kept` features, and behind them product_features() (layers/projections.h) of the
// others: for each degree k = 1 … `degree` `rows` products of k of them.
struct RowProducts {
    int64_t kept = 0, rows = 0, degree = 1;
    bool share_rows = false;
};

// The features x, and behind them √(|x|² + floor²).
struct InputNorm {
    int64_t inputs = 0;
    double floor = 0;
};

using FoldedStep = std::variant<ChainLayer, BlockProduct, RowProducts, InputNorm>;

// Features that a step takes and makes. Throws Error for a step that does not fit itself, or whose
// tensors are not of this type; `number` is its own in messages.
struct StepSizes {
    int64_t inputs, outputs;
};
StepSizes sizes_of(const FoldedStep& step, DType dtype, std::size_t number);

// x [rows, inputs] -> [rows, outputs], not recorded.
Tensor forward(const FoldedStep& step, const Tensor& x);

// B x + shift, for a shift [all results] or undefined.
Jet multiply_blocks(const Jet& x, const Tensors& blocks, const Tensor& shift);
// P: for each result in the new order its place in the old one, int64.
Tensor taken_in_turn(const Tensors& blocks, int64_t turn);
// The same as one matrix, in the type of the blocks.
ChainLayer multiplied_out(const BlockProduct& step);

}  // namespace ralimp
