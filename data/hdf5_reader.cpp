#include "data/hdf5_reader.h"

#include <filesystem>

#include "core/error.h"
#include "data/hdf5_handle.h"

namespace ralimp {
namespace {

constexpr int64_t most_elements = int64_t{1} << 31;

}  // namespace

bool is_hdf5_file(const std::string& path) {
    const Hdf5ErrorsSilenced silenced;
    return H5Fis_hdf5(path.c_str()) > 0;
}

Tensor read_hdf5_dataset(const std::string& path, const std::string& name) {
    const Hdf5ErrorsSilenced silenced;
    const Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file.valid())
        fail_with(ExitCode::bad_input, "{}: is missing, unreadable or not an HDF5 file", path);
    const Hdf5Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.valid()) fail_with(ExitCode::bad_input, "{}: has no dataset {}", path, name);
    const Hdf5Handle type(H5Dget_type(dataset), H5Tclose), space(H5Dget_space(dataset), H5Sclose);
    const H5T_class_t kind = H5Tget_class(type);
    if (kind != H5T_INTEGER && kind != H5T_FLOAT)
        fail_with(ExitCode::bad_input, "{}: dataset {} does not hold plain numbers", path, name);
    const int dims = H5Sget_simple_extent_ndims(space);
    if (H5Sget_simple_extent_type(space) == H5S_NULL || dims < 0 || dims > Shape::max_dims)
        fail_with(ExitCode::bad_input, "{}: dataset {} has no values or {} axes, more than {}",
                  path, name, dims, int{Shape::max_dims});
    hsize_t sizes[Shape::max_dims] = {};
    H5Sget_simple_extent_dims(space, sizes, nullptr);
    Shape shape;
    int64_t elements = 1;
    for (int i = 0; i < dims; ++i) {
        if (sizes[i] > static_cast<hsize_t>(most_elements) ||
            (sizes[i] > 0 && elements > most_elements / static_cast<int64_t>(sizes[i])))
            fail_with(ExitCode::bad_input, "{}: dataset {} has more than {} elements", path, name,
                      most_elements);
        shape.push_back(static_cast<int64_t>(sizes[i]));
        elements *= shape.back();
    }
    // Damage can claim any size, and HDF5 fills what is not there with zeros, for seconds. Deflate
    // shrinks by a factor of 1032 at best.
    std::error_code unknown;
    const auto file_bytes = static_cast<int64_t>(std::filesystem::file_size(path, unknown));
    if (!unknown && elements / 1032 > file_bytes / static_cast<int64_t>(H5Tget_size(type)))
        fail_with(
            ExitCode::bad_input,
            "{}: dataset {} claims {} elements, which a file of {} bytes cannot hold; the file "
            "is damaged",
            path, name, elements, file_bytes);
    Tensor values = Tensor::empty(shape, DType::float64);
    if (elements > 0 &&
        H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
        fail_with(ExitCode::bad_input, "{}: dataset {} cannot be read; the file is damaged", path,
                  name);
    return values;
}

}  // namespace ralimp
