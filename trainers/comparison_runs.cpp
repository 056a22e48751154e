#include "trainers/comparison_runs.h"

#include <sys/wait.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <thread>

#include "core/file.h"
#include "core/parallel.h"
#include "trainers/checkpoint_folder.h"
#include "trainers/data_files.h"
#include "trainers/run_folder.h"
#include "trainers/signals.h"
#include "trainers/subprocess.h"

namespace ralimp {
namespace {

constexpr const char* non_finite_end = "non-finite loss";

// Takes up what the folder says.
void look(ComparisonRun& run) {
    if (!RunFolder::holds_run(run.folder)) return;
    const RunFolder folder = RunFolder::open(run.folder);
    const std::vector<uint8_t> config = read_file(folder.config().string());
    if (std::string(config.begin(), config.end()) != write_config(run.config))
        fail_with(ExitCode::bad_input,
                  "{}: its config is no longer that of the comparison; move the folder away, or "
                  "delete it to train the run anew",
                  run.folder.string());
    if (!std::filesystem::exists(folder.result())) return;
    Result result;
    try {
        result = read_result(folder.result().string());
    } catch (const Error& error) {
        fail_with(error.code(), "{}; delete the folder to train the run anew", error.what());
    }
    const ResultValue* stopped_by = find_value(result, "stopped_by");
    const auto* text = stopped_by ? std::get_if<std::string>(stopped_by) : nullptr;
    const bool has_model = !CheckpointFolder(folder.checkpoints()).steps().empty();
    run.finished = text && ((folder.finished() && has_model) || *text == non_finite_end);
    if (!run.finished) return;
    run.stopped_by = *text;
    run.result = std::move(result);
}

int64_t total_steps(const ComparisonRun& run) {
    return settings_of(run.setting->config).training.total_steps();
}

// The last step that metrics.csv has, from the end of the file alone.
int64_t steps_so_far(const ComparisonRun& run) {
    std::ifstream file(run.folder / "metrics.csv", std::ios::binary);
    if (!file.seekg(0, std::ios::end)) return 0;
    const std::streamoff size = file.tellg(), part = std::min<std::streamoff>(size, 4096);
    std::string text(static_cast<std::size_t>(part), '\0');
    if (!file.seekg(size - part) || !file.read(text.data(), part)) return 0;
    const std::size_t end = text.rfind('\n');
    if (end == std::string::npos || end == 0) return 0;
    const std::size_t begin = text.rfind('\n', end - 1);
    const std::string line = text.substr(begin == std::string::npos ? 0 : begin + 1, end);
    return std::strtoll(line.c_str(), nullptr, 10);  // 0 for the header
}

class Trainer {
public:
    Trainer(std::vector<ComparisonRun>& runs, int64_t jobs, ComparisonProgress progress)
        : runs_(runs),
          jobs_(std::max<int64_t>(1, jobs)),
          progress_(std::move(progress)),
          said_(Pace::steady_seconds()) {}

    void run() {
        for (ComparisonRun& one : runs_) {
            if (one.failure) continue;
            look(one);
            if (one.finished) learn_pace(one);
        }
        try {
            while (advance()) {
                show_progress();
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
            }
        } catch (...) {
            end_all();
            throw;
        }
        progress_.log.end_progress();
    }

private:
    struct Child {
        ComparisonRun* run;
        std::unique_ptr<Subprocess> process;
        double started;
        int64_t first_step;
        std::vector<std::array<int64_t, 2>> data_changes;
    };

    // One look at all processes; whether there is more to do.
    bool advance() {
        throw_if_stop_requested();
        for (std::size_t i = 0; i < children_.size();) {
            const std::optional<int> status = children_[i].process->wait_status();
            if (!status) {
                ++i;
                continue;
            }
            const Child child = std::move(children_[i]);
            children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
            ended(child, *status);
        }
        while (static_cast<int64_t>(children_.size()) < jobs_) {
            const auto next = std::find_if(runs_.begin(), runs_.end(), [&](const auto& run) {
                return !run.finished && !run.failure &&
                       std::none_of(children_.begin(), children_.end(),
                                    [&](const Child& c) { return c.run == &run; });
            });
            if (next == runs_.end()) break;
            start(*next);
        }
        return !children_.empty();
    }

    void start(ComparisonRun& run) {
        if (!RunFolder::holds_run(run.folder)) {
            std::error_code error;
            std::filesystem::create_directories(run.folder.parent_path(), error);
            RunFolder::create(run.folder).write_config(write_config(run.config));
        }
        SubprocessCommand command{{"/proc/self/exe", "train", (run.folder / "config.yaml").string(),
                                   "--output", run.folder.string()}};
        if (settings_of(run.setting->config).threads == 0)
            command.environment.push_back(
                fmt::format("OMP_NUM_THREADS={}", std::max<int64_t>(1, thread_count() / jobs_)));
        const int64_t first = steps_so_far(run);
        auto changes = changes_of_files(data_files(run.config));
        children_.push_back({&run, std::make_unique<Subprocess>(command), Pace::steady_seconds(),
                             first, std::move(changes)});
    }

    void ended(const Child& child, int status) {
        ComparisonRun& run = *child.run;
        const auto code =
            WIFEXITED(status) ? static_cast<ExitCode>(WEXITSTATUS(status)) : ExitCode::failure;
        if (code == ExitCode::interrupted) throw Interrupted();
        if (!WIFEXITED(status) || (code != ExitCode::success && code != ExitCode::non_finite))
            return failed(run, code, reason_of(*child.process, status));
        try {
            // What it has read may be either, so that its figures are nobody's.
            const auto files = data_files(run.config);
            if (hash_of_files(files) != run.setting->data_hash ||
                changes_of_files(files) != child.data_changes) {
                std::filesystem::remove_all(run.folder);
                fail_with(ExitCode::bad_input,
                          "its data changed while it was trained, and it was deleted");
            }
            look(run);
            check(run.finished, "ended without a result");
        } catch (const Error& error) {
            return failed(run, error.code(), error.what());
        }
        learn_pace(run);
        const double value = run.figure(progress_.metric);
        progress_.log.line("{}/{}  {}: {}, {} s; eta {}", finished_runs(), runs_.size(), run.title,
                           run.stopped_by == non_finite_end
                               ? run.stopped_by
                               : fmt::format("{} {}", progress_.metric, format_number(value)),
                           format_number(run.figure("seconds")), format_duration(seconds_left()));
    }

    static std::string reason_of(const Subprocess& process, int status) {
        if (!WIFEXITED(status)) return fmt::format("ended by signal {}", WTERMSIG(status));
        const std::string last = last_line(process.messages());
        if (last.empty())
            return fmt::format("ended with exit code {} and said nothing", WEXITSTATUS(status));
        return last.starts_with("ralimp: ") ? last.substr(8) : last;
    }

    // A disk that is full is full for all of them.
    void failed(ComparisonRun& run, ExitCode code, const std::string& why) {
        if (code == ExitCode::io) fail_with(code, "{}: {}", run.title, why);
        run.failure = {code, why};
        progress_.log.warning("{}: {}", run.title, why);
    }

    // They save their state.
    void end_all() {
        for (const Child& child : children_) child.process->signal(SIGTERM);
        for (const Child& child : children_)
            while (!child.process->wait_status())
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
        children_.clear();
    }

    int64_t finished_runs() const {
        return std::count_if(runs_.begin(), runs_.end(),
                             [](const auto& r) { return r.finished || r.failure; });
    }

    // Seconds of a step differ from entry to entry.
    void learn_pace(const ComparisonRun& run) {
        const int64_t steps = run.whole_number("steps");
        if (steps > 0)
            pace_[run.setting->entry_index] = run.figure("seconds") / static_cast<double>(steps);
    }

    double mean_pace() const {
        double sum = 0;
        for (const auto& [entry, seconds] : pace_) sum += seconds;
        return sum / static_cast<double>(pace_.size());
    }

    std::optional<double> seconds_left() {
        for (const Child& child : children_) {  // entries of which none has ended yet
            const double seconds = Pace::steady_seconds() - child.started;
            const int64_t steps = steps_so_far(*child.run) - child.first_step;
            if (steps > 0)
                pace_.try_emplace(child.run->setting->entry_index,
                                  seconds / static_cast<double>(steps));
        }
        if (pace_.empty()) return std::nullopt;
        double sum = 0, all = 0;
        for (const ComparisonRun& run : runs_) {
            const auto pace = pace_.find(run.setting->entry_index);
            const double step = pace == pace_.end() ? mean_pace() : pace->second;
            const double whole = step * static_cast<double>(total_steps(run));
            if (run.failure) continue;
            sum += run.finished ? 0 : whole - step * static_cast<double>(steps_so_far(run));
            all += whole;
        }
        const double mean = all / static_cast<double>(runs_.size());
        return (std::max(0.0, sum) + mean * static_cast<double>(progress_.later_runs)) /
               static_cast<double>(jobs_);
    }

    void show_progress() {
        constexpr double look_seconds = 1, say_seconds = 60;
        const double now = Pace::steady_seconds();
        if (now - shown_ < look_seconds) return;
        shown_ = now;
        const bool say = now - said_ >= say_seconds;
        if (say) said_ = now;
        double done = 0;
        std::string running;
        for (const ComparisonRun& run : runs_) {
            if (run.finished || run.failure) {
                done += 1;
                continue;
            }
            const bool runs = std::any_of(children_.begin(), children_.end(),
                                          [&](const Child& c) { return c.run == &run; });
            if (!runs) continue;
            const int64_t steps = steps_so_far(run), all = total_steps(run);
            done += static_cast<double>(steps) / static_cast<double>(all);
            running +=
                fmt::format("{}{} {}/{}", running.empty() ? "" : "; ", run.title, steps, all);
        }
        progress_.log.progress(done / static_cast<double>(runs_.size()),
                               fmt::format("{}/{} runs  eta {}  {}", finished_runs(), runs_.size(),
                                           format_duration(seconds_left()), running),
                               say);
    }

    std::vector<ComparisonRun>& runs_;
    int64_t jobs_;
    ComparisonProgress progress_;
    std::vector<Child> children_;
    std::map<std::size_t, double> pace_;  // by entry
    double said_, shown_ = 0;
};

}  // namespace

double ComparisonRun::figure(const std::string& name) const {
    const ResultValue* value = find_value(result, name);
    if (!value) return std::numeric_limits<double>::quiet_NaN();
    if (const auto* number = std::get_if<double>(value)) return *number;
    if (const auto* whole = std::get_if<int64_t>(value)) return static_cast<double>(*whole);
    return std::numeric_limits<double>::quiet_NaN();
}

int64_t ComparisonRun::whole_number(const std::string& name) const {
    const ResultValue* value = find_value(result, name);
    const auto* whole = value ? std::get_if<int64_t>(value) : nullptr;
    return whole ? *whole : 0;
}

ComparisonRun comparison_run(const ComparisonPlan& plan, const ComparisonConfig& config,
                             const ComparisonSetting& setting, int64_t seed,
                             const std::filesystem::path& root) {
    const std::string& entry = config.entries[setting.entry_index].name;
    const std::string& name = plan.cases[setting.case_index].name;
    RunConfig run_config = setting.config;
    std::visit([&](auto& task) { task.run.seed = seed; }, run_config);
    const std::string text = write_config(run_config);
    const auto hash =
        static_cast<uint32_t>(XXH3_64bits(text.data(), text.size()) ^ setting.data_hash);
    std::string title =
        title_of(plan.cases[setting.case_index], config.entries[setting.entry_index]);
    if (!setting.trial.empty()) title += fmt::format(" ({})", join(setting.trial, " "));
    ComparisonRun run{
        &setting, seed, std::move(run_config), fmt::format("{}, seed {}", title, seed), {}};
    run.failure = setting.failure;
    if (run.failure) return run;
    run.folder = root / name / entry / fmt::format("seed-{}-{:08x}", seed, hash);
    look(run);
    return run;
}

void train_runs(std::vector<ComparisonRun>& runs, int64_t jobs, ComparisonProgress progress) {
    Trainer(runs, jobs, std::move(progress)).run();
}

}  // namespace ralimp
