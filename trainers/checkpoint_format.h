// The parts of the checkpoint format that writing and reading share: the trailer and the HDF5 types
// of the dtypes. Internal to checkpoint*.cpp.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "data/hdf5_handle.h"

namespace ralimp {

// Appends mark, length and hash of what the bytes hold now.
void append_trailer(std::vector<uint8_t>& bytes);

// The bytes before the trailer. Error(bad_input), beginning with the name, unless the file begins
// as HDF5 and length and hash are right.
std::span<const uint8_t> verified_data(std::span<const uint8_t> bytes, const std::string& name);

// The little-endian HDF5 type of a dtype. float16 and bfloat16 become HDF5 floats of 16 bits.
Hdf5Handle hdf5_type_of(DType dtype);

constexpr DType all_dtypes[] = {DType::float32, DType::float64,  DType::int64,  DType::int32,
                                DType::uint8,   DType::bfloat16, DType::float16};

}  // namespace ralimp
