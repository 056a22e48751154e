// What `ralimp compare` reads: a run, and the ways it is varied. The file of the run is a config of
// its own (run_config.h).
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/describe.h"

namespace ralimp {

// Changes are "key.path=value", as on the command line of `ralimp train`.
struct ComparisonTrial {
    std::vector<std::string> changes;

    static void describe(auto& config, auto& field) {
        field("changes", config.changes, "key.path=value, of the run", items(1));
    }
};

struct ComparisonEntry {
    std::string name;
    std::vector<std::string> changes;
    std::optional<std::string> solve;
    std::optional<double> share;
    std::vector<ComparisonTrial> trials;

    static void describe(auto& config, auto& field) {
        field("name", config.name,
              "in tables, pictures and folders; letters, digits, . _ + - and spaces",
              required().non_empty());
        field("changes", config.changes, "key.path=value: what makes it this entry");
        field("solve", config.solve,
              "a whole-number key that is chosen so that the deployed numbers match: the largest "
              "network that is not above its share; none: nothing is; null: that of the kind of "
              "hidden layers, and none of dense ones",
              non_empty());
        field("share", config.share, "of the reference's deployed numbers; null: the comparison's",
              more_than(0).at_most(100));
        field("trials", config.trials,
              "settings of which the best is taken, each with all trials of the comparison");
    }
};

struct ComparisonCase {
    std::string name;
    std::vector<std::string> changes;

    static void describe(auto& config, auto& field) {
        field("name", config.name, "as of entries", required().non_empty());
        field("changes", config.changes, "key.path=value, for all entries", items(1));
    }
};

struct ComparisonConfig {
    std::filesystem::path run;
    std::vector<std::string> changes;
    std::vector<ComparisonCase> cases;
    std::vector<ComparisonEntry> entries;
    std::optional<std::string> metric;
    double share = 1;
    std::vector<int64_t> seeds{0, 1, 2};
    std::vector<ComparisonTrial> trials;
    std::vector<int64_t> trial_seeds{1000};

    static void describe(auto& config, auto& field) {
        field("run", config.run, "the config of a run that all start from", required().non_empty());
        field("changes", config.changes, "key.path=value, for every run");
        field("cases", config.cases,
              "variants of the whole comparison, each with a table of its own");
        field("entries", config.entries,
              "what is compared; the first one is the reference, whose size the others are "
              "measured by",
              items(1));
        field("metric", config.metric,
              "the figure that decides, of those a run ends with; null: the first");
        field("share", config.share,
              "of the reference's deployed numbers that the other entries may have",
              more_than(0).at_most(100));
        field("seeds", config.seeds, "every entry is trained with each", at_least(0).items(1));
        field("trials", config.trials, "settings of which the best is taken, for every entry");
        field("trial_seeds", config.trial_seeds,
              "seeds that trials are judged by, apart from the others", at_least(0).items(1));
    }
};

}  // namespace ralimp
