#include "trainers/loaded_run.h"

#include <fmt/core.h>

#include <cstdio>

#include "core/file.h"
#include "core/parallel.h"
#include "core/printable.h"
#include "layers/parameters.h"
#include "trainers/checkpoint_folder.h"
#include "trainers/config.h"
#include "trainers/config_differences.h"

namespace ralimp {

void warn(const std::string& line) { fmt::print(stderr, "warning: {}\n", printable(line)); }

namespace {

// What stands differently in the config of the run and in that of a checkpoint from anywhere.
// Another network is no model of this run: Error(bad_input); what else concerns the loss is a
// warning. A run may have been gone on with under another config, so that for its own checkpoints
// all are warnings.
void compare_with_run(const Checkpoint& checkpoint, const std::string& name,
                      const RunFolder& folder) {
    const std::vector<uint8_t> bytes = read_file(folder.config().string());
    const std::string text(bytes.begin(), bytes.end());
    std::error_code error;
    const bool own = std::filesystem::equivalent(std::filesystem::path(name).parent_path(),
                                                 folder.checkpoints(), error);
    for (const ConfigDifference& difference : config_differences(text, checkpoint.config)) {
        if (!concerns_loss(difference.path)) continue;
        const std::string line =
            fmt::format("{}: is of another run than {}: {} is {}, not {}", name,
                        folder.path().string(), difference.path, difference.now.value_or("absent"),
                        difference.before.value_or("absent"));
        const std::string_view key = top_key(difference.path);
        if (!own && (key == "kind" || key == "network" || key == "constraints"))
            fail_with(ExitCode::bad_input, "{}", line);
        warn(line);
    }
}

}  // namespace

std::filesystem::path output_file(const RunOptions& options, const char* usual) {
    const RunFolder folder = RunFolder::open(options.run);
    const std::filesystem::path file =
        options.output.empty() ? folder.path() / usual : options.output;
    std::error_code error;
    for (const auto& own : {folder.config(), folder.log(), folder.metrics(), folder.result()})
        if (std::filesystem::equivalent(file, own, error))
            fail_with(ExitCode::bad_config, "--output: {} is a file of the run itself",
                      file.string());
    if (std::filesystem::equivalent(std::filesystem::absolute(file).parent_path(),
                                    folder.checkpoints(), error))
        fail_with(ExitCode::bad_config, "--output: {} would stand among the run's checkpoints",
                  file.string());
    check_writable(file.string());
    return file;
}

LoadedRun load_run(const RunOptions& options, TaskUse use) {
    RunFolder folder = RunFolder::open(options.run);
    const CheckpointFolder checkpoints(folder.checkpoints());
    Checkpoint checkpoint;
    std::string name;
    if (options.checkpoint == "last") {
        auto found = checkpoints.newest_valid(warn);
        if (!found)
            fail_with(ExitCode::bad_input, "{}: the run has no checkpoint yet{}",
                      options.run.string(),
                      std::filesystem::exists(checkpoints.best_path())
                          ? "; --checkpoint best takes the best model so far"
                          : "");
        checkpoint = std::move(found->checkpoint);
        name = found->path.string();
    } else {
        name = options.checkpoint == "best" ? checkpoints.best_path().string() : options.checkpoint;
        checkpoint = read_checkpoint(name);
        if (options.checkpoint != "best") compare_with_run(checkpoint, name, folder);
    }
    const auto config = read_config_text<RunConfig>(checkpoint.config, name + ": config");
    if (const int64_t threads = settings_of(config).threads; threads > 0)
        set_thread_count(static_cast<int>(threads));
    auto task = make_task(config, use);
    load_into(named_tensors(task->model()), checkpoint, "model");
    return {std::move(folder), config, std::move(task), checkpoint.whole_number("step")};
}

}  // namespace ralimp
