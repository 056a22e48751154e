#include "trainers/checkpoint_format.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/error.h"

namespace ralimp {
namespace {

constexpr std::array<uint8_t, 8> hdf5_signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};
constexpr std::array<uint8_t, 16> mark{'R', 'a', 'L', 'i', 'M', 'P', ' ', 't',
                                       'r', 'a', 'i', 'l', 'e', 'r', ' ', '1'};
constexpr std::size_t trailer_bytes = mark.size() + sizeof(uint64_t) + sizeof(XXH128_canonical_t);

std::vector<uint8_t> trailer_of(std::span<const uint8_t> data) {
    std::vector<uint8_t> trailer(mark.begin(), mark.end());
    for (int i = 0; i < 8; ++i)  // least significant byte first
        trailer.push_back(static_cast<uint8_t>(uint64_t{data.size()} >> (8 * i)));
    XXH128_canonical_t hash;
    XXH128_canonicalFromHash(&hash, XXH3_128bits(data.data(), data.size()));
    trailer.insert(trailer.end(), std::begin(hash.digest), std::end(hash.digest));
    return trailer;
}

Hdf5Handle sixteen_bit_float(std::size_t exponent_bits, std::size_t bias) {
    Hdf5Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
    const std::size_t fraction_bits = 15 - exponent_bits;
    const bool made =
        H5Tset_fields(type, 15, fraction_bits, exponent_bits, 0, fraction_bits) >= 0 &&
        H5Tset_size(type, 2) >= 0 && H5Tset_ebias(type, bias) >= 0;
    check(made, "checkpoint: HDF5 cannot make a float type of 16 bits");
    return type;
}

}  // namespace

void append_trailer(std::vector<uint8_t>& bytes) {
    const std::vector<uint8_t> trailer = trailer_of(bytes);
    bytes.insert(bytes.end(), trailer.begin(), trailer.end());
}

std::span<const uint8_t> verified_data(std::span<const uint8_t> bytes, const std::string& name) {
    if (bytes.empty()) fail_with(ExitCode::bad_input, "{}: is an empty file, no checkpoint", name);
    const std::size_t seen = std::min(bytes.size(), hdf5_signature.size());
    if (!std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(seen),
                    hdf5_signature.begin()))
        fail_with(ExitCode::bad_input, "{}: is not a checkpoint (no HDF5 file)", name);
    const bool has_mark = bytes.size() > trailer_bytes &&
                          std::equal(mark.begin(), mark.end(),
                                     bytes.end() - static_cast<std::ptrdiff_t>(trailer_bytes));
    if (!has_mark)
        fail_with(ExitCode::bad_input,
                  "{}: ends without the mark of a checkpoint; it is truncated or was written by "
                  "another program",
                  name);
    const std::span<const uint8_t> data = bytes.first(bytes.size() - trailer_bytes);
    const std::vector<uint8_t> expected = trailer_of(data);
    if (!std::equal(expected.begin(), expected.end(),
                    bytes.begin() + static_cast<std::ptrdiff_t>(data.size())))
        fail_with(ExitCode::bad_input, "{}: is damaged: its content does not match its checksum",
                  name);
    return data;
}

Hdf5Handle hdf5_type_of(DType dtype) {
    const auto copy = [](hid_t type) { return Hdf5Handle(H5Tcopy(type), H5Tclose); };
    switch (dtype) {
        case DType::float32:
            return copy(H5T_IEEE_F32LE);
        case DType::float64:
            return copy(H5T_IEEE_F64LE);
        case DType::int64:
            return copy(H5T_STD_I64LE);
        case DType::int32:
            return copy(H5T_STD_I32LE);
        case DType::uint8:
            return copy(H5T_STD_U8LE);
        case DType::bfloat16:
            return sixteen_bit_float(8, 127);
        case DType::float16:
            return sixteen_bit_float(5, 15);
    }
    fail("checkpoint: unknown dtype {}", static_cast<int>(dtype));
}

}  // namespace ralimp
