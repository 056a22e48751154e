#include "trainers/run_config.h"

#include "trainers/config_differences.h"

namespace ralimp {

bool concerns_loss(std::string_view path) {
    const std::string_view key = top_key(path);
    return key != "training" && key != "evaluation" && key != "threads";
}

std::unique_ptr<Task> make_task(const RunConfig& config, TaskUse use) {
    struct Maker {
        TaskUse use;
        std::unique_ptr<Task> operator()(const PinnConfig& pinn) const {
            return std::make_unique<PinnTask>(pinn, use);
        }
        std::unique_ptr<Task> operator()(const SirenConfig& siren) const {
            return std::make_unique<SirenTask>(siren);
        }
        std::unique_ptr<Task> operator()(const SdfConfig& sdf) const {
            return std::make_unique<SdfTask>(sdf);
        }
        std::unique_ptr<Task> operator()(const LayerConfig& layer) const {
            return std::make_unique<LayerTask>(layer, use);
        }
    };
    return std::visit(Maker{use}, config);
}

}  // namespace ralimp
