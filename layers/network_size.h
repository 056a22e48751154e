// What a network will take of memory, before it is made.
#pragma once
#include <vector>

#include "layers/network.h"

namespace ralimp {

struct MatrixSize {
    double rows = 0, columns = 0;  // 0: not known
    double count = 1;              // so many of them
};

// Numbers, where it says not bytes; double, as a config may ask for more than 64 bits hold.
struct NetworkSize {
    double trained = 0;                // that the optimizer moves
    std::vector<MatrixSize> matrices;  // trained ones
    double held = 0;                   // of all tensors of the network, trained ones included
    double constant_bytes = 0;         // of RaLiMP layers besides
    // What a step keeps of each of its rows, and what it makes of the weights: random features, and
    // the Ψ of RaLiMP layers where weights are the parameters.
    double features = 0, weight_sides = 0;
    // Bytes besides, for a moment, of the layer that takes most: to draw its projection rows, and
    // to start it from data.
    double draw_bytes = 0, start_bytes = 0;
};

// Never more than the network really has, and of all kinds but RaLiMP just that. Nodes that `s_max`
// may cut off are not counted. Layers start from so many rows of data.
NetworkSize size_of(const NetworkConfig& config, int64_t inputs, int64_t outputs, DType dtype,
                    int64_t calibration_rows);

// The same of a single layer from `width` to `width`, which is not narrow.
NetworkSize size_of(const HiddenConfig& config, int64_t width, DType dtype,
                    int64_t calibration_rows);

// The tensors of a network that stands, of whatever layers.
NetworkSize size_of(Layer& network);

}  // namespace ralimp
