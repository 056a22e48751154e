// The networks that a comparison came to, as they are deployed: their numbers and their speed.
#pragma once
#include <optional>
#include <vector>

#include "layers/folding.h"
#include "trainers/comparison_runs.h"
#include "trainers/loaded_run.h"

namespace ralimp {

struct ComparedNetwork {
    LoadedRun run;
    FoldedNetwork folded;
};

// That of a finished run. Errors as load_run().
ComparedNetwork compared_network(const ComparisonRun& run);

inline constexpr int64_t timed_rows[] = {1, 256, 16'384};

struct DeployedCost {
    NetworkCost network;
    // Of a forward pass of timed_rows, and how many times as fast as the first network it is.
    std::vector<double> milliseconds, speed;
};

// Of each network that is there. They are timed by turns, so that whatever else the machine does
// hits all; without the first there are no costs. Interrupted (signals.h) when a stop is requested.
std::vector<DeployedCost> measured_costs(
    const std::vector<std::optional<ComparedNetwork>>& networks);

}  // namespace ralimp
