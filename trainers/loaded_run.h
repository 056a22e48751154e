// A run whose model is wanted: evaluated, drawn, folded.
#pragma once
#include <memory>
#include <string>

#include "trainers/commands.h"
#include "trainers/run_config.h"
#include "trainers/run_folder.h"
#include "trainers/task.h"

namespace ralimp {

struct LoadedRun {
    RunFolder folder;
    RunConfig config;  // that of the checkpoint
    std::unique_ptr<Task> task;
    int64_t step;
};

// The model as it was trained, with the config that the checkpoint brings along. The run may still
// be going on. Error(bad_input) for a checkpoint that cannot be read or is of another network.
LoadedRun load_run(const RunOptions& options, TaskUse use = TaskUse::trained_model);

// The file that a command writes: the options' output, or one of the usual name in the run's
// folder. Error(bad_config) for a file that the run itself has; Error(io) when it cannot be
// written.
std::filesystem::path output_file(const RunOptions& options, const char* usual);

// A line on standard error.
void warn(const std::string& line);

}  // namespace ralimp
