// The layers that make one config: the files along `base:`, oldest first, then the overrides of
// the command line. A later layer changes what an earlier one set, key by key.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainers/config_tree.h"

namespace ralimp {

// The file and every file it builds on. `base: ../other.yaml` is relative to the file it stands in
// and may hold ${NAME}. Throws Error(bad_config) for a missing file or a cycle.
std::vector<ConfigNode> load_config_layers(const std::filesystem::path& file);

// The same for a text; its relative paths are relative to `source.folder`.
std::vector<ConfigNode> parse_config_layers(std::string_view text, const ConfigSource& source);

// One tree of all overrides, each `key.path=value` with the value in YAML; in a list, the
// path names an item by its number: losses.0.weight=2. Their order does not matter; setting a key
// twice is an error. Relative paths are relative to `folder`; empty: the working directory.
ConfigNode parse_config_overrides(std::span<const std::string> overrides,
                                  const std::filesystem::path& folder = {});

}  // namespace ralimp
