// ralimp compare: networks of several kinds at one size, trained alike.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "core/parallel.h"
#include "trainers/commands.h"
#include "trainers/comparison_folder.h"
#include "trainers/comparison_report.h"
#include "trainers/config.h"

namespace ralimp {
namespace {

void say_plan(const ComparisonPlan& plan, const ComparisonConfig& config, Log& log) {
    for (const ComparisonSetting& setting : plan.settings) {
        const std::string title =
            title_of(plan.cases[setting.case_index], config.entries[setting.entry_index]);
        const std::string trial = setting.trial.empty() ? "" : "  " + join(setting.trial, " ");
        if (setting.failure) {
            log.warning("{}{}: {}", title, trial, setting.failure->reason);
            continue;
        }
        log.line(
            "{:<32} {:>9} numbers, {:5.1f} %  {}{}", title, setting.deployed,
            100.0 * static_cast<double>(setting.deployed) / static_cast<double>(setting.reference),
            setting.solved, trial);
        if (setting.deployed > setting.most_deployed)
            log.warning(
                "{}: {} numbers are more than the {} that it may have: it is compared as it is",
                title, setting.deployed, setting.most_deployed);
    }
}

std::filesystem::path folder_of(const std::filesystem::path& file) {
    return std::filesystem::absolute(file).parent_path();
}

// Where entries are tuned with different effort, the comparison says so.
void check_effort(const ComparisonPlan& plan, const ComparisonConfig& config, Log& log) {
    std::set<std::size_t> efforts;
    std::string list;
    for (std::size_t e = 0; e < config.entries.size(); ++e) {
        const std::size_t trials = plan.settings_of(0, e).size();
        efforts.insert(trials);
        list += fmt::format("{}{} {}", list.empty() ? "" : ", ", config.entries[e].name, trials);
    }
    if (efforts.size() > 1) log.warning("entries have different numbers of trials: {}", list);
}

// Runs that came to no result.
struct Failures {
    int64_t count = 0;
    std::string first_title;
    ComparisonFailure first = {};

    void add(const std::string& title, const ComparisonFailure& failure) {
        if (count++ > 0) return;
        first_title = title;
        first = failure;
    }
    // Error of the first one.
    [[noreturn]] void report(const char* what, const std::string& more) const {
        fail_with(first.code, "{} {}{} failed: {}{}: {}{}", count, what, count == 1 ? "" : "s",
                  count == 1 ? "" : "the first, ", first_title, first.reason, more);
    }
};

class Comparison {
public:
    Comparison(const CompareOptions& options, const ComparisonConfig& config, Log& log)
        : options_(options),
          config_(config),
          log_(log),
          plan_(plan_comparison(config, log, folder_of(options.config))) {
        metric_ = config.metric.value_or(plan_.metrics[0]);
        if (std::find(plan_.metrics.begin(), plan_.metrics.end(), metric_) == plan_.metrics.end())
            fail_with(ExitCode::bad_config, "metric: a run ends with {}, not with {}",
                      join(plan_.metrics, ", "), metric_);
    }

    const ComparisonPlan& plan() const { return plan_; }

    Failures failures_of_plan() const {
        Failures failures;
        for (const ComparisonSetting& setting : plan_.settings)
            if (setting.failure)
                failures.add(
                    title_of(plan_.cases[setting.case_index], config_.entries[setting.entry_index]),
                    *setting.failure);
        return failures;
    }

    Failures run(const ComparisonFolder& place) {
        const std::filesystem::path& folder = place.path();
        log_.open_file((folder / "log.txt").string());
        place.write_unfinished();
        say_plan(plan_, config_, log_);
        check_effort(plan_, config_, log_);
        const std::size_t entries = config_.entries.size();
        std::vector<ComparisonRun> trials;
        for (const ComparisonSetting& setting : plan_.settings)
            if (plan_.settings_of(setting.case_index, setting.entry_index).size() > 1)
                for (const int64_t seed : config_.trial_seeds)
                    trials.push_back(run_of(setting, seed, folder));
        const auto results =
            static_cast<int64_t>(plan_.cases.size() * entries * config_.seeds.size());
        train(trials, "trials", results);

        ComparisonOutcome outcome{config_, plan_, options_.config.stem().string(),
                                  metric_, {},    options_.jobs};
        std::vector<ComparisonRun> runs;
        for (std::size_t c = 0; c < plan_.cases.size(); ++c) {
            outcome.compared.emplace_back(entries);
            for (std::size_t e = 0; e < entries; ++e) {
                ComparedEntry& entry = outcome.compared[c][e];
                for (const ComparisonRun& trial : trials)
                    if (trial.setting->case_index == c && trial.setting->entry_index == e)
                        entry.trials.push_back(trial);
                entry.chosen = best_setting(plan_.settings_of(c, e), entry.trials);
                for (const int64_t seed : config_.seeds)
                    runs.push_back(run_of(*entry.chosen, seed, folder));
            }
        }
        train(runs, "runs", 0);
        for (ComparisonRun& one : runs)
            outcome.compared[one.setting->case_index][one.setting->entry_index].runs.push_back(one);
        write_comparison_report(outcome, folder, log_);
        Failures failures;
        for (const auto* all : {&trials, &runs})
            for (const ComparisonRun& one : *all)
                if (one.failure) failures.add(one.title, *one.failure);
        place.write_finished(metric_, static_cast<int64_t>(trials.size() + runs.size()),
                             failures.count);
        return failures;
    }

private:
    ComparisonRun run_of(const ComparisonSetting& setting, int64_t seed,
                         const std::filesystem::path& folder) const {
        return comparison_run(plan_, config_, setting, seed, folder / "runs");
    }

    void train(std::vector<ComparisonRun>& runs, const char* what, int64_t later) {
        if (runs.empty()) return;
        const auto there =
            std::count_if(runs.begin(), runs.end(), [](const auto& r) { return r.finished; });
        log_.line("{} {}, {} of them finished", runs.size(), what, there);
        train_runs(runs, options_.jobs, {log_, later, metric_});
    }

    const ComparisonSetting* best_setting(const std::vector<const ComparisonSetting*>& settings,
                                          const std::vector<ComparisonRun>& trials) const {
        const ComparisonSetting* best = settings[0];
        for (const ComparisonSetting* setting : settings)
            if (best->failure) best = setting;
        double best_value = NAN;
        for (const ComparisonSetting* setting : settings) {
            std::vector<double> values;
            for (const ComparisonRun& trial : trials)
                if (trial.setting == setting) values.push_back(trial.figure(metric_));
            if (values.empty()) continue;
            const double value = median_of(values, plan_.larger_is_better);
            const bool better = plan_.larger_is_better ? value > best_value : value < best_value;
            if (better || (std::isnan(best_value) && !std::isnan(value))) {
                best = setting;
                best_value = value;
            }
        }
        return best;
    }

    const CompareOptions& options_;
    const ComparisonConfig& config_;
    Log& log_;
    ComparisonPlan plan_;
    std::string metric_;
};

}  // namespace

ExitCode compare(const CompareOptions& options) {
    const auto config = read_config<ComparisonConfig>(options.config, options.overrides);
    if (options.print_config) {
        fmt::print("{}", write_config(config, ConfigComments::help));
        return ExitCode::success;
    }
    Log log;
    Comparison comparison(options, config, log);
    if (options.check) {
        say_plan(comparison.plan(), config, log);
        if (const Failures failures = comparison.failures_of_plan(); failures.count > 0)
            failures.report("setting", "");
        return ExitCode::success;
    }
    const ComparisonFolder folder(options.output.empty()
                                      ? std::filesystem::path("runs") / options.config.stem()
                                      : options.output,
                                  options.config);
    Failures failures;
    try {
        failures = comparison.run(folder);
    } catch (const Error& failure) {
        if (failure.code() == ExitCode::interrupted)
            log.line("to go on: the same command again; finished runs are kept");
        throw;
    }
    log.line("report {}", (std::filesystem::absolute(folder.path()) / "report.html").string());
    if (failures.count > 0) failures.report("run", "; the same command tries again what failed");
    if (log.output_error() != 0)
        fail_with(ExitCode::io, "standard output: cannot be written: {}; everything is in {}",
                  std::strerror(log.output_error()), folder.path().string());
    return ExitCode::success;
}

}  // namespace ralimp
