#include "trainers/comparison_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "layers/folding.h"
#include "trainers/data_files.h"
#include "trainers/memory_check.h"
#include "trainers/signals.h"

namespace ralimp {
namespace {

using Changes = std::vector<std::string>;

// Later changes stand above earlier ones; paths in them are relative to the folder.
RunConfig changed_config(const std::filesystem::path& file, const std::vector<Changes>& levels,
                         const std::filesystem::path& folder) {
    std::vector<ConfigNode> layers = load_config_layers(file);
    for (const Changes& changes : levels) layers.push_back(parse_config_overrides(changes, folder));
    return config_detail::read_layers<RunConfig>(layers, {});
}

// What makes layers of a kind smaller or larger.
struct SizeKey {
    std::string operator()(const DenseHiddenConfig&) const { return "none"; }
    std::string operator()(const NarrowConfig&) const { return "network.hidden.width"; }
    std::string operator()(const LowRankConfig&) const { return "network.hidden.rank"; }
    std::string operator()(const MonarchConfig&) const { return "network.hidden.blocks"; }
    std::string operator()(const TensorTrainConfig&) const { return "network.hidden.rank"; }
    template <class Features>
    std::string operator()(const Features&) const {
        return "network.hidden.features";
    }
};

// Counts deployed numbers of networks at their start. What is the same for all sizes is made once:
// the task, which may read a large file.
class SizeCounter {
public:
    int64_t numbers(const RunConfig& config) {
        check_memory(config);
        RunConfig same = config;
        std::visit([](auto& task) { task.run.training = {}; }, same);
        int64_t& count = counts_[write_config(same)];  // trials often differ in their training
        if (count == 0) count = counted(config);
        return count;
    }

private:
    int64_t counted(const RunConfig& config) {
        NetworkConfig network = network_of(config);
        // Rows that are drawn alike are as many, and take no QR.
        std::visit(
            [](auto& hidden) {
                if constexpr (requires { hidden.orthogonal; }) hidden.orthogonal = false;
            },
            network.hidden);
        return deployed_numbers(*task_for(config).make_model(network));
    }

    // Of runs that differ in their networks and the course of their training alone.
    Task& task_for(const RunConfig& config) {
        RunConfig same = config;
        std::visit(
            [](auto& task) {
                task.network = {};
                task.run.training = {};
            },
            same);
        std::unique_ptr<Task>& task = tasks_[write_config(same)];
        if (!task) task = make_task(config, TaskUse::trained_model);
        return *task;
    }

    std::map<std::string, std::unique_ptr<Task>> tasks_;
    std::map<std::string, int64_t> counts_;
};

// On a terminal what is being counted now; elsewhere a line where it takes its time.
class PlanProgress {
public:
    PlanProgress(Log& log, std::size_t settings) : log_(log), settings_(settings) {}
    ~PlanProgress() { log_.end_progress(); }
    PlanProgress(const PlanProgress&) = delete;

    void setting_done() { ++done_; }
    void counts(const std::string& what) {
        throw_if_stop_requested();
        constexpr double say_seconds = 5;
        const double now = Pace::steady_seconds();
        const bool say = now - said_ >= say_seconds;
        if (say) said_ = now;
        log_.progress(static_cast<double>(done_) / static_cast<double>(settings_),
                      fmt::format("sizes {}/{}: {}", done_ + 1, settings_, what), say);
    }

private:
    Log& log_;
    std::size_t settings_, done_ = 0;
    double said_ = Pace::steady_seconds();
};

// Errors of one entry, or one case of it, begin with its name.
template <class F>
auto naming(const std::string& name, F&& f) {
    try {
        return f();
    } catch (const Interrupted&) {
        throw;
    } catch (const Error& error) {
        fail_with(error.code(), "{}: {}", name, error.what());
    }
}

// Names become folders.
void check_names(const auto& items, const char* what) {
    std::set<std::string> names;
    for (const auto& item : items) {
        const std::string& name = item.name;
        const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) ||
                   std::string("._+- ").find(c) != std::string::npos;
        });
        if (!plain || name.front() == '.' || name.front() == ' ' || name.back() == ' ' ||
            name.size() > 100)
            fail_with(
                ExitCode::bad_config,
                "{}: the name {} must be of letters, digits, . _ + - and spaces inside, begin "
                "with no dot, and have at most 100 characters",
                what, shown(name));
        if (!names.insert(name).second)
            fail_with(ExitCode::bad_config, "{}: the name {} is there twice", what, shown(name));
    }
}

void check_seeds(const ComparisonConfig& config) {
    std::set<int64_t> seeds;
    for (const auto* list : {&config.seeds, &config.trial_seeds})
        for (const int64_t seed : *list)
            if (!seeds.insert(seed).second)
                fail_with(ExitCode::bad_config,
                          "{}: {} is there twice; trials have seeds apart from the others",
                          list == &config.seeds ? "seeds" : "trial_seeds", seed);
}

// The trials of the comparison, each with those of the entry.
std::vector<Changes> trials_of(const ComparisonConfig& config, const ComparisonEntry& entry) {
    std::vector<Changes> all;
    const std::vector<ComparisonTrial> one(1);
    for (const ComparisonTrial& common : config.trials.empty() ? one : config.trials)
        for (const ComparisonTrial& own : entry.trials.empty() ? one : entry.trials) {
            all.push_back(common.changes);
            all.back().insert(all.back().end(), own.changes.begin(), own.changes.end());
        }
    return all;
}

class Planner {
public:
    Planner(const ComparisonConfig& config, const std::filesystem::path& folder,
            const ComparisonCase& one_case, std::size_t case_index, SizeCounter& sizes,
            PlanProgress& progress)
        : config_(config),
          folder_(folder),
          case_(one_case),
          case_index_(case_index),
          sizes_(sizes),
          progress_(progress) {}

    void add_settings(std::vector<ComparisonSetting>& settings) {
        for (std::size_t i = 0; i < config_.entries.size(); ++i) {
            const ComparisonEntry& entry = config_.entries[i];
            for (const Changes& trial : trials_of(config_, entry)) {
                ComparisonSetting result{case_index_, i, trial, {}, 0, 0, reference_, {}};
                naming(title_of(case_, entry), [&] {
                    try {
                        solve(result);
                    } catch (const Error& error) {
                        if (error.code() != ExitCode::bad_input) throw;
                        result.failure = {error.code(), error.what()};
                    }
                });
                if (result.failure && i == 0) reference_failure_ = result.failure->reason;
                settings.push_back(std::move(result));
                progress_.setting_done();
            }
        }
    }

private:
    RunConfig config_with(const ComparisonEntry& entry, const Changes& trial,
                          const Changes& last = {}) const {
        return changed_config(config_.run,
                              {config_.changes,
                               case_.changes,
                               entry.changes,
                               trial,
                               {fmt::format("seed={}", config_.seeds[0])},
                               last},
                              folder_);
    }

    // With a first value of the key that the config may have, if the one it has may not be: a
    // default rank beyond the width, an odd number where pairs are needed.
    RunConfig config_with_some_size(const ComparisonEntry& entry, const Changes& trial,
                                    const std::vector<std::string>& keys) const {
        try {
            return config_with(entry, trial);
        } catch (const Error& error) {
            if (error.code() != ExitCode::bad_config) throw;
            for (const std::string& key : keys)
                for (const int64_t value : {1, 2, 4}) try {
                        return config_with(entry, trial, {fmt::format("{}={}", key, value)});
                    } catch (const Error& other) {
                        if (other.code() != ExitCode::bad_config) throw;
                    }
            throw;
        }
    }

    int64_t numbers_of(const ComparisonSetting& setting, const RunConfig& config,
                       const std::string& size = "") {
        progress_.counts(title_of(case_, config_.entries[setting.entry_index]) +
                         (size.empty() ? "" : ", " + size));
        return sizes_.numbers(config);
    }

    void solve(ComparisonSetting& result) {
        const ComparisonEntry& entry = config_.entries[result.entry_index];
        const Changes& trial = result.trial;
        // A reference keeps the size it is given.
        if (result.entry_index == 0) {
            if (entry.solve && *entry.solve != "none")
                fail_with(ExitCode::bad_config,
                          "solve: the first entry is what the others are measured by");
            result.config = config_with(entry, trial);
            result.data_hash = hash_of_files(data_files(result.config));
            result.deployed = result.most_deployed = numbers_of(result, result.config);
            // Trials of the reference may change its size, which the first of them says.
            if (reference_ == 0) reference_ = result.deployed;
            result.reference = reference_;
            return;
        }
        result.config = config_with_some_size(
            entry, trial,
            entry.solve
                ? std::vector<std::string>{*entry.solve}
                : std::vector<std::string>{"network.hidden.rank", "network.hidden.features"});
        result.data_hash = hash_of_files(data_files(result.config));
        if (reference_ == 0)
            fail_with(ExitCode::bad_input, "has nothing to be measured by: {}: {}",
                      title_of(case_, config_.entries[0]), reference_failure_);
        const std::string key =
            entry.solve.value_or(std::visit(SizeKey{}, network_of(result.config).hidden));
        result.most_deployed = static_cast<int64_t>(
            std::floor(entry.share.value_or(config_.share) * static_cast<double>(reference_)));
        if (key == "none") {
            result.deployed = numbers_of(result, result.config);
            return;
        }
        const auto with_size = [&](int64_t value) {
            return config_with(entry, trial, {fmt::format("{}={}", key, value)});
        };
        std::map<int64_t, int64_t> counts;  // by value
        std::string refusal;                // of the first value that cannot be
        const std::optional<int64_t> value =
            solve_for_size(result.most_deployed, [&](int64_t candidate) -> std::optional<int64_t> {
                if (const auto known = counts.find(candidate); known != counts.end())
                    return known->second;
                try {
                    const int64_t count = numbers_of(result, with_size(candidate),
                                                     fmt::format("{} = {}", key, candidate));
                    counts.emplace(candidate, count);
                    return count;
                } catch (const Error& error) {
                    if (error.code() != ExitCode::bad_config) throw;
                    if (refusal.empty()) refusal = error.what();
                    return std::nullopt;
                }
            });
        if (counts.empty()) throw Error(refusal, ExitCode::bad_config);
        const bool all_alike = std::all_of(counts.begin(), counts.end(), [&](const auto& each) {
            return each.second == counts.begin()->second;
        });
        if (all_alike && value > 1)
            fail_with(ExitCode::bad_config, "solve: {} does not change the size of the network",
                      key);
        if (!value)
            fail_with(ExitCode::bad_config,
                      "no {} gives a network of at most {} numbers, {:.3g} of the reference's {}",
                      key, result.most_deployed, entry.share.value_or(config_.share), reference_);
        result.solved = fmt::format("{} = {}", key, *value);
        result.config = with_size(*value);
        result.deployed = counts.at(*value);
    }

    const ComparisonConfig& config_;
    const std::filesystem::path& folder_;
    const ComparisonCase& case_;
    std::size_t case_index_;
    SizeCounter& sizes_;
    PlanProgress& progress_;
    int64_t reference_ = 0;
    std::string reference_failure_;
};

// The figures of a run, told by the first setting whose data are there.
void add_metrics(const ComparisonConfig& config, ComparisonPlan& plan) {
    for (ComparisonSetting& setting : plan.settings) {
        if (setting.failure) continue;
        try {
            const std::unique_ptr<Task> task = make_task(setting.config);
            task->prepare_evaluation();
            plan.metrics = task->metric_names();
            plan.larger_is_better = task->larger_is_better();
            return;
        } catch (const Error& error) {
            if (error.code() != ExitCode::bad_input) throw;
            setting.failure = {error.code(), error.what()};
        }
    }
    const ComparisonSetting& first = plan.settings[0];
    fail_with(first.failure->code, "{}: {}",
              title_of(plan.cases[first.case_index], config.entries[first.entry_index]),
              first.failure->reason);
}

}  // namespace

std::string title_of(const ComparisonCase& one_case, const ComparisonEntry& entry) {
    return one_case.name.empty() ? entry.name : fmt::format("{}, {}", one_case.name, entry.name);
}

std::vector<const ComparisonSetting*> ComparisonPlan::settings_of(std::size_t case_index,
                                                                  std::size_t entry_index) const {
    std::vector<const ComparisonSetting*> found;
    for (const ComparisonSetting& setting : settings)
        if (setting.case_index == case_index && setting.entry_index == entry_index)
            found.push_back(&setting);
    return found;
}

std::optional<int64_t> solve_for_size(
    int64_t most, const std::function<std::optional<int64_t>(int64_t)>& numbers) {
    // Some values cannot be (odd ones, where pairs are needed): the next smaller one that can.
    const auto valid_at_most = [&](int64_t value) -> std::optional<std::pair<int64_t, int64_t>> {
        for (int64_t v = value; v >= std::max<int64_t>(1, value - 3); --v)
            if (const auto count = numbers(v)) return std::pair{v, *count};
        return std::nullopt;
    };
    // Of growing values: the largest that fits. Where sizes fall with the value (blocks of a
    // matrix), the smallest that fits is the largest network.
    constexpr int64_t largest = 65536;
    std::optional<std::pair<int64_t, int64_t>> first;
    int64_t low = 1;
    while (!(first = valid_at_most(low)) && low < 8) ++low;
    if (!first) return std::nullopt;
    const auto fits = [&](int64_t value) {
        const auto found = valid_at_most(value);
        return found && found->second <= most;
    };
    const auto second = valid_at_most(2 * low + 2);
    const bool falling = second && second->second < first->second;
    int64_t high = low;
    if (falling) {
        if (fits(low)) return first->first;
        int64_t outside = low;
        while (!fits(high)) {
            outside = high;
            if (high >= largest || !valid_at_most(high)) return std::nullopt;
            high *= 2;
        }
        while (high - outside > 1) {
            const int64_t middle = outside + (high - outside) / 2;
            (fits(middle) ? high : outside) = middle;
        }
        return valid_at_most(high)->first;
    }
    if (!fits(low)) return std::nullopt;
    while (high < largest && fits(high)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        (fits(middle) ? low : high) = middle;
    }
    return valid_at_most(low)->first;
}

ComparisonPlan plan_comparison(const ComparisonConfig& config, Log& log,
                               const std::filesystem::path& folder) {
    check_names(config.entries, "entries");
    check_names(config.cases, "cases");
    check_seeds(config);
    ComparisonPlan plan;
    plan.cases = config.cases.empty() ? std::vector<ComparisonCase>(1) : config.cases;
    std::size_t settings = 0;  // of a case
    for (const ComparisonEntry& entry : config.entries) settings += trials_of(config, entry).size();
    SizeCounter sizes;
    PlanProgress progress(log, settings * plan.cases.size());
    for (std::size_t i = 0; i < plan.cases.size(); ++i)
        Planner(config, folder, plan.cases[i], i, sizes, progress).add_settings(plan.settings);
    add_metrics(config, plan);
    return plan;
}

}  // namespace ralimp
