#include "layers/network_size.h"

#include <algorithm>

namespace ralimp {
namespace {

NetworkSize dense(double inputs, double outputs) {
    const double count = inputs * outputs + outputs;
    return {count, count, 0};
}

NetworkSize size_of_hidden(const DenseHiddenConfig&, double width) { return dense(width, width); }

// FeatureSlots and Ralimp say which feature needs what.
NetworkSize size_of_hidden(const RalimpConfig& config, double width) {
    const auto m = static_cast<double>(config.features);
    const auto degree = static_cast<double>(std::max<int64_t>(config.degree, 0));
    const auto pairs = static_cast<double>(config.pole_pairs);
    const double waves =
        config.s_max ? std::min(pairs, 1.0) : pairs * static_cast<double>(config.nodes_per_atom);
    const bool symmetric = config.split == Split::symmetric;
    const double channels = symmetric && config.layout == FeatureLayout::concatenated ? 4 : 2;
    const double drawn = symmetric && config.antithetic ? m / 2 : m;
    const double features = channels * m * waves + degree * m;
    const double rows = (config.share_projections ? std::min(waves, 1.0) : waves) * drawn +
                        m * (config.share_rows ? degree : degree * (degree + 1) / 2);
    NetworkSize size;
    if (config.psi == PsiMode::free) {
        size.trained = features * width + width + rows;
        size.start_bytes = 2 * features * features * sizeof(double);  // the matrix and its factor
    } else {
        size.trained = width * width + width;
    }
    size.held = size.trained + rows * width;
    if (config.train_projections) size.trained += rows * width;
    return size;
}

}  // namespace

NetworkSize size_of(const NetworkConfig& config, int64_t inputs, int64_t outputs) {
    const auto width = static_cast<double>(config.width);
    NetworkSize size = std::visit([&](const auto& hidden) { return size_of_hidden(hidden, width); },
                                  config.hidden);
    const auto layers = static_cast<double>(config.hidden_layers - 1);
    size.trained *= layers;
    size.held *= layers;
    if (layers == 0) size.start_bytes = 0;
    for (const NetworkSize& end :
         {dense(static_cast<double>(inputs), width), dense(width, static_cast<double>(outputs))}) {
        size.trained += end.trained;
        size.held += end.held;
    }
    return size;
}

}  // namespace ralimp
