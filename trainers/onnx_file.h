// A folded network as an ONNX model (onnx.ai, operator set 17): a graph that other programs
// compute.
#pragma once
#include <string>

#include "layers/folding.h"

namespace ralimp {

// Input x [rows, inputs] and output y [rows, outputs], any number of rows, in the network's type,
// float32 or float64. Tensors are named as in deployed_file.h, step_0.weight and so on. Every
// activation is written by its formula in operators of the standard set. `config`, that of the run,
// is a property of the model. The same network always gives the same bytes. Error(bad_config)
// beyond 2 GiB, the limit of ONNX files.
std::string encode_onnx(const FoldedNetwork& network, const std::string& config);

// Error(io) when it cannot be written.
void write_onnx(const std::string& path, const FoldedNetwork& network, const std::string& config);

}  // namespace ralimp
