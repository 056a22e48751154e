// A described struct as YAML text that the reader turns into the same values again.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/describe.h"
#include "trainers/config_scalar.h"
#include "trainers/config_types.h"

namespace ralimp {

enum class ConfigComments { none, help };

namespace config_detail {

// " (one | two)": the words that a value may be, for its comment; "" where any text or number may
// stand.
template <class T>
std::string choices_of() {
    if constexpr (ConfigOptional<T> || ConfigList<T>)
        return choices_of<typename T::value_type>();
    else if constexpr (DescribedEnum<T>)
        return fmt::format(" ({})", join(enum_words<T>(), " | "));
    else
        return "";
}

// Scalars and lists of scalars, on one line.
template <class T>
std::string inline_text(const T& value) {
    if constexpr (ConfigOptional<T>) {
        return value ? inline_text(*value) : "null";
    } else if constexpr (ConfigList<T>) {
        std::vector<std::string> items;
        for (const auto& item : value) items.push_back(inline_text(item));
        return fmt::format("[{}]", join(items, ", "));
    } else if constexpr (DescribedEnum<T>) {
        return yaml_text(std::string_view(enum_word(value)));
    } else if constexpr (std::same_as<T, bool>) {
        return yaml_text(value);
    } else if constexpr (WholeNumber<T>) {
        using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
        return yaml_text(static_cast<Wide>(value));
    } else if constexpr (std::same_as<T, float>) {
        return std::isfinite(value) ? fmt::format("{}", value)
                                    : yaml_text(static_cast<double>(value));
    } else if constexpr (std::floating_point<T>) {
        return yaml_text(static_cast<double>(value));
    } else {
        const std::string text = value;
        return yaml_text(std::string_view(text));
    }
}

class MapWriter {
public:
    MapWriter(std::string& out, int indent, ConfigComments comments)
        : out_(out), indent_(indent), comments_(comments) {}

    template <class T>
    void operator()(const char* key, const T& value, const char* help, const Rule& = {}) {
        out_ += fmt::format("{:{}}{}:", "", indent_, key);
        write(value, help);
    }
    void check(auto&&...) {}

    // Writes what follows "key:" or "-", including the end of the line.
    template <class T>
    void write(const T& value, const char* help) {
        if constexpr (OptionalConfigMap<T>) {
            if (value)
                write(*value, help);
            else
                end_line(" null", help);
        } else if constexpr (ListOfConfigMaps<T>) {
            if (value.empty()) return end_line(" []", help);
            end_line("", help);
            for (const auto& item : value) {
                std::string lines;
                MapWriter inner(lines, indent_ + 4, comments_);
                inner.write_map(item);
                lines.replace(0, static_cast<std::size_t>(indent_) + 4,
                              fmt::format("{:{}}- ", "", indent_ + 2));
                out_ += lines;
            }
        } else if constexpr (ConfigMap<T>) {
            std::string lines;
            MapWriter inner(lines, indent_ + 2, comments_);
            inner.write_map(value);
            const bool is_empty = lines == fmt::format("{:{}}{{}}\n", "", indent_ + 2);
            end_line(is_empty ? " {}" : "", help);
            if (!is_empty) out_ += lines;
        } else {
            end_line(" " + inline_text(value), help + choices_of<T>());
        }
    }

    template <ConfigMap T>
    void write_map(const T& value) {
        const std::size_t before = out_.size();
        if constexpr (ConfigVariant<T>) {
            std::visit(
                [&]<class A>(const A& chosen) {
                    out_ += fmt::format("{:{}}kind:", "", indent_);
                    end_line(" " + yaml_text(std::string_view(A::kind)),
                             join(VariantTraits<T>::kinds(), " | "));
                    A::describe(chosen, *this);
                },
                value);
        } else {
            T::describe(value, *this);
        }
        if (out_.size() == before) out_ += fmt::format("{:{}}{{}}\n", "", indent_);
    }

private:
    void end_line(const std::string& text, std::string comment) {
        out_ += text;
        if (comments_ == ConfigComments::help && !comment.empty()) {
            std::replace(comment.begin(), comment.end(), '\n', ' ');
            out_ += "  # " + comment;
        }
        out_ += '\n';
    }

    std::string& out_;
    int indent_;
    ConfigComments comments_;
};

}  // namespace config_detail

// The resolved config: every key with its value, base files and environment variables resolved.
// With comments, the help stands behind each key.
template <ConfigMap T>
std::string write_config(const T& config, ConfigComments comments = ConfigComments::none) {
    std::string text;
    config_detail::MapWriter writer(text, 0, comments);
    writer.write_map(config);
    return text;
}

}  // namespace ralimp
