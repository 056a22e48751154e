// The networks that a comparison came to, as they are deployed: their numbers and their speed.
#pragma once
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
    // Of a forward pass of timed_rows, and how many times as fast as the reference it is. Both are
    // timed in turn, so that whatever else the machine does hits both.
    std::vector<double> milliseconds, speed;
};

// Interrupted (signals.h) when a stop is requested.
DeployedCost measured_cost(const ComparedNetwork& network, const ComparedNetwork& reference);

}  // namespace ralimp
