// A folded network as a file: the same HDF5 with its checked trailer as a checkpoint
// (checkpoint.h), with tensors network/step_0.weight, .bias and, of features, .projections,
// .growth, .norm_growth and .norm_weights, and under /trainer what else a step is.
#pragma once
#include <string>

#include "layers/folding.h"

namespace ralimp {

// `config` is that of the run. Error(io) when it cannot be written.
void write_deployed(const std::string& path, const FoldedNetwork& network,
                    const std::string& config);

// Error(bad_input) with one line for a file that is damaged, no folded network, or does not fit
// itself.
FoldedNetwork read_deployed(const std::string& path);

}  // namespace ralimp
