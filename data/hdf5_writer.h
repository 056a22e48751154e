// Builds an HDF5 file in memory: the same values always give the same bytes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/shape.h"
#include "data/hdf5_handle.h"

namespace ralimp {

class Hdf5Writer {
public:
    // Complaints begin with the subject, such as "checkpoint"; all are Error(io).
    explicit Hdf5Writer(std::string subject);

    // A dataset "group/name"; groups that are missing are made. The data may be null when the shape
    // has no elements.
    void write(const std::string& name, const void* data, hid_t type, const Shape& shape);
    // The whole file.
    std::vector<uint8_t> finish();
    [[noreturn]] void fail_at(const std::string& what) const;

private:
    hid_t open();

    std::string subject_;
    Hdf5Handle access_;
    Hdf5Handle links_;
    Hdf5Handle datasets_;
    Hdf5Handle file_;
};

}  // namespace ralimp
