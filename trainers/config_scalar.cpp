#include "trainers/config_scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace ralimp {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A decimal literal taken apart: (-1)^negative * digits * 10^exponent.
struct Decimal {
    bool negative = false;
    std::string digits;  // without the point
    int64_t exponent = 0;
    bool leading_zero = false;  // 010
};

// [+-] digits [. digits] [e [+-] digits], with a digit before or after the point.
bool read_decimal(std::string_view text, Decimal& decimal) {
    std::size_t at = 0;
    if (at < text.size() && (text[at] == '+' || text[at] == '-'))
        decimal.negative = text[at++] == '-';
    const std::size_t first = at;
    while (at < text.size() && is_digit(text[at])) decimal.digits += text[at++];
    decimal.leading_zero = at - first > 1 && text[first] == '0';
    if (at < text.size() && text[at] == '.') {
        ++at;
        while (at < text.size() && is_digit(text[at])) {
            decimal.digits += text[at++];
            --decimal.exponent;
        }
    }
    if (decimal.digits.empty()) return false;
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        const bool down = at < text.size() && text[at] == '-';
        if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
        const std::size_t digits = at;
        int64_t power = 0;
        while (at < text.size() && is_digit(text[at])) {
            power = std::min<int64_t>(power * 10 + (text[at] - '0'), 1'000'000'000);
            ++at;
        }
        if (at == digits) return false;
        decimal.exponent += down ? -power : power;
    }
    return at == text.size();
}

// Why a text is no number, as helpful as its look allows.
std::string not_a_number(const ConfigNode& scalar, const char* wanted) {
    const std::string& text = scalar.text;
    const auto wrong = [&](std::string_view hint) {
        return fmt::format("is not {}; {}", wanted, hint);
    };
    Decimal decimal;
    if (text.find("${") != std::string::npos)
        return wrong("environment variables are replaced in texts only");
    if (text.starts_with("0x") || text.starts_with("0o") || text.starts_with("0b"))
        return wrong("write it in decimal");
    for (const char separator : {'_', ',', '\'', ' '}) {
        std::string without = text;
        std::erase(without, separator);
        if (without != text && read_decimal(without, decimal))
            return wrong(fmt::format("write it without '{}'", separator));
    }
    return fmt::format("is not {}", wanted);
}

std::string number_problem(const ConfigNode& scalar, const char* wanted, Decimal& decimal) {
    if (scalar.quoted) {
        return read_decimal(scalar.text, decimal)
                   ? fmt::format("is a text in quotes, not {}; remove the quotes", wanted)
                   : fmt::format("is not {}", wanted);
    }
    if (!read_decimal(scalar.text, decimal)) return not_a_number(scalar, wanted);
    if (decimal.leading_zero)
        return "begins with 0, which some programs read as octal; remove the leading zero";
    return "";
}

// The digits of a whole number, or a problem: the value must be exactly whole.
std::string whole_digits(const ConfigNode& scalar, std::string& digits, bool& negative) {
    constexpr const char* wanted = "a whole number";
    Decimal decimal;
    if (std::string problem = number_problem(scalar, wanted, decimal); !problem.empty())
        return problem;
    digits = decimal.digits;
    digits.erase(0, digits.find_first_not_of('0'));
    negative = decimal.negative;
    if (digits.empty()) {
        digits = "0";
        return "";
    }
    for (int64_t i = decimal.exponent; i < 0; ++i) {
        if (digits.empty() || digits.back() != '0') return fmt::format("is not {}", wanted);
        digits.pop_back();
    }
    if (decimal.exponent > 20 ||
        digits.size() + static_cast<std::size_t>(std::max<int64_t>(decimal.exponent, 0)) > 20)
        return "is too large for a whole number of 64 bits";
    digits.append(static_cast<std::size_t>(std::max<int64_t>(decimal.exponent, 0)), '0');
    return "";
}

template <class T>
std::string parse_whole(const ConfigNode& scalar, T& value) {
    std::string digits;
    bool negative = false;
    if (std::string problem = whole_digits(scalar, digits, negative); !problem.empty())
        return problem;
    if (negative && digits != "0") {
        if (std::is_unsigned_v<T>) return "must be at least 0";
        digits.insert(0, "-");
    }
    T parsed{};
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed);
    if (error != std::errc()) return "is too large for a whole number of 64 bits";
    value = parsed;
    return "";
}

bool is_word_character(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Texts that every YAML reader takes for this very text when it stands without quotes.
bool is_plain_text(std::string_view text) {
    if (text.empty() || is_digit(text[0])) return false;
    if (!std::all_of(text.begin(), text.end(), [](char c) {
            return is_word_character(c) || c == '/' || c == '.' || c == '-';
        }))
        return false;
    if (text[0] == '-' || text[0] == '.') return false;
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    for (const char* word : {"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
        if (lower == word) return false;
    return true;
}

std::string number_in_words(double value) { return fmt::format("{}", value); }

}  // namespace

std::string parse_bool(const ConfigNode& scalar, bool& value) {
    const std::string& text = scalar.text;
    const bool is_true = text == "true" || text == "True" || text == "TRUE";
    const bool is_false = text == "false" || text == "False" || text == "FALSE";
    if (is_true || is_false) {
        if (scalar.quoted) return "is a text in quotes, not true or false; remove the quotes";
        value = is_true;
        return "";
    }
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    for (const char* word : {"yes", "on", "y", "1"})
        if (lower == word) return "is not true or false; write true";
    for (const char* word : {"no", "off", "n", "0"})
        if (lower == word) return "is not true or false; write false";
    return "is not true or false";
}

std::string parse_number(const ConfigNode& scalar, double& value, bool not_finite_allowed) {
    if (!scalar.quoted) {
        std::string lower = scalar.text;
        std::transform(lower.begin(), lower.end(), lower.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
        const bool negative = lower.starts_with('-');
        const std::string unsigned_part = lower.substr(negative || lower.starts_with('+') ? 1 : 0);
        const bool is_infinite = unsigned_part == ".inf";
        const bool is_nan = lower == ".nan";
        if (is_infinite || is_nan || unsigned_part == "inf" || unsigned_part == "infinity" ||
            unsigned_part == "nan") {
            if (!not_finite_allowed) return "is not a finite number";
            if (!is_infinite && !is_nan) return "is not a number; write .inf, -.inf or .nan";
            const double infinity = std::numeric_limits<double>::infinity();
            value = is_nan     ? std::numeric_limits<double>::quiet_NaN()
                    : negative ? -infinity
                               : infinity;
            return "";
        }
    }
    Decimal decimal;
    if (std::string problem = number_problem(scalar, "a number", decimal); !problem.empty())
        return problem;
    std::string_view text = scalar.text;
    if (text.starts_with('+')) text.remove_prefix(1);
    double parsed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (error != std::errc() || end != text.data() + text.size())
        return "is outside the range of a double (about 5e-324 to 1.8e308)";
    value = parsed;
    return "";
}

std::string parse_whole_number(const ConfigNode& scalar, int64_t& value) {
    return parse_whole(scalar, value);
}

std::string parse_whole_number(const ConfigNode& scalar, uint64_t& value) {
    return parse_whole(scalar, value);
}

std::string expand_environment(std::string_view text, std::string& value) {
    std::string result;
    for (std::size_t i = 0; i < text.size();) {
        if (text.substr(i).starts_with("$${")) {
            result += "${";
            i += 3;
        } else if (text.substr(i).starts_with("${")) {
            const std::size_t end = text.find('}', i);
            if (end == std::string_view::npos)
                return "has a ${ without its }; write $${ for the characters themselves";
            const std::string name(text.substr(i + 2, end - i - 2));
            if (name.empty() || is_digit(name[0]) ||
                !std::all_of(name.begin(), name.end(), is_word_character))
                return "has a ${…} that is no variable name; write $${ for the characters "
                       "themselves";
            const char* content = std::getenv(name.c_str());
            if (!content)
                return fmt::format("needs the environment variable {}, which is not set", name);
            if (find_invalid_utf8(content) != std::string::npos)
                return fmt::format("needs the environment variable {}, which is not UTF-8", name);
            result += content;
            i = end + 1;
        } else {
            result += text[i++];
        }
    }
    value = std::move(result);
    return "";
}

std::string split_repeat(const ConfigNode& scalar, ConfigNode& value, std::size_t& count) {
    count = 1;
    value = scalar;
    if (scalar.kind != ConfigNode::Kind::scalar || scalar.quoted) return "";
    const std::string& text = scalar.text;
    const std::size_t cross = text.find('x');
    if (cross == std::string::npos || cross == 0) return "";
    std::string_view left = std::string_view(text).substr(0, cross);
    std::string_view right = std::string_view(text).substr(cross + 1);
    while (left.ends_with(' ')) left.remove_suffix(1);
    while (right.starts_with(' ')) right.remove_prefix(1);
    Decimal decimal;
    if (!read_decimal(left, decimal) || right.empty() ||
        !std::all_of(right.begin(), right.end(), is_digit))
        return "";
    if (decimal.digits == "0" && left.size() == cross) return "";  // 0x10 looks hexadecimal
    std::size_t parsed = 0;
    const auto [end, error] = std::from_chars(right.data(), right.data() + right.size(), parsed);
    if (error != std::errc() || parsed < 1 || parsed > 10'000)
        return "repeats a value; the count must be between 1 and 10000";
    value.text = std::string(left);
    count = parsed;
    return "";
}

std::string bounds_in_words(const Rule& rule) {
    const bool has_low = std::isfinite(rule.low), has_high = std::isfinite(rule.high);
    const std::string low = number_in_words(rule.low), high = number_in_words(rule.high);
    if (has_low && has_high && !rule.low_excluded && !rule.high_excluded)
        return fmt::format("between {} and {}", low, high);
    std::string words;
    if (has_low) words = fmt::format("{} {}", rule.low_excluded ? "more than" : "at least", low);
    if (has_low && has_high) words += " and ";
    if (has_high) words += fmt::format("{} {}", rule.high_excluded ? "less than" : "at most", high);
    return words;
}

std::string broken_bound(const Rule& rule, long double value) {
    if (std::isnan(value)) return "";  // only where the rule lets NaN pass
    const bool low_holds = rule.low_excluded ? value > rule.low : value >= rule.low;
    const bool high_holds = rule.high_excluded ? value < rule.high : value <= rule.high;
    const bool at_infinity = std::isinf(value) && rule.may_be_not_finite;
    if ((low_holds && high_holds) || (at_infinity && std::isinf(value < 0 ? rule.low : rule.high)))
        return "";
    return "must be " + bounds_in_words(rule);
}

std::string broken_length(const Rule& rule, std::size_t length, const char* of_what) {
    if (length >= rule.fewest && length <= rule.most) return "";
    if (length == 0 && rule.fewest == 1) return "must not be empty";
    if (rule.fewest == rule.most)
        return fmt::format("must have {} {}, not {}", rule.fewest, of_what, length);
    if (length < rule.fewest)
        return fmt::format("must have at least {} {}, not {}", rule.fewest, of_what, length);
    return fmt::format("must have at most {} {}, not {}", rule.most, of_what, length);
}

std::string yaml_text(bool value) { return value ? "true" : "false"; }
std::string yaml_text(int64_t value) { return fmt::format("{}", value); }
std::string yaml_text(uint64_t value) { return fmt::format("{}", value); }

std::string yaml_text(double value) {
    if (std::isnan(value)) return ".nan";
    if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
    return fmt::format("{}", value);
}

std::string yaml_text(std::string_view value) {
    if (is_plain_text(value)) return std::string(value);
    std::string text = "\"";
    for (std::size_t i = 0; i < value.size(); ++i) {
        const unsigned char c = static_cast<unsigned char>(value[i]);
        if (c == '"' || c == '\\')
            text += fmt::format("\\{}", value[i]);
        else if (c == '\n')
            text += "\\n";
        else if (c < 0x20 || c == 0x7F)
            text += fmt::format("\\x{:02x}", c);
        else if (value.substr(i).starts_with("${"))
            text += "$$";
        else
            text += value[i];
    }
    return text + "\"";
}

std::string closest_word(std::string_view word, const std::vector<std::string>& words) {
    // Edits: insert, delete, replace, or swap two neighbours (optimal string alignment).
    const auto distance = [](std::string_view a, std::string_view b) {
        std::vector<std::vector<std::size_t>> d(a.size() + 1,
                                                std::vector<std::size_t>(b.size() + 1));
        for (std::size_t i = 0; i <= a.size(); ++i) {
            for (std::size_t j = 0; j <= b.size(); ++j) {
                if (i == 0 || j == 0) {
                    d[i][j] = i + j;
                    continue;
                }
                const std::size_t differs = a[i - 1] != b[j - 1];
                d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + differs});
                if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                    d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
        return d[a.size()][b.size()];
    };
    if (word.size() > 64) return "";
    std::string best;
    std::size_t best_distance = std::clamp<std::size_t>(word.size() / 3, 1, 3) + 1;
    for (const std::string& candidate : words) {
        const std::size_t edits = distance(word, candidate);
        if (edits < best_distance) {
            best = candidate;
            best_distance = edits;
        }
    }
    return best;
}

std::string join(const std::vector<std::string>& words, std::string_view separator) {
    return fmt::format("{}", fmt::join(words, separator));
}

}  // namespace ralimp
