// Commands on a run that exists: evaluate, predict, render, inspect.
#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "core/file.h"
#include "core/parallel.h"
#include "core/printable.h"
#include "data/image.h"
#include "data/safetensors.h"
#include "layers/parameters.h"
#include "trainers/checkpoint_folder.h"
#include "trainers/commands.h"
#include "trainers/comparison_config.h"
#include "trainers/comparison_folder.h"
#include "trainers/config.h"
#include "trainers/loaded_run.h"
#include "trainers/report.h"
#include "trainers/result.h"
#include "trainers/run_config.h"
#include "trainers/run_folder.h"
#include "trainers/sdf_surface.h"

namespace ralimp {
namespace {

// XXH3 of the values, to compare checkpoints by.
uint64_t hash_of(const Tensor& tensor) {
    return XXH3_64bits(tensor.data(),
                       static_cast<std::size_t>(tensor.elements()) * bytes_of(tensor.dtype()));
}

// The file may be anybody's.
void say(const std::string& text) { fmt::print("{}", printable(text)); }

void say_tensors(const std::map<std::string, Tensor>& tensors) {
    for (const auto& [name, tensor] : tensors)
        say(fmt::format("  {:<40} {} {:016x} {}\n", name, name_of(tensor.dtype()), hash_of(tensor),
                        to_string(tensor.shape())));
}

void inspect_checkpoint(const std::filesystem::path& file) {
    const Checkpoint checkpoint = read_checkpoint(file.string());
    say(fmt::format("checkpoint {}, written by ralimp {}\n", file.string(),
                    checkpoint.program_version));
    for (const auto& [name, value] : checkpoint.values)
        std::visit([&, &key = name](const auto& v) { say(fmt::format("  {:<40} {}\n", key, v)); },
                   value);
    say_tensors(checkpoint.tensors);
    say("config:\n" + checkpoint.config);
}

void inspect_safetensors(const std::filesystem::path& file) {
    const Safetensors content = read_safetensors(file.string());
    say(fmt::format("safetensors {}\n", file.string()));
    // Texts of many lines, such as a config, behind the rest.
    const auto is_long = [](const std::string& text) {
        return text.find('\n') != std::string::npos;
    };
    for (const auto& [name, text] : content.metadata)
        if (!is_long(text)) say(fmt::format("  {:<40} {}\n", name, text));
    say_tensors(content.tensors);
    for (const auto& [name, text] : content.metadata)
        if (is_long(text)) say(fmt::format("{}:\n{}\n", name, text));
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

void inspect_comparison(const std::filesystem::path& folder) {
    fmt::print("comparison {}\n", folder.string());
    for (const auto& [key, value] : ComparisonFolder::state_of(folder))
        std::visit([&, &name = key](const auto& v) { say(fmt::format("  {:<24} {}\n", name, v)); },
                   value);
    std::error_code none;
    for (const char* name : {"report.md", "table.csv"})
        if (std::filesystem::exists(folder / name, none))
            fmt::print("  {:<24} {}\n", std::filesystem::path(name).stem().string(),
                       (folder / name).string());
    fmt::print("the runs are in {}, for ralimp inspect one by one\n", (folder / "runs").string());
}

// No run has entries.
bool is_comparison_config(const std::filesystem::path& file) {
    const std::vector<ConfigNode> layers = load_config_layers(file);
    return std::any_of(layers.begin(), layers.end(),
                       [](const ConfigNode& layer) { return layer.find("entries") != nullptr; });
}

// A word of a shell's command line.
std::string shell_word(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

// How the frames in the folder become a film. Most players want even numbers of pixels.
void print_film_command(const std::filesystem::path& folder, int64_t frames) {
    fmt::print(
        "{} frames are in {}; a film of them makes\n"
        "ffmpeg -framerate 25 -i {} -frames:v {} -vf 'pad=ceil(iw/2)*2:ceil(ih/2)*2' "
        "-pix_fmt yuv420p {}\n",
        frames, folder.string(), shell_word((folder / "frame-%04d.png").string()), frames,
        shell_word((folder / "film.mp4").string()));
}

// The value of an option, "200x100", as {200, 100}.
std::vector<int64_t> parse_counts(const char* option, const std::string& text,
                                  const char* expected) {
    std::vector<int64_t> counts;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (true) {
        int64_t count = 0;
        const auto [rest, error] = std::from_chars(at, end, count);
        if (error != std::errc() || count < 1 || (rest != end && *rest != 'x'))
            fail_with(ExitCode::bad_config, "{}: '{}' is no {}", option, text, expected);
        counts.push_back(count);
        if (rest == end) return counts;
        at = rest + 1;
    }
}

// Both empty where none is given.
std::vector<int64_t> grid_of(const RunOptions& options) {
    if (options.grid.empty()) return {};
    return parse_counts("--grid", options.grid,
                        "grid; a number of points for each axis, such as 200x100");
}

std::vector<int64_t> size_of(const RunOptions& options) {
    if (options.size.empty()) return {};
    return parse_counts("--size", options.size, "size; an image has HEIGHTxWIDTH, a sound SAMPLES");
}

}  // namespace

ExitCode evaluate(const RunOptions& options) {
    const std::vector<int64_t> grid = grid_of(options);
    const LoadedRun run = load_run(options);
    const NamedValues figures = grid.empty() ? run.task->evaluate() : run.task->evaluate_on(grid);
    fmt::print("step {}\n", run.step);
    for (const auto& [name, value] : figures) fmt::print("{} {}\n", name, value);
    for (const auto& [name, value] : figures)
        if (name.starts_with(absolute_error_name))
            fmt::print(stderr,
                       "note: {} stands for a relative error: the known solution is 0 there, or "
                       "rounding alone\n",
                       name);
    return ExitCode::success;
}

ExitCode predict(const RunOptions& options) {
    const PredictionPlace place{grid_of(options), options.points};
    check_field_file(options.output);
    check_writable(options.output.string());
    std::error_code none;
    if (!options.points.empty() &&
        std::filesystem::equivalent(options.points, options.output, none))
        fail_with(ExitCode::bad_config, "predict: --output {} is the file of --points",
                  options.output.string());
    const LoadedRun run = load_run(options);
    const FieldData data = run.task->predict(place);
    int64_t outside = 0;
    for (uint8_t inside : data.inside.to_vector<uint8_t>()) outside += inside == 0;
    if (outside > 0 && !place.points.empty())
        warn(fmt::format("{}: {} of {} points lie outside the domain", place.points.string(),
                         outside, data.inside.elements()));
    write_field(options.output, data);
    fmt::print("{}\n", options.output.string());
    return ExitCode::success;
}

ExitCode render(const RunOptions& options) {
    const RenderRequest request{size_of(options), options.derivatives};
    const LoadedRun run = load_run(options);
    const std::filesystem::path usual =
        options.frames > 0 ? run.folder.pictures() / "frames" : run.folder.pictures();
    const std::filesystem::path folder = options.output.empty() ? usual : options.output;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) fail_with(ExitCode::io, "{}: cannot be made: {}", folder.string(), error.message());
    check_folder_writable(folder.string());
    if (options.frames > 0) {
        run.task->draw_frames(folder, options.frames);
        print_film_command(folder, options.frames);
        return ExitCode::success;
    }
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
        if (ComparisonFolder::holds_comparison(file) && !RunFolder::holds_run(file))
            inspect_comparison(file);
        else
            inspect_run(file);
    } else if (file.extension() == ".h5") {
        inspect_checkpoint(file);
    } else if (file.extension() == ".safetensors") {
        inspect_safetensors(file);
    } else if (file.extension() == ".yaml") {
        if (is_comparison_config(file))
            fmt::print("{}",
                       write_config(read_config<ComparisonConfig>(file), ConfigComments::help));
        else
            fmt::print("{}", write_config(read_config<RunConfig>(file), ConfigComments::help));
    } else if (file.extension() == ".obj" || file.extension() == ".ply") {
        for (const std::string& line : mesh_report(read_mesh(file.string())))
            fmt::print("{}\n", line);
    } else {
        const Image image = read_image(file.string());
        fmt::print("image {}: {} x {}, {} channels of {} bits\n", file.string(), image.height(),
                   image.width(), image.channels(), image.bits);
    }
    return ExitCode::success;
}

}  // namespace ralimp
