// ralimp export: a run's surface or its network for other programs.
#include <fmt/core.h>

#include <cstdio>
#include <functional>

#include "core/file.h"
#include "trainers/commands.h"
#include "trainers/config.h"
#include "trainers/deployed_file.h"
#include "trainers/folding_check.h"
#include "trainers/loaded_run.h"

namespace ralimp {
namespace {

std::filesystem::path output_of(const RunOptions& options, const char* usual) {
    const std::filesystem::path file =
        options.output.empty() ? RunFolder::open(options.run).path() / usual : options.output;
    check_writable(file.string());
    return file;
}

ExitCode export_mesh(const ExportOptions& options) {
    const std::filesystem::path file = output_of(options.run, "mesh.ply");
    const LoadedRun run = load_run(options.run);
    run.task->export_mesh({file, options.resolution, options.most_gigabytes},
                          [](const std::string& line) {
                              fmt::print("{}\n", line);
                              std::fflush(stdout);
                          });
    return ExitCode::success;
}

ExitCode export_safetensors(const RunOptions& options) {
    const std::filesystem::path file = output_of(options, "deployed.safetensors");
    const LoadedRun run = load_run(options, TaskUse::training);
    const FoldedNetwork folded(run.task->model().parts());
    write_deployed_safetensors(file.string(), folded, write_config(run.config));
    // Read again: what is checked is what was written.
    const Tensor x = run.task->calibration_batch();
    check_difference(
        difference_from_trained(read_deployed_safetensors(file.string()), run.task->model(), x),
        x.dtype());
    fmt::print("{}\n", file.string());
    return ExitCode::success;
}

}  // namespace

ExitCode export_run(const ExportOptions& options) {
    if (options.format == "ply") return export_mesh(options);
    if (options.format == "safetensors") return export_safetensors(options.run);
    if (options.format == "hdf5") return fold(options.run);
    fail_with(ExitCode::bad_config, "export: there is no format {}", options.format);
}

}  // namespace ralimp
