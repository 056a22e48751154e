// Safetensors files. What is read is written and read again: the same bits.
#include "data/safetensors.h"

#include <cstring>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
    using namespace ralimp;
    Safetensors first;
    if (!fuzz::accepts(
            [&] {
                first = decode_safetensors({data, size}, "fuzz");
            },
            ExitCode::bad_input))
        return 0;
    const Safetensors again = decode_safetensors(encode_safetensors(first), "again");
    fuzz::require(again.metadata == first.metadata, "other metadata");
    fuzz::require(again.tensors.size() == first.tensors.size(), "another number of tensors");
    for (const auto& [name, tensor] : first.tensors) {
        const Tensor& other = again.tensors.at(name);
        fuzz::require(tensor.dtype() == other.dtype() && tensor.shape() == other.shape(),
                      "another type or shape");
        const std::size_t bytes =
            static_cast<std::size_t>(tensor.elements()) * bytes_of(tensor.dtype());
        fuzz::require(bytes == 0 || std::memcmp(tensor.data(), other.data(), bytes) == 0,
                      "other values");
    }
    return 0;
}
