// Reads one numeric dataset of a trusted HDF5 file, such as a reference solution. Checkpoints have
// their own reader: they are verified before HDF5 sees them.
#pragma once
#include <string>

#include "core/tensor.h"

namespace ralimp {

// Whether the file is there and is HDF5.
bool is_hdf5_file(const std::string& path);

// The dataset `name` (such as "/usol") of any whole-number or floating type, as float64 of its own
// shape. Error bad_input, naming the file and the dataset, when the file is missing or no HDF5
// file, when it has no such dataset, or when that is not numeric or does not fit.
Tensor read_hdf5_dataset(const std::string& path, const std::string& name);

}  // namespace ralimp
