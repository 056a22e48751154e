#include "layers/block_factored.h"

#include <algorithm>
#include <cmath>

#include "autograd/operations.h"
#include "core/interruption.h"
#include "layers/ridge.h"

namespace ralimp {
namespace {

// `total` as `count` sizes that differ by at most one.
std::vector<int64_t> even_parts(int64_t total, int64_t count) {
    std::vector<int64_t> parts(static_cast<std::size_t>(count), total / count);
    for (int64_t i = 0; i < total % count; ++i) ++parts[static_cast<std::size_t>(i)];
    return parts;
}

// Draws a block [outputs, inputs]; each block of a layer has a key of its own.
class Blocks {
public:
    explicit Blocks(const HiddenStart& start) : start_(start) {}
    Tensor uniform(int64_t outputs, int64_t inputs) {
        const double bound = 1 / std::sqrt(static_cast<double>(inputs));
        return random_uniform({outputs, inputs}, next(), start_.dtype, -bound, bound);
    }
    Tensor normal(int64_t outputs, int64_t inputs) {
        const auto in = static_cast<double>(inputs), out = static_cast<double>(outputs);
        const double deviation = std::min(1.0, std::sqrt(out / in)) / std::sqrt(in);
        return random_normal({outputs, inputs}, next(), start_.dtype, 0, deviation);
    }

private:
    // The key itself is that of the dense layer's weight.
    RandomKey next() {
        RandomKey key = start_.start.key;
        key.seed += ++made_ << 32;
        return key;
    }
    const HiddenStart& start_;
    uint64_t made_ = 0;
};

int64_t root_above(int64_t n) {
    return static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(n))));
}

double variance_of(const Tensor& rows) {
    return sum(variance(to(rows, DType::float64), {0})).item();
}

}  // namespace

int64_t monarch_blocks(int64_t inputs, int64_t outputs, const MonarchConfig& config) {
    return std::min({config.blocks, inputs, outputs});
}

TensorTrainBlocks tensor_train_blocks(int64_t inputs, int64_t outputs) {
    const int64_t size = root_above(outputs);
    return {root_above(inputs), (outputs + size - 1) / size};
}

BlockFactored::BlockFactored(int64_t inputs, int64_t outputs, const MonarchConfig& config,
                             const HiddenStart& start)
    : start_(start),
      name_(MonarchConfig::kind),
      inputs_(inputs),
      turn_(1),
      bias_(dense_bias(outputs, inputs, start)) {
    const int64_t blocks = monarch_blocks(inputs, outputs, config);
    const std::vector<int64_t> in = even_parts(inputs, blocks), out = even_parts(outputs, blocks),
                               between = even_parts(std::min(inputs, outputs), blocks);
    Blocks draw(start);
    for (std::size_t k = 0; k < in.size(); ++k) first_.push_back(draw.uniform(between[k], in[k]));
    for (std::size_t k = 0; k < out.size(); ++k)
        second_.push_back(draw.uniform(out[k], between[k]));
    order_ = taken_in_turn(first_, turn_);
}

BlockFactored::BlockFactored(int64_t inputs, int64_t outputs, const TensorTrainConfig& config,
                             const HiddenStart& start)
    : start_(start),
      name_(TensorTrainConfig::kind),
      inputs_(inputs),
      turn_(config.rank),
      bias_(dense_bias(outputs, inputs, start)) {
    const auto [first, second] = tensor_train_blocks(inputs, outputs);
    const int64_t rank = config.rank;
    Blocks draw(start);
    for (int64_t size : even_parts(inputs, first))
        first_.push_back(draw.normal(second * rank, size));
    for (int64_t size : even_parts(outputs, second))
        second_.push_back(draw.normal(size, first * rank));
    order_ = taken_in_turn(first_, turn_);
    // d_in of a core is inputs / first and first · rank.
    first_rate_ = static_cast<double>(first) / 2;
    second_rate_ = static_cast<double>(inputs) / static_cast<double>(first * rank) / 2;
}

Jet BlockFactored::between(const Jet& x) const {
    return Jet(index_select(multiply_blocks(x, first_, Tensor()).channels(), 2, order_),
               x.shared_plan());
}

Jet BlockFactored::product(const Jet& x, const Tensor& bias) const {
    return multiply_blocks(between(x), second_, bias);
}

// Of small sizes one dense product is faster than many smaller ones.
Jet BlockFactored::forward(const Jet& x) const {
    if (std::max(inputs(), outputs()) <= LayerChainProgram::max_trained_width) {
        const ChainLayer step{matrix(),     bias_,           start_.activation,
                              start_.scale, start_.envelope, {}};
        return layer_chain(x, {&step, 1});
    }
    return apply(start_.activation, product(x, bias_), start_.scale, start_.envelope);
}

std::vector<FoldedStep> BlockFactored::folded_steps() const {
    return {BlockProduct{.blocks = first_, .turn = turn_},
            BlockProduct{.blocks = second_,
                         .bias = bias_,
                         .activation = start_.activation,
                         .scale = start_.scale,
                         .envelope = start_.envelope}};
}

Tensor BlockFactored::matrix() const {
    const Tensor diagonal = Tensor::zeros({inputs_, inputs_}, start_.dtype);
    diagonal.strided_view({inputs_}, {inputs_ + 1}).fill(1);
    return transpose(product(Jet::value_only(diagonal), Tensor()).value());
}

Tensor BlockFactored::initialize_from_data(const Tensor& x) {
    NoGrad no_grad;
    const Tensor seen = calibration_part(name_, x, inputs_);
    if (start_.weight.defined()) {
        start_from_trained(seen);
        return Layer::initialize_from_data(x);
    }
    const Tensor weight = start_weight(outputs(), inputs_, start_.dtype, start_.start);
    const double wanted = variance_of(
                     map_rows(seen, outputs(),
                              [&](const Tensor&rows) { return linear(rows, weight, Tensor()); })),
                 own = variance_of(map_rows(seen, outputs(), [&](const Tensor&rows) {
                     return product(Jet::value_only(rows), Tensor()).value();
                 }));
    if (!(std::isfinite(wanted) && std::isfinite(own)))
        fail_with(ExitCode::bad_config, "{}: the calibration batch is not finite", name_);
    // A batch that does not move says nothing.
    const double scale = wanted > 0 && own > 0 ? std::pow(wanted / own, 0.25) : 1;
    for (const Tensors* factor : {&first_, &second_})
        for (const Tensor& block : *factor) block.copy_from(block * scale);
    return Layer::initialize_from_data(x);
}

// Every number between the factors joins one block of R with one of L, so that block (o, i) of M
// has factors of its own: the principal components of what the same block of W makes of its part of
// x. L then takes the least squares of all W x + b, which also makes up for the parts of x that
// depend on each other.
void BlockFactored::start_from_trained(const Tensor& x) {
    constexpr double penalty = 1e-6;  // beside the mean square of what L sees
    const std::vector<int64_t> order = order_.to_vector<int64_t>();
    int64_t row = 0, place = 0;
    for (const Tensor& left : second_) {
        int64_t column = 0, first_result = 0;
        for (const Tensor& right : first_) {
            throw_if_interrupted();
            const int64_t end = first_result + right.size(0);
            std::vector<int64_t> columns, rows;  // of L and of R
            for (int64_t k = 0; k < left.size(1); ++k) {
                const int64_t result = order[static_cast<std::size_t>(place + k)];
                if (result < first_result || result >= end) continue;
                columns.push_back(k);
                rows.push_back(result - first_result);
            }
            const Tensor part = slice(slice(start_.weight, 0, row, row + left.size(0)), 1, column,
                                      column + right.size(1));
            const auto rank = std::min(static_cast<int64_t>(columns.size()), left.size(0));
            const LowRankFactors factors =
                rank > 0
                    ? principal_factors(part, slice(x, 1, column, column + right.size(1)), rank)
                    : LowRankFactors{};
            for (std::size_t k = 0; k < columns.size(); ++k) {
                const Tensor to_left = select(left, 1, columns[k]);
                const Tensor to_right = select(right, 0, rows[k]);
                const auto component = static_cast<int64_t>(k);
                if (component < rank) {
                    to_left.copy_from(select(factors.left, 1, component));
                    to_right.copy_from(select(factors.right, 0, component));
                } else {  // more than the block has; R stays as it was drawn, to be trained
                    to_left.fill(0);
                }
            }
            column += right.size(1);
            first_result = end;
        }
        row += left.size(0);
        place += left.size(1);
    }
    HiddenStart dense = start_;
    dense.activation = Activation::identity;
    dense.scale = 1;
    const Tensor rest =
        dense_outputs(x, outputs(), dense) - map_rows(x, outputs(), [&](const Tensor& rows) {
            return product(Jet::value_only(rows), bias_).value();
        });
    const Tensor seen_by_left = map_rows(x, order_.elements(), [&](const Tensor& rows) {
        return between(Jet::value_only(rows)).value();
    });
    const double size = mean(square(to(seen_by_left, DType::float64))).item();
    if (!(size > 0 && std::isfinite(size)))
        fail_with(ExitCode::bad_config, "{}: the calibration batch is all zero or not finite",
                  name_);
    row = place = 0;
    for (const Tensor& left : second_) {
        const Tensor own = slice(bias_, 0, row, row + left.size(0));
        const RidgeSolution solution =
            ridge_regression(slice(seen_by_left, 1, place, place + left.size(1)),
                             slice(rest, 1, row, row + left.size(0)), penalty * size);
        left.copy_from(left + solution.weight);
        own.copy_from(own + solution.bias);
        row += left.size(0);
        place += left.size(1);
    }
}

void BlockFactored::visit(const std::string& prefix, const ParameterVisitor& visitor) {
    const auto factor = [&](const char* name, Tensors& blocks, double rate) {
        for (std::size_t i = 0; i < blocks.size(); ++i)
            visitor(join(prefix, fmt::format("{}.{}.weight", name, i)), blocks[i],
                    {.learning_rate_scale = rate});
    };
    factor("first", first_, first_rate_);
    factor("second", second_, second_rate_);
    visitor(join(prefix, "bias"), bias_, {.decay = false});
}

ParameterCount BlockFactored::count() const {
    int64_t numbers = bias_.elements();
    for (const Tensors* factor : {&first_, &second_})
        for (const Tensor& block : *factor) numbers += block.elements();
    return {numbers, numbers, numbers};
}

std::string BlockFactored::description() const {
    return fmt::format("{} {} -> {}, {}, {} and {} blocks with {} numbers between them", name_,
                       inputs(), outputs(), name_of(start_.activation), first_.size(),
                       second_.size(), order_.elements());
}

}  // namespace ralimp
