// What a run leaves behind for people and programs: loss curves and result.json.
#pragma once
#include "trainers/run_config.h"
#include "trainers/run_folder.h"
#include "trainers/training.h"

namespace ralimp {

// A picture of a metrics.csv: the loss and its terms, and the first figure of the evaluations.
void draw_loss_curves(const std::filesystem::path& metrics, const std::filesystem::path& picture);

// What a run writes and says before its first step: the config, from now on the log, and the size
// of the model; of one that is new also the task's own data and remarks.
void begin_run(const RunFolder& folder, const std::string& config_text, Task& task, Log& log,
               bool is_new);

// result.json: the task's figures, parameters, steps, speed, clamped exponents, memory, seed,
// version and how it ended.
void write_training_result(const RunFolder& folder, const RunConfig& config, Task& task,
                           const TrainingResult& result);

}  // namespace ralimp
