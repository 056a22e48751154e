// What differs between two resolved configs (config_writer.h), key by key.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ralimp {

// One line for each key whose value differs, keys of `now` in their order, then those that only
// `before` has: "training.phases[1].steps = 9, was 6", "network.hidden.split = real_input, was
// absent", "network.hidden.degree is absent, was 2". A list of values counts as one value. Throws
// Error(bad_config) for a text that is no config (config_tree.h).
std::vector<std::string> config_differences(std::string_view before, std::string_view now);

}  // namespace ralimp
