// Whole files: read at once, and written so that a reader finds the old content or the new, never
// a part of it. Not for files that do not fit into memory.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ralimp {

// All bytes of a regular file. Error bad_input, naming the file, when it is missing, a folder,
// unreadable or larger than `most_bytes`.
std::vector<uint8_t> read_file(const std::string& path, int64_t most_bytes = int64_t{1} << 33);

// Writes to a temporary name in the same folder, flushes it to the disk and renames it. Error io,
// naming the file, when any of this fails; whatever stood under `path` is then untouched and no
// temporary file remains.
void write_file(const std::string& path, std::span<const uint8_t> bytes);

// Whether write_file() could write there now, to be asked before long work: Error io, with its
// message, when not. Leaves nothing behind.
void check_writable(const std::string& path);
// The same for any new file in a folder that exists.
void check_folder_writable(const std::string& folder);

}  // namespace ralimp
