// What the runs of a comparison came to: medians and spreads over the seeds.
#pragma once
#include <string>
#include <vector>

#include "trainers/comparison_runs.h"

namespace ralimp {

// The runs of one entry in one case.
struct ComparedEntry {
    const ComparisonSetting* chosen = nullptr;
    std::vector<ComparisonRun> runs;    // of the chosen setting, by seed
    std::vector<ComparisonRun> trials;  // of all settings, where there was a choice

    std::vector<double> figures(const std::string& name) const;  // of the runs
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

    const ComparisonRun& median_run(std::size_t case_index, std::size_t entry) const {
        return compared[case_index][entry].median_run(metric, plan.larger_is_better);
    }
    // The figures that a run ends with.
    std::vector<std::string> figure_names() const;
    // "quality.png" of a comparison without cases, "quality-tanh.png" of the case tanh.
    std::string picture_name(const char* stem, std::size_t case_index) const;
};

}  // namespace ralimp
