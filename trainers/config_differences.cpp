#include "trainers/config_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trainers/config_reader.h"
#include "trainers/config_scalar.h"
#include "trainers/config_tree.h"

namespace ralimp {
namespace {

using Keys = std::vector<std::pair<std::string, std::string>>;  // path and value

bool holds_maps(const ConfigNode& list) {
    return std::any_of(list.items.begin(), list.items.end(),
                       [](const ConfigNode& item) { return item.kind == ConfigNode::Kind::map; });
}

std::string scalar_text(const ConfigNode& scalar) {
    const std::string text = shown(scalar.text, std::string::npos);
    return scalar.quoted ? fmt::format("\"{}\"", text) : text;
}

// A node without keys of its own, as YAML in one line.
std::string value_text(const ConfigNode& node) {
    switch (node.kind) {
        case ConfigNode::Kind::null:
            return "null";
        case ConfigNode::Kind::map:
            return "{}";
        case ConfigNode::Kind::scalar:
            return scalar_text(node);
        case ConfigNode::Kind::list:
            break;
    }
    std::vector<std::string> items;
    for (const ConfigNode& item : node.items) items.push_back(value_text(item));
    return fmt::format("[{}]", join(items, ", "));
}

void collect(const ConfigNode& node, const std::string& path, Keys& keys) {
    if (node.kind == ConfigNode::Kind::map && !node.entries.empty()) {
        for (const ConfigNode::Entry& entry : node.entries)
            collect(entry.value, config_path(path, entry.key), keys);
    } else if (node.kind == ConfigNode::Kind::list && holds_maps(node)) {
        for (std::size_t i = 0; i < node.items.size(); ++i)
            collect(node.items[i], fmt::format("{}[{}]", path, i), keys);
    } else {
        keys.emplace_back(path, value_text(node));
    }
}

Keys keys_of(std::string_view text, const char* name) {
    Keys keys;
    collect(parse_config_tree(text, std::make_shared<const ConfigSource>(ConfigSource{name, {}})),
            "", keys);
    return keys;
}

const std::string* find(const Keys& keys, const std::string& path) {
    const auto found =
        std::find_if(keys.begin(), keys.end(), [&](const auto& key) { return key.first == path; });
    return found == keys.end() ? nullptr : &found->second;
}

}  // namespace

std::string to_string(const ConfigDifference& difference) {
    const std::string before = difference.before.value_or("absent");
    return difference.now ? fmt::format("{} = {}, was {}", difference.path, *difference.now, before)
                          : fmt::format("{} is absent, was {}", difference.path, before);
}

std::string_view top_key(std::string_view path) { return path.substr(0, path.find_first_of(".[")); }

std::vector<ConfigDifference> config_differences(std::string_view before, std::string_view now) {
    const Keys old_keys = keys_of(before, "the config before"), keys = keys_of(now, "the config");
    std::vector<ConfigDifference> differences;
    for (const auto& [path, value] : keys) {
        const std::string* old_value = find(old_keys, path);
        if (!old_value)
            differences.push_back({path, value, {}});
        else if (*old_value != value)
            differences.push_back({path, value, *old_value});
    }
    for (const auto& [path, old_value] : old_keys)
        if (!find(keys, path)) differences.push_back({path, {}, old_value});
    return differences;
}

}  // namespace ralimp
