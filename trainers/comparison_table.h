// table.csv: every run of a comparison, for other programs.
#pragma once
#include <filesystem>
#include <string>

#include "trainers/comparison_outcome.h"

namespace ralimp {

// A row for each run, those that led to a choice first; folders of runs are relative to `folder`.
std::string comparison_table(const ComparisonOutcome& outcome, const std::filesystem::path& folder);

}  // namespace ralimp
