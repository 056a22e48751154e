#include "data/hdf5_reader.h"

#include <hdf5.h>

#include "core/error.h"

namespace ralimp {
namespace {

class Handle {
public:
    Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
    ~Handle() {
        if (id_ >= 0) close_(id_);
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    operator hid_t() const { return id_; }
    bool is_open() const { return id_ >= 0; }

private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

// HDF5 prints its own stack of errors unless told not to; the former setting comes back.
class QuietErrors {
public:
    QuietErrors() {
        H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
    QuietErrors(const QuietErrors&) = delete;
    QuietErrors& operator=(const QuietErrors&) = delete;

private:
    H5E_auto2_t function_ = nullptr;
    void* data_ = nullptr;
};

constexpr int64_t most_elements = int64_t{1} << 31;

}  // namespace

Tensor read_hdf5_dataset(const std::string& path, const std::string& name) {
    const QuietErrors quiet;
    const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file.is_open())
        fail_with(ExitCode::bad_input, "{}: is missing, unreadable or not an HDF5 file", path);
    const Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.is_open()) fail_with(ExitCode::bad_input, "{}: has no dataset {}", path, name);
    const Handle type(H5Dget_type(dataset), H5Tclose), space(H5Dget_space(dataset), H5Sclose);
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
    Tensor values = Tensor::empty(shape, DType::float64);
    if (elements > 0 &&
        H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
        fail_with(ExitCode::bad_input, "{}: dataset {} cannot be read; the file is damaged", path,
                  name);
    return values;
}

}  // namespace ralimp
