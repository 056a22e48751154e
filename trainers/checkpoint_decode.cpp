// Bytes -> checkpoint, after the trailer was checked.
#include <algorithm>

#include "core/error.h"
#include "core/file.h"
#include "trainers/checkpoint.h"
#include "trainers/checkpoint_format.h"

namespace ralimp {
namespace {

// What was written before an option was there means what was done then, not today's default. The
// config is as our writer left it: a key a line.
std::string with_later_options(std::string config) {
    const std::size_t kind = config.find("kind: ralimp\n");
    if (kind == std::string::npos || config.find("share_polynomial: ", kind) != std::string::npos)
        return config;
    const std::size_t rows = config.find("share_rows: ", kind);
    if (rows == std::string::npos) return config;
    const std::size_t line = config.rfind('\n', rows) + 1;
    return config.insert(line, config.substr(line, rows - line) + "share_polynomial: false\n");
}

class Decoder {
public:
    Decoder(std::span<const uint8_t> data, const std::string& name)
        : data_(data),
          name_(name),
          access_(H5Pcreate(H5P_FILE_ACCESS), H5Pclose),
          file_(open(), H5Fclose) {
        if (!file_.valid()) fail_here("HDF5 cannot open it");
    }

    Checkpoint read() {
        const CheckpointValue version = read_value("format_version");
        if (!std::holds_alternative<int64_t>(version) || std::get<int64_t>(version) < 1)
            fail_here("it has no format version");
        if (std::get<int64_t>(version) > checkpoint_format_version)
            fail_here(
                fmt::format("it has format version {}, and this program ({}) reads up to {}; use a "
                            "newer program",
                            std::get<int64_t>(version), RALIMP_VERSION, checkpoint_format_version));
        Checkpoint checkpoint;
        checkpoint.config = with_later_options(read_text("config"));
        checkpoint.program_version = read_text("program_version");
        for (const std::string& name : dataset_names()) {
            if (name.starts_with("trainer/"))
                checkpoint.values[name.substr(8)] = read_value(name);
            else if (name.find('/') != std::string::npos)
                checkpoint.tensors[name] = read_tensor(name);
        }
        return checkpoint;
    }

private:
    [[noreturn]] void fail_here(const std::string& why) const {
        fail_with(ExitCode::bad_input, "{}: cannot be used as a checkpoint: {}", name_, why);
    }

    hid_t open() {
        // The image is copied by HDF5 and never written to.
        if (H5Pset_fapl_core(access_, 1 << 20, false) < 0 ||
            H5Pset_file_image(access_, const_cast<uint8_t*>(data_.data()), data_.size()) < 0)
            return H5I_INVALID_HID;
        return H5Fopen("checkpoint in memory", H5F_ACC_RDONLY, access_);
    }

    std::vector<std::string> dataset_names() const {
        std::vector<std::string> names;
        const auto visit = [](hid_t, const char* name, const H5O_info_t* info,
                              void* out) -> herr_t {
            if (info->type == H5O_TYPE_DATASET)
                static_cast<std::vector<std::string>*>(out)->emplace_back(name);
            return 0;
        };
        if (H5Ovisit2(file_, H5_INDEX_NAME, H5_ITER_INC, visit, &names, H5O_INFO_BASIC) < 0)
            fail_here("HDF5 cannot list its content");
        return names;
    }

    struct Dataset {
        Hdf5Handle dataset, type, space;
    };

    Dataset open_dataset(const std::string& name) const {
        Hdf5Handle dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose);
        if (!dataset.valid()) fail_here("it has no " + name);
        Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
        Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
        return {std::move(dataset), std::move(type), std::move(space)};
    }

    void read_into(const Dataset& dataset, const std::string& name, hid_t type, void* out) const {
        if (H5Dread(dataset.dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0)
            fail_here("HDF5 cannot read " + name);
    }

    CheckpointValue read_value(const std::string& name) const {
        const Dataset dataset = open_dataset(name);
        if (H5Sget_simple_extent_npoints(dataset.space) != 1)
            fail_here(name + " is not a single value");
        const H5T_class_t type_class = H5Tget_class(dataset.type);
        if (type_class == H5T_INTEGER) {
            int64_t value = 0;
            read_into(dataset, name, H5T_NATIVE_INT64, &value);
            return value;
        }
        if (type_class == H5T_FLOAT) {
            double value = 0;
            read_into(dataset, name, H5T_NATIVE_DOUBLE, &value);
            return value;
        }
        if (type_class != H5T_STRING || H5Tis_variable_str(dataset.type))
            fail_here(name + " is of a type that checkpoints do not have");
        std::string text(H5Tget_size(dataset.type), '\0');
        if (text.size() > data_.size()) fail_here(name + " is larger than the file");
        read_into(dataset, name, dataset.type, text.data());
        text.resize(std::min(text.find('\0'), text.size()));
        return text;
    }

    std::string read_text(const std::string& name) const {
        CheckpointValue value = read_value(name);
        if (!std::holds_alternative<std::string>(value)) fail_here(name + " is not a text");
        return std::get<std::string>(std::move(value));
    }

    Tensor read_tensor(const std::string& name) const {
        const Dataset dataset = open_dataset(name);
        const auto dtype = std::find_if(
            std::begin(all_dtypes), std::end(all_dtypes),
            [&](DType candidate) { return H5Tequal(dataset.type, hdf5_type_of(candidate)) > 0; });
        if (dtype == std::end(all_dtypes))
            fail_here(name + " is of a type that tensors do not have");
        const int dims = H5Sget_simple_extent_ndims(dataset.space);
        if (dims < 0 || dims > Shape::max_dims)
            fail_here(fmt::format("{} has {} axes; at most {}", name, dims, Shape::max_dims));
        std::vector<hsize_t> sizes(static_cast<std::size_t>(dims));
        H5Sget_simple_extent_dims(dataset.space, sizes.data(), nullptr);
        // Chunked or compressed data of other programs could be larger than the file; ours is not.
        const hssize_t elements = H5Sget_simple_extent_npoints(dataset.space);
        if (elements < 0 || static_cast<std::size_t>(elements) > data_.size() / bytes_of(*dtype))
            fail_here(name + " is larger than the file");
        Tensor tensor = Tensor::empty(Shape(sizes.begin(), sizes.end()), *dtype);
        if (tensor.elements() > 0) read_into(dataset, name, hdf5_type_of(*dtype), tensor.data());
        return tensor;
    }

    std::span<const uint8_t> data_;
    std::string name_;
    Hdf5Handle access_;
    Hdf5Handle file_;
};

}  // namespace

Checkpoint decode_checkpoint(std::span<const uint8_t> bytes, const std::string& name) {
    const std::span<const uint8_t> data = verified_data(bytes, name);
    const Hdf5ErrorsSilenced silenced;
    return Decoder(data, name).read();
}

Checkpoint read_checkpoint(const std::string& path) {
    return decode_checkpoint(read_file(path, int64_t{1} << 42), path);
}

}  // namespace ralimp
