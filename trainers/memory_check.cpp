#include "trainers/memory_check.h"

namespace ralimp {
namespace {

constexpr double gib = 1 << 30;

std::string in_gib(double bytes) { return fmt::format("{:.3g} GiB", bytes / gib); }

// What each optimizer keeps for parameters of `bytes` each.
double bytes_of_state(const AdamConfig&, const NetworkSize& size, double bytes) {
    return 2 * size.trained * bytes;
}
double bytes_of_state(const AdamWConfig&, const NetworkSize& size, double bytes) {
    return 2 * size.trained * bytes;
}
// The moments, and of each side that is rotated the preconditioner in float64 and its vectors.
double bytes_of_state(const SoapConfig& config, const NetworkSize& size, double bytes) {
    const auto of_side = [&](double side) {
        const bool is_rotated = side > 1 && side <= static_cast<double>(config.max_side);
        return is_rotated ? side * side * (sizeof(double) + bytes) : 0;
    };
    double bases = 0;
    for (const MatrixSize& matrix : size.matrices)
        bases += matrix.count * (of_side(matrix.rows) + of_side(matrix.columns));
    return 2 * size.trained * bytes + bases;
}
double bytes_of_state(const SgdConfig& config, const NetworkSize& size, double bytes) {
    return config.momentum > 0 ? size.trained * bytes : 0;
}
// Line searches keep the gradient where they stand.
double bytes_of_state(const LbfgsConfig& config, const NetworkSize& size, double bytes) {
    return (2 * static_cast<double>(config.history_size) + 1) * size.trained * bytes;
}
double bytes_of_matrix(double parameters) { return parameters * parameters * sizeof(double); }
double bytes_of_state(const BfgsConfig&, const NetworkSize& size, double bytes) {
    return bytes_of_matrix(size.trained) + size.trained * bytes;
}

// What stands in memory at a time.
struct Share {
    std::string what;
    double bytes = 0;
};

void refuse_beyond(double available, const std::string& key, const std::vector<Share>& shares,
                   const std::string& advice) {
    std::string list;
    double sum = 0;
    for (const Share& share : shares) {
        sum += share.bytes;
        if (share.bytes == 0) continue;
        list += fmt::format("{}{} {}", list.empty() ? "" : ", ", share.what, in_gib(share.bytes));
    }
    if (sum <= available) return;
    fail_with(ExitCode::bad_config, "{}: {} of memory are needed ({}), {} are available: {}", key,
              in_gib(sum), list, in_gib(available), advice);
}

// Rows of data that layers start from, as far as the config tells: never more than there will be.
int64_t known_calibration_rows(const PinnConfig& config) {
    // A grid may have fewer points than were asked for.
    return config.points.sampler == Sampler::grid ? 2 : config.points.residual;
}
int64_t known_calibration_rows(const SirenConfig& config) {
    const auto* image = std::get_if<ImageDataConfig>(&config.data);
    return image && image->size ? (*image->size)[0] * (*image->size)[1] : 2;
}
int64_t known_calibration_rows(const SdfConfig&) { return calibration_batch_rows; }
int64_t known_calibration_rows(const LayerConfig& config) { return config.data.train; }

// Every task has at least one input and one output; how many, it says only when it is made.
NetworkSize told_size(const RunConfig& config, DType dtype, int64_t calibration_rows) {
    if (const auto* layer = std::get_if<LayerConfig>(&config))
        return size_of(layer->network.hidden, layer->network.width, dtype, calibration_rows);
    return size_of(network_of(config), 1, 1, dtype, calibration_rows);
}

// `stands`: whether the network has its memory already. A step sees so many rows at a time.
void check_size(const NetworkSize& size, const RunConfig& config, double available, bool stands,
                double rows) {
    const RunSettings& settings = settings_of(config);
    const DType dtype = dtype_of(settings.precision);
    const auto bytes = static_cast<double>(bytes_of(dtype));
    const bool has_features = size.features > 0;
    const std::string key = has_features ? "network.hidden.features" : "network.width";
    const auto* layer = std::get_if<LayerConfig>(&config);
    const std::string advice = has_features ? "choose fewer features or a smaller width"
                               : layer      ? "choose a smaller width"
                                            : "choose a smaller width or fewer hidden_layers";
    const Share held{fmt::format("the network of {:.4g} trained parameters", size.trained),
                     stands ? 0 : size.held * bytes + size.constant_bytes};
    const Share gradient{"its gradient", size.trained * bytes};
    const Share step{"features and weights of a step",
                     rows > 0 ? (size.features * rows + size.weight_sides) * bytes : 0};
    if (!stands)
        refuse_beyond(available, key, {held, {"the drawing of projections", size.draw_bytes}},
                      advice);
    refuse_beyond(available, key, {held, {"the start of a layer", size.start_bytes}}, advice);
    refuse_beyond(available, key, {held, gradient, step}, advice);
    const std::vector<PhaseConfig>& phases = settings.training.phases;
    for (std::size_t i = 0; i < phases.size(); ++i) {
        const OptimizerConfig& optimizer = phases[i].optimizer;
        const std::string phase = fmt::format("training.phases[{}].optimizer", i);
        const auto* bfgs = std::get_if<BfgsConfig>(&optimizer);
        const double matrix = bfgs ? bytes_of_matrix(size.trained) : 0;
        if (bfgs && matrix > bfgs->max_memory_gib * gib)
            fail_with(ExitCode::bad_config,
                      "{}: the inverse Hessian of {:.6g} parameters takes {}, more than "
                      "max_memory_gib = {:.3g}; lbfgs needs no matrix",
                      phase, size.trained, in_gib(matrix), bfgs->max_memory_gib);
        const std::string kind =
            std::visit([](const auto& chosen) { return std::string(chosen.kind); }, optimizer);
        refuse_beyond(
            available, phase,
            {held,
             gradient,
             step,
             {"the state of " + kind, optimizer_bytes(optimizer, size, dtype)}},
            bfgs ? "lbfgs needs no matrix" : "choose another optimizer or a smaller network");
    }
}

}  // namespace

double optimizer_bytes(const OptimizerConfig& config, const NetworkSize& size, DType dtype) {
    return std::visit(
        [&](const auto& chosen) {
            return bytes_of_state(chosen, size, static_cast<double>(bytes_of(dtype)));
        },
        config);
}

void check_memory(const RunConfig& config, double available) {
    const DType dtype = dtype_of(settings_of(config).precision);
    const int64_t rows =
        std::visit([](const auto& task) { return known_calibration_rows(task); }, config);
    if (const auto* layer = std::get_if<LayerConfig>(&config))
        refuse_beyond(available, "data.train", {{"inputs and targets", bytes_of_data(*layer)}},
                      "choose fewer inputs or a smaller network.width");
    check_size(told_size(config, dtype, rows), config, available, false, 0);
}

void check_memory(const RunConfig& config, Task& task, int64_t calibration_rows, double available) {
    const DType dtype = dtype_of(settings_of(config).precision);
    NetworkSize size = told_size(config, dtype, calibration_rows);
    const NetworkSize exact = size_of(task.model());
    size.trained = exact.trained;
    size.matrices = exact.matrices;
    check_size(size, config, available, true, static_cast<double>(task.rows_of_part()));
}

}  // namespace ralimp
