#include "layers/network_size.h"

#include <algorithm>

#include "layers/feature_slots.h"
#include "layers/projections.h"

namespace ralimp {
namespace {

NetworkSize dense(double inputs, double outputs) {
    NetworkSize size;
    size.trained = size.held = inputs * outputs + outputs;
    size.matrices = {{outputs, inputs}};
    return size;
}

// Adds another layer; what is taken for a moment is that of the larger one.
void add(NetworkSize& sum, const NetworkSize& layer, double times) {
    sum.trained += times * layer.trained;
    sum.held += times * layer.held;
    sum.constant_bytes += times * layer.constant_bytes;
    sum.features += times * layer.features;
    sum.weight_sides += times * layer.weight_sides;
    for (MatrixSize matrix : layer.matrices) {
        matrix.count *= times;
        sum.matrices.push_back(matrix);
    }
    if (times == 0) return;
    sum.draw_bytes = std::max(sum.draw_bytes, layer.draw_bytes);
    sum.start_bytes = std::max(sum.start_bytes, layer.start_bytes);
}

NetworkSize size_of_hidden(const DenseHiddenConfig&, double width, DType, double) {
    return dense(width, width);
}

NetworkSize size_of_hidden(const NarrowConfig&, double width, DType, double) {
    return dense(width, width);
}

// Rows of a batch that layers start from.
double rows_seen(double batch) {
    return std::min(batch, static_cast<double>(calibration_batch_rows));
}

NetworkSize size_of_hidden(const LowRankConfig& config, double width, DType dtype, double batch) {
    const auto bytes = static_cast<double>(bytes_of(dtype));
    const auto rank = static_cast<double>(config.rank);
    NetworkSize size;
    size.trained = size.held = 2 * rank * width + width;
    size.matrices = {{width, rank}, {rank, width}};
    // What the dense layer makes of the batch, and in float64 the batch and its outputs; the dense
    // weight, also in float64.
    size.start_bytes = rows_seen(batch) * width * (bytes + 2 * sizeof(double)) +
                       width * width * (bytes + sizeof(double));
    return size;
}

// A free Ψ of F features, its bias and the standardization, and rows [count, length].
NetworkSize size_of_features(double features, double width, double rows, double length,
                             bool train_projections, DType dtype, double batch) {
    const auto bytes = static_cast<double>(bytes_of(dtype));
    NetworkSize size;
    size.features = features;
    size.trained = features * width + width;
    size.matrices.push_back({width, features});
    size.held = size.trained + 2 * features + rows * length + 1;
    if (train_projections) {
        size.trained += rows * length;
        size.matrices.push_back({rows, length});
    }
    // The rows of each group and all of them joined, float64.
    size.draw_bytes = 2 * rows * length * sizeof(double);
    // The features, those standardized, a copy in float64, and the smaller matrix of least squares.
    const double seen = rows_seen(batch), side = std::min(seen, features);
    size.start_bytes =
        seen * features * (2 * bytes + sizeof(double)) + side * side * sizeof(double);
    return size;
}

NetworkSize size_of_hidden(const SnnkConfig& config, double width, DType dtype, double batch) {
    const auto m = static_cast<double>(config.features);
    NetworkSize size = size_of_features(m, width, m, width, config.train_projections, dtype, batch);
    if (config.form == SnnkForm::relu) size.trained += m;
    size.held += m;
    return size;
}

NetworkSize size_of_hidden(const EugenConfig& config, double width, DType dtype, double batch) {
    const auto m = static_cast<double>(config.features);
    const auto groups = static_cast<double>(product_groups(config.degree, config.share_rows));
    return size_of_features(m * static_cast<double>(config.degree), width, groups * m, width + 2,
                            config.train_projections, dtype, batch);
}

// Blocks and a bias; the start makes outputs of the dense weight.
NetworkSize size_of_blocks(std::vector<MatrixSize> blocks, double width, DType dtype,
                           double batch) {
    NetworkSize size;
    for (const MatrixSize& block : blocks) size.held += block.rows * block.columns * block.count;
    size.trained = size.held += width;
    size.matrices = std::move(blocks);
    size.start_bytes = (rows_seen(batch) + width) * width * static_cast<double>(bytes_of(dtype));
    return size;
}

// `total` in `count` parts: so many of the smaller size, and of that and one more.
struct EvenParts {
    double size, smaller, larger;
};
EvenParts even_parts(int64_t total, int64_t count) {
    return {static_cast<double>(total / count), static_cast<double>(count - total % count),
            static_cast<double>(total % count)};
}

NetworkSize size_of_hidden(const MonarchConfig& config, double width, DType dtype, double batch) {
    const auto n = static_cast<int64_t>(width);
    const auto [side, smaller, larger] = even_parts(n, monarch_blocks(n, n, config));
    return size_of_blocks({{side, side, 2 * smaller}, {side + 1, side + 1, 2 * larger}}, width,
                          dtype, batch);
}

NetworkSize size_of_hidden(const TensorTrainConfig& config, double width, DType dtype,
                           double batch) {
    const auto n = static_cast<int64_t>(width);
    const auto [first, second] = tensor_train_blocks(n, n);
    const auto rank = static_cast<double>(config.rank);
    const double results = rank * static_cast<double>(second),
                 arguments = rank * static_cast<double>(first);
    const EvenParts in = even_parts(n, first), out = even_parts(n, second);
    return size_of_blocks({{results, in.size, in.smaller},
                           {results, in.size + 1, in.larger},
                           {out.size, arguments, out.smaller},
                           {out.size + 1, arguments, out.larger}},
                          width, dtype, batch);
}

// FeatureSlots and Ralimp say which feature needs what.
NetworkSize size_of_hidden(const RalimpConfig& config, double width, DType dtype, double batch) {
    const auto bytes = static_cast<double>(bytes_of(dtype));
    const auto m = static_cast<double>(config.features);
    const auto degree = static_cast<double>(std::max<int64_t>(config.degree, 0));
    const auto pairs = static_cast<double>(config.pole_pairs);
    const double waves =
        config.s_max ? std::min(pairs, 1.0) : pairs * static_cast<double>(config.nodes_per_atom);
    const bool symmetric = config.split == Split::symmetric;
    const double channels = symmetric && config.layout == FeatureLayout::concatenated ? 4 : 2;
    const double drawn = symmetric && config.antithetic ? m / 2 : m;
    const double rational = channels * m * waves, features = rational + degree * m;
    const double rows = (config.share_projections ? std::min(waves, 1.0) : waves) * drawn +
                        m * (config.share_rows ? degree : degree * (degree + 1) / 2) -
                        (config.shares_polynomial() && degree > 0 && rational > 0 ? m : 0);
    const bool free = config.psi == PsiMode::free, exact = !config.s_max;
    NetworkSize size;
    size.features = features;
    size.constant_bytes =
        rational * static_cast<double>(FeatureSlots::constant_bytes_per_feature(dtype));
    // The rows of each group and all of them joined, float64.
    size.draw_bytes = 2 * rows * width * sizeof(double);
    if (free) {
        size.trained = features * width + width + rows;
        size.matrices.push_back({width, exact ? features : 0});
        // The features, a copy of them in float64, and the smaller matrix of least squares.
        const double seen = rows_seen(batch);
        const double side = std::min(seen, features);
        size.start_bytes =
            seen * features * (bytes + sizeof(double)) + side * side * sizeof(double);
    } else {
        size.trained = width * width + width;
        size.matrices.push_back({width, width});
        size.weight_sides = features * width;
        size.start_bytes = size.weight_sides * bytes;
    }
    size.held = size.trained + rows * width;
    if (config.train_projections) {
        size.trained += rows * width;
        size.matrices.push_back({exact || config.share_projections ? rows : 0, width});
    }
    return size;
}

}  // namespace

NetworkSize size_of(const HiddenConfig& config, int64_t width, DType dtype,
                    int64_t calibration_rows) {
    return std::visit(
        [&](const auto& kind) {
            return size_of_hidden(kind, static_cast<double>(width), dtype,
                                  static_cast<double>(calibration_rows));
        },
        config);
}

NetworkSize size_of(const NetworkConfig& config, int64_t inputs, int64_t outputs, DType dtype,
                    int64_t calibration_rows) {
    const auto width = static_cast<double>(hidden_width(config));
    NetworkSize size;
    add(size, size_of(config.hidden, hidden_width(config), dtype, calibration_rows),
        static_cast<double>(config.hidden_layers - 1));
    add(size, dense(static_cast<double>(inputs), width), 1);
    add(size, dense(width, static_cast<double>(outputs)), 1);
    return size;
}

NetworkSize size_of(Layer& network) {
    NetworkSize size;
    network.visit("", [&](const std::string&, const Tensor& tensor, const ParameterInfo& info) {
        const auto count = static_cast<double>(tensor.elements());
        size.held += count;
        if (!info.trained) return;
        size.trained += count;
        if (tensor.dims() == 2)
            size.matrices.push_back(
                {static_cast<double>(tensor.size(0)), static_cast<double>(tensor.size(1))});
    });
    return size;
}

}  // namespace ralimp
