// A folded network as a file. HDF5: with the checked trailer of a checkpoint (checkpoint.h),
// tensors network/step_0.weight, .bias and, of features, .projections, .growth, .norm_growth,
// .rotation, .norm_rotation and .norm_weights, of blocks .block_0 and so on, and under /trainer
// what else a step is, its kind first: product, features, blocks, row_products or input_norm
// (layers/folded_step.h). Safetensors: the same tensors by the same names; all else are texts of
// the metadata, "step_0.activation" and so on, "config", and "version", that of the program. No
// checksum: a changed weight is not noticed.
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

// The same as safetensors.
void write_deployed_safetensors(const std::string& path, const FoldedNetwork& network,
                                const std::string& config);
FoldedNetwork read_deployed_safetensors(const std::string& path);

}  // namespace ralimp
