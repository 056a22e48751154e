// The one training loop: phases of steps, checkpoints, evaluations and pictures of any task.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "layers/parameters.h"
#include "optim/optimizer.h"
#include "trainers/checkpoint_folder.h"
#include "trainers/log.h"
#include "trainers/metrics.h"
#include "trainers/run_folder.h"
#include "trainers/task.h"
#include "trainers/training_config.h"

namespace ralimp {

// How a training ended.
struct TrainingResult {
    // "completed", "interrupted", "non-finite loss", or the reason the last optimizer gave.
    std::string stopped_by;
    ExitCode code = ExitCode::success;
    NamedValues metrics;  // of the last evaluation
    int64_t steps = 0;
    double seconds = 0;  // of training, earlier parts of a resumed run included
    double steps_per_second = 0;
};

class Training {
public:
    // Makes the model's parameters one buffer. The config text goes into every checkpoint.
    Training(Task& task, const RunSettings& settings, const RunFolder& folder, Log& log,
             std::string config_text);

    // Continues from a checkpoint. Error(bad_input) when it does not fit the model or the
    // optimizer.
    void restore(const Checkpoint& checkpoint);

    // Trains to the end of the last phase, or until a signal or a loss that is not finite. At the
    // end: an evaluation, a checkpoint and pictures. After a signal: a checkpoint. A loss that is
    // not finite is Error(non_finite): the parameters are those before the step, and nothing is
    // written. A picture that cannot be made is a warning.
    TrainingResult run();

    const Parameters& parameters() const { return parameters_; }
    int64_t step() const { return step_; }

private:
    const PhaseConfig& phase() const { return settings_.training.phases[phase_]; }
    int64_t total_steps() const { return settings_.training.total_steps(); }
    void start_phase();
    void open_metrics();
    void run_phase();
    Evaluation evaluate_loss();
    void record_step(const StepResult& result, double rate);
    void evaluate();
    void draw();
    void save();
    std::string non_finite_message(const StepResult& result) const;
    TrainingResult finish(const std::string& stopped_by, ExitCode code);

    Task& task_;
    RunSettings settings_;
    const RunFolder& folder_;
    Log& log_;
    std::string config_text_;
    Parameters parameters_;
    CheckpointFolder checkpoints_;
    std::optional<MetricsFile> metrics_file_;

    int64_t step_ = 0;  // of all phases; steps that a stopped optimizer left out are not counted
    std::size_t phase_ = 0;
    int64_t phase_step_ = 0;
    int64_t phase_start_ = 0;               // step_ at the start of the phase
    std::unique_ptr<Optimizer> optimizer_;  // of the phase
    std::string stop_reason_;               // of the phase's optimizer, when it stopped by itself

    NamedValues loss_;  // of the last loss that was computed: "loss", then its terms
    NamedValues metrics_;
    int64_t evaluated_step_ = -1, drawn_step_ = -1, saved_step_ = -1, logged_step_ = -1;
    std::optional<double> best_;
    int64_t best_step_ = 0;
    bool is_best_ = false;  // the present parameters are
    double earlier_seconds_ = 0;
    int64_t first_step_ = 0;
    double start_ = 0;
};

}  // namespace ralimp
