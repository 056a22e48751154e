#include "trainers/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/error.h"
#include "core/file.h"

namespace ralimp {
namespace {

std::vector<std::string_view> split(std::string_view line) {
    std::vector<std::string_view> cells;
    while (true) {
        const std::size_t comma = line.find(',');
        cells.push_back(line.substr(0, comma));
        if (comma == std::string_view::npos) return cells;
        line.remove_prefix(comma + 1);
    }
}

std::string header_of(const std::vector<std::string>& columns) {
    return columns.empty() ? "step" : fmt::format("step,{}", fmt::join(columns, ","));
}

template <class T>
bool parse(std::string_view cell, T& value) {
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    return error == std::errc() && end == cell.data() + cell.size() && !cell.empty();
}

std::string row_of(int64_t step, const std::vector<std::optional<double>>& cells) {
    std::string row = fmt::format("{}", step);
    for (const std::optional<double>& cell : cells)
        row += cell ? fmt::format(",{}", *cell) : std::string(",");
    return row + "\n";
}

void check_columns(const std::string& path, const MetricsTable& table,
                   const std::vector<std::string>& columns) {
    if (table.columns != columns)
        fail_with(ExitCode::bad_input,
                  "{}: has the columns {}, but the resumed run writes {}; move it away to go on",
                  path, header_of(table.columns), header_of(columns));
}

// Header and the rows up to the step, as they stand in a former file.
std::string kept_text(const std::string& path, const std::vector<std::string>& columns,
                      int64_t last_step) {
    const MetricsTable table = read_metrics(path);
    check_columns(path, table, columns);
    std::string text = header_of(columns) + "\n";
    for (std::size_t i = 0; i < table.steps.size(); ++i)
        if (table.steps[i] <= last_step) text += row_of(table.steps[i], table.rows[i]);
    return text;
}

}  // namespace

void check_metrics_columns(const std::string& path, const std::vector<std::string>& columns) {
    if (::access(path.c_str(), F_OK) == 0) check_columns(path, read_metrics(path), columns);
}

MetricsFile::MetricsFile(std::string path, const std::vector<std::string>& columns,
                         std::optional<int64_t> resumed_step)
    : path_(std::move(path)), columns_(columns) {
    for (const std::string& column : columns)
        check(!column.empty() && column.find_first_of(",\"\r\n") == std::string::npos,
              "metrics: '{}' is no name for a column", column);
    const bool goes_on = resumed_step && ::access(path_.c_str(), F_OK) == 0;
    const std::string text =
        goes_on ? kept_text(path_, columns, *resumed_step) : header_of(columns) + "\n";
    write_file(path_, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    file_.emplace(path_);
}

void MetricsFile::append(int64_t step, const NamedValues& values) {
    std::vector<std::optional<double>> cells(columns_.size());
    for (const auto& [name, value] : values) {
        const auto column = std::find(columns_.begin(), columns_.end(), name);
        check(column != columns_.end(), "metrics: {} is not among the columns {}", name,
              header_of(columns_));
        cells[static_cast<std::size_t>(column - columns_.begin())] = value;
    }
    file_->append(row_of(step, cells));
}

MetricsTable read_metrics(const std::string& path) {
    const std::vector<uint8_t> bytes = read_file(path);
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    MetricsTable table;
    for (int line = 1; !text.empty(); ++line) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) break;  // cut short by a kill
        const std::vector<std::string_view> cells = split(text.substr(0, end));
        text.remove_prefix(end + 1);
        if (line == 1) {
            if (cells[0] != "step")
                fail_with(ExitCode::bad_input, "{}:1: does not begin with the column step", path);
            table.columns.assign(cells.begin() + 1, cells.end());
            continue;
        }
        int64_t step = 0;
        std::vector<std::optional<double>> row;
        bool readable = cells.size() == table.columns.size() + 1 && parse(cells[0], step);
        for (std::size_t i = 1; readable && i < cells.size(); ++i) {
            double value = 0;
            if (cells[i].empty()) {
                row.emplace_back();
            } else if ((readable = parse(cells[i], value))) {
                row.emplace_back(value);
            }
        }
        if (!readable) fail_with(ExitCode::bad_input, "{}:{}: is no row of metrics", path, line);
        table.steps.push_back(step);
        table.rows.push_back(std::move(row));
    }
    return table;
}

}  // namespace ralimp
