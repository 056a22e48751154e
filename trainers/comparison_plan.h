// What a comparison consists of: settings of matched size, and the runs that they need.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainers/comparison_config.h"
#include "trainers/log.h"
#include "trainers/run_config.h"

namespace ralimp {

// Why something cannot be compared; the reason is one line.
struct ComparisonFailure {
    ExitCode code;
    std::string reason;
};

// One way of training one entry in one case.
struct ComparisonSetting {
    std::size_t case_index = 0, entry_index = 0;
    std::vector<std::string> trial;  // its changes; empty where there are no trials
    std::string solved;              // "network.hidden.features = 4", or empty
    int64_t deployed = 0;            // numbers of its network
    int64_t most_deployed = 0;       // that it may have
    int64_t reference = 0;           // numbers of the reference of its case
    RunConfig config;                // with the first seed
    uint64_t data_hash = 0;          // of the files that its runs read
    // Data that are missing, its own or the reference's: it has no size and no runs then.
    std::optional<ComparisonFailure> failure = {};
};

// "case, entry", or the entry alone where the case has no name.
std::string title_of(const ComparisonCase& one_case, const ComparisonEntry& entry);

struct ComparisonPlan {
    std::vector<ComparisonCase> cases;  // one without a name where the config has none
    // By case, then entry, then trial.
    std::vector<ComparisonSetting> settings;
    std::vector<std::string> metrics;  // the figures of a run, the first of which decides
    bool larger_is_better = false;     // of all of them

    std::vector<const ComparisonSetting*> settings_of(std::size_t case_index,
                                                      std::size_t entry_index) const;
};

// Solves for the sizes, and says how far it is. Error(bad_config), naming the entry, for changes
// that cannot be made or an entry that cannot be as small as it should; data that are missing are
// failures of their settings, and the first one is an Error where no setting is left. Paths in
// changes are relative to the folder.
ComparisonPlan plan_comparison(const ComparisonConfig& config, Log& log,
                               const std::filesystem::path& folder = {});

// The largest network not above `most` numbers: the value of a whole-number key that changes a size
// in one direction. `numbers` of a value is empty where the value cannot be. Empty when no value
// will do.
std::optional<int64_t> solve_for_size(
    int64_t most, const std::function<std::optional<int64_t>(int64_t value)>& numbers);

}  // namespace ralimp
