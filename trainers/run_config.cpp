#include "trainers/run_config.h"

namespace ralimp {

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
    };
    return std::visit(Maker{use}, config);
}

}  // namespace ralimp
