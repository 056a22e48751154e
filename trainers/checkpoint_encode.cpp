// Checkpoint -> bytes: an HDF5 file built in memory, then the trailer.
#include "core/error.h"
#include "core/file.h"
#include "trainers/checkpoint.h"
#include "trainers/checkpoint_format.h"

namespace ralimp {
namespace {

[[noreturn]] void fail_hdf5(const std::string& what) {
    fail_with(ExitCode::io, "checkpoint: HDF5 cannot write {}", what);
}

bool is_valid_name(const std::string& name) {
    if (name.empty() || name.front() == '/' || name.back() == '/') return false;
    std::size_t begin = 0;
    while (begin <= name.size()) {
        const std::size_t end = std::min(name.find('/', begin), name.size());
        const std::string part = name.substr(begin, end - begin);
        if (part.empty() || part == "." || part.find('\0') != std::string::npos) return false;
        begin = end + 1;
    }
    return true;
}

class Encoder {
public:
    Encoder()
        : access_(H5Pcreate(H5P_FILE_ACCESS), H5Pclose),
          links_(H5Pcreate(H5P_LINK_CREATE), H5Pclose),
          datasets_(H5Pcreate(H5P_DATASET_CREATE), H5Pclose),
          file_(open(), H5Fclose) {
        // Without times the same values always give the same bytes.
        if (!file_.valid() || H5Pset_create_intermediate_group(links_, 1) < 0 ||
            H5Pset_char_encoding(links_, H5T_CSET_UTF8) < 0 ||
            H5Pset_obj_track_times(datasets_, false) < 0)
            fail_hdf5("to memory");
    }

    void write(const std::string& name, const void* data, hid_t type, const Shape& shape) {
        std::vector<hsize_t> sizes(shape.begin(), shape.end());
        Hdf5Handle space(shape.empty() ? H5Screate(H5S_SCALAR)
                                       : H5Screate_simple(shape.dims(), sizes.data(), nullptr),
                         H5Sclose);
        Hdf5Handle dataset(
            H5Dcreate2(file_, name.c_str(), type, space, links_, datasets_, H5P_DEFAULT), H5Dclose);
        if (!dataset.valid()) fail_hdf5(name);
        if (shape.elements() > 0 &&
            H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
            fail_hdf5(name);
    }
    void write(const std::string& name, int64_t value) {
        write(name, &value, H5T_NATIVE_INT64, {});
    }
    void write(const std::string& name, double value) {
        write(name, &value, H5T_NATIVE_DOUBLE, {});
    }
    void write(const std::string& name, const std::string& text) {
        check(text.find('\0') == std::string::npos, "checkpoint: the text {} holds a zero byte",
              name);
        Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
        // HDF5 has no text of length 0; padding with zeros makes one byte stand for it.
        const bool made = H5Tset_size(type, std::max<std::size_t>(text.size(), 1)) >= 0 &&
                          H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                          H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
        if (!made) fail_hdf5(name);
        write(name, text.c_str(), type, {});
    }

    std::vector<uint8_t> finish() {
        if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0) fail_hdf5("to memory");
        const ssize_t size = H5Fget_file_image(file_, nullptr, 0);
        if (size <= 0) fail_hdf5("to memory");
        std::vector<uint8_t> bytes(static_cast<std::size_t>(size));
        if (H5Fget_file_image(file_, bytes.data(), bytes.size()) != size) fail_hdf5("to memory");
        return bytes;
    }

private:
    hid_t open() {
        constexpr std::size_t memory_step = 1 << 20;
        if (H5Pset_fapl_core(access_, memory_step, false) < 0) return H5I_INVALID_HID;
        return H5Fcreate("checkpoint in memory", H5F_ACC_TRUNC, H5P_DEFAULT, access_);
    }

    Hdf5Handle access_;
    Hdf5Handle links_;
    Hdf5Handle datasets_;
    Hdf5Handle file_;
};

}  // namespace

std::vector<uint8_t> encode_checkpoint(const Checkpoint& checkpoint) {
    const Hdf5ErrorsSilenced silenced;
    Encoder encoder;
    encoder.write("format_version", checkpoint_format_version);
    encoder.write("program_version", std::string(RALIMP_VERSION));
    encoder.write("config", checkpoint.config);
    for (const auto& [name, value] : checkpoint.values) {
        check(is_valid_name(name) && name.find('/') == std::string::npos,
              "checkpoint: '{}' is no name for a value", name);
        std::visit([&, &key = name](const auto& v) { encoder.write("trainer/" + key, v); }, value);
    }
    for (const auto& [name, tensor] : checkpoint.tensors) {
        check(is_valid_name(name) && name.find('/') != std::string::npos &&
                  !name.starts_with("trainer/"),
              "checkpoint: '{}' is no name for a tensor; use group/name with a group other than "
              "trainer",
              name);
        check(tensor.device() == Device{}, "checkpoint: {} must be copied to the CPU first", name);
        const Tensor values = tensor.contiguous();
        encoder.write(name, values.elements() > 0 ? values.data() : nullptr,
                      hdf5_type_of(values.dtype()), values.shape());
    }
    std::vector<uint8_t> bytes = encoder.finish();
    append_trailer(bytes);
    return bytes;
}

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
    write_file(path, encode_checkpoint(checkpoint));
}

}  // namespace ralimp
