// The commands of the program, each without its command line: that is parsed in main.cpp.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"

namespace ralimp {

struct TrainOptions {
    std::filesystem::path config;
    std::vector<std::string> overrides;  // "key.path=value"
    std::string resume = "auto";         // auto, never, or the path of a checkpoint
    std::filesystem::path output;        // the run's folder; empty: runs/NAME-1, -2, …
    // The model of this checkpoint or run is what a new run starts with; empty: as the config says.
    std::filesystem::path weights;
    bool partial = false;  // of the weights only what fits
    bool check = false;
    bool print_config = false;
};

// auto: an output folder that holds an unfinished run goes on from its newest valid checkpoint.
ExitCode train(const TrainOptions& options);

struct RunOptions {
    std::filesystem::path run;        // a run's folder
    std::string checkpoint = "last";  // last, best, or a path
    // render: where pictures go; empty: the run's pictures folder, or frames in it. predict: the
    // file to write.
    std::filesystem::path output;
    std::string size;              // render: "HEIGHTxWIDTH", "SAMPLES"; empty: as trained
    bool derivatives = false;      // render: gradient and Laplacian
    int64_t frames = 0;            // render: so many pictures in the course of time instead
    std::string grid;              // evaluate, predict: "200x100"; empty: that of the run
    std::filesystem::path points;  // predict: a file of points
};

// Prints the figures of a run's model, one "name value" a line.
ExitCode evaluate(const RunOptions& options);
// Writes the values of its model into a file (field_data.h).
ExitCode predict(const RunOptions& options);
// Draws its pictures again; with a size, derivatives or frames those instead.
ExitCode render(const RunOptions& options);
// Writes its network as it is deployed (layers/folding.h) into deployed.h5 in the run's folder, or
// the output; compares it with the trained network on the inputs of the training, and its size and
// time with those of a dense network.
ExitCode fold(const RunOptions& options);
struct ConvertOptions {
    RunOptions run;                    // its output is the folder of the new run
    std::string kind;                  // of the hidden layers; empty: as the changes say
    std::vector<std::string> changes;  // "network.hidden.key=value" of the run's config
    std::string distil = "both";       // layers, network, both or none
    int64_t steps = 1000;              // of each distillation
    double learning_rate = 1e-3;       // at its start
    // Up to which derivatives are distilled too, 0 to 2; none: 1 for a loss of derivatives, else 0.
    std::optional<int64_t> derivative_order;
    // Of the new network, relative to the trained one's outputs: a network with a larger error is
    // not written. That of a network which is 0 everywhere is 1.
    double max_error = 1;
};
// Makes of a run with dense hidden layers a run with hidden layers of another kind that do the same
// (conversion.h), with no step made. Error(bad_input) for a run that cannot be converted,
// Error(bad_config) for a kind that none can be converted to, Error(failure) for an error above
// max_error. When it fails no folder remains.
ExitCode convert(const ConvertOptions& options);
// What a run can be written as: the surface of an sdf run as a triangle mesh (ply), or its network
// as fold writes it (hdf5, and then as fold does it), with the same names (safetensors), or as a
// graph of operators (onnx).
constexpr const char* export_formats[] = {"ply", "safetensors", "onnx", "hdf5"};
struct ExportOptions {
    RunOptions run;  // its output is a file; empty: mesh.ply or deployed.… in the run's folder
    std::string format = "ply";
    int64_t resolution = 256;  // ply: cubes along each axis
    double most_gigabytes = 4;
};
ExitCode export_run(const ExportOptions& options);
struct CompareOptions {
    std::filesystem::path config;        // of a comparison (comparison_config.h)
    std::vector<std::string> overrides;  // "key.path=value"
    std::filesystem::path output;        // empty: runs/NAME
    int64_t jobs = 1;                    // runs that are trained at a time
    bool check = false;
    bool print_config = false;
};
// Trains all entries of a comparison with all seeds, as far as their runs are not finished in the
// output folder, and writes its report. What fails does not stop the others; the first failure is
// an Error once all is written.
ExitCode compare(const CompareOptions& options);

// What stands in a checkpoint, a safetensors file, the folder of a run or a comparison, an image, a
// mesh or a config of either.
ExitCode inspect(const std::filesystem::path& file);

struct FitCommandOptions {
    std::string activation;
    std::vector<std::string> changes;  // "key.path=value" of FitOptions
    std::filesystem::path picture;     // empty: none
};

// Prints the report of a fit: poles, coefficients, and the error split into its parts, predicted
// beside measured.
ExitCode fit(const FitCommandOptions& options);
// The keys of FitOptions, one a line, for --help.
std::string fit_keys();

}  // namespace ralimp
