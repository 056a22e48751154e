// Configs: a struct that describes its fields (core/describe.h) is read strictly from YAML,
// written, listed and changed by key.path=value. What the fields mean is the components' affair.
//
// A file may build on another: `base: ../other.yaml`, relative to the file. Maps are merged, lists
// and values replaced; where `kind:` changes, the base's other keys of that map are dropped.
// Texts may hold ${NAME}, an environment variable; $${ stands for ${ itself. A field of type
// std::filesystem::path is relative to the file it stands in (in an override: to the working
// directory) and is resolved to an absolute path, so a config means the same from any folder.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "trainers/config_layers.h"
#include "trainers/config_listing.h"
#include "trainers/config_reader.h"
#include "trainers/config_writer.h"

namespace ralimp {

namespace config_detail {

template <ConfigMap T>
T read_layers(const std::vector<ConfigNode>& layers, std::span<const std::string> overrides) {
    T config{};
    ConfigState state(list_config_keys<T>);
    for (const ConfigNode& layer : layers) {
        read_value(state, layer, "", config, {});
        state.throw_errors();
        state.mark_given("", {layer.place.source});
    }
    read_value(state, parse_config_overrides(overrides), "", config, {});
    state.throw_errors();
    Checker checker(state, "");
    checker.check_value("", config, {});
    state.throw_errors();
    return config;
}

}  // namespace config_detail

// Reads a file and the files it builds on, then applies the overrides. Throws Error(bad_config)
// with one line for each of the first three errors:
//   run.yaml:3:3: unknown key optimizer.learning_rte; did you mean learning_rate?
template <ConfigMap T>
T read_config(const std::filesystem::path& file, std::span<const std::string> overrides = {}) {
    return config_detail::read_layers<T>(load_config_layers(file), overrides);
}

// The same for a text, for tests, fuzzing and the config kept in a checkpoint. The name begins
// every message; relative paths are relative to `folder`.
template <ConfigMap T>
T read_config_text(std::string_view text, const std::string& name = "config",
                   std::span<const std::string> overrides = {},
                   const std::filesystem::path& folder = {}) {
    return config_detail::read_layers<T>(parse_config_layers(text, {name, folder}), overrides);
}

// Every key with type, default and help, one line each.
template <ConfigMap T>
std::string config_help() {
    return format_config_keys(list_config_keys<T>());
}

}  // namespace ralimp
