#include "trainers/config_layers.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/file.h"
#include "trainers/config_scalar.h"

namespace ralimp {
namespace {

using Kind = ConfigNode::Kind;

constexpr int64_t largest_config = 1 << 20;  // bytes

[[noreturn]] void fail_at(const ConfigPlace& place, const std::string& message) {
    fail_with(ExitCode::bad_config, "{}: {}", to_string(place), message);
}

// `blame` is where the file was asked for; "" for the command line.
std::string read_text(const std::filesystem::path& file, const std::string& blame) {
    try {
        const std::vector<uint8_t> bytes = read_file(file.string(), largest_config);
        return std::string(bytes.begin(), bytes.end());
    } catch (const Error& error) {
        fail_with(ExitCode::bad_config, "{}{}", blame, error.what());
    }
}

// Follows `base:` from one tree to the next, the newest first.
class LayerLoader {
public:
    void add_text(std::string_view text, const ConfigSource& source) {
        ConfigNode root = parse_config_tree(text, std::make_shared<const ConfigSource>(source));
        const auto base = std::find_if(root.entries.begin(), root.entries.end(),
                                       [](const auto& entry) { return entry.key == "base"; });
        if (base == root.entries.end()) {
            layers_.push_back(std::move(root));
            return;
        }
        const ConfigNode value = base->value;
        root.entries.erase(base);
        layers_.push_back(std::move(root));
        add_base(value, source);
    }

    void add_file(const std::filesystem::path& file, const std::string& name,
                  const ConfigPlace* base) {
        const std::string blame = base ? fmt::format("{}: base: ", to_string(*base)) : "";
        const std::string text = read_text(file, blame);
        const std::filesystem::path canonical = std::filesystem::weakly_canonical(file);
        chain_.push_back(name);
        if (std::find(visited_.begin(), visited_.end(), canonical) != visited_.end())
            fail_with(ExitCode::bad_config, "{}{}: a cycle: {}", blame, name,
                      shown(join(chain_, " -> "), 400));
        visited_.push_back(canonical);
        add_text(text, {name, file.parent_path()});
    }

    std::vector<ConfigNode> take() {
        std::reverse(layers_.begin(), layers_.end());
        return std::move(layers_);
    }

private:
    void add_base(const ConfigNode& value, const ConfigSource& source) {
        if (value.kind != Kind::scalar || value.text.empty())
            fail_at(value.place, "base must be the path of one config file");
        std::string path;
        if (const std::string problem = expand_environment(value.text, path); !problem.empty())
            fail_at(value.place, fmt::format("base = {} {}", shown(value.text), problem));
        const std::filesystem::path file = (source.folder / path).lexically_normal();
        add_file(file, file.string(), &value.place);
    }

    std::vector<ConfigNode> layers_;
    std::vector<std::string> chain_;
    std::vector<std::filesystem::path> visited_;
};

// Adds the keys of one tree to another; both come from overrides.
void merge(ConfigNode& into, ConfigNode&& from, const std::string& path) {
    for (ConfigNode::Entry& entry : from.entries) {
        const std::string key_path = path.empty() ? entry.key : path + "." + entry.key;
        const auto same = std::find_if(into.entries.begin(), into.entries.end(),
                                       [&](const auto& other) { return other.key == entry.key; });
        if (same == into.entries.end())
            into.entries.push_back(std::move(entry));
        else if (same->value.kind == Kind::map && entry.value.kind == Kind::map)
            merge(same->value, std::move(entry.value), key_path);
        else
            fail_at(entry.place, fmt::format("{} is set twice; also by {}", shown(key_path),
                                             to_string(same->place)));
    }
}

// Places inside an override have no line: the override's own text says where.
void mark_override(ConfigNode& node) {
    node.from_override = true;
    node.place.line = node.place.column = 0;
    for (ConfigNode& item : node.items) mark_override(item);
    for (ConfigNode::Entry& entry : node.entries) {
        entry.place.line = entry.place.column = 0;
        mark_override(entry.value);
    }
}

// "losses[0].weight" as "losses.0.weight": the second needs no quotes in a shell, the first is how
// messages write it.
std::string with_dots(std::string path) {
    for (std::size_t open = path.find('['); open != std::string::npos; open = path.find('[')) {
        const std::size_t close = path.find(']', open);
        if (close == std::string::npos ||
            (close + 1 < path.size() && path[close + 1] != '.' && path[close + 1] != '['))
            return path;  // an unknown key, as it stands
        path.erase(close, 1);
        path[open] = '.';
    }
    return path;
}

ConfigNode parse_override(const std::string& text, const std::filesystem::path& folder) {
    const auto source =
        std::make_shared<const ConfigSource>(ConfigSource{"override " + shown(text), folder});
    const ConfigPlace place{source};
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) fail_at(place, "write key.path=value");
    if (find_invalid_utf8(text) != std::string::npos) fail_at(place, "is not UTF-8");
    ConfigNode node = parse_config_tree(std::string_view(text).substr(equals + 1), source);
    mark_override(node);
    node.place = place;
    std::string path = with_dots(text.substr(0, equals));
    while (true) {
        const std::size_t dot = path.rfind('.');
        std::string key = dot == std::string::npos ? path : path.substr(dot + 1);
        if (key.empty()) fail_at(place, "has an empty key; write key.path=value");
        ConfigNode map;
        map.kind = Kind::map;
        map.from_override = true;
        map.place = place;
        map.entries.push_back({std::move(key), place, std::move(node)});
        node = std::move(map);
        if (dot == std::string::npos) return node;
        path.resize(dot);
    }
}

}  // namespace

std::vector<ConfigNode> load_config_layers(const std::filesystem::path& file) {
    LayerLoader loader;
    loader.add_file(file, file.string(), nullptr);
    return loader.take();
}

std::vector<ConfigNode> parse_config_layers(std::string_view text, const ConfigSource& source) {
    LayerLoader loader;
    loader.add_text(text, source);
    return loader.take();
}

ConfigNode parse_config_overrides(std::span<const std::string> overrides,
                                  const std::filesystem::path& folder) {
    ConfigNode all;
    all.kind = Kind::map;
    for (const std::string& text : overrides) merge(all, parse_override(text, folder), "");
    return all;
}

}  // namespace ralimp
