#include "data/number_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/ranges.h>

#include "core/error.h"
#include "core/file.h"

namespace ralimp {
namespace {

std::string_view trimmed(std::string_view text) {
    const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!text.empty() && space(text.front())) text.remove_prefix(1);
    while (!text.empty() && space(text.back())) text.remove_suffix(1);
    return text;
}

std::vector<std::string_view> entries_of(std::string_view line) {
    std::vector<std::string_view> entries;
    for (;;) {
        const std::size_t comma = line.find(',');
        entries.push_back(trimmed(line.substr(0, comma)));
        if (comma == std::string_view::npos) return entries;
        line.remove_prefix(comma + 1);
    }
}

// `line` begins complaints, here and below.
std::vector<std::string> header_of(const std::vector<std::string_view>& entries,
                                   const std::string& line) {
    std::vector<std::string> header;
    for (const std::string_view name : entries) {
        if (name.empty() || std::find(header.begin(), header.end(), name) != header.end())
            fail_with(ExitCode::bad_input, "{}: column '{}' {}", line, name,
                      name.empty() ? "has no name" : "stands twice");
        header.emplace_back(name);
    }
    return header;
}

std::vector<std::size_t> places_of(const std::vector<std::string>& names,
                                   const std::vector<std::string>& header,
                                   const std::string& path) {
    std::vector<std::size_t> places;
    std::vector<std::string> missing;
    for (const std::string& name : names) {
        const auto found = std::find(header.begin(), header.end(), name);
        if (found == header.end()) missing.push_back(name);
        places.push_back(static_cast<std::size_t>(found - header.begin()));
    }
    if (!missing.empty())
        fail_with(ExitCode::bad_input, "{}: has no column {}; it has {}", path,
                  fmt::join(missing, ", "), fmt::join(header, ", "));
    return places;
}

double number_of(std::string_view entry, const std::string& line) {
    const std::string_view whole = entry;
    if (entry.starts_with('+') && !entry.starts_with("+-")) entry.remove_prefix(1);
    double value = 0;
    const char* const end = entry.data() + entry.size();
    const auto [stop, error] = std::from_chars(entry.data(), end, value);
    if (error != std::errc() || stop != end || !std::isfinite(value))
        fail_with(ExitCode::bad_input, "{}: '{}' is no finite number", line, whole.substr(0, 40));
    return value;
}

}  // namespace

NumberTable read_number_table(const std::string& path, const std::vector<std::string>& names) {
    const std::vector<uint8_t> bytes = read_file(path);
    std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);  // of spreadsheets
    std::vector<std::string> header;
    std::vector<std::size_t> wanted;  // places in the header
    std::vector<double> values;
    for (int64_t number = 1; !rest.empty(); ++number) {
        const std::size_t length = std::min(rest.find('\n'), rest.size());
        const std::string_view text = trimmed(rest.substr(0, length));
        rest.remove_prefix(std::min(length + 1, rest.size()));
        if (text.empty() || text.front() == '#') continue;
        const std::vector<std::string_view> entries = entries_of(text);
        if (entries.size() == 1 && text.find(';') != std::string_view::npos)
            fail_with(
                ExitCode::bad_input,
                "{}:{}: the separator is ';'; write the file with commas (and decimal points)",
                path, number);
        if (header.empty()) {
            header = header_of(entries, fmt::format("{}:{}", path, number));
            wanted = places_of(names.empty() ? header : names, header, path);
            continue;
        }
        if (entries.size() != header.size())
            fail_with(ExitCode::bad_input, "{}:{}: {} entries for {} columns", path, number,
                      entries.size(), header.size());
        for (const std::size_t place : wanted)
            values.push_back(number_of(entries[place], fmt::format("{}:{}", path, number)));
    }
    if (values.empty()) fail_with(ExitCode::bad_input, "{}: no row of numbers", path);
    NumberTable table{names.empty() ? header : names, {}};
    const auto columns = static_cast<int64_t>(wanted.size());
    table.values = Tensor::from(values, {static_cast<int64_t>(values.size()) / columns, columns});
    return table;
}

}  // namespace ralimp
