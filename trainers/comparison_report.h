// What a comparison came to: report.html, report.md, table.csv and pictures.
#pragma once
#include <filesystem>

#include "trainers/comparison_outcome.h"

namespace ralimp {

// Writes into the folder; the report of the figures is also said, line by line. Pictures that
// cannot be drawn are warnings.
void write_comparison_report(const ComparisonOutcome& outcome, const std::filesystem::path& folder,
                             Log& log);

}  // namespace ralimp
