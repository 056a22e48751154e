// metrics.csv of a run: one row for each logged step, readable while the run goes on.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainers/appended_file.h"

namespace ralimp {

using NamedValues = std::vector<std::pair<std::string, double>>;

class MetricsFile {
public:
    // Starts a file with the header "step,column,…"; an existing one is replaced. When a run is
    // resumed, the existing rows up to `resumed_step` stay and later ones, which the run will make
    // again, are removed, as is a last row cut short by a kill. Error(io) for a file that cannot be
    // written; Error(bad_input) for an existing file with other columns.
    MetricsFile(std::string path, const std::vector<std::string>& columns,
                std::optional<int64_t> resumed_step = {});

    // Appends a row at once; a column without a value stays empty. Not finite values are written as
    // nan, inf and -inf. Error(io) when it cannot be written.
    void append(int64_t step, const NamedValues& values);

private:
    std::string path_;
    std::vector<std::string> columns_;
    std::optional<AppendedFile> file_;
};

// Error(bad_input) for an existing file with other columns, which a run cannot go on with.
void check_metrics_columns(const std::string& path, const std::vector<std::string>& columns);

struct MetricsTable {
    std::vector<std::string> columns;  // without "step"
    std::vector<int64_t> steps;
    std::vector<std::vector<std::optional<double>>> rows;  // [steps][columns]
};

// Error(bad_input) with file and line for a table that is broken; a last row without its end of
// line is left out.
MetricsTable read_metrics(const std::string& path);

}  // namespace ralimp
