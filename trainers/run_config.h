// A whole config file: `kind:` at its top chooses the task.
#pragma once
#include <memory>
#include <variant>

#include "trainers/config.h"
#include "trainers/layer_task.h"
#include "trainers/pinn.h"
#include "trainers/sdf.h"
#include "trainers/siren.h"
#include "trainers/task.h"

namespace ralimp {

using RunConfig = std::variant<PinnConfig, SirenConfig, SdfConfig, LayerConfig>;

inline const RunSettings& settings_of(const RunConfig& config) {
    return std::visit([](const auto& task) -> const RunSettings& { return task.run; }, config);
}

inline const NetworkConfig& network_of(const RunConfig& config) {
    return std::visit([](const auto& task) -> const NetworkConfig& { return task.network; },
                      config);
}

// Whether the loss may be another one when the key at this path ("loss.initial_weight") has another
// value: all keys but those of the course of the training, of evaluations and of the machine.
bool concerns_loss(std::string_view path);

std::unique_ptr<Task> make_task(const RunConfig& config, TaskUse use = TaskUse::training);

// Compiled once, in run_config_text.cpp: each takes seconds.
extern template RunConfig config_detail::read_layers<RunConfig>(
    const std::vector<ConfigNode>& layers, std::span<const std::string> overrides);
extern template std::string write_config<RunConfig>(const RunConfig& config,
                                                    ConfigComments comments);

}  // namespace ralimp
