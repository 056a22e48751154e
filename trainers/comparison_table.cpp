#include "trainers/comparison_table.h"

#include <cmath>

#include "trainers/document.h"

namespace ralimp {

std::string comparison_table(const ComparisonOutcome& outcome,
                             const std::filesystem::path& folder) {
    const std::vector<std::string> metrics = outcome.figure_names();
    std::vector<std::string> columns{"case",    "entry", "seed",   "purpose",
                                     "changes", "size",  "numbers"};
    columns.insert(columns.end(), metrics.begin(), metrics.end());
    const std::vector<std::string> others{"trained_parameters", "steps", "seconds",
                                          "peak_memory_bytes", "clamped_exponents"};
    columns.insert(columns.end(), others.begin(), others.end());
    columns.insert(columns.end(), {"stopped_by", "failure", "folder"});
    std::string text = csv_row(columns);
    const auto add = [&](const ComparisonRun& run, const char* purpose) {
        const ComparisonSetting& setting = *run.setting;
        std::vector<std::string> row{outcome.plan.cases[setting.case_index].name,
                                     outcome.config.entries[setting.entry_index].name,
                                     fmt::format("{}", run.seed),
                                     purpose,
                                     join(setting.trial, " "),
                                     setting.solved,
                                     fmt::format("{}", setting.deployed)};
        for (const std::string& metric : metrics) {
            const double value = run.figure(metric);
            row.push_back(std::isnan(value) ? "nan" : fmt::format("{}", value));
        }
        for (const std::string& other : others) row.push_back(fmt::format("{}", run.figure(other)));
        row.push_back(run.failure ? "error" : run.stopped_by);
        row.push_back(run.failure ? run.failure->reason : "");
        row.push_back(run.folder.empty() ? ""
                                         : std::filesystem::relative(run.folder, folder).string());
        text += csv_row(row);
    };
    for (const auto& entries : outcome.compared)
        for (const ComparedEntry& entry : entries) {
            for (const ComparisonRun& run : entry.trials) add(run, "trial");
            for (const ComparisonRun& run : entry.runs) add(run, "result");
        }
    return text;
}

}  // namespace ralimp
