// What a training keeps in a checkpoint, and how it goes on from one.
#include <cmath>

#include "trainers/config_differences.h"
#include "trainers/training.h"

namespace ralimp {
namespace {

std::string kind_of(const OptimizerConfig& config) {
    return std::visit([](const auto& optimizer) { return std::string(optimizer.kind); }, config);
}

void add_values(Checkpoint& checkpoint, const std::string& prefix, const NamedValues& values) {
    for (const auto& [name, value] : values) checkpoint.values[prefix + name] = value;
}

// A run never goes back into a phase: more steps of one that is over would silently not be made,
// and fewer cannot be unmade.
void check_phases_that_are_over(int64_t phase, const std::string& before, const std::string& now) {
    for (const ConfigDifference& difference : config_differences(before, now))
        for (int64_t over = 0; over < phase; ++over)
            if (difference.path == fmt::format("training.phases[{}].steps", over))
                fail_with(ExitCode::bad_config,
                          "the checkpoint stands in phase {}; {}: phase {} is over and keeps its "
                          "steps; change those of the last phase, or start from a checkpoint of "
                          "phase {}",
                          phase + 1, to_string(difference), over + 1, over + 1);
}

}  // namespace

Checkpoint Training::checkpoint() const {
    Checkpoint result;
    result.add("model", named_tensors(task_.model()));
    const OptimizerState state = optimizer_->state();
    result.add("optimizer", state.tensors);
    add_values(result, "optimizer.", state.scalars);
    result.add("task", task_.saved_state());
    result.values["optimizer"] = kind_of(phase().optimizer);
    result.values["task"] = task_.kind();
    result.values["step"] = step_;
    result.values["phase"] = static_cast<int64_t>(phase_);
    result.values["phase_step"] = phase_step_;
    if (renewals_ > 0) {
        result.values["renewals"] = renewals_;
        result.values["renewed_at"] = renewed_at_;
    }
    result.values["seconds"] = earlier_seconds_ + Pace::steady_seconds() - start_;
    result.values["best_metric"] = best_.value_or(NAN);
    result.values["best_step"] = best_step_;
    result.values["stop_reason"] = stop_reason_;
    result.values["logged_step"] = logged_step_;
    result.values["evaluated_step"] = evaluated_step_;
    result.values["learning_rate"] = row_.learning_rate;
    result.values["gradient_norm"] = row_.gradient_norm;
    add_values(result, "loss.", row_.loss);
    add_values(result, "metric.", metrics_);
    // Only what is not 0.
    if (clamped_exponents_ > 0) result.values["clamped_exponents"] = clamped_exponents_;
    for (const auto& [layer, count] : clamps_) {
        if (count.clamped > 0) result.values["clamped." + layer] = count.clamped;
        if (count.all > 0) result.values["exponents." + layer] = count.all;
    }
    result.config = config_text_;
    return result;
}

// The row of the last step, whose evaluation a signal may have cut short.
void Training::restore_row(const Checkpoint& checkpoint) {
    row_.loss.clear();
    const std::string prefix = "loss.";
    row_.loss.emplace_back("loss", checkpoint.number(prefix + "loss"));
    for (auto it = checkpoint.values.lower_bound(prefix);
         it != checkpoint.values.end() && it->first.starts_with(prefix); ++it)
        if (it->first != prefix + "loss")
            row_.loss.emplace_back(it->first.substr(prefix.size()), checkpoint.number(it->first));
    row_.learning_rate = checkpoint.number("learning_rate");
    row_.gradient_norm = checkpoint.number("gradient_norm");
    logged_step_ = checkpoint.whole_number("logged_step");
    // Another config may evaluate otherwise, or let the optimizer go on.
    if (checkpoint.config != config_text_) return;
    stop_reason_ = checkpoint.text("stop_reason");
    evaluated_step_ = checkpoint.whole_number("evaluated_step");
    metrics_.clear();
    if (evaluated_step_ < 0) return;
    for (const std::string& name : task_.metric_names())
        metrics_.emplace_back(name, checkpoint.number("metric." + name));
}

void Training::restore_clamps(const Checkpoint& checkpoint) {
    const auto read = [&](const std::string& prefix, const auto& take) {
        for (auto it = checkpoint.values.lower_bound(prefix);
             it != checkpoint.values.end() && it->first.starts_with(prefix); ++it)
            take(it->first.substr(prefix.size()), checkpoint.whole_number(it->first));
    };
    clamped_exponents_ = 0;
    clamps_.clear();
    read("clamped_exponents", [&](const std::string&, int64_t n) { clamped_exponents_ = n; });
    read("clamped.", [&](const std::string& layer, int64_t n) { clamps_[layer].clamped = n; });
    read("exponents.", [&](const std::string& layer, int64_t n) { clamps_[layer].all = n; });
}

void Training::restore(const Checkpoint& checkpoint) {
    const std::vector<PhaseConfig>& phases = settings_.training.phases;
    if (checkpoint.text("task") != task_.kind())
        fail_with(ExitCode::bad_input, "the checkpoint is of a {} run; the config's kind is {}",
                  checkpoint.text("task"), task_.kind());
    const int64_t phase_number = checkpoint.whole_number("phase");
    if (phase_number < 0 || phase_number >= static_cast<int64_t>(phases.size()))
        fail_with(ExitCode::bad_input,
                  "the checkpoint stands in phase {}; the config has {} phases", phase_number + 1,
                  phases.size());
    const std::string kind = kind_of(phases[static_cast<std::size_t>(phase_number)].optimizer);
    if (checkpoint.text("optimizer") != kind)
        fail_with(ExitCode::bad_input,
                  "the checkpoint was made with the optimizer {}; phase {} of the config has {}",
                  checkpoint.text("optimizer"), phase_number + 1, kind);
    const int64_t made = checkpoint.whole_number("phase_step");
    if (const int64_t asked = phases[static_cast<std::size_t>(phase_number)].steps; made > asked)
        fail_with(
            ExitCode::bad_config,
            "the checkpoint has made {0} steps of phase {1}; training.phases[{2}].steps = {3} "
            "is fewer: give at least {0}, or start from an earlier checkpoint",
            made, phase_number + 1, phase_number, asked);
    load_into(named_tensors(task_.model()), checkpoint, "model");
    check_phases_that_are_over(phase_number, checkpoint.config, config_text_);
    step_ = checkpoint.whole_number("step");
    phase_ = static_cast<std::size_t>(phase_number);
    phase_step_ = made;
    start_phase();
    renewed_at_ = 0;
    if (checkpoint.values.count("renewals")) {
        renewals_ = checkpoint.whole_number("renewals");
        renewed_at_ = checkpoint.whole_number("renewed_at");
    }
    task_.restore_state(checkpoint.group("task"));
    OptimizerState state;
    state.tensors = checkpoint.group("optimizer");
    for (const auto& [name, value] : optimizer_->state().scalars)
        state.scalars.emplace_back(name, checkpoint.number("optimizer." + name));
    optimizer_->load(state);
    restore_row(checkpoint);
    restore_clamps(checkpoint);
    earlier_seconds_ = checkpoint.number("seconds");
    if (const double best = checkpoint.number("best_metric"); !std::isnan(best)) best_ = best;
    best_step_ = checkpoint.whole_number("best_step");
    saved_step_ = step_;
}

void Training::save() {
    if (saved_step_ == step_) return;
    checkpoints_->save(step_, checkpoint());
    saved_step_ = step_;
}

// After an error: the disk may be full, but nothing that could be kept is given away.
void Training::try_to_save() {
    try {
        save();
        log_.line("the state at step {} is saved in {}", step_,
                  checkpoints_->path_of(step_).string());
    } catch (const std::exception&) {}
}

}  // namespace ralimp
