#include "trainers/training.h"

#include <algorithm>
#include <cmath>

#include "trainers/objective.h"
#include "trainers/report.h"
#include "trainers/signals.h"

namespace ralimp {
namespace {

// The factor on the optimizer's own learning rate is the schedule's.
double learning_rate(const PhaseConfig& phase, int64_t phase_step) {
    return learning_rate_of(phase.optimizer) *
           schedule_factor(phase.schedule, phase_step, phase.steps);
}

}  // namespace

ParameterLayout layout_of(const Parameters& parameters) {
    std::vector<ParameterGroup> groups;
    for (const Parameters::Entry& entry : parameters.entries())
        groups.push_back({.name = entry.name,
                          .offset = entry.offset,
                          .count = entry.shape.elements(),
                          .decay = entry.decay,
                          .learning_rate_scale = entry.learning_rate_scale,
                          .shape = entry.shape});
    return ParameterLayout(std::move(groups), parameters.values().dtype());
}

Training::Training(Task& task, const RunSettings& settings, Log& log, std::string config_text)
    : task_(task),
      settings_(settings),
      log_(log),
      config_text_(std::move(config_text)),
      parameters_(task.model()) {
    const std::vector<PhaseConfig>& phases = settings_.training.phases;
    for (std::size_t i = 0; i < phases.size(); ++i)
        if (is_line_search(phases[i].optimizer) &&
            !(learning_rate(phases[i], phases[i].steps - 1) > 0))
            fail_with(ExitCode::bad_config,
                      "training.phases[{}].schedule: falls to 0; a line search needs a step length "
                      "to try",
                      i);
    start_phase();
}

void Training::start_phase() {
    phase_start_ = step_ - phase_step_;
    optimizer_ = make_optimizer(phase().optimizer, layout_of(parameters_));
    stop_reason_.clear();
    renewals_ = 0;
    renewed_at_ = phase_step_;
}

std::vector<std::string> Training::metric_columns() const {
    std::vector<std::string> columns{"loss"};
    {
        NoGrad no_grad;
        for (const auto& [name, value] : task_.loss(0).terms) columns.push_back(name);
    }
    columns.insert(columns.end(), {"learning_rate", "gradient_norm"});
    for (const auto& [name, value] : task_.loss_weights()) columns.push_back(name);
    columns.emplace_back("seconds");
    for (const std::string& name : task_.metric_names()) columns.push_back(name);
    return columns;
}

void Training::check_metrics(const RunFolder& folder) const {
    if (step_ > 0) check_metrics_columns(folder.metrics().string(), metric_columns());
}

void Training::open(const RunFolder& folder) {
    start_ = Pace::steady_seconds();
    folder_ = &folder;
    checkpoints_.emplace(folder.checkpoints(), settings_.training.keep_checkpoints);
    metrics_file_.emplace(folder_->metrics().string(), metric_columns(),
                          step_ > 0 ? std::optional<int64_t>(step_) : std::nullopt);
}

Evaluation Training::evaluate_loss() {
    ObjectiveValues values = evaluate_objective(task_, parameters_);
    row_.loss = std::move(values.loss);
    return {row_.loss[0].second, values.gradient};
}

TrainingResult Training::run(const RunFolder& folder) {
    open(folder);
    // A checkpoint from elsewhere is no checkpoint of this folder.
    const std::vector<int64_t> saved = checkpoints_->steps();
    if (std::find(saved.begin(), saved.end(), step_) == saved.end()) saved_step_ = -1;
    if (!std::filesystem::exists(checkpoints_->best_path())) best_.reset();
    try {
        train();
    } catch (const Interrupted&) {
        save();
        log_.line("interrupted by {} at step {}; the state is saved in {}",
                  signal_name(stop_signal()), step_, checkpoints_->path_of(step_).string());
        return result_so_far("interrupted", ExitCode::interrupted);
    } catch (const Error& error) {
        log_.end_progress();
        if (error.code() != ExitCode::non_finite) try_to_save();
        throw;
    } catch (...) {
        log_.end_progress();
        try_to_save();
        throw;
    }
    return result_so_far(stop_reason_.empty() ? "completed" : stop_reason_, ExitCode::success);
}

TrainingResult Training::write_start(const RunFolder& folder, const std::string& stopped_by) {
    open(folder);
    task_.set_batch(0);
    row_.loss = loss_values(task_);
    evaluate();
    record_step();
    save();
    draw();
    return result_so_far(stopped_by, ExitCode::success);
}

void Training::train() {
    while (true) {
        run_phase();
        throw_if_stop_requested();
        if (phase_ + 1 == settings_.training.phases.size()) break;
        ++phase_;
        phase_step_ = 0;
        start_phase();
    }
    evaluate();
    save();
    draw();
}

void Training::run_phase() {
    const TrainingConfig& training = settings_.training;
    int64_t steps_left = std::max<int64_t>(phase().steps - phase_step_, 0);
    for (std::size_t later = phase_ + 1; later < training.phases.size(); ++later)
        steps_left += training.phases[later].steps;
    Pace pace(step_, step_ + steps_left);
    // What a signal cut short after the last step before a resume.
    if (phase_step_ > 0) finish_step(pace);
    while (phase_step_ < phase().steps && stop_reason_.empty()) {
        make_step();
        finish_step(pace);
        throw_if_stop_requested();
    }
    log_.end_progress();
}

// A line search compares losses, so that its data stay the same until they are renewed on purpose.
void Training::choose_data() {
    const PhaseConfig& phase = this->phase();
    if (!is_line_search(phase.optimizer)) return task_.set_batch(step_);
    if (phase.renew_data_every > 0 && phase_step_ - renewed_at_ >= phase.renew_data_every)
        renew_data();
    task_.set_batch(phase_start_ + renewals_ * phase.renew_data_every);
}

void Training::renew_data() {
    ++renewals_;
    renewed_at_ = phase_step_;
    optimizer_->objective_changed();
}

void Training::make_step() {
    choose_data();
    const double rate = learning_rate(phase(), phase_step_);
    forget_clamps();
    const StepResult result =
        optimizer_->step(parameters_.values(), rate, [&] { return evaluate_loss(); });
    count_clamps();
    if (result.stop == StopReason::non_finite) {
        warn_of_clamps();
        throw Error(non_finite_message(result), ExitCode::non_finite);
    }
    row_.learning_rate = rate;
    row_.gradient_norm = result.gradient_norm;
    // A line search may have looked at another point last, or at none.
    if (result.loss_after && (row_.loss.empty() || *result.loss_after != row_.loss[0].second))
        row_.loss = loss_values(task_);
    if (result.moved) {
        ++step_;
        ++phase_step_;
    }
    if (result.stop != StopReason::none) {
        // With other data it may go on, unless it has just tried.
        if (phase().renew_data_every > 0 && phase_step_ > renewed_at_) return renew_data();
        stop_reason_ = std::string(name_of(result.stop));
        log_.line("{} stopped at step {}: {}", optimizer_->name(), step_, result.message);
    }
}

// Of an evaluation or a picture: only the losses of steps are counted, so that the counts do not
// depend on how often a run is looked at.
void Training::forget_clamps() {
    task_.model().visit_clamps("",
                               [](const std::string&, const Tensor& counts) { counts.fill(0); });
}

void Training::count_clamps() {
    task_.model().visit_clamps("", [&](const std::string& layer, const Tensor& counts) {
        const std::vector<int64_t> values = counts.to_vector<int64_t>();
        clamps_[layer].clamped += values[0];
        clamps_[layer].all += values[1];
        clamped_exponents_ += values[0];
    });
}

void Training::warn_of_clamps() {
    std::string text;
    for (const auto& [layer, count] : clamps_)
        if (count.clamped > 0)
            text += fmt::format("{} {} {} of {} ({} %)", text.empty() ? "" : ",", layer,
                                count.clamped, count.all,
                                format_number(100 * static_cast<double>(count.clamped) /
                                              static_cast<double>(count.all)));
    if (!text.empty())
        log_.warning("exponents beyond exponent_limit, clamped since the last report:{}", text);
    clamps_.clear();
}

// Everything that follows a step. May be called again: what is done already is left out.
void Training::finish_step(Pace& pace) {
    const TrainingConfig& training = settings_.training;
    const auto due = [&](int64_t every) { return every > 0 && step_ % every == 0; };
    const bool last = phase_step_ >= phase().steps || !stop_reason_.empty();
    const bool end = last && phase_ + 1 == training.phases.size();
    pace.reached(step_);
    if (due(training.evaluate_every) || end) evaluate();
    const bool said = (due(training.log_every) || last) && logged_step_ != step_;
    log_.progress({step_,
                   training.total_steps(),
                   row_.loss[0].second,
                   {row_.loss.begin() + 1, row_.loss.end()},
                   row_.learning_rate,
                   pace.steps_per_second(),
                   pace.seconds_left()},
                  said);
    if (said) warn_of_clamps();
    if (said || evaluated_step_ == step_) record_step();
    if (due(training.checkpoint_every)) save();
    if (due(training.picture_every)) draw();
}

std::string Training::non_finite_message(const StepResult& result) const {
    const NamedValues& loss = row_.loss;
    const auto term = std::find_if(loss.begin() + 1, loss.end(),
                                   [](const auto& t) { return !std::isfinite(t.second); });
    const std::string what =
        term != loss.end()
            ? fmt::format("the loss term {} is {}", term->first, format_number(term->second))
        : !std::isfinite(loss[0].second)
            ? fmt::format("the loss is {}", format_number(loss[0].second))
            : fmt::format("the gradient has the norm {}", format_number(result.gradient_norm));
    const std::vector<int64_t> saved = checkpoints_->steps();
    return fmt::format("step {}: {}; the parameters were not changed, {}", step_ + 1, what,
                       !saved.empty() ? "the last good checkpoint is " +
                                            checkpoints_->path_of(saved.back()).string()
                       : best_ ? "the best model so far is " + checkpoints_->best_path().string()
                               : "no checkpoint had been written yet");
}

void Training::record_step() {
    if (logged_step_ == step_) return;
    NamedValues row = row_.loss;
    row.emplace_back("learning_rate", row_.learning_rate);
    row.emplace_back("gradient_norm", row_.gradient_norm);
    const NamedValues weights = task_.loss_weights();
    row.insert(row.end(), weights.begin(), weights.end());
    row.emplace_back("seconds", earlier_seconds_ + Pace::steady_seconds() - start_);
    if (evaluated_step_ == step_) row.insert(row.end(), metrics_.begin(), metrics_.end());
    metrics_file_->append(step_, row);
    logged_step_ = step_;
    saved_step_ = -1;  // a checkpoint says what was logged and evaluated
}

// A model that is better than all before is kept at once, whatever checkpoint_every says.
void Training::evaluate() {
    if (evaluated_step_ == step_) return;
    metrics_ = task_.evaluate();
    evaluated_step_ = step_;
    saved_step_ = -1;
    std::string text;
    for (const auto& [name, value] : metrics_)
        text += fmt::format("  {} {}", name, format_number(value));
    log_.line("step {} evaluation:{}", step_, text);
    const double value = metrics_[0].second;
    if (std::isnan(value)) return;
    if (!best_ || (task_.larger_is_better() ? value > *best_ : value < *best_)) {
        best_ = value;
        best_step_ = step_;
        write_checkpoint(checkpoints_->best_path().string(), checkpoint());
    }
}

void Training::draw() {
    if (drawn_step_ == step_) return;
    drawn_step_ = step_;
    try {
        for (const std::string& name : task_.draw(folder_->pictures()))
            log_.line("picture {}", (folder_->pictures() / name).string());
        draw_loss_curves(folder_->metrics(), folder_->pictures() / "loss.png");
    } catch (const Interrupted&) {
        throw;
    } catch (const std::exception& error) {
        log_.warning("no picture: {}", error.what());
    }
}

TrainingResult Training::result_so_far(const std::string& stopped_by, ExitCode code) const {
    TrainingResult result;
    result.stopped_by = stopped_by;
    result.code = code;
    result.metrics = metrics_;
    result.clamped_exponents = clamped_exponents_;
    result.steps = step_;
    result.seconds = earlier_seconds_ + Pace::steady_seconds() - start_;
    result.steps_per_second = static_cast<double>(step_) / std::max(result.seconds, 1e-9);
    return result;
}

}  // namespace ralimp
