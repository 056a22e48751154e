// A YAML text as a tree of maps, lists and scalars that remember where they stand. A strict subset
// of YAML: no anchors, aliases, tags, merge keys, tabs, repeated keys or several documents. Types
// are not known here; see config_reader.h.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ralimp {

// Where a text came from: a file, or a key.path=value of the command line.
struct ConfigSource {
    std::string name;              // begins every message about it
    std::filesystem::path folder;  // relative paths are relative to it; empty: working directory
};

struct ConfigPlace {
    std::shared_ptr<const ConfigSource> source;
    int line = 0;  // from 1; 0: the source as a whole
    int column = 0;
};

// "run.yaml:3:3", or the source's name when there is no line.
std::string to_string(const ConfigPlace& place);

struct ConfigNode {
    enum class Kind { null, scalar, list, map };
    struct Entry;

    Kind kind = Kind::null;
    ConfigPlace place;
    std::string text;               // of a scalar
    bool quoted = false;            // "1" in quotes is text, not a number
    bool from_override = false;     // of key.path=value, not of a file
    std::vector<ConfigNode> items;  // of a list
    std::vector<Entry> entries;     // of a map, in the order of the file, keys all different

    const Entry* find(std::string_view key) const;
};

struct ConfigNode::Entry {
    std::string key;
    ConfigPlace place;  // of the key
    ConfigNode value;
};

// The whole text as one tree. Throws Error(bad_config) with one line for a text that is no such
// YAML. An empty text gives a null node.
ConfigNode parse_config_tree(std::string_view text, std::shared_ptr<const ConfigSource> source);

// Text from a file for a one-line message: control characters escaped, shortened to `longest`
// bytes (never inside a character).
std::string shown(std::string_view text, std::size_t longest = 60);

// The offset of the first byte that is not UTF-8, or npos.
std::size_t find_invalid_utf8(std::string_view text);

}  // namespace ralimp
