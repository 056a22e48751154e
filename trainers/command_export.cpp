// ralimp export: a run's surface or its network for other programs.
#include <fmt/core.h>

#include <cstdio>

#include "core/file.h"
#include "trainers/commands.h"
#include "trainers/config.h"
#include "trainers/deployed_file.h"
#include "trainers/folding_check.h"
#include "trainers/loaded_run.h"
#include "trainers/onnx_file.h"

namespace ralimp {
namespace {

ExitCode export_mesh(const ExportOptions& options) {
    const std::filesystem::path file = output_file(options.run, "mesh.ply");
    const LoadedRun run = load_run(options.run);
    run.task->export_mesh({file, options.resolution, options.most_gigabytes},
                          [](const std::string& line) {
                              fmt::print("{}\n", line);
                              std::fflush(stdout);
                          });
    return ExitCode::success;
}

// Writes the folded network; `read` gives it back for the check, so that what is checked is what
// was written. ONNX is not read: there the network that is written is checked before.
template <class Write, class Read>
ExitCode export_network(const RunOptions& options, const char* usual, Write&& write, Read&& read) {
    const std::string file = output_file(options, usual).string();
    const LoadedRun run = load_run(options, TaskUse::training);
    const FoldedNetwork folded(run.task->model().parts());
    const Tensor x = run.task->calibration_batch();
    const auto check = [&](const FoldedNetwork& network) {
        check_difference(difference_from_trained(network, run.task->model(), x), x.dtype());
    };
    check(folded);
    write(file, folded, write_config(run.config));
    if constexpr (!std::is_null_pointer_v<std::decay_t<Read>>) check(read(file));
    fmt::print("{}\n", file);
    return ExitCode::success;
}

}  // namespace

ExitCode export_run(const ExportOptions& options) {
    if (options.format == "ply") return export_mesh(options);
    if (options.format == "safetensors")
        return export_network(options.run, "deployed.safetensors", write_deployed_safetensors,
                              read_deployed_safetensors);
    if (options.format == "onnx")
        return export_network(options.run, "deployed.onnx", write_onnx, nullptr);
    if (options.format == "hdf5") return fold(options.run);
    fail_with(ExitCode::bad_config, "export: there is no format {}", options.format);
}

}  // namespace ralimp
