// Which C++ types a config field may have.
#pragma once
#include <array>
#include <concepts>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace ralimp {

// A struct with describe(config, field); see core/describe.h.
struct AnyField {
    void operator()(auto&&...) {}
    void check(auto&&...) {}
};
template <class T>
concept DescribedStruct = requires(T& config, AnyField& field) {
    T::describe(config, field);
};

// An enum with enum_names(value) beside it.
template <class T>
concept DescribedEnum = std::is_enum_v<T> && requires(T value) {
    enum_names(value);
};

template <class T>
struct VariantTraits : std::false_type {};
template <class... Alternatives>
struct VariantTraits<std::variant<Alternatives...>> : std::true_type {
    static std::vector<std::string> kinds() { return {std::string(Alternatives::kind)...}; }
    // Sets the variant to the default value of one alternative.
    static void emplace(std::variant<Alternatives...>& variant, std::size_t index) {
        using Maker = void (*)(std::variant<Alternatives...>&);
        constexpr std::array<Maker, sizeof...(Alternatives)> makers{
            [](std::variant<Alternatives...>& v) { v = Alternatives{}; }...};
        makers.at(index)(variant);
    }
};
template <class T>
concept ConfigVariant = VariantTraits<T>::value;

template <class T>
struct OptionalTraits : std::false_type {};
template <class T>
struct OptionalTraits<std::optional<T>> : std::true_type {};
template <class T>
concept ConfigOptional = OptionalTraits<T>::value;

template <class T>
struct ListTraits : std::false_type {};
template <class T>
struct ListTraits<std::vector<T>> : std::true_type {
    static constexpr std::size_t fixed_size = 0;
};
template <class T, std::size_t size>
struct ListTraits<std::array<T, size>> : std::true_type {
    static constexpr std::size_t fixed_size = size;
};
template <class T>
concept ConfigList = ListTraits<T>::value;

template <class T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

// Written as a YAML map of its own.
template <class T>
concept ConfigMap = DescribedStruct<T> || ConfigVariant<T>;

template <class T>
concept OptionalConfigMap = ConfigOptional<T> && ConfigMap<typename T::value_type>;
template <class T>
concept ListOfConfigMaps = ConfigList<T> && ConfigMap<typename T::value_type>;

template <DescribedEnum E>
std::vector<std::string> enum_words() {
    std::vector<std::string> words;
    for (const auto& entry : enum_names(E{})) words.emplace_back(entry.second);
    return words;
}

template <DescribedEnum E>
std::string enum_word(E value) {
    for (const auto& entry : enum_names(E{}))
        if (entry.first == value) return std::string(entry.second);
    return "";
}

}  // namespace ralimp
