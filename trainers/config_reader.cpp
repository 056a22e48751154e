#include "trainers/config_reader.h"

#include "core/error.h"

namespace ralimp {
namespace {

constexpr std::size_t most_lines = 3;

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

// What a key without a misspelt neighbour may have meant: a key of that name elsewhere.
std::string hint_from_elsewhere(const std::vector<ConfigKey>& keys, const std::string& key,
                                const std::string& map_path) {
    const std::string path = config_path(map_path, key);
    for (const ConfigKey& known : keys)
        if (known.path == path && !known.kind.empty())
            return fmt::format("; it belongs to {}", known.kind);
    for (const ConfigKey& known : keys)
        if (known.path == key && key.find('.') != std::string::npos)
            return "; write it nested, one map for each dot";
    for (const ConfigKey& known : keys)
        if (last_part(known.path) == key)
            return fmt::format("; did you mean {}{}?", known.path,
                               known.kind.empty() ? "" : fmt::format(" (with {})", known.kind));
    return "";
}

}  // namespace

void ConfigState::error(const ConfigPlace& place, std::function<std::string()> message) {
    errors_.emplace_back(place, std::move(message));
}

void ConfigState::error(const ConfigPlace& place, std::string message) {
    error(place, [message = std::move(message)] { return message; });
}

void ConfigState::forget_below(const std::string& path) {
    if (path.empty()) {
        given_.erase(given_.upper_bound(""), given_.end());
        return;
    }
    // Everything below stands together in the order of the map.
    for (const char* separator : {".", "["}) {
        const std::string prefix = path + separator;
        const auto first = given_.lower_bound(prefix);
        auto last = first;
        while (last != given_.end() && last->first.starts_with(prefix)) ++last;
        given_.erase(first, last);
    }
}

ConfigPlace ConfigState::place_of(std::string path) const {
    while (true) {
        if (const auto found = given_.find(path); found != given_.end()) return found->second;
        if (path.empty()) return {};
        const std::size_t end = path.find_last_of(".[");
        path.resize(end == std::string::npos ? 0 : end);
    }
}

void ConfigState::unknown_key(const ConfigNode::Entry& entry, const std::string& map_path,
                              std::shared_ptr<const std::vector<std::string>> known) {
    error(entry.place, [this, key = entry.key, map_path, known = std::move(known)] {
        std::string hint;
        if (const std::string near = closest_word(key, *known); !near.empty())
            hint = fmt::format("; did you mean {}?", near);
        if (hint.empty()) hint = hint_from_elsewhere(listing_(), key, map_path);
        if (hint.empty() && known->empty()) hint = "; there are no keys here";
        if (hint.empty())
            hint = fmt::format("; the keys here are {}", shown(join(*known, ", "), 200));
        return fmt::format("unknown key {}{}", shown(config_path(map_path, key)), hint);
    });
}

void ConfigState::throw_errors() {
    if (errors_.empty()) return;
    std::stable_sort(errors_.begin(), errors_.end(), [](const auto& a, const auto& b) {
        return std::pair(a.first.line, a.first.column) < std::pair(b.first.line, b.first.column);
    });
    std::vector<std::string> lines;
    for (const auto& [place, message] : errors_) {
        if (lines.size() == most_lines) break;
        lines.push_back(fmt::format("{}: {}", to_string(place), message()));
    }
    if (errors_.size() > most_lines)
        lines.back() += fmt::format(" (and {} more)", errors_.size() - most_lines);
    throw Error(join(lines, "\n"), ExitCode::bad_config);
}

namespace config_detail {

bool require_kind(ConfigState& state, const ConfigNode& node, const std::string& path,
                  ConfigNode::Kind kind, const char* example) {
    if (node.kind == kind) return true;
    const std::string name = path.empty() ? "the config" : path;
    switch (node.kind) {
        case ConfigNode::Kind::null:
            state.error(node.place, fmt::format("{} is empty; give it {}{}", name, example,
                                                path.empty() ? "" : " or remove the key"));
            break;
        case ConfigNode::Kind::scalar:
            state.error(node.place,
                        fmt::format("{} = {} must be {}", name, shown(node.text), example));
            break;
        case ConfigNode::Kind::list:
            state.error(node.place, fmt::format("{} is a list; it must be {}", name, example));
            break;
        case ConfigNode::Kind::map:
            state.error(node.place, fmt::format("{} is a map; it must be {}", name, example));
            break;
    }
    return false;
}

void wrong_value(ConfigState& state, const ConfigNode& node, const std::string& path,
                 const std::string& problem) {
    state.error(node.place, fmt::format("{} = {} {}", path,
                                        node.text.empty() ? "''" : shown(node.text), problem));
}

int read_choice(ConfigState& state, const ConfigNode& node, const std::string& path,
                const std::vector<std::string>& words) {
    if (!require_kind(state, node, path, ConfigNode::Kind::scalar,
                      words.size() == 1 ? words[0].c_str() : "one word"))
        return -1;
    for (std::size_t i = 0; i < words.size(); ++i)
        if (words[i] == node.text) return static_cast<int>(i);
    const std::string near = closest_word(node.text, words);
    wrong_value(state, node, path,
                fmt::format("must be {}{}", join(words, " | "),
                            near.empty() ? "" : fmt::format("; did you mean {}?", near)));
    return -1;
}

int read_item_number(ConfigState& state, const ConfigNode::Entry& entry, const std::string& path,
                     std::size_t size) {
    int64_t number = -1;
    ConfigNode key;
    key.text = entry.key;
    if (!parse_whole_number(key, number).empty() || number < 0)
        state.error(entry.place, fmt::format("{} is a list; name an item of it by its number, from "
                                             "0, not by {}",
                                             path, shown(entry.key)));
    else if (static_cast<uint64_t>(number) >= size)
        state.error(entry.place,
                    fmt::format("{} has {} items; there is no item {} (the first is 0)", path, size,
                                number));
    else
        return static_cast<int>(number);
    return -1;
}

// A path written in a file is relative to the folder of that file.
std::string resolve_path(const ConfigNode& node, const std::string& text) {
    if (text.empty()) return text;
    const std::filesystem::path path(text);
    if (path.is_absolute()) return path.lexically_normal().string();
    const std::filesystem::path folder =
        node.place.source ? node.place.source->folder : std::filesystem::path();
    return std::filesystem::absolute(folder / path).lexically_normal().string();
}

}  // namespace config_detail
}  // namespace ralimp
