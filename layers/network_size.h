// What a network will take of memory, before it is made.
#pragma once
#include "layers/network.h"

namespace ralimp {

// Numbers, not bytes; double, as a config may ask for more than 64 bits hold.
struct NetworkSize {
    double trained = 0;  // that the optimizer moves
    double held = 0;     // of all tensors of the network, trained ones included
    // Bytes that the start of the largest layer takes besides, for a moment: the normal equations
    // of RaLiMP's least squares.
    double start_bytes = 0;
};

// Never more than the network really has, and of dense networks just that. Nodes that `s_max` may
// cut off are not counted.
NetworkSize size_of(const NetworkConfig& config, int64_t inputs, int64_t outputs);

}  // namespace ralimp
