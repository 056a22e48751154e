// The values of a model at points, and the file of numbers they become: HDF5 or CSV, by its name.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace ralimp {

struct FieldData {
    std::vector<std::string> axes;
    // Of a grid where its points are on each axis, the last axis changing fastest; empty for
    // points in no such order.
    std::vector<std::vector<double>> positions;
    Tensor points;                   // [rows, axes] float64
    Tensor inside;                   // [rows] uint8: 1 where the domain is
    std::vector<std::string> names;  // of the columns of values
    Tensor values;                   // [rows, names] float64
};

// Error(bad_config) unless the file's name ends as that of a kind that can be written: .csv, .h5 or
// .hdf5. To be asked before the values are computed.
void check_field_file(const std::filesystem::path& file);

// Writes float64, CSV with as many digits as bring back every bit; atomic.
//  HDF5, a grid: a dataset of positions for each axis; for each name its values in the grid's
//    shape, NaN outside the domain.
//  HDF5, points: a list for each axis and each name, of all points.
//  CSV: a header, then a row for each point, axes first; of a grid those inside the domain alone.
// Error(bad_config) for a CSV of more rows than 4194304; Error(io) when it cannot be written.
void write_field(const std::filesystem::path& file, const FieldData& data);

}  // namespace ralimp
