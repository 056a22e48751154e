// Every key of a config with type, default, bounds and help: for `--help` and for hints.
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/describe.h"
#include "trainers/config_scalar.h"
#include "trainers/config_types.h"
#include "trainers/config_writer.h"

namespace ralimp {

struct ConfigKey {
    std::string path;          // "optimizer.learning_rate"; "losses[].weight" inside a list
    std::string kind;          // "optimizer.kind=adam" when the key belongs to one alternative only
    std::string type;          // "number more than 0"
    std::string default_text;  // as in YAML; "" for maps and required keys
    std::string help;
};

// "seed  whole number, default 0  seed of every random stream", one line per key.
std::string format_config_keys(const std::vector<ConfigKey>& keys);

namespace config_detail {

template <class T>
std::string type_in_words(const Rule& rule) {
    const std::string bounds = bounds_in_words(rule);
    const auto with_bounds = [&](std::string type) {
        return bounds.empty() ? type : fmt::format("{} {}", type, bounds);
    };
    if constexpr (ConfigOptional<T>)
        return type_in_words<typename T::value_type>(rule) + ", or null";
    else if constexpr (ConfigList<T>)
        return "list of " + type_in_words<typename T::value_type>(rule);
    else if constexpr (ConfigVariant<T>)
        return join(VariantTraits<T>::kinds(), " | ");
    else if constexpr (DescribedStruct<T>)
        return "map";
    else if constexpr (DescribedEnum<T>)
        return join(enum_words<T>(), " | ");
    else if constexpr (std::same_as<T, bool>)
        return "true | false";
    else if constexpr (WholeNumber<T>)
        return with_bounds("whole number");
    else if constexpr (std::floating_point<T>)
        return with_bounds("number");
    else if constexpr (std::same_as<T, std::filesystem::path>)
        return "path";
    else
        return "text";
}

// A variant whose alternatives hold such variants again is listed once along a path.
struct ListedVariant {
    const void* type;
    const ListedVariant* around;
};
template <class T>
inline constexpr char variant_tag = 0;

class KeyLister {
public:
    KeyLister(std::vector<ConfigKey>& keys, std::string path, std::string kind,
              const ListedVariant* around = nullptr)
        : keys_(keys), path_(std::move(path)), kind_(std::move(kind)), around_(around) {}

    template <class T>
    void operator()(const char* key, const T& value, const char* help, const Rule& rule = {}) {
        const std::string path = path_.empty() ? key : fmt::format("{}.{}", path_, key);
        list(path, value, help, rule);
    }
    void check(auto&&...) {}

    template <class T>
    void list(const std::string& path, const T& value, const char* help, const Rule& rule) {
        if constexpr (OptionalConfigMap<T>) {
            list(path, value ? *value : typename T::value_type{}, help, rule);
        } else if constexpr (ListOfConfigMaps<T>) {
            list(path + "[]", typename T::value_type{}, help, rule);
        } else if constexpr (ConfigVariant<T>) {
            const std::string kind_path = path.empty() ? "kind" : path + ".kind";
            const std::vector<std::string> kinds = VariantTraits<T>::kinds();
            keys_.push_back({kind_path, kind_, join(kinds, " | "), kinds[value.index()], help});
            for (const ListedVariant* outer = around_; outer; outer = outer->around)
                if (outer->type == &variant_tag<T>) return;
            const ListedVariant listed{&variant_tag<T>, around_};
            for (std::size_t i = 0; i < kinds.size(); ++i) {
                T alternative = value;
                if (i != value.index()) VariantTraits<T>::emplace(alternative, i);
                KeyLister inner(keys_, path, fmt::format("{}={}", kind_path, kinds[i]), &listed);
                std::visit([&]<class A>(const A& chosen) { A::describe(chosen, inner); },
                           alternative);
            }
        } else if constexpr (DescribedStruct<T>) {
            KeyLister inner(keys_, path, kind_, around_);
            T::describe(value, inner);
        } else {
            keys_.push_back({path, kind_, type_in_words<T>(rule),
                             rule.is_required ? "" : inline_text(value), help});
        }
    }

private:
    std::vector<ConfigKey>& keys_;
    std::string path_;
    std::string kind_;
    const ListedVariant* around_;
};

}  // namespace config_detail

// The keys of T in the order of describe(), alternatives one after another.
template <class T>
std::vector<ConfigKey> list_config_keys() {
    std::vector<ConfigKey> keys;
    config_detail::KeyLister lister(keys, "", "");
    lister.list("", T{}, "", {});
    return keys;
}

}  // namespace ralimp
