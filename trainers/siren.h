// A network that represents one signal on a grid, an image or a sound: coordinates in, colours or
// amplitudes out (Sitzmann et al., NeurIPS 2020).
#pragma once
#include <filesystem>

#include "layers/network.h"
#include "trainers/loss_kind.h"
#include "trainers/sampled_signal.h"
#include "trainers/shuffled_batches.h"
#include "trainers/task.h"
#include "trainers/training_config.h"

namespace ralimp {

// What of the network is compared with the signal.
enum class FitKind { value, gradient, laplacian };

constexpr auto enum_names(FitKind) {
    return std::array{std::pair{FitKind::value, "value"}, std::pair{FitKind::gradient, "gradient"},
                      std::pair{FitKind::laplacian, "laplacian"}};
}

struct SirenLossConfig {
    LossKind kind = LossKind::mse;
    FitKind fit = FitKind::value;

    static void describe(auto& config, auto& field) {
        field("kind", config.kind,
              "mean of squares or of absolute values, over pixels in [-1, 1] and channels");
        field("fit", config.fit,
              "what is fitted: the signal, or only its gradient or Laplacian (by differences of "
              "neighbours), from which the signal is then found");
    }
};

struct SirenConfig {
    RunSettings run;
    SignalConfig data;
    NetworkConfig network{.hidden_layers = 4,
                          .width = 256,
                          .activation = Activation::sin,
                          .omega = 30,
                          .first_omega = 30,
                          .initialization = Initialization::siren,
                          .first_bias = {},
                          .hidden = {},
                          .scale_inputs = false};
    SirenLossConfig loss;

    static constexpr const char* kind = "siren";
    static void describe(auto& config, auto& field) {
        RunSettings::describe(config.run, field);
        field("data", config.data, "the signal");
        field("network", config.network, "the network");
        field("loss", config.loss, "the loss");
    }
};

class SirenTask : public Task {
public:
    // Reads the signal: throws Error(bad_input) when that fails, Error(bad_config) when it has too
    // few samples for what the config wants.
    explicit SirenTask(const SirenConfig& config);

    std::string kind() const override { return SirenConfig::kind; }
    Layer& model() override { return *network_; }
    std::unique_ptr<Layer> make_model(const NetworkConfig& network) const override;
    Tensor calibration_batch() const override;
    // Independent samples of the grid.
    Tensor fresh_inputs(int64_t rows, int64_t number) const override;
    void set_batch(int64_t sample_step) override;
    int64_t parts() const override;
    int64_t rows_of_part() const override;
    // One term, named after the kind of loss.
    Loss loss(int64_t part) const override;
    // Those of the signal; with loss.fit gradient or laplacian also the relative L2 error of that.
    NamedValues evaluate() override;
    std::vector<std::string> metric_names() const override;
    bool larger_is_better() const override { return true; }
    std::vector<std::string> draw(const std::filesystem::path& folder) override;
    std::vector<std::string> render(const std::filesystem::path& folder,
                                    const RenderRequest& request) override;
    // A warning when the first sines are far slower than the signal may be.
    std::vector<std::string> remarks() const override;

private:
    // What the loss compares at points x [rows, axes]: values [rows, channels], their gradient
    // [rows, axes · channels] or Laplacian [rows, channels], both in units of one sample.
    Tensor fitted(const Tensor& x) const;
    Tensor fit_targets() const;
    // f of the points of a grid, a piece at a time: [points, columns].
    Tensor on_grid(const Grid& grid, const std::function<Tensor(const Tensor&)>& f) const;
    // The coefficients [functions, channels] of what loss.fit leaves free, by least squares
    // against the signal; undefined for values. See free_functions().
    Tensor free_part() const;
    // The signal the present model stands for, [points, channels] in [-1, 1] and a little beyond.
    Tensor reconstruct(const Grid& grid) const;
    std::vector<std::string> draw_derivatives(const std::filesystem::path& folder, const Grid& grid,
                                              const std::string& suffix) const;

    SirenConfig config_;
    DType dtype_;
    std::unique_ptr<SampledSignal> signal_;
    Grid grid_;
    std::unique_ptr<Layer> network_;
    std::shared_ptr<const JetPlan> plan_;  // the derivatives that the loss needs
    int64_t part_rows_;
    Tensor coordinates_;  // [points, axes], each from -1 to 1 over the signal
    Tensor values_;       // [points, channels] in [-1, 1]
    Tensor targets_;      // what is fitted, [points, columns]
    ShuffledBatches batches_;
    Tensor batch_coordinates_, batch_targets_;
};

}  // namespace ralimp
