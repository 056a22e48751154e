#include "trainers/comparison_networks.h"

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

DeployedCost measured_cost(const ComparedNetwork& network, const ComparedNetwork& reference) {
    const NoGrad pause;
    DeployedCost deployed;
    deployed.network = network.folded.cost();
    // Each in its own type, with inputs of its own.
    const Tensor x = network.run.task->calibration_batch();
    const Tensor reference_x = reference.run.task->calibration_batch();
    for (const int64_t rows : timed_rows) {
        throw_if_stop_requested();
        const Tensor in = repeated_rows(x, rows), reference_in = repeated_rows(reference_x, rows);
        const double theirs = fastest_milliseconds([&] { reference.folded.forward(reference_in); });
        const double ours = fastest_milliseconds([&] { network.folded.forward(in); });
        deployed.milliseconds.push_back(ours);
        deployed.speed.push_back(theirs / ours);
    }
    return deployed;
}

}  // namespace ralimp
