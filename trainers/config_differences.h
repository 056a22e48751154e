// What differs between two resolved configs (config_writer.h), key by key.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ralimp {

// A key with its values as YAML in one line; none where the key is absent.
struct ConfigDifference {
    std::string path;  // "training.phases[1].steps"
    std::optional<std::string> now, before;
};

// "training.phases[1].steps = 9, was 6", "network.hidden.split = real_input, was absent",
// "network.hidden.degree is absent, was 2"
std::string to_string(const ConfigDifference& difference);

// The key at the top of the config that a path lies below: "training".
std::string_view top_key(std::string_view path);

// Keys of `now` in their order, then those that only `before` has. A list of values counts as one
// value. Throws Error(bad_config) for a text that is no config (config_tree.h).
std::vector<ConfigDifference> config_differences(std::string_view before, std::string_view now);

}  // namespace ralimp
