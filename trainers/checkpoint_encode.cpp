// Checkpoint -> bytes: an HDF5 file built in memory, then the trailer.
#include "core/error.h"
#include "core/file.h"
#include "data/hdf5_writer.h"
#include "trainers/checkpoint.h"
#include "trainers/checkpoint_format.h"

namespace ralimp {
namespace {

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

// Numbers and texts beside tensors.
class Encoder : public Hdf5Writer {
public:
    Encoder() : Hdf5Writer("checkpoint") {}

    using Hdf5Writer::write;
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
        if (!made) fail_at(name);
        write(name, text.c_str(), type, {});
    }
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
