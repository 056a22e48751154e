// The files that a run reads besides its config: an image, a mesh, a reference, measured points.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "trainers/run_config.h"

namespace ralimp {

// Every key of the config that holds a path, in its order.
std::vector<std::filesystem::path> data_files(const RunConfig& config);

// XXH3 of their lengths and of what stands in them, whatever their names; 0 for no files.
// Error(bad_input) for one that cannot be read.
uint64_t hash_of_files(const std::vector<std::filesystem::path>& files);

// When each file was last written or replaced, in nanoseconds, with its number on the disk: another
// list where one was changed meanwhile, even if it is as before again. 0 for one that is gone.
std::vector<std::array<int64_t, 2>> changes_of_files(
    const std::vector<std::filesystem::path>& files);

}  // namespace ralimp
