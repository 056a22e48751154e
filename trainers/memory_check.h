// Whether a training fits into the machine's memory, asked before anything large is allocated: the
// kernel ends a process that takes more without a word.
#pragma once
#include "core/available_memory.h"
#include "layers/network_size.h"
#include "trainers/run_config.h"

namespace ralimp {

// Bytes that the optimizer keeps for so many parameters; of SOAP without its eigenbases.
double optimizer_bytes(const OptimizerConfig& config, double parameters, DType dtype);

// Before the task is made. Error(bad_config), with the phase and the figures, when the network, its
// gradient and the state of a phase's optimizer take more than there is, or BFGS more than its
// max_memory_gib. Points, data and what a step computes are not counted.
void check_memory(const RunConfig& config, double available = available_memory());

// The same when the network stands and its parameters are known exactly.
void check_memory(const RunSettings& settings, int64_t parameters,
                  double available = available_memory());

}  // namespace ralimp
