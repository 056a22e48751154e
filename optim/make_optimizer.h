// The closed choice of optimizers, as it stands in a config, and what it makes.
#pragma once
#include <memory>
#include <variant>

#include "optim/adam.h"
#include "optim/bfgs.h"
#include "optim/lbfgs.h"
#include "optim/sgd.h"
#include "optim/soap.h"

namespace ralimp {

using OptimizerConfig =
    std::variant<AdamConfig, AdamWConfig, SoapConfig, SgdConfig, LbfgsConfig, BfgsConfig>;

// Throws Error(bad_config) for a setting out of its range.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config, ParameterLayout layout);

// Whether it compares losses along a line, and so needs the same data throughout.
bool is_line_search(const OptimizerConfig& config);

// The learning rate that the schedule multiplies.
double learning_rate_of(const OptimizerConfig& config);

}  // namespace ralimp
