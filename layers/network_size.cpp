#include "layers/network_size.h"

#include <algorithm>

#include "layers/feature_slots.h"

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
                        m * (config.share_rows ? degree : degree * (degree + 1) / 2);
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
        const double seen = std::min(batch, static_cast<double>(calibration_batch_rows));
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

NetworkSize size_of(const NetworkConfig& config, int64_t inputs, int64_t outputs, DType dtype,
                    int64_t calibration_rows) {
    const auto width = static_cast<double>(config.width);
    const NetworkSize hidden = std::visit(
        [&](const auto& kind) {
            return size_of_hidden(kind, width, dtype, static_cast<double>(calibration_rows));
        },
        config.hidden);
    NetworkSize size;
    add(size, hidden, static_cast<double>(config.hidden_layers - 1));
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
