// Reads a tree into a described struct, strictly, and checks the result. Every error is collected
// with its place; nothing is thrown here.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/describe.h"
#include "trainers/config_listing.h"
#include "trainers/config_scalar.h"
#include "trainers/config_tree.h"
#include "trainers/config_types.h"

namespace ralimp {

// What reading knows beyond the values: the errors, and where each given key stands. One state
// lives over all layers (base file, file, overrides) of one config.
class ConfigState {
public:
    // `listing` describes every key of the whole config, for hints about unknown keys.
    explicit ConfigState(std::function<std::vector<ConfigKey>()> listing)
        : listing_(std::move(listing)) {}

    // The message is made when it is shown: hints cost time, and a file may hold 60 000 mistakes.
    void error(const ConfigPlace& place, std::function<std::string()> message);
    void error(const ConfigPlace& place, std::string message);
    void mark_given(const std::string& path, const ConfigPlace& place) { given_[path] = place; }
    // After a change of kind: what was given for the former alternative counts no more.
    void forget_below(const std::string& path);
    bool is_given(const std::string& path) const { return given_.contains(path); }
    // Where the key, or the nearest map around it, stands.
    ConfigPlace place_of(std::string path) const;
    void unknown_key(const ConfigNode::Entry& entry, const std::string& map_path,
                     std::shared_ptr<const std::vector<std::string>> known);
    // Throws one Error(bad_config) with at most three lines when there were errors.
    void throw_errors();

private:
    std::function<std::vector<ConfigKey>()> listing_;
    std::map<std::string, ConfigPlace> given_;
    std::vector<std::pair<ConfigPlace, std::function<std::string()>>> errors_;
};

inline std::string config_path(const std::string& map_path, std::string_view key) {
    return map_path.empty() ? std::string(key) : fmt::format("{}.{}", map_path, key);
}

namespace config_detail {

constexpr std::size_t largest_list = 100'000;  // a config, not a data file

template <class T>
void read_value(ConfigState& state, const ConfigNode& node, const std::string& path, T& value,
                const Rule& rule);

// The visitor handed to describe() of the struct that a map stands for.
class MapReader {
public:
    MapReader(ConfigState& state, const ConfigNode& map, std::string path)
        : state_(state), map_(map), path_(std::move(path)) {}

    template <class T>
    void operator()(const char* key, T& value, const char* /*help*/, const Rule& rule = {}) {
        known_.emplace_back(key);
        const ConfigNode::Entry* entry = map_.find(key);
        if (!entry) return;
        const std::string path = config_path(path_, key);
        state_.mark_given(path, entry->value.place);
        read_value(state_, entry->value, path, value, rule);
    }
    void check(auto&&...) {}  // on the complete config only; see Checker
    void know(const char* key) { known_.emplace_back(key); }
    void report_unknown_keys() const {
        const auto known = std::make_shared<const std::vector<std::string>>(known_);
        for (const ConfigNode::Entry& entry : map_.entries)
            if (std::find(known->begin(), known->end(), entry.key) == known->end())
                state_.unknown_key(entry, path_, known);
    }

private:
    ConfigState& state_;
    const ConfigNode& map_;
    std::string path_;
    std::vector<std::string> known_;
};

// False, with an error reported, when the node is of another kind.
bool require_kind(ConfigState& state, const ConfigNode& node, const std::string& path,
                  ConfigNode::Kind kind, const char* example);
// The index of the word that the scalar holds, or -1 with an error reported.
int read_choice(ConfigState& state, const ConfigNode& node, const std::string& path,
                const std::vector<std::string>& words);
void wrong_value(ConfigState& state, const ConfigNode& node, const std::string& path,
                 const std::string& problem);

template <DescribedStruct T>
void read_struct(ConfigState& state, const ConfigNode& node, const std::string& path, T& value,
                 bool has_kind) {
    MapReader reader(state, node, path);
    if (has_kind) reader.know("kind");
    T::describe(value, reader);
    reader.report_unknown_keys();
}

template <ConfigVariant T>
void read_variant(ConfigState& state, const ConfigNode& node, const std::string& path, T& value) {
    if (const ConfigNode::Entry* kind = node.find("kind")) {
        const std::string kind_path = config_path(path, "kind");
        const int index = read_choice(state, kind->value, kind_path, VariantTraits<T>::kinds());
        if (index < 0) return;  // which keys are right is not known
        if (static_cast<std::size_t>(index) != value.index()) {
            VariantTraits<T>::emplace(value, static_cast<std::size_t>(index));
            state.forget_below(path);
        }
        state.mark_given(kind_path, kind->value.place);
    }
    std::visit([&](auto& chosen) { read_struct(state, node, path, chosen, true); }, value);
}

// The item that a key of an override names, "0" being the first; -1 with an error reported.
int read_item_number(ConfigState& state, const ConfigNode::Entry& entry, const std::string& path,
                     std::size_t size);

// An override may change single items: losses.0.weight=2.
template <ConfigList T>
void edit_items(ConfigState& state, const ConfigNode& node, const std::string& path, T& value,
                const Rule& rule) {
    for (const ConfigNode::Entry& entry : node.entries) {
        const int number = read_item_number(state, entry, path, value.size());
        if (number < 0) continue;
        const std::string item_path = fmt::format("{}[{}]", path, number);
        typename T::value_type item = value[static_cast<std::size_t>(number)];
        state.mark_given(item_path, entry.value.place);
        read_value(state, entry.value, item_path, item, rule);
        value[static_cast<std::size_t>(number)] = item;
    }
}

template <ConfigList T>
void read_list(ConfigState& state, const ConfigNode& node, const std::string& path, T& value,
               const Rule& rule) {
    using Item = typename T::value_type;
    if (node.kind == ConfigNode::Kind::map && node.from_override)
        return edit_items(state, node, path, value, rule);
    if (!require_kind(state, node, path, ConfigNode::Kind::list, "a list in [ ]")) return;
    state.forget_below(path);
    std::vector<Item> items;
    for (const ConfigNode& item : node.items) {
        ConfigNode single = item;
        std::size_t count = 1;
        const std::string item_path = fmt::format("{}[{}]", path, items.size());
        if constexpr (WholeNumber<Item> || std::floating_point<Item>) {
            if (std::string problem = split_repeat(item, single, count); !problem.empty())
                return wrong_value(state, item, item_path, problem);
        }
        if (items.size() + count > largest_list)
            return wrong_value(state, item, item_path,
                               fmt::format("makes the list longer than {} items", largest_list));
        Item parsed{};
        state.mark_given(item_path, item.place);
        read_value(state, single, item_path, parsed, rule);
        items.insert(items.end(), count, parsed);
    }
    constexpr std::size_t fixed_size = ListTraits<T>::fixed_size;
    const Rule length = fixed_size > 0 ? rule.items(fixed_size, fixed_size) : rule;
    if (std::string problem = broken_length(length, items.size(), "items"); !problem.empty()) {
        state.error(node.place, fmt::format("{} {}", path, problem));
        return;
    }
    if constexpr (fixed_size > 0)
        std::copy(items.begin(), items.end(), value.begin());
    else
        value = std::move(items);
}

// Parsed with the given function, then held against the rule's bounds.
template <class Wide, class T, class Parse>
void read_number(ConfigState& state, const ConfigNode& node, const std::string& path, T& value,
                 const Rule& rule, Parse parse) {
    Wide wide{};
    std::string problem = parse(wide);
    if (problem.empty()) problem = broken_bound(rule, static_cast<long double>(wide));
    if (problem.empty() && WholeNumber<T> &&
        (static_cast<long double>(wide) > static_cast<long double>(std::numeric_limits<T>::max()) ||
         static_cast<long double>(wide) <
             static_cast<long double>(std::numeric_limits<T>::lowest())))
        problem = fmt::format("must be between {} and {}", std::numeric_limits<T>::lowest(),
                              std::numeric_limits<T>::max());
    if (!problem.empty()) return wrong_value(state, node, path, problem);
    value = static_cast<T>(wide);
}

std::string resolve_path(const ConfigNode& node, const std::string& text);

template <class T>
void read_scalar(ConfigState& state, const ConfigNode& node, const std::string& path, T& value,
                 const Rule& rule) {
    if (!require_kind(state, node, path, ConfigNode::Kind::scalar, "a single value")) return;
    if constexpr (std::same_as<T, bool>) {
        if (std::string problem = parse_bool(node, value); !problem.empty())
            wrong_value(state, node, path, problem);
    } else if constexpr (WholeNumber<T>) {
        using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
        read_number<Wide>(state, node, path, value, rule,
                          [&](Wide& wide) { return parse_whole_number(node, wide); });
    } else if constexpr (std::floating_point<T>) {
        read_number<double>(state, node, path, value, rule, [&](double& wide) {
            return parse_number(node, wide, rule.may_be_not_finite);
        });
    } else {
        static_assert(std::same_as<T, std::string> || std::same_as<T, std::filesystem::path>,
                      "a config field has no reader for this type; see config_types.h");
        std::string text;
        std::string problem = expand_environment(node.text, text);
        if (problem.empty()) problem = broken_length(rule, text.size(), "characters");
        if (!problem.empty()) return wrong_value(state, node, path, problem);
        if constexpr (std::same_as<T, std::filesystem::path>)
            value = resolve_path(node, text);
        else
            value = std::move(text);
    }
}

template <class T>
void read_value(ConfigState& state, const ConfigNode& node, const std::string& path, T& value,
                const Rule& rule) {
    if constexpr (ConfigOptional<T>) {
        if (node.kind == ConfigNode::Kind::null) {
            value.reset();
            state.forget_below(path);
            return;
        }
        typename T::value_type inner = value ? *value : typename T::value_type{};
        read_value(state, node, path, inner, rule);
        value = std::move(inner);
    } else if constexpr (ConfigMap<T>) {
        if (!require_kind(state, node, path, ConfigNode::Kind::map, "a map of keys")) return;
        if constexpr (ConfigVariant<T>)
            read_variant(state, node, path, value);
        else
            read_struct(state, node, path, value, false);
    } else if constexpr (ConfigList<T>) {
        read_list(state, node, path, value, rule);
    } else if constexpr (DescribedEnum<T>) {
        const int index = read_choice(state, node, path, enum_words<T>());
        if (index >= 0) value = enum_names(T{})[static_cast<std::size_t>(index)].first;
    } else {
        read_scalar(state, node, path, value, rule);
    }
}

// Checks a complete config: required keys, bounds of values that no file gave, and the conditions
// between fields that describe() states with field.check().
class Checker {
public:
    Checker(ConfigState& state, std::string path) : state_(state), path_(std::move(path)) {}

    template <class T>
    void operator()(const char* key, const T& value, const char* /*help*/, const Rule& rule = {}) {
        const std::string path = config_path(path_, key);
        if (rule.is_required && !state_.is_given(path))
            state_.error(state_.place_of(path_),
                         fmt::format("{} is missing; it has no default", path));
        else
            check_value(path, value, rule);
    }
    // The key that is blamed, the condition, and a sentence about it: "must be more than low".
    void check(const char* key, bool holds, const std::string& rule) {
        const std::string path = config_path(path_, key);
        if (!holds) state_.error(state_.place_of(path), fmt::format("{}: {}", path, rule));
    }

    template <class T>
    void check_value(const std::string& path, const T& value, const Rule& rule) {
        std::string problem;
        if constexpr (ConfigOptional<T>) {
            if (value) check_value(path, *value, rule);
        } else if constexpr (ConfigVariant<T>) {
            std::visit([&](const auto& chosen) { check_value(path, chosen, rule); }, value);
        } else if constexpr (DescribedStruct<T>) {
            Checker inner(state_, path);
            T::describe(value, inner);
        } else if constexpr (ConfigList<T>) {
            problem = broken_length(rule, value.size(), "items");
            for (std::size_t i = 0; i < value.size(); ++i)
                check_value(fmt::format("{}[{}]", path, i), value[i], rule);
        } else if constexpr (WholeNumber<T> || std::floating_point<T>) {
            problem = broken_bound(rule, static_cast<long double>(value));
            if constexpr (std::floating_point<T>)
                if (problem.empty() && !std::isfinite(value) && !rule.may_be_not_finite)
                    problem = "must be finite";
            if (!problem.empty()) problem = fmt::format("= {} {}", value, problem);
        } else if constexpr (std::same_as<T, std::string> ||
                             std::same_as<T, std::filesystem::path>) {
            problem = broken_length(rule, std::string(value).size(), "characters");
        }
        if (!problem.empty())
            state_.error(state_.place_of(path), fmt::format("{} {}", path, problem));
    }

private:
    ConfigState& state_;
    std::string path_;
};

}  // namespace config_detail
}  // namespace ralimp
