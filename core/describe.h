// What a config struct says about its fields: rules on the values, shared by every component that
// owns an XConfig. No reading or writing here: the visitors are in trainers/config.h.
//
//     struct AdamConfig {
//         static constexpr const char* kind = "adam";  // only for alternatives of a std::variant
//         double learning_rate = 1e-3;
//         std::vector<int64_t> layers{20, 20};
//         std::optional<double> clip;
//         static void describe(auto& config, auto& field) {
//             field("learning_rate", config.learning_rate, "step size", more_than(0));
//             field("layers", config.layers, "width of each layer", at_least(1).items(1));
//             field("clip", config.clip, "largest gradient norm; null: no clipping", more_than(0));
//             field.check("clip", !config.clip || *config.clip > config.learning_rate,
//                         "must be more than learning_rate");
//         }
//     };
//
// An enum is named by a function beside it, found by its argument:
//
//     enum class Activation { tanh, sine };
//     constexpr auto enum_names(Activation) {
//         return std::array{std::pair{Activation::tanh, "tanh"}, std::pair{Activation::sine,
//         "sine"}};
//     }
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace ralimp {

// Bounds hold for a number and for each number of a list; items() and non_empty() for the length
// of a list or a text.
struct Rule {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    bool low_excluded = false;
    bool high_excluded = false;
    bool is_required = false;        // must stand in the config; there is no default
    bool may_be_not_finite = false;  // .inf, -.inf and .nan are accepted
    std::size_t fewest = 0;
    std::size_t most = std::numeric_limits<std::size_t>::max();

    constexpr Rule at_least(double bound) const { return with_low(bound, false); }
    constexpr Rule more_than(double bound) const { return with_low(bound, true); }
    constexpr Rule at_most(double bound) const { return with_high(bound, false); }
    constexpr Rule less_than(double bound) const { return with_high(bound, true); }
    constexpr Rule required() const {
        Rule rule = *this;
        rule.is_required = true;
        return rule;
    }
    constexpr Rule not_finite_allowed() const {
        Rule rule = *this;
        rule.may_be_not_finite = true;
        return rule;
    }
    constexpr Rule items(std::size_t minimum,
                         std::size_t maximum = std::numeric_limits<std::size_t>::max()) const {
        Rule rule = *this;
        rule.fewest = minimum;
        rule.most = maximum;
        return rule;
    }
    constexpr Rule non_empty() const { return items(1); }

private:
    constexpr Rule with_low(double bound, bool excluded) const {
        Rule rule = *this;
        rule.low = bound;
        rule.low_excluded = excluded;
        return rule;
    }
    constexpr Rule with_high(double bound, bool excluded) const {
        Rule rule = *this;
        rule.high = bound;
        rule.high_excluded = excluded;
        return rule;
    }
};

constexpr Rule at_least(double bound) { return Rule{}.at_least(bound); }
constexpr Rule more_than(double bound) { return Rule{}.more_than(bound); }
constexpr Rule at_most(double bound) { return Rule{}.at_most(bound); }
constexpr Rule less_than(double bound) { return Rule{}.less_than(bound); }
// Both ends included.
constexpr Rule between(double low, double high) { return Rule{}.at_least(low).at_most(high); }
constexpr Rule required() { return Rule{}.required(); }
constexpr Rule items(std::size_t fewest,
                     std::size_t most = std::numeric_limits<std::size_t>::max()) {
    return Rule{}.items(fewest, most);
}
constexpr Rule non_empty() { return Rule{}.non_empty(); }

// The name of an enum's value.
template <class Enum>
constexpr const char* enum_name(Enum value) {
    for (const auto& [known, name] : enum_names(Enum{}))
        if (known == value) return name;
    return "";
}

}  // namespace ralimp
