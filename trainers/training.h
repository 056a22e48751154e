// The one training loop: phases of steps, checkpoints, evaluations and pictures of any task.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "layers/parameters.h"
#include "optim/optimizer.h"
#include "trainers/checkpoint_folder.h"
#include "trainers/log.h"
#include "trainers/metrics.h"
#include "trainers/pace.h"
#include "trainers/run_folder.h"
#include "trainers/task.h"
#include "trainers/training_config.h"

namespace ralimp {

// How a training ended, or how far it came.
struct TrainingResult {
    // "completed", "interrupted", "non-finite loss", "error", "converted" (no step was made), or
    // the reason the last optimizer gave.
    std::string stopped_by;
    ExitCode code = ExitCode::success;
    NamedValues metrics;  // of the last evaluation
    int64_t steps = 0;
    double seconds = 0;             // of training, earlier parts of a resumed run included
    double steps_per_second = 0;    // steps / seconds: evaluations and pictures count
    int64_t clamped_exponents = 0;  // of all layers in all steps
};

class Training {
public:
    // Makes the model's parameters one buffer. The config text goes into every checkpoint.
    // Error(bad_config) for phases that cannot be trained.
    Training(Task& task, const RunSettings& settings, Log& log, std::string config_text);

    // Goes on from a checkpoint; to be called before run(). Error(bad_input) when it does not fit
    // the task, the model or the optimizer; Error(bad_config) when more steps were made than the
    // config asks for, or when it asks for more or fewer of a phase that is over.
    void restore(const Checkpoint& checkpoint);
    // To be called after restore() when the loss is no longer that of the checkpoint: L-BFGS then
    // evaluates it anew instead of going on from the value it kept.
    void objective_changed() { optimizer_->objective_changed(); }

    // Error(bad_input) when the folder's metrics.csv has other columns than this run; to be called
    // after restore(), before anything in the folder is changed.
    void check_metrics(const RunFolder& folder) const;

    // Trains to the end of the last phase, or until a signal (while a StopSignals lives) or a loss
    // that is not finite. Writes metrics and checkpoints into the folder; at the end an evaluation,
    // a checkpoint and pictures; after a signal a checkpoint. A loss that is not finite is
    // Error(non_finite): the parameters are those before the step, and nothing more is written. Any
    // other error is passed on after an attempt to save. A picture that cannot be made is a
    // warning.
    TrainingResult run(const RunFolder& folder);
    // Writes what a run is that has made no step: metrics, an evaluation, a checkpoint and pictures
    // of the model as it stands, which restore() goes on from. Passes on what ends the evaluation.
    TrainingResult write_start(const RunFolder& folder, const std::string& stopped_by);
    // What run() would have returned if it had stopped here; for errors.
    TrainingResult result_so_far(const std::string& stopped_by, ExitCode code) const;

    const Parameters& parameters() const { return parameters_; }
    int64_t step() const { return step_; }

private:
    // What metrics.csv says of a step.
    struct Row {
        NamedValues loss;  // "loss", then its terms
        double learning_rate = 0;
        double gradient_norm = 0;
    };

    // How many of a layer's exponents were clamped.
    struct Clamps {
        int64_t clamped = 0, all = 0;
    };

    const PhaseConfig& phase() const { return settings_.training.phases[phase_]; }
    void start_phase();
    std::vector<std::string> metric_columns() const;
    void open(const RunFolder& folder);
    void train();
    void run_phase();
    void choose_data();
    void renew_data();
    void make_step();
    void finish_step(Pace& pace);
    Evaluation evaluate_loss();
    void forget_clamps();
    void count_clamps();
    void warn_of_clamps();
    void record_step();
    void evaluate();
    void draw();
    std::string non_finite_message(const StepResult& result) const;

    Checkpoint checkpoint() const;
    void restore_row(const Checkpoint& checkpoint);
    void restore_clamps(const Checkpoint& checkpoint);
    void save();
    void try_to_save();

    Task& task_;
    RunSettings settings_;
    Log& log_;
    std::string config_text_;
    Parameters parameters_;
    const RunFolder* folder_ = nullptr;  // of run()
    std::optional<CheckpointFolder> checkpoints_;
    std::optional<MetricsFile> metrics_file_;

    int64_t step_ = 0;  // of all phases; steps that a stopped optimizer left out are not counted
    std::size_t phase_ = 0;
    int64_t phase_step_ = 0;
    int64_t phase_start_ = 0;               // step_ at the start of the phase
    int64_t renewals_ = 0;                  // of the data, in a phase of line searches
    int64_t renewed_at_ = 0;                // phase_step_ then
    std::unique_ptr<Optimizer> optimizer_;  // of the phase
    std::string stop_reason_;               // of the phase's optimizer, when it stopped by itself

    Row row_;  // of the last step
    NamedValues metrics_;
    std::map<std::string, Clamps> clamps_;  // by layer, of the steps since the last warning was due
    int64_t clamped_exponents_ = 0;         // of all steps
    // The last steps that were evaluated, and so on: what was done is not done again, also after a
    // resume.
    int64_t evaluated_step_ = -1, logged_step_ = -1, saved_step_ = -1, drawn_step_ = -1;
    std::optional<double> best_;
    int64_t best_step_ = 0;
    double earlier_seconds_ = 0;
    double start_ = 0;
};

// How the optimizers see the parameters of a model.
ParameterLayout layout_of(const Parameters& parameters);

}  // namespace ralimp
