// A checkpoint: everything a run needs to go on bit for bit, as one HDF5 file that any HDF5 tool
// opens. How a folder of them is kept is in checkpoint_folder.h.
//
//     /format_version, /program_version, /config   the resolved config as text
//     /model/<dotted.name>, /optimizer/<name>      tensors
//     /trainer/<name>                              whole numbers, numbers and texts
//
// A trailer of 40 bytes stands behind the HDF5 data, which HDF5 ignores: a mark (16 bytes), the
// length of the data and its XXH3 128-bit hash. It is checked before libhdf5 sees a byte, because
// libhdf5 can crash on a damaged file.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/tensor.h"

namespace ralimp {

using CheckpointValue = std::variant<int64_t, double, std::string>;
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

struct Checkpoint {
    std::map<std::string, Tensor> tensors;          // "model/hidden.0.weight"
    std::map<std::string, CheckpointValue> values;  // "step"; written under /trainer
    std::string config;
    std::string program_version;  // of the program that wrote it; set by reading

    // Adds tensors as "group/name".
    void add(const std::string& group, const NamedTensors& named);
    // The tensors of a group, without "group/" in their names, in alphabetical order.
    NamedTensors group(const std::string& group) const;
    // A value that must be there and of this type; Error(bad_input) otherwise.
    int64_t whole_number(const std::string& name) const;
    double number(const std::string& name) const;
    const std::string& text(const std::string& name) const;
};

constexpr int64_t checkpoint_format_version = 1;

// Writes the file so that its name always stands for a complete checkpoint, the former one or the
// new one, whatever happens meanwhile. Error(io) with one line when the disk is full or the folder
// cannot be written; no temporary file remains then.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);

// Error(bad_input) with one line for a file that is missing, empty, truncated, damaged, no
// checkpoint, or of a newer format.
Checkpoint read_checkpoint(const std::string& path);

// The same on bytes. The same checkpoint always gives the same bytes. `name` begins the messages.
std::vector<uint8_t> encode_checkpoint(const Checkpoint& checkpoint);
Checkpoint decode_checkpoint(std::span<const uint8_t> bytes, const std::string& name);

// Copies the values of a checkpoint's group into the memory of the given tensors. Names, shapes and
// dtypes must agree; otherwise Error(bad_input) lists every missing, unexpected and different one
// in one line, and nothing was changed.
void load_into(const NamedTensors& tensors, const Checkpoint& checkpoint, const std::string& group);

// Copies what agrees and returns one line for each tensor that does not. Error(bad_input) when none
// agrees.
std::vector<std::string> load_matching(const NamedTensors& tensors, const Checkpoint& checkpoint,
                                       const std::string& group);

}  // namespace ralimp
