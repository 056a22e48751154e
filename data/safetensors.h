// Safetensors files (github.com/huggingface/safetensors, "Format"): named tensors and texts.
//
//     8 bytes    length of the header, unsigned and little-endian
//     header     JSON, {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …,
//                "__metadata__": {"name": "text", …}}, padded with spaces
//     tensors    row-major and little-endian, without gaps; offsets count from here
//
// Whole files in memory. Of the format's types those that this program computes with: F64, F32,
// I64, I32 and U8.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace ralimp {

struct Safetensors {
    std::map<std::string, Tensor> tensors;
    std::map<std::string, std::string> metadata;
};

// The same content always gives the same bytes: the widest types come first, which aligns every
// tensor to its type, then names in their order. Throws Error for a type that is not among the
// above, a tensor called __metadata__, a name or text that is not UTF-8, and a header above 100 MB.
std::vector<uint8_t> encode_safetensors(const Safetensors& content);

// Error(bad_input) with one line, beginning with the name, for whatever the format does not allow:
// repeated names too, gaps and overlaps between tensors, bytes behind the last one, and a header
// above 100 MB. Tensors may stand in any order and at any alignment.
Safetensors decode_safetensors(std::span<const uint8_t> bytes, const std::string& name);

// The same on files. Error(io) when it cannot be written, Error(bad_input) when it cannot be read.
void write_safetensors(const std::string& path, const Safetensors& content);
Safetensors read_safetensors(const std::string& path);

}  // namespace ralimp
