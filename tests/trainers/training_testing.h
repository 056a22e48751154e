// A training of tests: a small config run in a folder of its own by fresh objects, as a process
// would, with hooks that send a signal, spoil a loss or fail at a chosen moment.
#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "trainers/run_config.h"
#include "trainers/training.h"

namespace ralimp {

// The task of a config, watched. Counts start at 1.
class WatchedTask : public Task {
public:
    explicit WatchedTask(const RunConfig& config) : inner_(make_task(config)) {}

    // The number is that of the step in this process: 1 for the first one it makes.
    std::function<void(int64_t)> before_step;
    std::function<void(int64_t)> on_batch;  // the number that chooses the data of a step
    // The number counts the parts of losses that were computed for steps.
    std::function<void(int64_t, Loss&)> after_loss;
    std::function<void(int64_t)> before_evaluation;
    std::function<void()> before_drawing;

    std::string kind() const override { return inner_->kind(); }
    Layer& model() override { return inner_->model(); }
    std::unique_ptr<Layer> make_model(const NetworkConfig& network) const override {
        return inner_->make_model(network);
    }
    Tensor calibration_batch() const override { return inner_->calibration_batch(); }
    Tensor fresh_inputs(int64_t rows, int64_t number) const override {
        return inner_->fresh_inputs(rows, number);
    }
    void set_batch(int64_t sample_step) override;
    NamedTensors saved_state() const override { return inner_->saved_state(); }
    void restore_state(const NamedTensors& state) override { inner_->restore_state(state); }
    int64_t parts() const override { return inner_->parts(); }
    int64_t rows_of_part() const override { return inner_->rows_of_part(); }
    Loss loss(int64_t part) const override;
    NamedValues loss_weights() const override { return inner_->loss_weights(); }
    void prepare_evaluation() override { inner_->prepare_evaluation(); }
    NamedValues evaluate() override;
    std::vector<std::string> metric_names() const override { return inner_->metric_names(); }
    bool larger_is_better() const override { return inner_->larger_is_better(); }
    std::vector<std::string> draw(const std::filesystem::path& folder) override;

private:
    std::unique_ptr<Task> inner_;
    int64_t batches_ = 0;
    int64_t evaluations_ = 0;
    mutable std::atomic<int64_t> losses_ = 0;
};

struct Trained {
    TrainingResult result;
    std::string error;                              // of run(), when it threw
    ExitCode code = ExitCode::success;              // the same
    std::vector<double> parameters;                 // flat, as they are at the end
    std::map<std::string, std::string> checkpoint;  // the newest one without its times, as text
    std::vector<std::string> columns;
    std::vector<std::vector<double>> rows;  // metrics.csv with the step, without seconds; -1: empty

    // The cells of a column.
    std::vector<double> column(const std::string& name) const;
};

// Trains in the folder from the newest checkpoint that is there, from `start` if given, or from
// nothing.
Trained train_in(const std::filesystem::path& folder, const std::string& config_text,
                 const std::function<void(WatchedTask&)>& watch = {},
                 const std::filesystem::path& start = {});

// Everything that must agree between a run and the same run made in pieces.
void expect_same(const Trained& whole, const Trained& pieces, const std::string& what);

// While one lives no program is found: pictures fail at once, which is a warning.
class NoPrograms {
public:
    NoPrograms();
    ~NoPrograms();

private:
    std::string path_;
};

// A small PINN; `phases` is YAML in one line.
std::string small_pinn(const std::string& phases, const std::string& precision = "float64",
                       const std::string& more = "");

}  // namespace ralimp
