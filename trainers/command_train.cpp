#include <fmt/core.h>

#include <algorithm>

#include "core/allocator.h"
#include "core/kernels.h"
#include "core/parallel.h"
#include "layers/mlp.h"
#include "trainers/commands.h"
#include "trainers/config.h"
#include "trainers/objective.h"
#include "trainers/report.h"
#include "trainers/signals.h"
#include "trainers/training.h"

namespace ralimp {
namespace {

void start_threads(const RunSettings& settings) {
    if (settings.threads > 0) set_thread_count(static_cast<int>(settings.threads));
}

void print_model(Task& task) {
    if (const auto* mlp = dynamic_cast<const Mlp*>(&task.model())) {
        for (const auto& layer : mlp->layers())
            fmt::print("  {:<56} {:>10} trained {:>10} deployed\n", layer->description(),
                       layer->count().trained, layer->count().deployed);
    }
    const ParameterCount count = task.model().count();
    fmt::print("  {:<56} {:>10} trained {:>10} deployed\n", "total", count.trained, count.deployed);
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
    const Parameters parameters(task.model());
    reset_peak_memory({});
    const ObjectiveValues values = evaluate_objective(task, parameters);
    fmt::print("at the start:\n");
    for (const auto& [name, value] : values.loss)
        fmt::print("  {:<56} {}\n", name, format_number(value));
    fmt::print("memory of one step: {:.1f} MB of tensors\n",
               static_cast<double>(memory_statistics({}).peak_bytes) / 1e6);
}

// A checkpoint given on the command line: a file, or a run's folder, of which the newest valid one
// is taken.
Checkpoint open_checkpoint(const std::filesystem::path& path, Log& log) {
    if (!std::filesystem::is_directory(path)) return read_checkpoint(path.string());
    const RunFolder run = RunFolder::open(path);
    auto found = CheckpointFolder(run.checkpoints()).newest_valid([&](const std::string& line) {
        log.warning("{}", line);
    });
    if (!found) fail_with(ExitCode::bad_input, "{}: the run has no checkpoint", path.string());
    return std::move(found->checkpoint);
}

// Keys whose values differ from those of the run that the checkpoint comes from.
void warn_of_changes(const std::string& before, const std::string& now, Log& log) {
    const auto lines = [](const std::string& text) {
        std::vector<std::string> result;
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            result.push_back(text.substr(begin, end - begin));
            begin = end + 1;
        }
        return result;
    };
    const std::vector<std::string> old_lines = lines(before);
    for (const std::string& line : lines(now))
        if (std::find(old_lines.begin(), old_lines.end(), line) == old_lines.end())
            log.warning("the config differs from that of the checkpoint: {}",
                        line.substr(line.find_first_not_of(' ')));
}

RunFolder make_folder(const TrainOptions& options) {
    if (options.output.empty())
        return RunFolder::create_numbered("runs", options.config.stem().string());
    if (options.resume == "auto" && RunFolder::holds_run(options.output)) {
        RunFolder folder = RunFolder::open(options.output);
        folder.lock();
        return folder;
    }
    return RunFolder::create(options.output);
}

}  // namespace

ExitCode train(const TrainOptions& options) {
    const auto config = read_config<RunConfig>(options.config, options.overrides);
    const RunSettings& settings = settings_of(config);
    const std::string text = write_config(config);
    if (options.print_config) {
        fmt::print("{}", write_config(config, ConfigComments::help));
        return ExitCode::success;
    }
    start_threads(settings);
    Log log;
    std::optional<Checkpoint> checkpoint;
    if (options.resume != "auto" && options.resume != "never")
        checkpoint = open_checkpoint(options.resume, log);
    std::unique_ptr<Task> task = make_task(config);
    task->model().initialize_from_data(task->calibration_batch());
    if (options.check) {
        check_run(*task, settings);
        return ExitCode::success;
    }

    const bool continues =
        options.resume == "auto" && !options.output.empty() && RunFolder::holds_run(options.output);
    const RunFolder folder = make_folder(options);
    log.open_file(folder.log().string());
    if (continues) {
        auto found =
            CheckpointFolder(folder.checkpoints()).newest_valid([&](const std::string& line) {
                log.warning("{}", line);
            });
        if (found) checkpoint = std::move(found->checkpoint);
    }
    folder.write_config(text);
    log.line("ralimp {}, {}", RALIMP_VERSION, backend_description({}));
    log.line("run {}", folder.path().string());
    const ParameterCount count = task->model().count();
    log.line("{}: {}; {} trained parameters, {} deployed", task->kind(),
             task->model().description(), count.trained, count.deployed);

    Training training(*task, settings, folder, log, text);
    if (checkpoint) {
        warn_of_changes(checkpoint->config, text, log);
        training.restore(*checkpoint);
        log.line("goes on from step {}", checkpoint->whole_number("step"));
    }
    TrainingResult result;
    try {
        result = training.run();
    } catch (const Error& error) {
        result.stopped_by = error.code() == ExitCode::non_finite ? "non-finite loss" : "error";
        result.steps = training.step();
        write_training_result(folder, config, *task, result);
        log.line("error: {}", error.what());
        throw;
    }
    write_training_result(folder, config, *task, result);
    for (const auto& [name, value] : result.metrics) log.line("{} {}", name, format_number(value));
    log.line("{} steps in {:.1f} s ({:.1f} steps/s), stopped by: {}", result.steps, result.seconds,
             result.steps_per_second, result.stopped_by);
    log.line("everything is in {}", std::filesystem::absolute(folder.path()).string());
    if (result.code == ExitCode::interrupted)
        log.line("to go on: ralimp train {} --output {}", options.config.string(),
                 folder.path().string());
    return result.code;
}

}  // namespace ralimp
