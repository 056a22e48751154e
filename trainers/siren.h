// A network that represents one image: coordinates in, colours out (Sitzmann et al., NeurIPS 2020).
#pragma once
#include <filesystem>
#include <optional>

#include "data/image.h"
#include "layers/network.h"
#include "trainers/loss_kind.h"
#include "trainers/task.h"
#include "trainers/training_config.h"

namespace ralimp {

struct SirenDataConfig {
    std::optional<std::filesystem::path> image;
    std::optional<std::array<int64_t, 2>> size;
    int64_t batch_size = 0;

    static void describe(auto& config, auto& field) {
        field("image", config.image, "PNG or JPEG; null: a picture the program draws itself");
        field("size", config.size,
              "[height, width] to shrink the image to, by area; null: as it is (drawn: 256 x 256)",
              between(1, 16384));
        field("batch_size", config.batch_size,
              "pixels of a step, each once per epoch in a new random order; 0: all", at_least(0));
    }
};

struct SirenLossConfig {
    LossKind kind = LossKind::mse;

    static void describe(auto& config, auto& field) {
        field("kind", config.kind,
              "mean of squares or of absolute values, over pixels in [-1, 1] and channels");
    }
};

struct SirenConfig {
    RunSettings run;
    SirenDataConfig data;
    NetworkConfig network{.hidden_layers = 4,
                          .width = 256,
                          .activation = Activation::sin,
                          .omega = 30,
                          .first_omega = 30,
                          .initialization = Initialization::siren,
                          .hidden = {},
                          .scale_inputs = false};
    SirenLossConfig loss;

    static constexpr const char* kind = "siren";
    static void describe(auto& config, auto& field) {
        RunSettings::describe(config.run, field);
        field("data", config.data, "the image");
        field("network", config.network, "the network");
        field("loss", config.loss, "the loss");
    }
};

class SirenTask : public Task {
public:
    // Reads the image: throws Error(bad_input) when that fails.
    explicit SirenTask(const SirenConfig& config);

    std::string kind() const override { return SirenConfig::kind; }
    Layer& model() override { return *network_; }
    Tensor calibration_batch() const override;
    void set_batch(int64_t sample_step) override;
    int64_t parts() const override;
    // One term, named after the kind of loss.
    Loss loss(int64_t part) const override;
    NamedValues evaluate() override;
    std::vector<std::string> metric_names() const override { return {"psnr", "max_error"}; }
    bool larger_is_better() const override { return true; }
    std::vector<std::string> draw(const std::filesystem::path& folder) override;

private:
    // The image the present model stands for, [height, width, channels] in [-1, 1] and a little
    // beyond.
    Tensor reconstruct() const;

    SirenConfig config_;
    Image image_;
    int64_t part_rows_;
    std::unique_ptr<Mlp> network_;
    Tensor
        coordinates_;  // [pixels, 2]: (x, y), each from -1 to 1 over the image's width and height
    Tensor targets_;   // [pixels, channels] in [-1, 1]
    int64_t epoch_ = -1;  // of the present order
    Tensor order_;        // [pixels] int64
    Tensor batch_coordinates_, batch_targets_;
};

}  // namespace ralimp
