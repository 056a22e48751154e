#include "trainers/training.h"

#include <algorithm>
#include <cmath>

#include "trainers/objective.h"
#include "trainers/pace.h"
#include "trainers/report.h"
#include "trainers/signals.h"

namespace ralimp {
namespace {

ParameterLayout layout_of(const Parameters& parameters) {
    std::vector<ParameterGroup> groups;
    for (const Parameters::Entry& entry : parameters.entries())
        groups.push_back({entry.name, entry.offset, entry.shape.elements(), entry.decay});
    return ParameterLayout(std::move(groups), parameters.values().dtype());
}

bool is_line_search(const OptimizerConfig& config) {
    return std::holds_alternative<LbfgsConfig>(config);
}

}  // namespace

Training::Training(Task& task, const RunSettings& settings, const RunFolder& folder, Log& log,
                   std::string config_text)
    : task_(task),
      settings_(settings),
      folder_(folder),
      log_(log),
      config_text_(std::move(config_text)),
      parameters_(task.model()),
      checkpoints_(folder.checkpoints(), settings.training.keep_checkpoints) {
    start_phase();
}

void Training::start_phase() {
    phase_start_ = step_ - phase_step_;
    optimizer_ = make_optimizer(phase().optimizer, layout_of(parameters_));
    stop_reason_.clear();
}

void Training::restore(const Checkpoint& checkpoint) {
    const int64_t phase_number = checkpoint.whole_number("phase");
    if (phase_number < 0 || phase_number >= static_cast<int64_t>(settings_.training.phases.size()))
        fail_with(ExitCode::bad_input,
                  "the checkpoint stands in phase {}; the config has {} phases", phase_number + 1,
                  settings_.training.phases.size());
    const PhaseConfig& saved_phase = settings_.training.phases[phase_number];
    const std::string kind = std::visit(
        [](const auto& optimizer) { return std::string(optimizer.kind); }, saved_phase.optimizer);
    if (checkpoint.text("optimizer") != kind)
        fail_with(ExitCode::bad_input,
                  "the checkpoint was made with the optimizer {}; phase {} of the config has {}",
                  checkpoint.text("optimizer"), phase_number + 1, kind);
    load_into(named_tensors(task_.model()), checkpoint, "model");
    step_ = checkpoint.whole_number("step");
    phase_ = static_cast<std::size_t>(phase_number);
    phase_step_ = checkpoint.whole_number("phase_step");
    start_phase();
    OptimizerState state;
    state.tensors = checkpoint.group("optimizer");
    for (const auto& [name, value] : optimizer_->state().scalars)
        state.scalars.emplace_back(name, checkpoint.number("optimizer." + name));
    optimizer_->load(state);
    earlier_seconds_ = checkpoint.number("seconds");
    if (const double best = checkpoint.number("best_metric"); !std::isnan(best)) best_ = best;
    best_step_ = checkpoint.whole_number("best_step");
    saved_step_ = step_;
    first_step_ = step_;
}

void Training::save() {
    if (saved_step_ == step_) return;
    Checkpoint checkpoint;
    checkpoint.add("model", named_tensors(task_.model()));
    const OptimizerState state = optimizer_->state();
    checkpoint.add("optimizer", state.tensors);
    for (const auto& [name, value] : state.scalars) checkpoint.values["optimizer." + name] = value;
    checkpoint.values["optimizer"] = std::string(
        std::visit([](const auto& optimizer) { return optimizer.kind; }, phase().optimizer));
    checkpoint.values["task"] = task_.kind();
    checkpoint.values["step"] = step_;
    checkpoint.values["phase"] = static_cast<int64_t>(phase_);
    checkpoint.values["phase_step"] = phase_step_;
    checkpoint.values["seconds"] = earlier_seconds_ + Pace::steady_seconds() - start_;
    checkpoint.values["best_metric"] = best_.value_or(NAN);
    checkpoint.values["best_step"] = best_step_;
    checkpoint.config = config_text_;
    checkpoints_.save(step_, checkpoint, is_best_);
    saved_step_ = step_;
}

void Training::open_metrics() {
    std::vector<std::string> columns;
    task_.set_batch(phase_start_);
    for (const auto& [name, value] : loss_values(task_)) columns.push_back(name);
    columns.insert(columns.end(), {"learning_rate", "gradient_norm", "seconds"});
    for (const std::string& name : task_.metric_names()) columns.push_back(name);
    metrics_file_.emplace(folder_.metrics().string(), columns,
                          step_ > 0 ? std::optional<int64_t>(step_) : std::nullopt);
}

Evaluation Training::evaluate_loss() {
    ObjectiveValues values = evaluate_objective(task_, parameters_);
    loss_ = std::move(values.loss);
    return {loss_[0].second, values.gradient};
}

TrainingResult Training::run() {
    start_ = Pace::steady_seconds();
    const StopSignals signals;
    open_metrics();
    try {
        while (true) {
            run_phase();
            throw_if_stop_requested();
            if (phase_ + 1 == settings_.training.phases.size()) break;
            ++phase_;
            phase_step_ = 0;
            start_phase();
        }
        evaluate();
    } catch (const Interrupted&) {
        save();
        log_.line("interrupted by {} at step {}; the state is saved in {}",
                  signal_name(stop_signal()), step_, checkpoints_.path_of(step_).string());
        return finish("interrupted", ExitCode::interrupted);
    }
    save();
    draw();
    return finish(stop_reason_.empty() ? "completed" : stop_reason_, ExitCode::success);
}

void Training::run_phase() {
    const TrainingConfig& training = settings_.training;
    int64_t steps_left = phase().steps - phase_step_;
    for (std::size_t later = phase_ + 1; later < training.phases.size(); ++later)
        steps_left += training.phases[later].steps;
    Pace pace(step_, step_ + steps_left);
    const auto due = [&](int64_t every) { return every > 0 && step_ % every == 0; };
    while (phase_step_ < phase().steps && stop_reason_.empty()) {
        task_.set_batch(is_line_search(phase().optimizer) ? phase_start_ : step_);
        const double rate = learning_rate_of(phase().optimizer) *
                            schedule_factor(phase().schedule, phase_step_, phase().steps);
        const StepResult result =
            optimizer_->step(parameters_.values(), rate, [&] { return evaluate_loss(); });
        if (result.stop == StopReason::non_finite) {
            log_.end_progress();
            throw Error(non_finite_message(result), ExitCode::non_finite);
        }
        // A step that only found out that there is nothing to do is none.
        if (result.stop == StopReason::none || result.loss_after) {
            ++step_;
            ++phase_step_;
            is_best_ = false;
        }
        if (result.stop != StopReason::none) {
            stop_reason_ = std::string(name_of(result.stop));
            log_.line("{} stopped at step {}: {}", optimizer_->name(), step_, result.message);
        }
        pace.reached(step_);
        const bool last = phase_step_ == phase().steps || !stop_reason_.empty();
        const bool end = last && phase_ + 1 == training.phases.size();
        if (due(training.evaluate_every) || end) evaluate();
        const bool logged = due(training.log_every) || last || evaluated_step_ == step_;
        log_.progress({step_,
                       total_steps(),
                       loss_[0].second,
                       {loss_.begin() + 1, loss_.end()},
                       rate,
                       pace.steps_per_second(),
                       pace.seconds_left()},
                      due(training.log_every) || last);
        if (logged) record_step(result, rate);
        if (due(training.checkpoint_every)) save();
        if (due(training.picture_every)) draw();
        throw_if_stop_requested();
    }
    log_.end_progress();
}

std::string Training::non_finite_message(const StepResult& result) const {
    const auto term = std::find_if(loss_.begin() + 1, loss_.end(),
                                   [](const auto& t) { return !std::isfinite(t.second); });
    const std::string what =
        term != loss_.end() ? fmt::format("the loss term {} is {}", term->first, term->second)
        : !std::isfinite(loss_[0].second)
            ? fmt::format("the loss is {}", loss_[0].second)
            : fmt::format("the gradient has the norm {}", result.gradient_norm);
    const std::vector<int64_t> saved = checkpoints_.steps();
    return fmt::format("step {}: {}; the parameters were not changed, {}", step_ + 1, what,
                       saved.empty() ? "no checkpoint had been written yet"
                                     : "the last good checkpoint is " +
                                           checkpoints_.path_of(saved.back()).string());
}

void Training::record_step(const StepResult& result, double rate) {
    if (logged_step_ == step_) return;
    logged_step_ = step_;
    // A line search may have looked at another point last.
    if (result.loss_after && *result.loss_after != loss_[0].second) loss_ = loss_values(task_);
    NamedValues row = loss_;
    row.emplace_back("learning_rate", rate);
    row.emplace_back("gradient_norm", result.gradient_norm);
    row.emplace_back("seconds", earlier_seconds_ + Pace::steady_seconds() - start_);
    if (evaluated_step_ == step_) row.insert(row.end(), metrics_.begin(), metrics_.end());
    metrics_file_->append(step_, row);
}

void Training::evaluate() {
    if (evaluated_step_ == step_) return;
    metrics_ = task_.evaluate();
    evaluated_step_ = step_;
    std::string text;
    for (const auto& [name, value] : metrics_)
        text += fmt::format("  {} {}", name, format_number(value));
    log_.line("step {} evaluation:{}", step_, text);
    const double value = metrics_[0].second;
    if (!best_ || (task_.larger_is_better() ? value > *best_ : value < *best_)) {
        best_ = value;
        best_step_ = step_;
        is_best_ = true;
    }
}

void Training::draw() {
    if (drawn_step_ == step_) return;
    drawn_step_ = step_;
    try {
        for (const std::string& name : task_.draw(folder_.pictures()))
            log_.line("picture {}", (folder_.pictures() / name).string());
        draw_loss_curves(folder_);
    } catch (const Interrupted&) {
        throw;
    } catch (const Error& error) {
        log_.warning("no picture: {}", error.what());
    }
}

TrainingResult Training::finish(const std::string& stopped_by, ExitCode code) {
    TrainingResult result;
    result.stopped_by = stopped_by;
    result.code = code;
    result.metrics = metrics_;
    result.steps = step_;
    const double seconds = Pace::steady_seconds() - start_;
    result.seconds = earlier_seconds_ + seconds;
    result.steps_per_second = static_cast<double>(step_ - first_step_) / std::max(seconds, 1e-9);
    return result;
}

}  // namespace ralimp
