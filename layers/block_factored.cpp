#include "layers/block_factored.h"

#include <algorithm>
#include <cmath>

#include "autograd/operations.h"

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

Tensor index_of(const std::vector<int64_t>& order) {
    return Tensor::from(order, {static_cast<int64_t>(order.size())});
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
      bias_(start_bias(outputs, inputs, start.dtype, start.start)) {
    const int64_t blocks = monarch_blocks(inputs, outputs, config);
    const std::vector<int64_t> in = even_parts(inputs, blocks), out = even_parts(outputs, blocks),
                               between = even_parts(std::min(inputs, outputs), blocks);
    Blocks draw(start);
    for (std::size_t k = 0; k < in.size(); ++k) first_.push_back(draw.uniform(between[k], in[k]));
    for (std::size_t k = 0; k < out.size(); ++k)
        second_.push_back(draw.uniform(out[k], between[k]));
    std::vector<int64_t> order;
    for (int64_t row = 0; row < between[0]; ++row)
        for (int64_t k = 0, begin = 0; k < blocks; begin += between[static_cast<std::size_t>(k++)])
            if (row < between[static_cast<std::size_t>(k)]) order.push_back(begin + row);
    order_ = index_of(order);
}

BlockFactored::BlockFactored(int64_t inputs, int64_t outputs, const TensorTrainConfig& config,
                             const HiddenStart& start)
    : start_(start),
      name_(TensorTrainConfig::kind),
      inputs_(inputs),
      bias_(start_bias(outputs, inputs, start.dtype, start.start)) {
    const auto [first, second] = tensor_train_blocks(inputs, outputs);
    const int64_t rank = config.rank;
    Blocks draw(start);
    for (int64_t size : even_parts(inputs, first))
        first_.push_back(draw.normal(second * rank, size));
    for (int64_t size : even_parts(outputs, second))
        second_.push_back(draw.normal(size, first * rank));
    std::vector<int64_t> order;
    for (int64_t to = 0; to < second; ++to)
        for (int64_t from = 0; from < first; ++from)
            for (int64_t r = 0; r < rank; ++r) order.push_back((from * second + to) * rank + r);
    order_ = index_of(order);
    // d_in of a core is inputs / first and first · rank.
    first_rate_ = static_cast<double>(first) / 2;
    second_rate_ = static_cast<double>(inputs) / static_cast<double>(first * rank) / 2;
}

Jet BlockFactored::product(const Jet& x, const Tensor& bias) const {
    const auto multiply = [](const Jet& values, const Tensors& blocks, const Tensor& shift) {
        std::vector<Jet> parts;
        int64_t in = 0, out = 0;
        for (const Tensor& block : blocks) {
            const int64_t in_end = in + block.size(1), out_end = out + block.size(0);
            parts.push_back(linear(slice_features(values, in, in_end), block,
                                   shift.defined() ? slice(shift, 0, out, out_end) : Tensor()));
            in = in_end;
            out = out_end;
        }
        return concatenate(parts);
    };
    const Jet between = multiply(x, first_, Tensor());
    return multiply(Jet(index_select(between.channels(), 2, order_), x.shared_plan()), second_,
                    bias);
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

Tensor BlockFactored::matrix() const {
    const Tensor diagonal = Tensor::zeros({inputs_, inputs_}, start_.dtype);
    diagonal.strided_view({inputs_}, {inputs_ + 1}).fill(1);
    return transpose(product(Jet::value_only(diagonal), Tensor()).value());
}

Tensor BlockFactored::initialize_from_data(const Tensor& x) {
    NoGrad no_grad;
    const Tensor seen = calibration_part(name_, x, inputs_);
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
