#include "trainers/comparison_networks.h"

#include <algorithm>
#include <cmath>

#include "autograd/operations.h"
#include "trainers/forward_time.h"
#include "trainers/signals.h"

namespace ralimp {
namespace {

RunOptions options_for(const ComparisonRun& run) {
    RunOptions options;
    options.run = run.folder;
    return options;
}

}  // namespace

ComparedNetwork compared_network(const ComparisonRun& run) {
    LoadedRun loaded = load_run(options_for(run), TaskUse::training);
    FoldedNetwork folded(loaded.task->model().parts());
    return {std::move(loaded), std::move(folded)};
}

std::vector<DeployedCost> measured_costs(
    const std::vector<std::optional<ComparedNetwork>>& networks) {
    constexpr int rounds = 3;
    const NoGrad pause;
    std::vector<DeployedCost> costs(networks.size());
    if (networks.empty() || !networks[0]) return costs;
    for (std::size_t i = 0; i < networks.size(); ++i)
        if (networks[i]) costs[i].network = networks[i]->folded.cost();
    for (const int64_t rows : timed_rows) {
        std::vector<double> fastest(networks.size(), INFINITY);
        for (int round = 0; round < rounds; ++round)
            for (std::size_t i = 0; i < networks.size(); ++i) {
                if (!networks[i]) continue;
                throw_if_stop_requested();
                // Each in its own type, with inputs of its own.
                const Tensor in = repeated_rows(networks[i]->run.task->calibration_batch(), rows);
                fastest[i] = std::min(
                    fastest[i], fastest_milliseconds([&] { networks[i]->folded.forward(in); }));
            }
        for (std::size_t i = 0; i < networks.size(); ++i) {
            if (!networks[i]) continue;
            costs[i].milliseconds.push_back(fastest[i]);
            costs[i].speed.push_back(fastest[0] / fastest[i]);
        }
    }
    return costs;
}

}  // namespace ralimp
