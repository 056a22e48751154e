#include "trainers/layer_task.h"

#include <algorithm>
#include <cmath>

#include "autograd/operations.h"
#include "layers/orthonormal.h"
#include "trainers/plot.h"

namespace ralimp {
namespace {

// The third part of a key for each set of draws.
enum Draw : uint32_t { train_inputs, test_inputs, input_basis };

// A row z ~ N(0, I) times it has the covariance Q diag(λ) Qᵀ, with Q uniformly distributed.
Tensor random_basis(const std::vector<double>& variances, const RandomKey& key) {
    const auto n = static_cast<int64_t>(variances.size());
    const Tensor draws = random_normal({n, n}, key, DType::float64);
    OrthonormalColumns columns =
        orthonormal_columns(Eigen::Map<const Eigen::MatrixXd>(draws.data<double>(), n, n));
    for (int64_t i = 0; i < n; ++i)
        columns.q.col(i) *= columns.signs[i] * std::sqrt(variances[static_cast<std::size_t>(i)]);
    // Columns of Eigen's matrix are rows of the tensor: √λ_i q_i.
    return Tensor::from(
        std::span<const double>(columns.q.data(), variances.size() * variances.size()), {n, n});
}

}  // namespace

std::vector<double> input_variances(int64_t dimensions, double p) {
    std::vector<double> variances;
    double sum = 0;
    for (int64_t i = 1; i <= dimensions; ++i) {
        variances.push_back(std::pow(static_cast<double>(i), -p));
        sum += variances.back();
    }
    for (double& variance : variances) variance *= static_cast<double>(dimensions) / sum;
    return variances;
}

double bytes_of_data(const LayerConfig& config) {
    const auto width = static_cast<double>(config.network.width);
    const auto rows = static_cast<double>(config.data.train + config.data.test);
    const auto bytes = static_cast<double>(bytes_of(dtype_of(config.run.precision)));
    // Inputs are drawn in float64; W; the basis with the draws and reflections it is made of.
    const double drawn =
        static_cast<double>(std::max(config.data.train, config.data.test)) * width * sizeof(double);
    const double basis = config.data.spectrum == 0 ? 0 : 4 * width * width * sizeof(double);
    return 2 * rows * width * bytes + drawn + width * width * bytes + basis;
}

LayerTask::LayerTask(const LayerConfig& config, TaskUse use)
    : config_(config),
      dtype_(dtype_of(config.run.precision)),
      start_(hidden_start(config.network, 1, dtype_, static_cast<uint64_t>(config.run.seed), {})),
      part_rows_(rows_per_part(1, config.network.width, dtype_)),
      batches_(config.data.train, config.data.batch_size, static_cast<uint64_t>(config.run.seed)) {
    model_ = make_model(config.network);
    if (use == TaskUse::training) set_batch(0);
}

std::unique_ptr<Layer> LayerTask::make_model(const NetworkConfig& network) const {
    std::vector<std::unique_ptr<Layer>> layers;
    layers.push_back(make_hidden_layer(
        network, hidden_start(network, 1, dtype_, static_cast<uint64_t>(config_.run.seed), {})));
    return std::make_unique<Mlp>(std::move(layers));
}

RandomKey LayerTask::key_of(uint32_t step) const {
    return {static_cast<uint64_t>(config_.run.seed), RandomStream::points, step};
}

Tensor LayerTask::inputs(int64_t rows, const RandomKey& key, const Tensor& basis) const {
    const int64_t width = config_.network.width;
    const Tensor normal = random_normal({rows, width}, key, DType::float64);
    if (!basis.defined()) return to(normal, dtype_);
    return map_rows(normal, width,
                    [&](const Tensor& piece) { return to(matmul(piece, basis), dtype_); });
}

LayerTask::Samples LayerTask::samples_of(const Tensor& inputs) const {
    const Tensor targets = dense_outputs(inputs, config_.network.width, start_);
    const double spread = mean(variance(to(targets, DType::float64), {0})).item();
    if (!(spread > 0 && std::isfinite(spread)))
        fail_with(
            ExitCode::bad_config,
            "network.activation: {}: the dense layer's outputs are {} on these inputs; choose "
            "another activation, omega or initialization",
            name_of(config_.network.activation), spread == 0 ? "constant" : "not finite");
    return {inputs, targets, spread};
}

const LayerTask::Data& LayerTask::samples() const {
    if (data_) return *data_;
    const NoGrad pause;
    const Tensor basis =
        config_.data.spectrum == 0
            ? Tensor()
            : random_basis(input_variances(config_.network.width, config_.data.spectrum),
                           key_of(input_basis));
    data_ = Data{basis, samples_of(inputs(config_.data.train, key_of(train_inputs), basis)),
                 samples_of(inputs(config_.data.test, key_of(test_inputs), basis))};
    return *data_;
}

Tensor LayerTask::calibration_batch() const {
    return slice(samples().train.inputs, 0, 0, calibration_batch_rows);
}

Tensor LayerTask::fresh_inputs(int64_t rows, int64_t number) const {
    RandomKey key = key_of(static_cast<uint32_t>(number));
    key.seed ^= uint64_t{1} << 63;
    return inputs(rows, key, samples().basis);
}

void LayerTask::set_batch(int64_t sample_step) {
    const Samples& train = samples().train;
    if (batches_.all()) {
        batch_inputs_ = train.inputs;
        batch_targets_ = train.targets;
        return;
    }
    const Tensor rows = batches_.of_step(sample_step);
    batch_inputs_ = index_select(train.inputs, 0, rows);
    batch_targets_ = index_select(train.targets, 0, rows);
}

int64_t LayerTask::parts() const { return (batch_inputs_.size(0) + part_rows_ - 1) / part_rows_; }

int64_t LayerTask::rows_of_part() const { return std::min(part_rows_, batch_inputs_.size(0)); }

Loss LayerTask::loss(int64_t part) const {
    const int64_t rows = batch_inputs_.size(0), begin = part * part_rows_;
    const int64_t end = std::min(begin + part_rows_, rows);
    const Tensor difference =
        model_->forward(slice(batch_inputs_, 0, begin, end)) - slice(batch_targets_, 0, begin, end);
    // The mean over all inputs is the sum of the parts' shares of it.
    const double share = static_cast<double>(end - begin) / static_cast<double>(rows);
    const Tensor error = mean(square(difference)) * share;
    return {error, {{"mse", error}}};
}

double LayerTask::mean_square_error(const Samples& samples) const {
    const Tensor outputs =
        in_pieces(samples.inputs, [&](const Tensor& x) { return model_->forward(x); });
    return mean(square(to(outputs - samples.targets, DType::float64))).item();
}

std::vector<std::string> LayerTask::metric_names() const {
    return {"train_mse", "test_mse", "train_unexplained", "test_unexplained"};
}

NamedValues LayerTask::evaluate() {
    const auto& [basis, train, test] = samples();
    const double train_error = mean_square_error(train), test_error = mean_square_error(test);
    return {{"train_mse", train_error},
            {"test_mse", test_error},
            {"train_unexplained", train_error / train.variance},
            {"test_unexplained", test_error / test.variance}};
}

std::vector<std::string> LayerTask::draw(const std::filesystem::path& folder) {
    constexpr int64_t most_outputs = 3, most_inputs = 600;
    const Samples& test = samples().test;
    const auto some = [&](const Tensor& x) { return slice(x, 0, 0, most_inputs); };
    const Tensor predicted =
        in_pieces(some(test.inputs), [&](const Tensor& x) { return model_->forward(x); });
    std::vector<CurvePanel> panels;
    for (int64_t output = 0; output < std::min(most_outputs, config_.network.width); ++output) {
        const std::vector<double> truth = select(some(test.targets), 1, output).to_doubles();
        const auto [low, high] = std::minmax_element(truth.begin(), truth.end());
        panels.push_back(
            {fmt::format("output {}", output),
             "dense layer",
             "predicted",
             {{"", truth, select(predicted, 1, output).to_doubles(), CurveStyle::points},
              {"", {*low, *high}, {*low, *high}, CurveStyle::dashed}},
             false,
             false,
             {}});
    }
    plot_curves((folder / "predicted.png").string(), panels);
    return {"predicted.png"};
}

std::vector<std::string> LayerTask::remarks() const {
    const int64_t width = config_.network.width;
    const std::vector<double> variances = input_variances(width, config_.data.spectrum);
    double kept = 0;
    int64_t directions = 0;
    while (directions < width && kept < 0.99 * static_cast<double>(width))
        kept += variances[static_cast<std::size_t>(directions++)];
    return {fmt::format("inputs: {} dimensions, of which {} have 99 % of the variance", width,
                        directions),
            fmt::format("targets: outputs of a dense layer, {}; their variance is {:.4g}",
                        name_of(config_.network.activation), samples().train.variance)};
}

}  // namespace ralimp
