#include "trainers/siren.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "autograd/operations.h"
#include "trainers/signals.h"

namespace ralimp {
namespace {

// Further layers multiply frequencies, so the first sines may be slower than the finest detail; how
// much is a rule of thumb, between the settings in use (30 for an image of 512 pixels, 3000 for a
// sound of seconds) and those reported to fail (30 for a sound).
constexpr double slowest_start = 1.0 / 200;

int64_t batch_size_of(const SignalConfig& config) {
    return std::visit([](const auto& kind) { return kind.batch_size; }, config);
}

std::shared_ptr<const JetPlan> plan_of(FitKind fit, int axes) {
    std::vector<std::vector<int>> derivatives;
    for (int axis = 0; axis < axes; ++axis) {
        if (fit == FitKind::gradient) derivatives.push_back({axis});
        if (fit == FitKind::laplacian) derivatives.push_back({axis, axis});
    }
    return JetPlan::make(derivatives);
}

// ∇u [rows, axes · channels] and Δu [rows, channels] of a jet that carries what they are made of,
// in units of one sample.
Tensor gradient_of(const Jet& u, const Grid& grid) {
    Tensors parts;
    for (int axis = 0; axis < static_cast<int>(grid.size()); ++axis)
        parts.push_back(u.derivative({axis}) * grid_step(grid, axis));
    return concatenate(parts, 1);
}
Tensor laplacian_of(const Jet& u, const Grid& grid) {
    Tensor sum;
    for (int axis = 0; axis < static_cast<int>(grid.size()); ++axis) {
        const Tensor second = u.derivative({axis, axis}) * std::pow(grid_step(grid, axis), 2);
        sum = sum.defined() ? sum + second : second;
    }
    return sum;
}

// Functions [rows, functions] that loss.fit cannot see, orthogonal to each other over any grid: a
// constant has no gradient; 1, the coordinates and their product have no Laplacian. (Further
// harmonic functions have none either; what of them training leaves in the network stays.)
Tensor free_functions(FitKind fit, const Tensor& x) {
    Tensors columns{slice(x, 1, 0, 1) * 0.0 + 1.0};
    if (fit == FitKind::laplacian) {
        columns.push_back(x);
        if (x.size(1) == 2) columns.push_back(slice(x, 1, 0, 1) * slice(x, 1, 1, 2));
    }
    return concatenate(columns, 1);
}

}  // namespace

SirenTask::SirenTask(const SirenConfig& config)
    : config_(config),
      dtype_(dtype_of(config.run.precision)),
      signal_(make_signal(config.data)),
      grid_(signal_->grid()),
      plan_(plan_of(config.loss.fit, static_cast<int>(grid_.size()))),
      part_rows_(rows_per_part(plan_->channels(), hidden_width(config.network), dtype_)),
      batches_(points_of(grid_), batch_size_of(config.data),
               static_cast<uint64_t>(config.run.seed)) {
    const int64_t points = points_of(grid_);
    network_ = make_model(config.network);
    const int64_t needed = config.loss.fit == FitKind::value      ? 1
                           : config.loss.fit == FitKind::gradient ? 2
                                                                  : 3;
    if (*std::max_element(grid_.begin(), grid_.end()) < needed)
        fail_with(ExitCode::bad_config,
                  "loss.fit: {} needs {} samples along an axis, the {} has {}",
                  enum_name(config.loss.fit), needed, signal_->name(), to_string_of(grid_));
    coordinates_ = grid_coordinates(grid_, 0, points, dtype_);
    values_ = signal_->values(dtype_);
    targets_ = fit_targets();
    if (batch_size_of(config.data) > points)
        fail_with(ExitCode::bad_config, "data.batch_size: {} is more than the {}'s {} {}",
                  batch_size_of(config.data), signal_->name(), points,
                  grid_.size() == 1 ? "samples" : "pixels");
    set_batch(0);
}

std::unique_ptr<Layer> SirenTask::make_model(const NetworkConfig& network) const {
    const std::vector<double> ones(grid_.size(), 1), minus(grid_.size(), -1);
    return make_network(network, {minus, ones}, signal_->channels(), dtype_,
                        static_cast<uint64_t>(config_.run.seed));
}

Tensor SirenTask::fit_targets() const {
    if (config_.loss.fit == FitKind::value) return values_;
    // In float64: differences of neighbours lose digits.
    const Tensor values = signal_->values(DType::float64);
    Tensors gradient;
    Tensor laplacian;
    for (int64_t axis = 0; axis < static_cast<int64_t>(grid_.size()); ++axis) {
        if (config_.loss.fit == FitKind::gradient) {
            gradient.push_back(grid_difference(values, grid_, axis, 1));
        } else {
            const Tensor second = grid_difference(values, grid_, axis, 2);
            laplacian = laplacian.defined() ? laplacian + second : second;
        }
    }
    return to(laplacian.defined() ? laplacian : concatenate(gradient, 1), dtype_);
}

void SirenTask::set_batch(int64_t sample_step) {
    if (batches_.all()) {
        batch_coordinates_ = coordinates_;
        batch_targets_ = targets_;
        return;
    }
    const Tensor rows = batches_.of_step(sample_step);
    batch_coordinates_ = index_select(coordinates_, 0, rows);
    batch_targets_ = index_select(targets_, 0, rows);
}

Tensor SirenTask::calibration_batch() const {
    const int64_t points = coordinates_.size(0);
    const Tensor order = random_permutation(
        points, {static_cast<uint64_t>(config_.run.seed), RandomStream::batches, 0xFFFFFFFFu});
    return index_select(coordinates_, 0,
                        slice(order, 0, 0, std::min(points, calibration_batch_rows)));
}

Tensor SirenTask::fresh_inputs(int64_t rows, int64_t number) const {
    const RandomKey key{static_cast<uint64_t>(config_.run.seed) ^ uint64_t{1} << 63,
                        RandomStream::batches, static_cast<uint32_t>(number)};
    const auto points = static_cast<double>(coordinates_.size(0));
    std::vector<int64_t> chosen;
    for (int64_t row = 0; row < rows; ++row)
        chosen.push_back(
            static_cast<int64_t>(random_uniform<double>(key, static_cast<uint64_t>(row)) * points));
    return index_select(coordinates_, 0, Tensor::from(chosen, {rows}));
}

int64_t SirenTask::parts() const {
    return (batch_coordinates_.size(0) + part_rows_ - 1) / part_rows_;
}

int64_t SirenTask::rows_of_part() const { return std::min(part_rows_, batch_coordinates_.size(0)); }

Tensor SirenTask::fitted(const Tensor& x) const {
    if (config_.loss.fit == FitKind::value) return network_->forward(x);
    const Jet u = network_->forward(Jet::input(x, plan_));
    return config_.loss.fit == FitKind::gradient ? gradient_of(u, grid_) : laplacian_of(u, grid_);
}

Loss SirenTask::loss(int64_t part) const {
    const int64_t rows = batch_coordinates_.size(0), begin = part * part_rows_;
    const int64_t end = std::min(begin + part_rows_, rows);
    const Tensor difference =
        fitted(slice(batch_coordinates_, 0, begin, end)) - slice(batch_targets_, 0, begin, end);
    // The mean over all points is the sum of the parts' shares of it.
    const double share = static_cast<double>(end - begin) / static_cast<double>(rows);
    const Tensor error = mean_error(config_.loss.kind, difference) * share;
    return {error, {{enum_name(config_.loss.kind), error}}};
}

Tensor SirenTask::on_grid(const Grid& grid, const std::function<Tensor(const Tensor&)>& f) const {
    constexpr int64_t most_points = 65536;  // whose coordinates exist at a time
    const int64_t points = points_of(grid);
    Tensor result;
    for (int64_t begin = 0; begin < points; begin += most_points) {
        const int64_t end = std::min(begin + most_points, points);
        const Tensor piece = in_pieces(grid_coordinates(grid, begin, end, dtype_), f);
        if (!result.defined()) result = Tensor::empty({points, piece.size(1)}, dtype_);
        slice(result, 0, begin, end).copy_from(piece);
    }
    return result;
}

Tensor SirenTask::free_part() const {
    if (config_.loss.fit == FitKind::value) return {};
    NoGrad no_grad;
    const Tensor left =
        to(values_ - on_grid(grid_, [&](const Tensor& x) { return network_->forward(x); }),
           DType::float64);
    const Tensor functions = free_functions(config_.loss.fit, to(coordinates_, DType::float64));
    Tensors rows;
    for (int64_t k = 0; k < functions.size(1); ++k) {
        const Tensor function = slice(functions, 1, k, k + 1);
        const double squares = sum(square(function)).item();
        // Along an axis of one sample a coordinate is 0 everywhere.
        rows.push_back(sum(left * function, {0}) * (squares > 0 ? 1 / squares : 0.0));
    }
    return to(stack(rows), dtype_);
}

Tensor SirenTask::reconstruct(const Grid& grid) const {
    const Tensor coefficients = free_part();
    return on_grid(grid, [&](const Tensor& x) {
        const Tensor values = network_->forward(x);
        if (!coefficients.defined()) return values;
        return values + matmul(free_functions(config_.loss.fit, x), coefficients);
    });
}

std::vector<std::string> SirenTask::metric_names() const {
    std::vector<std::string> names = signal_->metric_names();
    if (config_.loss.fit != FitKind::value)
        names.push_back(std::string(enum_name(config_.loss.fit)) + "_error");
    return names;
}

NamedValues SirenTask::evaluate() {
    NamedValues metrics = signal_->metrics(reconstruct(grid_), values_);
    if (config_.loss.fit != FitKind::value) {
        const Tensor difference =
            on_grid(grid_, [&](const Tensor& x) { return fitted(x); }) - targets_;
        const auto size = [](const Tensor& x) {
            return std::sqrt(sum(square(to(x, DType::float64))).item());
        };
        // Of a constant signal the derivative is 0, and its error stands for itself.
        const double whole = size(targets_);
        metrics.emplace_back(metric_names().back(), size(difference) / (whole > 0 ? whole : 1));
    }
    return metrics;
}

std::vector<std::string> SirenTask::draw(const std::filesystem::path& folder) {
    std::vector<std::string> names = signal_->draw(folder, reconstruct(grid_));
    if (config_.loss.fit != FitKind::value)
        for (const std::string& name : draw_derivatives(folder, grid_, "")) names.push_back(name);
    return names;
}

std::vector<std::string> SirenTask::draw_derivatives(const std::filesystem::path& folder,
                                                     const Grid& grid,
                                                     const std::string& suffix) const {
    const int axes = static_cast<int>(grid.size());
    const int64_t channels = signal_->channels();
    std::vector<std::vector<int>> second;
    for (int axis = 0; axis < axes; ++axis) second.push_back({axis, axis});
    const auto plan = JetPlan::make(second);
    const Tensor both = on_grid(grid, [&](const Tensor& x) {
        const Jet u = network_->forward(Jet::input(x, plan));
        const Tensor gradient = reshape(gradient_of(u, grid), {x.size(0), axes, channels});
        const Tensor size = axes == 1 ? select(gradient, 1, 0) : sqrt(sum(square(gradient), {1}));
        return concatenate({size, laplacian_of(u, grid)}, 1);
    });
    return {signal_->write_field(folder, "gradient" + suffix, slice(both, 1, 0, channels), grid,
                                 axes == 1),
            signal_->write_field(folder, "laplacian" + suffix,
                                 slice(both, 1, channels, 2 * channels), grid, true)};
}

std::vector<std::string> SirenTask::render(const std::filesystem::path& folder,
                                           const RenderRequest& request) {
    const Grid grid = request.size.empty() ? grid_ : request.size;
    signal_->check_grid(grid);
    const std::string suffix = request.size.empty() ? "" : "_" + to_string_of(grid);
    if (request.derivatives) return draw_derivatives(folder, grid, suffix);
    return {signal_->write(folder, "reconstruction" + suffix, reconstruct(grid), grid)};
}

std::vector<std::string> SirenTask::remarks() const {
    const NetworkConfig& network = config_.network;
    const bool sines =
        network.activation == Activation::sin || network.activation == Activation::finer;
    if (!sines || network.initialization != Initialization::siren) return {};
    double finest = 0;  // the Nyquist frequency, radians for a coordinate's unit
    for (int64_t axis = 0; axis < static_cast<int64_t>(grid_.size()); ++axis)
        if (const double step = grid_step(grid_, axis); step > 0)
            finest = std::max(finest, std::numbers::pi / step);
    // Weights of the first layer start within ±1/axes.
    const auto axes = static_cast<double>(grid_.size());
    const double needed = slowest_start * finest * axes;
    if (network.first_omega >= needed) return {};
    return {fmt::format(
        "warning: network.first_omega: {:g} is far too low for {} samples along an axis: "
        "fine detail will be learnt slowly or not at all; try {:.2g} or more",
        network.first_omega, *std::max_element(grid_.begin(), grid_.end()), needed)};
}

}  // namespace ralimp
