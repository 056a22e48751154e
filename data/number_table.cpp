#include "data/number_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

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

}  // namespace

NumberTable read_number_table(const std::string& path) {
    const std::vector<uint8_t> bytes = read_file(path);
    std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);  // of spreadsheets
    NumberTable table;
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
        if (table.columns.empty()) {
            for (std::string_view name : entries) {
                if (name.empty() || std::find(table.columns.begin(), table.columns.end(), name) !=
                                        table.columns.end())
                    fail_with(ExitCode::bad_input, "{}:{}: column '{}' {}", path, number, name,
                              name.empty() ? "has no name" : "stands twice");
                table.columns.emplace_back(name);
            }
            continue;
        }
        if (entries.size() != table.columns.size())
            fail_with(ExitCode::bad_input, "{}:{}: {} entries for {} columns", path, number,
                      entries.size(), table.columns.size());
        for (std::string_view entry : entries) {
            double value = 0;
            if (entry.starts_with('+') && !entry.starts_with("+-")) entry.remove_prefix(1);
            const char* const end = entry.data() + entry.size();
            const auto [stop, error] = std::from_chars(entry.data(), end, value);
            if (error != std::errc() || stop != end || !std::isfinite(value))
                fail_with(ExitCode::bad_input, "{}:{}: '{}' is no finite number", path, number,
                          entry.substr(0, 40));
            values.push_back(value);
        }
    }
    if (values.empty()) fail_with(ExitCode::bad_input, "{}: no row of numbers", path);
    const auto columns = static_cast<int64_t>(table.columns.size());
    table.values = Tensor::from(values, {static_cast<int64_t>(values.size()) / columns, columns});
    return table;
}

}  // namespace ralimp
