// A single layer that learns to reproduce the dense layer y = f(omega (W x + b)) which it stands in
// for: what a kind of hidden layer can represent, apart from any network around it.
#pragma once
#include <filesystem>
#include <optional>

#include "layers/network.h"
#include "trainers/shuffled_batches.h"
#include "trainers/task.h"
#include "trainers/training_config.h"

namespace ralimp {

struct LayerDataConfig {
    double spectrum = 0;
    int64_t train = 4096;
    int64_t test = 4096;
    int64_t batch_size = 0;

    static void describe(auto& config, auto& field) {
        field("spectrum", config.spectrum,
              "p: inputs are Gaussian, their covariance has eigenvalues proportional to i^-p in a "
              "random basis, with the mean 1; 0: isotropic",
              between(0, 100));
        field("train", config.train, "inputs of the training", between(2, 1 << 24));
        field("test", config.test, "inputs of the figures of what was not trained on",
              between(2, 1 << 24));
        field("batch_size", config.batch_size, "inputs of a step; 0: all", at_least(0));
        field.check("batch_size", config.batch_size <= config.train, "must be at most train");
    }
};

// Of a network's config what concerns a single layer from width to width.
struct SingleLayerConfig : NetworkConfig {
    static void describe(auto& config, auto& field) {
        field("width", config.width, "inputs and outputs", between(1, 65536));
        field("activation", config.activation, "f of the dense layer f(omega (W x + b))");
        field("omega", config.omega, "the factor in it", more_than(0));
        field("envelope", config.envelope,
              "s of the activation wire, cos(omega z) exp(-(s z)^2); others have none",
              more_than(0));
        field("initialization", config.initialization,
              "where W and b of the dense layer come from; siren divides by omega");
        describe_hidden(config, field, "kind of the layer that learns");
        field.check("hidden", !std::holds_alternative<NarrowConfig>(config.hidden),
                    "cannot be narrow: a layer of another width has other inputs and outputs than "
                    "the dense layer it is to reproduce");
    }
};

struct LayerConfig {
    RunSettings run;
    LayerDataConfig data;
    SingleLayerConfig network{{.hidden_layers = 1,
                               .width = 256,
                               .activation = Activation::tanh,
                               .omega = 1,
                               .first_omega = 1,
                               .initialization = Initialization::xavier_normal,
                               .first_bias = {},
                               .hidden = {},
                               .scale_inputs = false}};

    static constexpr const char* kind = "layer";
    static void describe(auto& config, auto& field) {
        RunSettings::describe(config.run, field);
        field("data", config.data, "inputs");
        field("network", config.network, "the layer");
    }
};

// Variances λ_1 >= … >= λ_n of the inputs along the axes of their basis: proportional to i^-p, with
// the mean 1.
std::vector<double> input_variances(int64_t dimensions, double p);

// Bytes of the inputs, the targets and what is needed to make them.
double bytes_of_data(const LayerConfig& config);

class LayerTask : public Task {
public:
    // Error(bad_config) where the layer cannot stand in for the activation, or where the dense
    // layer's outputs are constant or not finite.
    explicit LayerTask(const LayerConfig& config, TaskUse use = TaskUse::training);

    std::string kind() const override { return LayerConfig::kind; }
    Layer& model() override { return *model_; }
    std::unique_ptr<Layer> make_model(const NetworkConfig& network) const override;
    // Of the training.
    Tensor calibration_batch() const override;
    Tensor fresh_inputs(int64_t rows, int64_t number) const override;
    void set_batch(int64_t sample_step) override;
    int64_t parts() const override;
    int64_t rows_of_part() const override;
    // One term, mse: over inputs and outputs.
    Loss loss(int64_t part) const override;
    void prepare_evaluation() override { samples(); }
    // train_mse and test_mse; train_unexplained and test_unexplained, the same divided by the
    // variance of the targets (the mean of that of each output).
    NamedValues evaluate() override;
    std::vector<std::string> metric_names() const override;
    bool larger_is_better() const override { return false; }
    // predicted.png: some outputs on inputs that were not trained on against the true ones.
    std::vector<std::string> draw(const std::filesystem::path& folder) override;
    std::vector<std::string> remarks() const override;

    struct Samples {
        Tensor inputs, targets;  // [rows, width]
        double variance;         // of the targets
    };
    struct Data {
        Tensor basis;  // see inputs()
        Samples train, test;
    };
    const Data& samples() const;

private:
    RandomKey key_of(uint32_t step) const;
    // [rows, width]; rows of the basis [width, width] float64 are axes of the inputs, as long as
    // their deviations along them; undefined: isotropic.
    Tensor inputs(int64_t rows, const RandomKey& key, const Tensor& basis) const;
    Samples samples_of(const Tensor& inputs) const;
    double mean_square_error(const Samples& samples) const;

    LayerConfig config_;
    DType dtype_;
    HiddenStart start_;  // of the model and of the dense layer
    std::unique_ptr<Layer> model_;
    int64_t part_rows_;
    ShuffledBatches batches_;
    mutable std::optional<Data> data_;  // made when it is needed
    Tensor batch_inputs_, batch_targets_;
};

}  // namespace ralimp
