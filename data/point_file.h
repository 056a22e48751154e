// Points with values at them, from a file: lists of numbers of one length that have names.
#pragma once
#include <string>
#include <vector>

#include "core/tensor.h"

namespace ralimp {

// The named lists as columns, [rows, names] float64: of an HDF5 file its datasets of one axis, of
// any other file the columns of a CSV with a header. There may be more than are asked for, of
// whatever kind: the condition of a row in a run's points.csv is a text.
// Error(bad_input), naming the file and the list, when one is missing, empty, of another length
// or shape, or holds infinite numbers or NaN.
Tensor read_point_file(const std::string& path, const std::vector<std::string>& names);

}  // namespace ralimp
