#include "layers/folded_step.h"

#include <algorithm>
#include <cmath>

#include "autograd/operations.h"
#include "core/parallel.h"
#include "layers/projections.h"

namespace ralimp {
namespace {

// Sizes that stand in files: products of three of them are no overflow.
constexpr int64_t most_features = int64_t{1} << 32, most_degree = 1000;

int64_t results_of(const Tensors& blocks) {
    int64_t sum = 0;
    for (const Tensor& block : blocks) sum += block.size(0);
    return sum;
}

StepSizes sizes(const ChainLayer& step, DType dtype, std::size_t number) {
    check(step.weight.dims() == 2, "folded network: step {} has weights {}", number,
          step.weight.shape());
    const int64_t inputs = step.weight.size(1);
    return {inputs, check_chain_layer(step, inputs, dtype, number)};
}

StepSizes sizes(const BlockProduct& step, DType dtype, std::size_t number) {
    check(!step.blocks.empty() && step.turn >= 0 && step.turn < most_features,
          "folded network: step {} has {} blocks, {} results of each in turn", number,
          step.blocks.size(), step.turn);
    int64_t inputs = 0;
    for (const Tensor& block : step.blocks) {
        check(block.dims() == 2 && block.elements() > 0 && block.dtype() == dtype,
              "folded network: a block of step {} is {} {}", number, name_of(block.dtype()),
              block.shape());
        inputs += block.size(1);
    }
    const int64_t results = results_of(step.blocks);
    check(
        !step.bias.defined() || (step.bias.shape() == Shape{results} && step.bias.dtype() == dtype),
        "folded network: step {} has biases {} {} for {} results", number,
        name_of(step.bias.dtype()), step.bias.shape(), results);
    return {inputs, results};
}

StepSizes sizes(const RowProducts& step, DType, std::size_t number) {
    check(step.kept >= 0 && step.kept < most_features && step.rows >= 1 &&
              step.rows < most_features && step.degree >= 1 && step.degree <= most_degree,
          "folded network: step {} keeps {} features and multiplies {} rows up to degree {}",
          number, step.kept, step.rows, step.degree);
    return {step.kept + step.rows * product_groups(step.degree, step.share_rows),
            step.kept + step.rows * step.degree};
}

StepSizes sizes(const InputNorm& step, DType, std::size_t number) {
    check(step.inputs >= 1 && step.inputs < most_features && step.floor >= 0 &&
              std::isfinite(step.floor),
          "folded network: step {} is the norm of {} inputs with a floor of {}", number,
          step.inputs, step.floor);
    return {step.inputs, step.inputs + 1};
}

}  // namespace

StepSizes sizes_of(const FoldedStep& step, DType dtype, std::size_t number) {
    return std::visit([&](const auto& kind) { return sizes(kind, dtype, number); }, step);
}

Tensor taken_in_turn(const Tensors& blocks, int64_t turn) {
    std::vector<int64_t> order;
    const auto results = static_cast<std::size_t>(results_of(blocks));
    for (int64_t row = 0; order.size() < results; row += turn) {
        int64_t begin = 0;
        for (const Tensor& block : blocks) {
            const int64_t own = block.size(0), end = turn > 0 ? std::min(row + turn, own) : own;
            for (int64_t i = row; i < end; ++i) order.push_back(begin + i);
            begin += own;
        }
    }
    return Tensor::from(order, {static_cast<int64_t>(results)});
}

Jet multiply_blocks(const Jet& x, const Tensors& blocks, const Tensor& shift) {
    std::vector<Jet> parts;
    int64_t in = 0, out = 0;
    for (const Tensor& block : blocks) {
        const int64_t in_end = in + block.size(1), out_end = out + block.size(0);
        parts.push_back(linear(slice_features(x, in, in_end), block,
                               shift.defined() ? slice(shift, 0, out, out_end) : Tensor()));
        in = in_end;
        out = out_end;
    }
    return concatenate(parts);
}

namespace {

Tensor outputs_of(const ChainLayer& step, const Tensor& x) {
    return layer_chain(Jet::value_only(x), {&step, 1}).value();
}

Tensor outputs_of(const BlockProduct& step, const Tensor& x) {
    Jet y = multiply_blocks(Jet::value_only(x), step.blocks, step.turn ? Tensor() : step.bias);
    if (step.turn > 0) {
        Tensor turned = index_select(y.value(), 1, taken_in_turn(step.blocks, step.turn));
        if (step.bias.defined()) turned = turned + step.bias;
        y = Jet::value_only(turned);
    }
    return apply(step.activation, y, step.scale, step.envelope).value();
}

template <class T>
void row_of(const RowProducts& step, const T* x, T* y) {
    y = std::copy_n(x, step.kept, y);
    x += step.kept;
    const auto multiply = [&](const T* product) {
        for (int64_t i = 0; i < step.rows; ++i) y[i] = product[i] * x[i];
        x += step.rows;
    };
    for (int64_t degree = 1; degree <= step.degree; ++degree, y += step.rows) {
        if (step.share_rows && degree > 1) {
            multiply(y - step.rows);
            continue;
        }
        std::copy_n(x, step.rows, y);
        x += step.rows;
        for (int64_t factor = 1; factor < (step.share_rows ? 1 : degree); ++factor) multiply(y);
    }
}

template <class T>
void row_of(const InputNorm& step, const T* x, T* y) {
    constexpr int64_t lanes = 16;  // sums that do not wait for each other
    T sums[lanes] = {};
    int64_t i = 0;
    for (; i + lanes <= step.inputs; i += lanes)
        for (int64_t lane = 0; lane < lanes; ++lane) sums[lane] += x[i + lane] * x[i + lane];
    T sum = static_cast<T>(step.floor * step.floor);
    for (; i < step.inputs; ++i) sum += x[i] * x[i];
    for (const T part : sums) sum += part;
    *std::copy_n(x, step.inputs, y) = std::sqrt(sum);
}

// Row by row: as operations of their own, of few rows each would take longer than the products of a
// network, and of many pass over the memory several times.
template <class Step>
Tensor by_rows(const Step& step, const Tensor& input) {
    check(input.device() == Device{}, "folded network: the inputs are on {}, not on the cpu",
          to_string(input.device()));
    const Tensor x = input.contiguous();
    // No structured binding: clang 14 does not capture it.
    const StepSizes size = sizes(step, x.dtype(), 0);
    const int64_t inputs = size.inputs, outputs = size.outputs;
    const Tensor out = Tensor::empty({x.size(0), outputs}, x.dtype());
    const auto fill = [&]<class T>(const T* from, T* to) {
        constexpr int64_t worth_a_thread = 1 << 14;
        parallel_for(x.size(0), std::max<int64_t>(1, worth_a_thread / inputs),
                     [&](int64_t begin, int64_t end) {
                         for (int64_t row = begin; row < end; ++row)
                             row_of(step, from + row * inputs, to + row * outputs);
                     });
    };
    if (x.dtype() == DType::float32)
        fill(x.data<float>(), out.data<float>());
    else
        fill(x.data<double>(), out.data<double>());
    return out;
}

Tensor outputs_of(const RowProducts& step, const Tensor& x) { return by_rows(step, x); }
Tensor outputs_of(const InputNorm& step, const Tensor& x) { return by_rows(step, x); }

}  // namespace

Tensor forward(const FoldedStep& step, const Tensor& x) {
    const NoGrad pause;
    return std::visit([&](const auto& kind) { return outputs_of(kind, x); }, step);
}

ChainLayer multiplied_out(const BlockProduct& step) {
    int64_t inputs = 0, row = 0, column = 0;
    for (const Tensor& block : step.blocks) inputs += block.size(1);
    const Tensor diagonal =
        Tensor::zeros({results_of(step.blocks), inputs}, step.blocks.front().dtype());
    for (const Tensor& block : step.blocks) {
        const int64_t row_end = row + block.size(0), column_end = column + block.size(1);
        slice(slice(diagonal, 0, row, row_end), 1, column, column_end).copy_from(block);
        row = row_end;
        column = column_end;
    }
    return {index_select(diagonal, 0, taken_in_turn(step.blocks, step.turn)),
            step.bias,
            step.activation,
            step.scale,
            step.envelope,
            {}};
}

}  // namespace ralimp
