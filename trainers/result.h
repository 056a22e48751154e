// result.json of a run: what it came to, as one flat object for other programs.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ralimp {

using ResultValue = std::variant<bool, int64_t, double, std::string>;
using Result = std::vector<std::pair<std::string, ResultValue>>;

// In the given order. JSON has no NaN and no infinity: such a value is written as null. Atomic;
// Error(io) when it cannot be written.
void write_result(const std::string& path, const Result& result);

// Null becomes NaN. Error(bad_input) with one line for a file that is missing or no such object.
Result read_result(const std::string& path);

// The value of a key, or null when there is none.
const ResultValue* find_value(const Result& result, const std::string& key);

}  // namespace ralimp
