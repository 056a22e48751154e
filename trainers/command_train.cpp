#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "core/allocator.h"
#include "core/kernels.h"
#include "core/parallel.h"
#include "layers/folding.h"
#include "trainers/commands.h"
#include "trainers/config.h"
#include "trainers/config_differences.h"
#include "trainers/memory_check.h"
#include "trainers/objective.h"
#include "trainers/report.h"
#include "trainers/result.h"
#include "trainers/signals.h"
#include "trainers/training.h"

namespace ralimp {
namespace {

void start_threads(const RunSettings& settings) {
    if (settings.threads > 0) set_thread_count(static_cast<int>(settings.threads));
}

void print_model(Task& task) {
    for (const Layer* layer : task.model().parts())
        fmt::print("  {:<56} {:>10} trained {:>10} deployed\n", layer->description(),
                   layer->count().trained, layer->count().deployed);
    const ParameterCount count = task.model().count();
    fmt::print("  {:<56} {:>10} trained {:>10} deployed\n", "total", count.trained, count.deployed);
    if (const int64_t folded = deployed_numbers(task.model()); folded != count.deployed)
        fmt::print("  deployed when folded (ralimp fold): {}\n", folded);
    if (count.regenerated != count.deployed)
        fmt::print("  deployed with fixed projections drawn again from their seed: {}\n",
                   count.regenerated);
}

// Builds everything, makes one loss and gradient, and says what it took.
void check_run(Task& task, const RunSettings& settings) {
    fmt::print("{} in {} on {}\n", task.kind(),
               settings.precision == Precision::float64 ? "float64" : "float32",
               backend_description({}));
    print_model(task);
    fmt::print("  [rows, {}] -> [rows, {}]\n", task.model().inputs(), task.model().outputs());
    for (const std::string& remark : task.remarks()) fmt::print("  {}\n", remark);
    const Parameters parameters(task.model());
    reset_peak_memory({});
    const ObjectiveValues values = evaluate_objective(task, parameters);
    fmt::print("at the start:\n");
    for (const auto& [name, value] : values.loss)
        fmt::print("  {:<56} {}\n", name, format_number(value));
    for (const auto& [name, value] : values.loss)
        if (!std::isfinite(value))
            fail_with(ExitCode::non_finite, "at the start {} is {}: no step could be made", name,
                      format_number(value));
    const int64_t step_bytes = memory_statistics({}).peak_bytes;
    int64_t state_bytes = 0;  // of the phase that needs most
    for (const PhaseConfig& phase : settings.training.phases) {
        int64_t bytes = 0;
        const auto optimizer = make_optimizer(phase.optimizer, layout_of(parameters));
        for (const auto& [name, tensor] : optimizer->state().tensors)
            bytes += tensor.elements() * bytes_of(tensor.dtype());
        state_bytes = std::max(state_bytes, bytes);
    }
    fmt::print("memory: {:.1f} MB of tensors in one step, {:.1f} MB of optimizer state\n",
               static_cast<double>(step_bytes) / 1e6, static_cast<double>(state_bytes) / 1e6);
}

// The data-dependent start of the layers.
void start_from(Layer& model, const Tensor& batch) {
    try {
        model.initialize_from_data(batch);
    } catch (const Error& error) {
        if (error.code() != ExitCode::bad_config) throw;
        fail_with(ExitCode::bad_config, "network.hidden: {}", error.what());
    }
}

struct Start {
    Checkpoint checkpoint;
    std::string name;  // of its file, for messages
};

std::optional<Start> newest_of(const RunFolder& folder, Log& log) {
    auto found = CheckpointFolder(folder.checkpoints()).newest_valid([&](const std::string& line) {
        log.warning("{}", line);
    });
    if (!found) return std::nullopt;
    return Start{std::move(found->checkpoint), found->path.string()};
}

// A checkpoint given on the command line: a file, or a run's folder, of which the newest valid one
// is taken.
Start open_start(const std::filesystem::path& path, Log& log) {
    if (!std::filesystem::is_directory(path))
        return {read_checkpoint(path.string()), path.string()};
    auto found = newest_of(RunFolder::open(path), log);
    if (!found) fail_with(ExitCode::bad_input, "{}: the run has no checkpoint", path.string());
    return std::move(*found);
}

RunFolder new_folder(const TrainOptions& options) {
    if (options.output.empty())
        return RunFolder::create_numbered("runs", options.config.stem().string());
    return RunFolder::create(options.output);
}

// The end of a run that came to its end with this very config and whose last checkpoint is there.
std::optional<Result> end_of_run(const RunFolder& folder, const Checkpoint& checkpoint,
                                 const std::string& config_text) {
    if (checkpoint.config != config_text || !folder.finished()) return std::nullopt;
    Result result = read_result(folder.result().string());
    const ResultValue* steps = find_value(result, "steps");
    if (!steps || *steps != ResultValue(checkpoint.whole_number("step"))) return std::nullopt;
    return result;
}

void say_nothing_to_do(const RunFolder& folder, const Result& result) {
    const std::string stopped_by = std::get<std::string>(*find_value(result, "stopped_by"));
    fmt::print(
        "nothing to do: the run in {} ended at step {} ({}); with more training.phases[…].steps it "
        "goes on\n",
        folder.path().string(), std::get<int64_t>(*find_value(result, "steps")), stopped_by);
}

void restore(Training& training, const Start& start) {
    try {
        training.restore(start.checkpoint);
    } catch (const Error& error) {
        fail_with(error.code(), "{}: {}", start.name, error.what());
    }
}

// Gives the model the values of a checkpoint, whatever its optimizer and its task.
void load_weights(Task& task, const TrainOptions& options, Log& log) {
    const Start from = open_start(options.weights, log);
    const NamedTensors tensors = named_tensors(task.model());
    try {
        if (!options.partial) {
            load_into(tensors, from.checkpoint, "model");
        } else {
            for (const std::string& difference : load_matching(tensors, from.checkpoint, "model"))
                log.warning("{}: left out: {}", from.name, difference);
        }
    } catch (const Error& error) {
        fail_with(error.code(), "{}: {}", from.name, error.what());
    }
    log.line("the model starts with the values of {}", from.name);
}

// Runs, and leaves a result.json and the error in the log whatever happens: both only as far as the
// disk lets it.
TrainingResult run_and_report(Training& training, const RunFolder& folder, const RunConfig& config,
                              Task& task) {
    const auto report_failure = [&](const char* stopped_by, const char* message, ExitCode code) {
        try {
            write_training_result(folder, config, task, training.result_so_far(stopped_by, code));
            AppendedFile(folder.log().string()).append(fmt::format("error: {}\n", message));
        } catch (const std::exception&) {}
    };
    try {
        const TrainingResult result = training.run(folder);
        write_training_result(folder, config, task, result);
        return result;
    } catch (const Error& error) {
        const bool non_finite = error.code() == ExitCode::non_finite;
        report_failure(non_finite ? "non-finite loss" : "error", error.what(), error.code());
        throw;
    } catch (const std::exception& error) {
        report_failure("error", error.what(), ExitCode::failure);
        throw;
    }
}

}  // namespace

// Nothing is written before the data, the model and the checkpoint are known to be good.
ExitCode train(const TrainOptions& options) {
    const auto config = read_config<RunConfig>(options.config, options.overrides);
    const RunSettings& settings = settings_of(config);
    const std::string text = write_config(config);
    if (options.print_config) {
        fmt::print("{}", write_config(config, ConfigComments::help));
        return ExitCode::success;
    }
    start_threads(settings);
    check_memory(config);
    const std::unique_ptr<Task> task = make_task(config);
    const Tensor batch = task->calibration_batch();
    check_memory(config, *task, batch.size(0));
    start_from(task->model(), batch);
    Log log;
    if (options.check) {
        if (!options.weights.empty()) load_weights(*task, options, log);
        check_run(*task, settings);
        return ExitCode::success;
    }

    std::optional<RunFolder> folder;
    std::optional<Start> start;
    if (options.resume == "auto" && !options.output.empty() &&
        RunFolder::holds_run(options.output)) {
        folder.emplace(RunFolder::open(options.output));
        folder->lock();
        start = newest_of(*folder, log);
        if (start) {
            if (const auto result = end_of_run(*folder, start->checkpoint, text)) {
                say_nothing_to_do(*folder, *result);
                return ExitCode::success;
            }
        }
    } else if (options.resume != "auto" && options.resume != "never") {
        if (!options.weights.empty())
            fail_with(ExitCode::bad_config, "--weights starts a run, --resume {} goes on with one",
                      options.resume);
        start = open_start(options.resume, log);
    }
    // A run that goes on has its own.
    if (!start && !options.weights.empty()) load_weights(*task, options, log);
    task->prepare_evaluation();
    Training training(*task, settings, log, text);
    if (start) restore(training, *start);
    throw_if_stop_requested();

    if (folder && start) training.check_metrics(*folder);
    if (!folder) folder.emplace(new_folder(options));
    folder->remove_leftovers();
    begin_run(*folder, text, *task, log, !start);
    if (start) {
        for (const auto& difference : config_differences(start->checkpoint.config, text)) {
            log.warning("the config differs from that of the checkpoint: {}",
                        to_string(difference));
            if (concerns_loss(difference.path)) training.objective_changed();
        }
        log.line("goes on from step {} of {}", training.step(), start->name);
    }
    const TrainingResult result = run_and_report(training, *folder, config, *task);
    for (const auto& [name, value] : result.metrics) log.line("{} {}", name, format_number(value));
    log.line("{} steps in {:.1f} s ({:.1f} steps/s), stopped by: {}", result.steps, result.seconds,
             result.steps_per_second, result.stopped_by);
    log.line("everything is in {}", std::filesystem::absolute(folder->path()).string());
    if (result.code == ExitCode::interrupted)
        log.line("to go on: ralimp train {} --output {}", folder->config().string(),
                 folder->path().string());
    if (result.code == ExitCode::success && log.output_error() != 0)
        fail_with(ExitCode::io, "standard output: cannot be written: {}; everything is in {}",
                  std::strerror(log.output_error()), folder->path().string());
    return result.code;
}

}  // namespace ralimp
