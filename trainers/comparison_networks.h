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
    std::optional<FoldedNetwork> folded;  // where it can be

    Tensor forward(const Tensor& x) const {
        return folded ? folded->forward(x) : run.task->model().forward(x);
    }
};

// That of a finished run. Errors as load_run().
ComparedNetwork compared_network(const ComparisonRun& run);

inline constexpr int64_t timed_rows[] = {1, 256, 16'384};

struct DeployedCost {
    int64_t numbers = 0;
    std::optional<int64_t> multiply_adds;  // of a folded one
    // Of a forward pass of timed_rows, and how many times as fast as the reference it is. Both are
    // timed in turn, so that whatever else the machine does hits both.
    std::vector<double> milliseconds, speed;
};

// Interrupted (signals.h) when a stop is requested.
DeployedCost measured_cost(const ComparedNetwork& network, const ComparedNetwork& reference);

}  // namespace ralimp
