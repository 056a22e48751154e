// Whether a training fits into the machine's memory, asked before anything large is allocated: the
// kernel ends a process that takes more without a word.
#pragma once
#include "core/available_memory.h"
#include "layers/network_size.h"
#include "trainers/run_config.h"

namespace ralimp {

// Bytes that the optimizer keeps for parameters of which so many, and such matrices, are trained;
// of SOAP without the eigenbases of sides that are not known.
double optimizer_bytes(const OptimizerConfig& config, const NetworkSize& size, DType dtype);

// Before the task is made. Error(bad_config), with the key and what takes how much, when the
// network and what is needed besides take more than there is: the start of its layers, its
// gradient, the state of each phase's optimizer; or when BFGS takes more than its max_memory_gib.
// Points, data and most of what a step computes are not counted.
void check_memory(const RunConfig& config, double available = available_memory());

// The same when the network stands, before it starts from so many rows of data: its parameters are
// known exactly, and how many rows a step sees at a time, so that the features it keeps of them
// count as well.
void check_memory(const RunConfig& config, Task& task, int64_t calibration_rows,
                  double available = available_memory());

}  // namespace ralimp
