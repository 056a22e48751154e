// The text of one scalar as a value, and a value as text. Strict where YAML readers guess: 010,
// yes/no, 1_000 and quoted numbers are errors that say what to write instead.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/describe.h"
#include "trainers/config_tree.h"

namespace ralimp {

// Each sets the value and returns "", or leaves it alone and returns the end of a message that
// begins with `key = text `: "is not a number".

// true, false (also True, TRUE, False, FALSE).
std::string parse_bool(const ConfigNode& scalar, bool& value);
// A decimal number, rounded to the nearest double: 1e-4, 1.0E-4, .5, 5., +1. Without
// `not_finite_allowed` infinities and NaN are refused.
std::string parse_number(const ConfigNode& scalar, double& value, bool not_finite_allowed);
// A whole number in decimal. 1e3 and 2.50e2 are accepted because they are exactly whole.
std::string parse_whole_number(const ConfigNode& scalar, int64_t& value);
std::string parse_whole_number(const ConfigNode& scalar, uint64_t& value);
// Replaces each ${NAME} by that environment variable; $${ stands for ${ itself.
std::string expand_environment(std::string_view text, std::string& value);

// "20 x 8", eight times 20: splits a list item into the value's text and the count (1 without the
// shorthand).
std::string split_repeat(const ConfigNode& scalar, ConfigNode& value, std::size_t& count);

// "" when the number fulfils the rule's bounds, else "must be more than 0".
std::string broken_bound(const Rule& rule, long double value);
std::string broken_length(const Rule& rule, std::size_t length, const char* of_what);
// The bounds in words for the help: "more than 0", "between 0 and 1"; "" without bounds.
std::string bounds_in_words(const Rule& rule);

// Texts that the reader turns into the same value again.
std::string yaml_text(bool value);
std::string yaml_text(int64_t value);
std::string yaml_text(uint64_t value);
std::string yaml_text(double value);  // shortest that round-trips; .inf and .nan
std::string yaml_text(std::string_view value);

// The closest of the words, "" when none is close enough to be a misspelling.
std::string closest_word(std::string_view word, const std::vector<std::string>& words);
std::string join(const std::vector<std::string>& words, std::string_view separator);

}  // namespace ralimp
