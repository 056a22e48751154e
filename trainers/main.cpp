// The program: parses the command line, runs one command, and maps every error to one line on
// standard error and an exit code.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>
#include <optional>
#include <span>
#include <system_error>

#include "core/denormals.h"
#include "core/kernels.h"
#include "core/printable.h"
#include "trainers/commands.h"
#include "trainers/config_scalar.h"
#include "trainers/signals.h"

namespace {

using namespace ralimp;

void add_train(CLI::App& app, TrainOptions& options, std::vector<std::string>& arguments) {
    CLI::App* command = app.add_subcommand("train",
                                           "train what a config describes; goes on with a run that "
                                           "was interrupted when --output names its folder");
    command
        ->add_option("CONFIG", arguments,
                     "a config (*.yaml) and changes to it (key.path=value), in any order")
        ->required();
    command
        ->add_option("--resume", options.resume,
                     "auto: go on with the run in --output, if there is one; never; or a "
                     "checkpoint or run to start from in a new folder")
        ->type_name("auto|never|PATH")
        ->capture_default_str();
    command->add_option("--output", options.output, "the run's folder; default: runs/NAME-1, -2, …")
        ->type_name("DIR");
    CLI::Option* weights =
        command
            ->add_option("--weights", options.weights,
                         "a checkpoint or run whose model a new run starts with: no optimizer "
                         "state, no steps made")
            ->type_name("PATH");
    command
        ->add_flag("--partial", options.partial,
                   "take of the weights what fits, and say what does not")
        ->needs(weights);
    command->add_flag("--check", options.check,
                      "build the model, print shapes, parameters and memory, and stop");
    command->add_flag("--print-config", options.print_config,
                      "print every key with its value and meaning, and stop");
}

CLI::App* add_run_command(CLI::App& app, const char* name, const char* help, RunOptions& options) {
    CLI::App* command = app.add_subcommand(name, help);
    command->add_option("RUN", options.run, "the folder of a run, finished or not")->required();
    command->add_option("--checkpoint", options.checkpoint, "which one of the run")
        ->type_name("last|best|PATH")
        ->capture_default_str();
    return command;
}

CLI::Option* add_grid(CLI::App* command, RunOptions& options) {
    return command
        ->add_option("--grid", options.grid,
                     "of a PINN: how many points along each axis, the time last; default: those of "
                     "the run's evaluations")
        ->type_name("NxN…");
}

void add_render(CLI::App& app, RunOptions& options) {
    CLI::App* command = add_run_command(app, "render", "draw the pictures of a run", options);
    command
        ->add_option("--output", options.output,
                     "where to; default: the run's pictures folder, for frames frames/ in it")
        ->type_name("DIR");
    command
        ->add_option("--frames", options.frames,
                     "of a PINN with a time: so many pictures from its start to its end, "
                     "frame-0000.png and so on, instead of the usual ones")
        ->type_name("N")
        ->check(CLI::Range(2, 10000));
    command
        ->add_option("--size", options.size,
                     "of a siren run: its signal at this size instead of the usual pictures")
        ->type_name("HEIGHTxWIDTH|SAMPLES")
        ->excludes("--frames");
    command
        ->add_flag("--derivatives", options.derivatives,
                   "of a siren run: gradient and Laplacian instead of the usual pictures")
        ->excludes("--frames");
}

void add_predict(CLI::App& app, RunOptions& options) {
    CLI::App* command = add_run_command(
        app, "predict",
        "write what a PINN computes into a file: its outputs, the exact ones where they are known, "
        "and the residuals of the equations, float64, on a grid over the domain or at points",
        options);
    command
        ->add_option("--output", options.output,
                     "*.h5 (of a grid: datasets named as the axes and outputs, which another run "
                     "can have as reference) or *.csv")
        ->type_name("FILE")
        ->required();
    add_grid(command, options)
        ->excludes(
            command
                ->add_option(
                    "--points", options.points,
                    "points of your own: CSV with a header, or HDF5, a column or dataset for "
                    "each axis")
                ->type_name("FILE"));
}

void add_fold(CLI::App& app, RunOptions& options) {
    add_run_command(
        app, "fold",
        "write the network of a run as it is deployed, linear maps multiplied together, "
        "and compare its size and time with a dense one's",
        options)
        ->add_option("--output", options.output, "default: deployed.h5 in the run's folder")
        ->type_name("FILE");
}

void add_convert(CLI::App& app, ConvertOptions& options) {
    CLI::App* command = add_run_command(
        app, "convert",
        "make of a run with dense hidden layers a new run with hidden layers of another kind that "
        "do the same: each starts from the dense layer in its place and may learn from it",
        options.run);
    command->add_option("CHANGES", options.changes,
                        "network.hidden.key=value: options of the kind; also training.… and "
                        "evaluation.… of the new run");
    command
        ->add_option("--kind", options.kind,
                     "of the new layers; 'network.hidden={kind: …, …}' says the same")
        ->type_name("ralimp|low_rank|snnk|eugen|monarch|tensor_train");
    command
        ->add_option("--distil", options.distil,
                     "what learns from the trained network: each new layer, then the whole network")
        ->check(CLI::IsMember({"layers", "network", "both", "none"}))
        ->type_name("layers|network|both|none")
        ->capture_default_str();
    command->add_option("--steps", options.steps, "of Adam, for each layer and for the network")
        ->check(CLI::Range(1, 1000000))
        ->type_name("N")
        ->capture_default_str();
    command
        ->add_option("--learning-rate", options.learning_rate,
                     "at the start of each; it falls to a hundredth")
        ->type_name("RATE")
        ->capture_default_str();
    command
        ->add_option("--derivative-order", options.derivative_order,
                     "derivatives up to this order are to agree too; default: 1 for pinn and sdf, "
                     "whose loss is made of derivatives, 0 for the values of a siren")
        ->check(CLI::Range(0, 2))
        ->type_name("ORDER");
    command
        ->add_option("--max-error", options.max_error,
                     "write no network whose relative error is larger than this at the end; 0 "
                     "everywhere would have the error 1, inf writes whatever is finite")
        ->type_name("ERROR")
        ->capture_default_str();
    command->add_option("--output", options.run.output, "the folder of the new run")
        ->type_name("DIR")
        ->required();
}

// The run is the argument without '='; CLI11 takes the first one as the run.
void sort_arguments(ConvertOptions& options) {
    const auto is_change = [](const std::string& text) { return text.find('=') != text.npos; };
    std::string run = options.run.run;
    const auto other = std::find_if_not(options.changes.begin(), options.changes.end(), is_change);
    if (is_change(run) && other != options.changes.end()) std::swap(run, *other);
    options.run.run = run;
}

void add_export(CLI::App& app, ExportOptions& options) {
    CLI::App* command =
        add_run_command(app, "export",
                        "write a run's model for other programs: the surface of an sdf run as a "
                        "triangle mesh, or the network of any run as it is deployed",
                        options.run);
    command
        ->add_option("--output", options.run.output,
                     "default: mesh.ply, deployed.safetensors, deployed.onnx or deployed.h5 in the "
                     "run's folder")
        ->type_name("FILE");
    command
        ->add_option("--format", options.format,
                     "ply: the surface; safetensors, onnx, hdf5: the network")
        ->check(CLI::IsMember(
            std::vector<std::string>(std::begin(export_formats), std::end(export_formats))))
        ->type_name("ply|safetensors|onnx|hdf5")
        ->capture_default_str();
    const CLI::Option* resolution =
        command->add_option("--resolution", options.resolution, "of a ply: cubes along each axis")
            ->check(CLI::Range(1, 65535))
            ->type_name("N")
            ->capture_default_str();
    const CLI::Option* memory =
        command->add_option("--memory", options.most_gigabytes, "of a ply: gigabytes it may take")
            ->check(CLI::Range(1e-3, 1e6))
            ->type_name("GB")
            ->capture_default_str();
    command->parse_complete_callback([=, &options] {
        for (const CLI::Option* option : {resolution, memory})
            if (option->count() > 0 && options.format != "ply")
                throw CLI::ValidationError(option->get_name(), "is for --format ply");
    });
}

void add_compare(CLI::App& app, CompareOptions& options, std::vector<std::string>& arguments) {
    CLI::App* command = app.add_subcommand("compare",
                                           "train networks of several kinds at one size and report "
                                           "how good they are; goes on where an "
                                           "earlier call stopped");
    command
        ->add_option("CONFIG", arguments,
                     "a config (configs/compare/*.yaml) and changes to it (key.path=value), in any "
                     "order")
        ->required();
    command->add_option("--output", options.output, "the comparison's folder; default: runs/NAME")
        ->type_name("DIR");
    command
        ->add_option("--jobs", options.jobs,
                     "runs that are trained at a time, on equal shares of the threads")
        ->check(CLI::Range(1, 1024))
        ->type_name("N")
        ->capture_default_str();
    command->add_flag("--check", options.check, "solve for the sizes, print them, and stop");
    command->add_flag("--print-config", options.print_config,
                      "print every key with its value and meaning, and stop");
}

void add_fit(CLI::App& app, FitCommandOptions& options) {
    CLI::App* command = app.add_subcommand(
        "fit",
        "fit a rational surrogate to an activation and report every error of a RaLiMP layer "
        "made of it, predicted beside measured");
    command->add_option("ACTIVATION", options.activation, "tanh, sin, gelu, relu, …")->required();
    command->add_option("CHANGES", options.changes, "key.path=value, of the keys below");
    command->add_option("--picture", options.picture, "draw functions and errors into this PNG")
        ->type_name("FILE");
    command->footer("Keys:\n" + fit_keys());
}

// The one argument without '=' is the config; the others are overrides.
void sort_arguments(const char* command, const std::vector<std::string>& arguments, auto& options) {
    for (const std::string& argument : arguments) {
        if (argument.find('=') != std::string::npos) {
            options.overrides.push_back(argument);
        } else {
            if (!options.config.empty())
                fail_with(ExitCode::bad_config, "{}: two configs given: {} and {}", command,
                          options.config.string(), argument);
            options.config = argument;
        }
    }
    if (options.config.empty())
        fail_with(ExitCode::bad_config, "{}: no config given; configs/ holds examples", command);
}

// "--output" and so on, of one command or of the program itself.
std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// What stands where a command is expected. CLI11 calls a word that is none an argument it did not
// expect, and an option it does not know a missing command.
void check_command(const CLI::App& app, int argc, char** argv) {
    const std::string word = argc > 1 ? argv[1] : "";
    const bool is_option = word.starts_with('-');
    std::vector<std::string> commands, users;  // those that have the option
    for (const CLI::App* command : app.get_subcommands({})) {
        commands.push_back(command->get_name());
        if (contains(option_names(*command), word)) users.push_back(command->get_name());
    }
    const std::vector<std::string> words = is_option ? option_names(app) : commands;
    if (contains(words, word)) return;
    const std::string near = word.size() > 2 ? closest_word(word, words) : "";
    std::string hint = near.empty() ? "" : fmt::format("; did you mean {}?", near);
    if (!users.empty())
        hint = fmt::format("; it is one of {}, behind the command", join(users, ", "));
    fail_with(ExitCode::bad_config, "{}{}; the commands are {}; see ralimp --help",
              word.empty()
                  ? "no command given"
                  : fmt::format("unknown {} {}", is_option ? "option" : "command", shown(word)),
              hint, join(commands, ", "));
}

// An empty value is a value to CLI11, and to the commands the absence of one.
void refuse_empty_values(CLI::App& app, int argc, char** argv) {
    for (CLI::App* command : app.get_subcommands({}))
        for (CLI::Option* option : command->get_options())
            if (option->get_items_expected_max() > 0)
                option->transform(CLI::Validator(  // before the checks that it has
                    [](const std::string& value) {
                        return std::string(value.empty() ? "the value is empty" : "");
                    },
                    ""));
    // CLI11 would take the next argument as the value.
    for (const std::string_view argument : std::span(argv, static_cast<std::size_t>(argc)))
        if (argument.starts_with("--") && argument.ends_with('='))
            fail_with(ExitCode::bad_config, "{}: the value is empty; see ralimp --help",
                      shown(argument.substr(0, argument.size() - 1)));
}

// Chooses the instruction set, which the environment may name.
void start_backend() {
    try {
        kernels({});
    } catch (const Error& error) {
        fail_with(ExitCode::bad_config, "{}", error.what());
    }
}

// The stop signals live until the error line is written.
ExitCode run(int argc, char** argv, std::optional<StopSignals>& signals) {
    CLI::App app("RaLiMP trains coordinate networks with dense or rationally linearized layers.",
                 "ralimp");
    app.set_version_flag("--version", "ralimp " RALIMP_VERSION);
    app.require_subcommand(1);
    TrainOptions train_options;
    RunOptions run_options;
    ConvertOptions convert_options;
    ExportOptions export_options;
    CompareOptions compare_options;
    FitCommandOptions fit_options;
    std::vector<std::string> arguments;
    std::filesystem::path file;
    add_train(app, train_options, arguments);
    add_grid(add_run_command(app, "evaluate", "print the figures of a run's model", run_options),
             run_options);
    add_predict(app, run_options);
    add_render(app, run_options);
    add_fold(app, run_options);
    add_convert(app, convert_options);
    add_export(app, export_options);
    add_compare(app, compare_options, arguments);
    add_fit(app, fit_options);
    app.add_subcommand(
           "inspect",
           "print what stands in a checkpoint, a run, a comparison, a config, an image or a mesh")
        ->add_option("FILE", file,
                     "*.h5, *.safetensors, the folder of a run or a comparison, *.yaml, PNG, JPEG, "
                     "*.obj or *.ply")
        ->required();
    check_command(app, argc, argv);
    refuse_empty_values(app, argc, argv);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {
            app.exit(error);
            return ExitCode::success;
        }
        fail_with(ExitCode::bad_config, "{}; see ralimp --help", error.what());
    }
    exit_on_stop_signals();
    start_backend();
    if (app.got_subcommand("inspect")) return inspect(file);
    if (app.got_subcommand("fit")) return fit(fit_options);
    signals.emplace();
    if (app.got_subcommand("evaluate")) return evaluate(run_options);
    if (app.got_subcommand("predict")) return predict(run_options);
    if (app.got_subcommand("render")) return render(run_options);
    if (app.got_subcommand("fold")) return fold(run_options);
    if (app.got_subcommand("convert")) {
        sort_arguments(convert_options);
        return convert(convert_options);
    }
    if (app.got_subcommand("export")) return export_run(export_options);
    if (app.got_subcommand("compare")) {
        sort_arguments("compare", arguments, compare_options);
        return compare(compare_options);
    }
    sort_arguments("train", arguments, train_options);
    return train(train_options);
}

// A pipe that nobody reads is as good a place for it as any.
ExitCode report(const char* message, ExitCode code) {
    std::fputs(("ralimp: " + printable(message) + "\n").c_str(), stderr);
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    flush_denormals();
    std::optional<StopSignals> signals;
    ExitCode code = ExitCode::failure;
    try {
        code = run(argc, argv, signals);
        if (std::fflush(stdout) != 0 || std::ferror(stdout))
            code = report("standard output: cannot be written", ExitCode::io);
    } catch (const Error& error) {
        code = report(error.what(), error.code());
    } catch (const std::bad_alloc&) {
        code = report("out of memory", ExitCode::failure);
    } catch (const std::system_error& error) {
        code = report(error.what(), ExitCode::io);
    } catch (const std::exception& error) {
        code = report(error.what(), ExitCode::failure);
    }
    return static_cast<int>(code);
}
