// What a comparison came to: report.html, report.md, table.csv and pictures.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "trainers/comparison_runs.h"

namespace ralimp {

// The runs of one entry in one case.
struct ComparedEntry {
    const ComparisonSetting* chosen = nullptr;
    std::vector<ComparisonRun> runs;    // of the chosen setting, by seed
    std::vector<ComparisonRun> trials;  // of all settings, where there was a choice

    // Of the runs' figures. A run without one (its loss was not finite) counts as worse than all.
    struct Spread {
        double median, lowest, highest;
    };
    Spread spread(const std::string& metric, bool larger_is_better) const;
    // The run whose figure is the median, the better of the two middle ones of an even number.
    const ComparisonRun& median_run(const std::string& metric, bool larger_is_better) const;
};

// Median, with NaN counted as worse than any value.
double median_of(std::vector<double> values, bool larger_is_better);

struct ComparisonOutcome {
    const ComparisonConfig& config;
    const ComparisonPlan& plan;
    std::string name;                                  // of the comparison: its config's
    std::string metric;                                // that decides
    std::vector<std::vector<ComparedEntry>> compared;  // by case, then entry
    int64_t jobs = 1;
};

// Writes into the folder; the report of the figures is also said, line by line. Pictures that
// cannot be drawn are warnings.
void write_comparison_report(const ComparisonOutcome& outcome, const std::filesystem::path& folder,
                             Log& log);

}  // namespace ralimp
