#include "trainers/comparison_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "autograd/operations.h"
#include "core/file.h"
#include "core/kernels.h"
#include "layers/folding.h"
#include "trainers/document.h"
#include "trainers/forward_time.h"
#include "trainers/loaded_run.h"
#include "trainers/plot.h"
#include "trainers/signals.h"

namespace ralimp {
namespace {

constexpr double smallest_drawn_error = 1e-6;
constexpr int64_t timed_rows[] = {1, 256, 16'384};

// The network of the median run as it is deployed, and what it costs.
struct Deployed {
    int64_t numbers = 0;
    std::optional<int64_t> multiply_adds;     // of a folded one
    std::vector<double> milliseconds, speed;  // of timed_rows; against the reference
};

struct Network {
    LoadedRun run;
    std::optional<FoldedNetwork> folded;

    Tensor forward(const Tensor& x) const {
        return folded ? folded->forward(x) : run.task->model().forward(x);
    }
};

RunOptions options_for(const ComparisonRun& run) {
    RunOptions options;
    options.run = run.folder;
    return options;
}

Network network_of(const ComparisonRun& run) {
    Network network{load_run(options_for(run), TaskUse::training), std::nullopt};
    try {
        network.folded.emplace(network.run.task->model().parts());
    } catch (const Error& error) {
        if (error.code() != ExitCode::bad_config) throw;
    }
    return network;
}

// Both in turn, so that whatever else the machine does hits both.
Deployed measured(const Network& network, const Network& reference) {
    const NoGrad pause;
    Deployed deployed;
    if (network.folded) {
        deployed.numbers = network.folded->cost().numbers;
        deployed.multiply_adds = network.folded->cost().multiply_adds;
    } else {
        deployed.numbers = network.run.task->model().count().deployed;
    }
    // Each in its own type, with inputs of its own.
    const Tensor x = network.run.task->calibration_batch();
    const Tensor reference_x = reference.run.task->calibration_batch();
    for (const int64_t rows : timed_rows) {
        throw_if_stop_requested();
        const Tensor in = repeated_rows(x, rows), reference_in = repeated_rows(reference_x, rows);
        const double theirs = fastest_milliseconds([&] { reference.forward(reference_in); });
        const double ours = fastest_milliseconds([&] { network.forward(in); });
        deployed.milliseconds.push_back(ours);
        deployed.speed.push_back(theirs / ours);
    }
    return deployed;
}

bool is_better(double a, double b, bool larger_is_better) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
    return larger_is_better ? a > b : a < b;
}

std::string figure_text(double value) { return std::isnan(value) ? "–" : format_number(value); }

std::string spread_text(const ComparedEntry::Spread& spread) {
    if (std::isnan(spread.median) || spread.lowest == spread.highest)
        return figure_text(spread.median);
    return fmt::format("{} ({} … {})", format_number(spread.median), format_number(spread.lowest),
                       format_number(spread.highest));
}

// A ratio of errors, a difference of decibels.
std::string against(double value, double reference, bool larger_is_better) {
    if (std::isnan(value) || std::isnan(reference)) return "–";
    return larger_is_better ? fmt::format("{:+.2f}", value - reference)
                            : fmt::format("{} ×", format_number(value / reference));
}

std::string joined(const std::vector<std::string>& texts) {
    return texts.empty() ? "as in the config" : join(texts, ", ");
}

class Report {
public:
    Report(const ComparisonOutcome& outcome, const std::filesystem::path& folder, Log& log)
        : outcome_(outcome), plan_(outcome.plan), folder_(folder), log_(log) {
        // The figures of a run stand between its task and its parameters.
        bool figures = false;
        const Result& some = any_result();
        for (const auto& [name, value] : some) {
            if (name == "trained_parameters") break;
            if (figures) metrics_.push_back(name);
            figures = true;
        }
    }

    void write() {
        document_.title = outcome_.name;
        add_introduction();
        for (std::size_t i = 0; i < plan_.cases.size(); ++i) add_case(i);
        add_settings();
        write_text("report.md", to_markdown(document_));
        write_text("report.html", to_html(document_, folder_));
        write_text("table.csv", table());
    }

private:
    const Result& any_result() const {
        for (const auto& entries : outcome_.compared)
            for (const ComparedEntry& entry : entries)
                for (const ComparisonRun& run : entry.runs)
                    if (!std::isnan(run.figure(outcome_.metric))) return run.result;
        return outcome_.compared[0][0].runs[0].result;
    }

    void write_text(const char* name, const std::string& text) const {
        write_file((folder_ / name).string(),
                   {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    }

    void add_introduction() {
        const ComparisonConfig& config = outcome_.config;
        const std::size_t seeds = config.seeds.size();
        std::set<int64_t> steps;
        for (const ComparisonSetting& setting : plan_.settings)
            steps.insert(settings_of(setting.config).training.total_steps());
        document_.parts.push_back(DocumentText{fmt::format(
            "{} of {}, {}. {} is better. {}Of the numbers of {} the others may have {:.4g} %, "
            "where "
            "the settings below say nothing else, counted as deployed: linear maps multiplied "
            "together. Times are those of {} at a time on {}.",
            outcome_.metric, config.run.filename().string(),
            seeds == 1 ? "one run each"
                       : fmt::format("medians of {} seeds with the lowest and highest", seeds),
            plan_.larger_is_better ? "Larger" : "Smaller",
            steps.size() == 1 ? fmt::format("Each has {} steps. ", *steps.begin()) : "",
            config.entries[0].name, 100 * config.share,
            outcome_.jobs == 1 ? "one run" : fmt::format("{} runs", outcome_.jobs),
            backend_description({}))});
    }

    const ComparedEntry& entry_of(std::size_t case_index, std::size_t entry) const {
        return outcome_.compared[case_index][entry];
    }
    const std::string& name_of_entry(std::size_t entry) const {
        return outcome_.config.entries[entry].name;
    }
    std::string title(std::size_t case_index, std::size_t entry) const {
        return title_of(plan_.cases[case_index], outcome_.config.entries[entry]);
    }
    std::string suffix(std::size_t case_index) const {
        const std::string& name = plan_.cases[case_index].name;
        return name.empty() ? "" : "-" + name;
    }

    void add_case(std::size_t case_index) {
        if (!plan_.cases[case_index].name.empty())
            document_.parts.push_back(DocumentHeading{plan_.cases[case_index].name, 2});
        const std::size_t entries = outcome_.config.entries.size();
        std::vector<std::optional<Network>> networks(entries);
        for (std::size_t i = 0; i < entries; ++i) {
            const ComparisonRun& run = median_run(entry_of(case_index, i));
            if (!std::isnan(run.figure(outcome_.metric))) networks[i].emplace(network_of(run));
        }
        std::vector<Deployed> deployed(entries);
        for (std::size_t i = 0; i < entries; ++i)
            if (networks[i] && networks[0]) deployed[i] = measured(*networks[i], *networks[0]);
        add_table(case_index, deployed);
        add_speed(case_index, deployed);
        try_to_draw([&] { add_curves(case_index); });
        try_to_draw([&] { add_pictures(case_index, networks); });
    }

    const ComparisonRun& median_run(const ComparedEntry& entry) const {
        return entry.median_run(outcome_.metric, plan_.larger_is_better);
    }

    void add_table(std::size_t case_index, const std::vector<Deployed>& deployed) {
        DocumentTable table;
        table.columns = {"",
                         "size",
                         "numbers",
                         fmt::format("of {}", name_of_entry(0)),
                         outcome_.metric,
                         plan_.larger_is_better ? "difference" : "ratio"};
        for (const std::string& metric : metrics_)
            if (metric != outcome_.metric) table.columns.push_back(metric);
        table.columns.insert(table.columns.end(), {"training, s", "failed"});
        const ComparedEntry& reference = entry_of(case_index, 0);
        const double whole = static_cast<double>(reference.chosen->deployed);
        const auto spread = [&](const ComparedEntry& entry, const std::string& metric) {
            return entry.spread(metric, plan_.larger_is_better);
        };
        for (std::size_t i = 0; i < deployed.size(); ++i) {
            const ComparedEntry& entry = entry_of(case_index, i);
            // What a trained network has, where it could be looked at.
            const int64_t numbers =
                deployed[i].numbers > 0 ? deployed[i].numbers : entry.chosen->deployed;
            const ComparedEntry::Spread main = spread(entry, outcome_.metric);
            std::vector<std::string> row{
                name_of_entry(i),
                entry.chosen->solved,
                fmt::format("{}", numbers),
                fmt::format("{:.1f} %", 100 * static_cast<double>(numbers) / whole),
                spread_text(main),
                against(main.median, spread(reference, outcome_.metric).median,
                        plan_.larger_is_better)};
            for (const std::string& metric : metrics_)
                if (metric != outcome_.metric)
                    row.push_back(figure_text(spread(entry, metric).median));
            row.push_back(figure_text(median_of(figures(entry, "seconds"), false)));
            const auto failed = std::count_if(
                entry.runs.begin(), entry.runs.end(),
                [&](const auto& run) { return std::isnan(run.figure(outcome_.metric)); });
            row.push_back(fmt::format("{}", failed));
            log_.line("{:<24} {:>9} numbers ({})  {} {}", title(case_index, i), row[2], row[3],
                      outcome_.metric, row[4]);
            table.rows.push_back(std::move(row));
        }
        document_.parts.push_back(std::move(table));
    }

    static std::vector<double> figures(const ComparedEntry& entry, const std::string& name) {
        std::vector<double> values;
        for (const ComparisonRun& run : entry.runs) values.push_back(run.figure(name));
        return values;
    }

    void add_speed(std::size_t case_index, const std::vector<Deployed>& deployed) {
        DocumentTable table;
        table.columns = {"forward pass of the median run", "multiply-adds of an input"};
        for (const int64_t rows : timed_rows) {
            table.columns.push_back(fmt::format("{} {}, ms", rows, rows == 1 ? "row" : "rows"));
            table.columns.push_back(fmt::format("times as fast as {}", name_of_entry(0)));
        }
        for (std::size_t i = 0; i < deployed.size(); ++i) {
            const Deployed& one = deployed[i];
            if (one.milliseconds.empty()) continue;
            std::vector<std::string> row{
                entry_of(case_index, i).chosen ? name_of_entry(i) : "",
                one.multiply_adds ? fmt::format("{}", *one.multiply_adds) : "not folded"};
            for (std::size_t k = 0; k < one.milliseconds.size(); ++k) {
                row.push_back(format_number(one.milliseconds[k]));
                row.push_back(i == 0 ? "" : fmt::format("{:.2f}", one.speed[k]));
            }
            table.rows.push_back(std::move(row));
        }
        if (!table.rows.empty()) document_.parts.push_back(std::move(table));
    }

    // The figure against numbers, of all runs, and in the course of the median run.
    void add_curves(std::size_t case_index) {
        CurvePanel size{outcome_.metric, "deployed numbers", "", {}, false, false, {}};
        CurvePanel time{outcome_.metric, "seconds of training", "", {}, false, false, {}};
        double smallest = INFINITY, largest = 0;
        for (std::size_t i = 0; i < outcome_.config.entries.size(); ++i) {
            const ComparedEntry& entry = entry_of(case_index, i);
            const std::vector<double> values = figures(entry, outcome_.metric);
            size.curves.push_back(
                {name_of_entry(i),
                 std::vector<double>(values.size(), static_cast<double>(entry.chosen->deployed)),
                 values, CurveStyle::points});
            time.curves.push_back(course_of(median_run(entry), name_of_entry(i)));
            for (const CurvePanel* panel : {&size, &time})
                for (const double y : panel->curves.back().y)
                    if (std::isfinite(y)) {
                        smallest = std::min(smallest, y);
                        largest = std::max(largest, y);
                    }
        }
        size.log_y = time.log_y = smallest > 0 && largest > 10 * smallest;
        const std::string name = fmt::format("quality{}.png", suffix(case_index));
        plot_curves((folder_ / name).string(), {size, time});
        document_.parts.push_back(DocumentPictures{
            {{name, "every run by its size, and the course of the median run of each entry"}}});
    }

    Curve course_of(const ComparisonRun& run, const std::string& label) const {
        Curve curve{label, {}, {}};
        const MetricsTable metrics = read_metrics((run.folder / "metrics.csv").string());
        const auto column = [&](const std::string& name) {
            return static_cast<std::size_t>(
                std::find(metrics.columns.begin(), metrics.columns.end(), name) -
                metrics.columns.begin());
        };
        const std::size_t seconds = column("seconds"), figure = column(outcome_.metric);
        if (seconds == metrics.columns.size() || figure == metrics.columns.size()) return curve;
        for (const auto& row : metrics.rows) {
            if (!row[seconds] || !row[figure]) continue;
            curve.x.push_back(*row[seconds]);
            curve.y.push_back(*row[figure]);
        }
        return curve;
    }

    void add_pictures(std::size_t case_index, const std::vector<std::optional<Network>>& networks) {
        if (add_error_maps(case_index, networks)) return;
        std::map<std::string, DocumentPictures> rows;  // by the name of the picture
        for (std::size_t i = 0; i < networks.size(); ++i) {
            if (!networks[i]) continue;
            const ComparisonRun& run = median_run(entry_of(case_index, i));
            std::error_code error;
            for (const auto& file :
                 std::filesystem::directory_iterator(run.folder / "pictures", error)) {
                const std::string name = file.path().filename().string();
                if (file.path().extension() != ".png" || name == "loss.png" ||
                    name == "original.png")
                    continue;
                rows[name].pictures.push_back(
                    {std::filesystem::relative(file.path(), folder_).string(),
                     caption_of(case_index, i)});
            }
        }
        for (auto& [name, pictures] : rows) {
            document_.parts.push_back(DocumentText{name});
            document_.parts.push_back(std::move(pictures));
        }
    }

    std::string caption_of(std::size_t case_index, std::size_t entry) const {
        const ComparisonRun& run = median_run(entry_of(case_index, entry));
        return fmt::format("{}, seed {}, {} {}", name_of_entry(entry), run.seed, outcome_.metric,
                           format_number(run.figure(outcome_.metric)));
    }

    // |error| of the first output over two axes, with one scale; of a PINN whose solution is known.
    bool add_error_maps(std::size_t case_index,
                        const std::vector<std::optional<Network>>& networks) {
        std::vector<Field> fields;
        FieldAxis x, y;
        for (std::size_t i = 0; i < networks.size(); ++i) {
            if (!networks[i]) continue;
            Task& task = *networks[i]->run.task;
            if (task.kind() != PinnConfig::kind) return false;
            const FieldData data = task.predict({});
            const std::string exact = data.names[0] + "_exact";
            const auto found = std::find(data.names.begin(), data.names.end(), exact);
            if (data.positions.size() != 2 || found == data.names.end()) return false;
            const auto& rows = data.positions[0];
            const auto& columns = data.positions[1];
            y = {data.axes[0], rows.front(), rows.back()};
            x = {data.axes[1], columns.front(), columns.back()};
            const Tensor error =
                select(data.values, 1, 0) - select(data.values, 1, found - data.names.begin());
            std::vector<double> orders = error.to_doubles();
            for (double& value : orders)
                value = std::log10(std::max(std::abs(value), smallest_drawn_error));
            fields.push_back({caption_of(case_index, i),
                              Tensor::from(orders, {static_cast<int64_t>(rows.size()),
                                                    static_cast<int64_t>(columns.size())}),
                              1, Palette::inferno});
        }
        if (fields.empty()) return false;
        const std::string name = fmt::format("errors{}.png", suffix(case_index));
        plot_fields((folder_ / name).string(), fields, x, y, {.columns = 3});
        document_.parts.push_back(
            DocumentPictures{{{name, "log10 |error| of the median runs, one scale"}}});
        return true;
    }

    void try_to_draw(const std::function<void()>& draw) {
        try {
            draw();
        } catch (const Interrupted&) {
            throw;
        } catch (const Error& error) {
            log_.warning("{}", error.what());
        }
    }

    // What was tried, and what each entry is.
    void add_settings() {
        document_.parts.push_back(DocumentHeading{"Settings", 2});
        const ComparisonConfig& config = outcome_.config;
        DocumentList list;
        list.items.push_back(fmt::format("all: {}", joined(config.changes)));
        for (const ComparisonCase& one : config.cases)
            list.items.push_back(fmt::format("{}: {}", one.name, joined(one.changes)));
        for (const ComparisonEntry& entry : config.entries)
            list.items.push_back(fmt::format(
                "{}: {}{}", entry.name, joined(entry.changes),
                entry.share ? fmt::format("; at most {:.4g} % of the numbers", 100 * *entry.share)
                            : ""));
        document_.parts.push_back(std::move(list));
        DocumentTable trials{{"trials", "setting", "size", outcome_.metric, "taken"}, {}};
        for (std::size_t c = 0; c < plan_.cases.size(); ++c)
            for (std::size_t e = 0; e < config.entries.size(); ++e) {
                const ComparedEntry& entry = entry_of(c, e);
                for (const ComparisonSetting* setting : plan_.settings_of(c, e)) {
                    std::vector<double> values;
                    for (const ComparisonRun& run : entry.trials)
                        if (run.setting == setting) values.push_back(run.figure(outcome_.metric));
                    if (values.empty()) continue;
                    trials.rows.push_back({title(c, e), joined(setting->trial), setting->solved,
                                           figure_text(median_of(values, plan_.larger_is_better)),
                                           setting == entry.chosen ? "yes" : ""});
                }
            }
        if (trials.rows.empty()) return;
        std::set<std::size_t> efforts;
        for (std::size_t e = 0; e < config.entries.size(); ++e)
            efforts.insert(plan_.settings_of(0, e).size());
        if (efforts.size() > 1)
            document_.parts.push_back(
                DocumentText{"Not all entries have the same number of trials."});
        document_.parts.push_back(DocumentText{fmt::format(
            "Of the trials of an entry, judged by seeds apart from those above ({}), the one with "
            "the best median was taken.",
            fmt::format("{}", fmt::join(config.trial_seeds, ", ")))});
        document_.parts.push_back(std::move(trials));
    }

    std::string table() const {
        std::vector<std::string> columns{"case",    "entry", "seed",   "purpose",
                                         "changes", "size",  "numbers"};
        columns.insert(columns.end(), metrics_.begin(), metrics_.end());
        const std::vector<std::string> others{"trained_parameters", "steps", "seconds",
                                              "peak_memory_bytes", "clamped_exponents"};
        columns.insert(columns.end(), others.begin(), others.end());
        columns.insert(columns.end(), {"stopped_by", "folder"});
        std::string text = csv_row(columns);
        const auto add = [&](const ComparisonRun& run, const char* purpose) {
            const ComparisonSetting& setting = *run.setting;
            std::vector<std::string> row{plan_.cases[setting.case_index].name,
                                         name_of_entry(setting.entry_index),
                                         fmt::format("{}", run.seed),
                                         purpose,
                                         join(setting.trial, " "),
                                         setting.solved,
                                         fmt::format("{}", setting.deployed)};
            for (const std::string& metric : metrics_) {
                const double value = run.figure(metric);
                row.push_back(std::isnan(value) ? "nan" : fmt::format("{}", value));
            }
            for (const std::string& other : others)
                row.push_back(fmt::format("{}", run.figure(other)));
            row.push_back(run.stopped_by);
            row.push_back(std::filesystem::relative(run.folder, folder_).string());
            text += csv_row(row);
        };
        for (const auto& entries : outcome_.compared)
            for (const ComparedEntry& entry : entries) {
                for (const ComparisonRun& run : entry.trials) add(run, "trial");
                for (const ComparisonRun& run : entry.runs) add(run, "result");
            }
        return text;
    }

    const ComparisonOutcome& outcome_;
    const ComparisonPlan& plan_;
    const std::filesystem::path& folder_;
    Log& log_;
    std::vector<std::string> metrics_;
    Document document_;
};

}  // namespace

double median_of(std::vector<double> values, bool larger_is_better) {
    check(!values.empty(), "median: of nothing");
    std::sort(values.begin(), values.end(),
              [&](double a, double b) { return is_better(a, b, larger_is_better); });
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

ComparedEntry::Spread ComparedEntry::spread(const std::string& metric,
                                            bool larger_is_better) const {
    std::vector<double> values;
    for (const ComparisonRun& run : runs) values.push_back(run.figure(metric));
    Spread spread{median_of(values, larger_is_better), NAN, NAN};
    for (const double value : values) {
        spread.lowest = std::fmin(spread.lowest, value);
        spread.highest = std::fmax(spread.highest, value);
    }
    return spread;
}

const ComparisonRun& ComparedEntry::median_run(const std::string& metric,
                                               bool larger_is_better) const {
    std::vector<const ComparisonRun*> sorted;
    for (const ComparisonRun& run : runs) sorted.push_back(&run);
    std::sort(sorted.begin(), sorted.end(), [&](const auto* a, const auto* b) {
        return is_better(a->figure(metric), b->figure(metric), larger_is_better);
    });
    return *sorted[(sorted.size() - 1) / 2];
}

void write_comparison_report(const ComparisonOutcome& outcome, const std::filesystem::path& folder,
                             Log& log) {
    Report(outcome, folder, log).write();
}

}  // namespace ralimp
