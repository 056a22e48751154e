// ralimp fold: the network of a run as it is deployed, beside the one that was trained and a dense
// one.
#include <fmt/core.h>

#include "autograd/operations.h"
#include "core/file.h"
#include "core/kernels.h"
#include "layers/folding.h"
#include "trainers/config.h"
#include "trainers/deployed_file.h"
#include "trainers/folding_check.h"
#include "trainers/forward_time.h"
#include "trainers/loaded_run.h"

namespace ralimp {
namespace {

FoldedNetwork dense_network(const RunConfig& config) {
    RunConfig dense = config;
    std::visit([](auto& task) { task.network.hidden = DenseHiddenConfig{}; }, dense);
    return FoldedNetwork(make_task(dense, TaskUse::trained_model)->model().parts());
}

std::string describe(const ChainLayer& step) {
    std::string text = fmt::format("{} -> {}", step.weight.size(1), step.weight.size(0));
    if (step.features)
        text += fmt::format(", {} exponential features and {} of a polynomial",
                            step.features->width() - step.features->rows * step.features->degree,
                            step.features->rows * step.features->degree);
    else
        text += fmt::format(", {}", name_of(step.activation));
    return text;
}

std::string describe(const BlockProduct& step) {
    int64_t inputs = 0, outputs = 0;
    for (const Tensor& block : step.blocks) {
        outputs += block.size(0);
        inputs += block.size(1);
    }
    return fmt::format("{} -> {} in {} blocks, {}", inputs, outputs, step.blocks.size(),
                       name_of(step.activation));
}

std::string describe(const RowProducts& step) {
    return fmt::format("products of up to {} rows, {} of each degree", step.degree, step.rows);
}

std::string describe(const InputNorm& step) {
    return fmt::format("{} and their norm", step.inputs);
}

void print_times(const FoldedNetwork& folded, const FoldedNetwork& dense, const Tensor& x) {
    for (const int64_t rows : {1, 256, 16'384}) {
        const Tensor in = repeated_rows(x, rows);
        const double ours = fastest_milliseconds([&] { folded.forward(in); });
        const double theirs = fastest_milliseconds([&] { dense.forward(in); });
        fmt::print("  forward of {:>6} rows {:>17.4g} ms, dense {:>10.4g} ms, ratio {:.2f}\n", rows,
                   ours, theirs, theirs / ours);
    }
}

}  // namespace

ExitCode fold(const RunOptions& options) {
    const std::filesystem::path file = output_file(options, "deployed.h5");
    const LoadedRun run = load_run(options, TaskUse::training);
    const NoGrad pause;
    const FoldedNetwork folded(run.task->model().parts());
    const FoldedNetwork dense = dense_network(run.config);

    // Read again: what is checked is what was written.
    write_deployed(file.string(), folded, write_config(run.config));
    const FoldedNetwork written = read_deployed(file.string());
    const Tensor x = run.task->calibration_batch();
    const FoldingDifference found = difference_from_trained(written, run.task->model(), x);

    for (const FoldedStep& step : written.steps())
        fmt::print("  {}\n", std::visit([](const auto& own) { return describe(own); }, step));
    const ParameterCount count = run.task->model().count();
    const NetworkCost cost = written.cost(), dense_cost = dense.cost();
    const auto share = [](int64_t part, int64_t whole) {
        return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    };
    const auto bytes = static_cast<int64_t>(bytes_of(x.dtype()));
    fmt::print("  trained parameters        {:>12}\n", count.trained);
    fmt::print(
        "  deployed without folding  {:>12}, of them with fixed projections from a seed {}\n",
        count.deployed, count.regenerated);
    fmt::print("  deployed                  {:>12}, {:.1f} % of a dense network's {}\n",
               cost.numbers, share(cost.numbers, dense_cost.numbers), dense_cost.numbers);
    fmt::print("  bytes                     {:>12}, dense {}\n", cost.numbers * bytes,
               dense_cost.numbers * bytes);
    fmt::print("  multiply-adds of an input {:>12}, {:.1f} % of {}\n", cost.multiply_adds,
               share(cost.multiply_adds, dense_cost.multiply_adds), dense_cost.multiply_adds);
    print_times(written, dense, x);
    fmt::print(
        "  folded against trained on {} inputs: RMS {:.2g}, largest {:.2g} of the outputs' RMS\n",
        x.size(0), found.rms, found.largest);
    fmt::print("{}\n", file.string());
    check_difference(found, x.dtype());
    return ExitCode::success;
}

}  // namespace ralimp
