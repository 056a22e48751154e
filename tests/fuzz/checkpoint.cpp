// Checkpoints. The bytes as they are; then, since the checksum keeps libhdf5 from damaged bytes, a
// whole HDF5 file whose datasets the bytes choose: names, types, shapes and contents.
#include "trainers/checkpoint.h"

#include <hdf5.h>

#include "data/hdf5_handle.h"
#include "tests/fuzz/fuzz.h"
#include "trainers/checkpoint_format.h"

namespace {

using namespace ralimp;

class Choices {
public:
    Choices(const uint8_t* data, std::size_t size) : data_(data), left_(size) {}
    bool any_left() const { return left_ > 0; }
    unsigned next(unsigned count) {
        if (left_ == 0) return 0;
        --left_;
        return *data_++ % count;
    }

private:
    const uint8_t* data_;
    std::size_t left_;
};

Hdf5Handle type_of(Choices& choices) {
    const auto copy = [](hid_t type) { return Hdf5Handle(H5Tcopy(type), H5Tclose); };
    const unsigned choice = choices.next(12);
    if (choice < std::size(all_dtypes)) return hdf5_type_of(all_dtypes[choice]);
    switch (choice) {
        case 7:
            return copy(H5T_STD_U16BE);
        case 8:
            return copy(H5T_STD_U64LE);
        case 9:
            return Hdf5Handle(H5Tcreate(H5T_OPAQUE, 3), H5Tclose);
        default:
            Hdf5Handle text = copy(H5T_C_S1);
            H5Tset_size(text, choice == 10 ? H5T_VARIABLE : 1 + choices.next(40));
            return text;
    }
}

void add_dataset(hid_t file, Choices& choices) {
    static constexpr const char* names[] = {"format_version", "program_version", "config",
                                            "trainer/step",   "trainer/task",    "trainer/a/b",
                                            "model/weight",   "model/a/b/c",     "optimizer/m",
                                            "trainer",        "model",           "x"};
    const Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links, 1);
    const char* name = names[choices.next(std::size(names))];
    const Hdf5Handle type = type_of(choices);
    std::vector<hsize_t> sizes(choices.next(10));
    for (hsize_t& one : sizes) one = choices.next(5);
    if (!sizes.empty() && choices.next(8) == 1) sizes[0] = hsize_t{1} << (8 * choices.next(8));
    const Hdf5Handle space(
        sizes.empty() ? H5Screate(choices.next(8) == 1 ? H5S_NULL : H5S_SCALAR)
                      : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
        H5Sclose);
    const Hdf5Handle dataset(H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT),
                             H5Dclose);
    if (!dataset.valid() || H5Tis_variable_str(type) > 0) return;
    const hssize_t elements = H5Sget_simple_extent_npoints(space);
    if (elements < 1 || elements > 4096) return;  // then nothing of it is in the file
    std::vector<uint8_t> values(static_cast<std::size_t>(elements) * H5Tget_size(type));
    for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 16); ++i)
        values[i] = static_cast<uint8_t>(choices.next(256));
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
}

void write_head(hid_t file) {
    const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose), text(H5Tcopy(H5T_C_S1), H5Tclose);
    const int64_t version = checkpoint_format_version;
    const auto write = [&](const char* name, hid_t type, const void* value) {
        const Hdf5Handle dataset(
            H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
        H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value);
    };
    write("format_version", H5T_NATIVE_INT64, &version);
    write("program_version", text, "1");
    write("config", text, "x");
}

std::vector<uint8_t> chosen_file(Choices& choices) {
    const Hdf5ErrorsSilenced silenced;
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fapl_core(access, 1 << 16, false);
    const Hdf5Handle file(H5Fcreate("fuzz", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
    if (choices.next(4) != 0) write_head(file);
    for (int i = 0; i < 20 && choices.any_left(); ++i) add_dataset(file, choices);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    std::vector<uint8_t> bytes(static_cast<std::size_t>(H5Fget_file_image(file, nullptr, 0)));
    H5Fget_file_image(file, bytes.data(), bytes.size());
    append_trailer(bytes);
    return bytes;
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
    Checkpoint checkpoint;
    fuzz::accepts([&] { decode_checkpoint({data, size}, "fuzz"); }, ExitCode::bad_input);
    Choices choices(data, size);
    const std::vector<uint8_t> bytes = chosen_file(choices);
    const auto decode = [&] { checkpoint = decode_checkpoint(bytes, "chosen"); };
    if (!fuzz::accepts(decode, ExitCode::bad_input)) return 0;
    const NamedTensors model{{"weight", Tensor::empty({3})}};
    fuzz::accepts([&] { load_into(model, checkpoint, "model"); }, ExitCode::bad_input);
    fuzz::accepts([&] { load_matching(model, checkpoint, "model"); }, ExitCode::bad_input);
    return 0;
}
