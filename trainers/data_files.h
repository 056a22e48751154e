// The files that a run reads besides its config: an image, a mesh, a reference, measured points.
#pragma once
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

}  // namespace ralimp
