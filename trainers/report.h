// What a run leaves behind for people and programs: loss curves and result.json.
#pragma once
#include "trainers/run_config.h"
#include "trainers/run_folder.h"
#include "trainers/training.h"

namespace ralimp {

// A picture of a metrics.csv: the loss and its terms, and the first figure of the evaluations.
void draw_loss_curves(const std::filesystem::path& metrics, const std::filesystem::path& picture);

// result.json: the task's figures, parameters, steps, speed, clamped exponents, memory, seed,
// version and how it ended.
void write_training_result(const RunFolder& folder, const RunConfig& config, Task& task,
                           const TrainingResult& result);

}  // namespace ralimp
