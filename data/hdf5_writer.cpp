#include "data/hdf5_writer.h"

#include "core/error.h"

namespace ralimp {

Hdf5Writer::Hdf5Writer(std::string subject)
    : subject_(std::move(subject)),
      access_(H5Pcreate(H5P_FILE_ACCESS), H5Pclose),
      links_(H5Pcreate(H5P_LINK_CREATE), H5Pclose),
      datasets_(H5Pcreate(H5P_DATASET_CREATE), H5Pclose),
      file_(open(), H5Fclose) {
    // Without times the same values always give the same bytes.
    if (!file_.valid() || H5Pset_create_intermediate_group(links_, 1) < 0 ||
        H5Pset_char_encoding(links_, H5T_CSET_UTF8) < 0 ||
        H5Pset_obj_track_times(datasets_, false) < 0)
        fail_at("to memory");
}

hid_t Hdf5Writer::open() {
    constexpr std::size_t memory_step = 1 << 20;
    if (H5Pset_fapl_core(access_, memory_step, false) < 0) return H5I_INVALID_HID;
    return H5Fcreate("file in memory", H5F_ACC_TRUNC, H5P_DEFAULT, access_);
}

void Hdf5Writer::fail_at(const std::string& what) const {
    fail_with(ExitCode::io, "{}: HDF5 cannot write {}", subject_, what);
}

void Hdf5Writer::write(const std::string& name, const void* data, hid_t type, const Shape& shape) {
    std::vector<hsize_t> sizes(shape.begin(), shape.end());
    Hdf5Handle space(shape.empty() ? H5Screate(H5S_SCALAR)
                                   : H5Screate_simple(shape.dims(), sizes.data(), nullptr),
                     H5Sclose);
    Hdf5Handle dataset(H5Dcreate2(file_, name.c_str(), type, space, links_, datasets_, H5P_DEFAULT),
                       H5Dclose);
    if (!dataset.valid()) fail_at(name);
    if (shape.elements() > 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
        fail_at(name);
}

std::vector<uint8_t> Hdf5Writer::finish() {
    if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0) fail_at("to memory");
    const ssize_t size = H5Fget_file_image(file_, nullptr, 0);
    if (size <= 0) fail_at("to memory");
    std::vector<uint8_t> bytes(static_cast<std::size_t>(size));
    if (H5Fget_file_image(file_, bytes.data(), bytes.size()) != size) fail_at("to memory");
    return bytes;
}

}  // namespace ralimp
