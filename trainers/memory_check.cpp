#include "trainers/memory_check.h"

namespace ralimp {
namespace {

constexpr double gib = 1 << 30;

std::string in_gib(double bytes) { return fmt::format("{:.3g} GiB", bytes / gib); }

double bytes_of_state(const AdamConfig&, double parameters, double bytes) {
    return 2 * parameters * bytes;
}
double bytes_of_state(const AdamWConfig&, double parameters, double bytes) {
    return 2 * parameters * bytes;
}
// The moments; the eigenbases depend on the sides of every matrix and are not counted.
double bytes_of_state(const SoapConfig&, double parameters, double bytes) {
    return 2 * parameters * bytes;
}
double bytes_of_state(const SgdConfig& config, double parameters, double bytes) {
    return config.momentum > 0 ? parameters * bytes : 0;
}
// Line searches keep the gradient where they stand.
double bytes_of_state(const LbfgsConfig& config, double parameters, double bytes) {
    return (2 * static_cast<double>(config.history_size) + 1) * parameters * bytes;
}
double bytes_of_matrix(double parameters) { return parameters * parameters * sizeof(double); }
double bytes_of_state(const BfgsConfig&, double parameters, double bytes) {
    return bytes_of_matrix(parameters) + parameters * bytes;
}

// `allocated`: whether the network has its memory already.
void check_size(const NetworkSize& size, const RunSettings& settings, double available,
                bool allocated) {
    const DType dtype = dtype_of(settings.precision);
    const auto bytes = static_cast<double>(bytes_of(dtype));
    const double held = allocated ? 0 : size.held * bytes;
    const double gradient = size.trained * bytes;
    if (held + std::max(gradient, size.start_bytes) > available)
        fail_with(
            ExitCode::bad_config,
            "network: {:.3g} parameters take {} with their gradient, the start of a layer {}; "
            "{} of memory are available: choose a smaller width, fewer hidden_layers or "
            "features",
            size.trained, in_gib(size.held * bytes + gradient), in_gib(size.start_bytes),
            in_gib(available));
    const std::vector<PhaseConfig>& phases = settings.training.phases;
    for (std::size_t i = 0; i < phases.size(); ++i) {
        const double state = optimizer_bytes(phases[i].optimizer, size.trained, dtype);
        const std::string phase = fmt::format("training.phases[{}].optimizer", i);
        const auto* bfgs = std::get_if<BfgsConfig>(&phases[i].optimizer);
        const double matrix = bfgs ? bytes_of_matrix(size.trained) : 0;
        if (bfgs && matrix > bfgs->max_memory_gib * gib)
            fail_with(ExitCode::bad_config,
                      "{}: the inverse Hessian of {:.6g} parameters takes {}, more than "
                      "max_memory_gib = {:.3g}; lbfgs needs no matrix",
                      phase, size.trained, in_gib(matrix), bfgs->max_memory_gib);
        if (held + gradient + state > available)
            fail_with(ExitCode::bad_config,
                      "{}: its state for {:.6g} parameters takes {}; {} of memory are available{}",
                      phase, size.trained, in_gib(state), in_gib(available),
                      bfgs ? "; lbfgs needs no matrix" : "");
    }
}

}  // namespace

double optimizer_bytes(const OptimizerConfig& config, double parameters, DType dtype) {
    return std::visit(
        [&](const auto& chosen) {
            return bytes_of_state(chosen, parameters, static_cast<double>(bytes_of(dtype)));
        },
        config);
}

void check_memory(const RunConfig& config, double available) {
    const NetworkConfig& network =
        std::visit([](const auto& task) -> const NetworkConfig& { return task.network; }, config);
    // Every task has at least one input and one output; how many, it says only when it is made.
    check_size(size_of(network, 1, 1), settings_of(config), available, false);
}

void check_memory(const RunSettings& settings, int64_t parameters, double available) {
    const auto count = static_cast<double>(parameters);
    check_size({count, count, 0}, settings, available, true);
}

}  // namespace ralimp
