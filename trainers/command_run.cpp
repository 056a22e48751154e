// Commands on a run that exists: evaluate, render, inspect.
#include <fmt/core.h>
#include <xxhash.h>

#include <charconv>

#include "core/parallel.h"
#include "data/image.h"
#include "layers/parameters.h"
#include "trainers/checkpoint_folder.h"
#include "trainers/commands.h"
#include "trainers/config.h"
#include "trainers/report.h"
#include "trainers/result.h"
#include "trainers/run_config.h"
#include "trainers/run_folder.h"

namespace ralimp {
namespace {

struct LoadedRun {
    RunFolder folder;
    std::unique_ptr<Task> task;
    int64_t step;
};

// The model as it was trained, with the config that the checkpoint brings along. The run may still
// be going on.
LoadedRun load_run(const RunOptions& options) {
    RunFolder folder = RunFolder::open(options.run);
    const CheckpointFolder checkpoints(folder.checkpoints());
    Checkpoint checkpoint;
    std::string name;
    if (options.checkpoint == "last") {
        auto found = checkpoints.newest_valid(
            [](const std::string& line) { fmt::print(stderr, "warning: {}\n", line); });
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
    }
    const auto config = read_config_text<RunConfig>(checkpoint.config, name + ": config");
    if (const int64_t threads = settings_of(config).threads; threads > 0)
        set_thread_count(static_cast<int>(threads));
    auto task = make_task(config);
    load_into(named_tensors(task->model()), checkpoint, "model");
    return {std::move(folder), std::move(task), checkpoint.whole_number("step")};
}

// XXH3 of the values, to compare checkpoints by.
uint64_t hash_of(const Tensor& tensor) {
    return XXH3_64bits(tensor.data(),
                       static_cast<std::size_t>(tensor.elements()) * bytes_of(tensor.dtype()));
}

void inspect_checkpoint(const std::filesystem::path& file) {
    const Checkpoint checkpoint = read_checkpoint(file.string());
    fmt::print("checkpoint {}, written by ralimp {}\n", file.string(), checkpoint.program_version);
    for (const auto& [name, value] : checkpoint.values)
        std::visit([&, &key = name](const auto& v) { fmt::print("  {:<40} {}\n", key, v); }, value);
    for (const auto& [name, tensor] : checkpoint.tensors)
        fmt::print("  {:<40} {} {:016x} {}\n", name, name_of(tensor.dtype()), hash_of(tensor),
                   to_string(tensor.shape()));
    fmt::print("config:\n{}", checkpoint.config);
}

void inspect_run(const std::filesystem::path& path) {
    const RunFolder folder = RunFolder::open(path);
    const std::vector<int64_t> steps = CheckpointFolder(folder.checkpoints()).steps();
    fmt::print("run {}, {}\n", path.string(), folder.finished() ? "finished" : "not finished");
    fmt::print("  checkpoints at steps:");
    for (int64_t step : steps) fmt::print(" {}", step);
    fmt::print("{}\n", steps.empty() ? " none" : "");
    if (std::filesystem::exists(folder.result()))
        for (const auto& [key, value] : read_result(folder.result().string()))
            std::visit([&, &name = key](const auto& v) { fmt::print("  {:<24} {}\n", name, v); },
                       value);
}

// "480x640" as {480, 640}.
std::vector<int64_t> parse_size(const std::string& text) {
    std::vector<int64_t> size;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (true) {
        int64_t count = 0;
        const auto [rest, error] = std::from_chars(at, end, count);
        if (error != std::errc() || count < 1 || (rest != end && *rest != 'x'))
            fail_with(ExitCode::bad_config,
                      "--size: '{}' is no size; an image has HEIGHTxWIDTH, a sound SAMPLES", text);
        size.push_back(count);
        if (rest == end) return size;
        at = rest + 1;
    }
}

}  // namespace

ExitCode evaluate(const RunOptions& options) {
    const LoadedRun run = load_run(options);
    fmt::print("step {}\n", run.step);
    for (const auto& [name, value] : run.task->evaluate()) fmt::print("{} {}\n", name, value);
    return ExitCode::success;
}

ExitCode render(const RunOptions& options) {
    const RenderRequest request{
        options.size.empty() ? std::vector<int64_t>{} : parse_size(options.size),
        options.derivatives};
    const LoadedRun run = load_run(options);
    const std::filesystem::path folder =
        options.output.empty() ? run.folder.pictures() : options.output;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) fail_with(ExitCode::io, "{}: cannot be made: {}", folder.string(), error.message());
    const std::vector<std::string> names =
        request.empty() ? run.task->draw(folder) : run.task->render(folder, request);
    for (const std::string& name : names) fmt::print("{}\n", (folder / name).string());
    if (!request.empty()) return ExitCode::success;
    draw_loss_curves(run.folder.metrics(), folder / "loss.png");
    fmt::print("{}\n", (folder / "loss.png").string());
    return ExitCode::success;
}

ExitCode inspect(const std::filesystem::path& file) {
    if (std::filesystem::is_directory(file)) {
        inspect_run(file);
    } else if (file.extension() == ".h5") {
        inspect_checkpoint(file);
    } else if (file.extension() == ".yaml") {
        fmt::print("{}", write_config(read_config<RunConfig>(file), ConfigComments::help));
    } else {
        const Image image = read_image(file.string());
        fmt::print("image {}: {} x {}, {} channels of {} bits\n", file.string(), image.height(),
                   image.width(), image.channels(), image.bits);
    }
    return ExitCode::success;
}

}  // namespace ralimp
