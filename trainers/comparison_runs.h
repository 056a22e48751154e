// The runs of a comparison: each a folder as `ralimp train` makes it, trained by a process of its
// own, so that what ends one run does not end the others.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "trainers/comparison_plan.h"
#include "trainers/log.h"
#include "trainers/result.h"

namespace ralimp {

struct ComparisonRun {
    const ComparisonSetting* setting;
    int64_t seed;
    RunConfig config;   // that of the setting with the seed
    std::string title;  // "ralimp, seed 0"
    std::filesystem::path folder;
    bool finished = false;  // came to its end, or to a loss that is not finite
    std::optional<ComparisonFailure> failure = {};  // why it did not
    std::string stopped_by = {};                    // of a finished one
    Result result = {};                             // the same

    // A figure at the end; NaN where there is none, as after a loss that is not finite.
    double figure(const std::string& name) const;
    int64_t whole_number(const std::string& name) const;  // 0 where there is none
};

// The run of a setting with a seed; that of a failed setting has no folder. Its folder is below
// `root`, named by the seed and by a hash of the whole config and of the data that are read: with
// others it is another run, and the old one stays.
ComparisonRun comparison_run(const ComparisonPlan& plan, const ComparisonConfig& config,
                             const ComparisonSetting& setting, int64_t seed,
                             const std::filesystem::path& root);

struct ComparisonProgress {
    Log& log;
    int64_t later_runs = 0;  // not among those that are trained now, for the time that is left
    std::string metric;      // shown of each run that ends
};

// Trains those that are not finished, `jobs` at a time, on an equal share of the threads each where
// their configs do not say how many; those that were interrupted go on. A loss that is not finite
// is a result. Other failures are warnings and stand in the run, and the others go on, but for a
// folder that cannot be written: that is Error with the title of the run. A stop that is requested
// is passed on, and is Interrupted when all have saved their state.
void train_runs(std::vector<ComparisonRun>& runs, int64_t jobs, ComparisonProgress progress);

}  // namespace ralimp
