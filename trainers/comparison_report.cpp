#include "trainers/comparison_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "core/file.h"
#include "core/kernels.h"
#include "trainers/comparison_networks.h"
#include "trainers/comparison_pictures.h"
#include "trainers/comparison_table.h"
#include "trainers/signals.h"

namespace ralimp {
namespace {

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
        : outcome_(outcome),
          plan_(outcome.plan),
          folder_(folder),
          log_(log),
          metrics_(outcome.figure_names()) {}

    void write() {
        document_.title = outcome_.name;
        add_introduction();
        for (std::size_t i = 0; i < plan_.cases.size(); ++i) add_case(i);
        add_failures();
        add_settings();
        write_text("report.md", to_markdown(document_));
        write_text("report.html", to_html(document_, folder_));
        write_text("table.csv", comparison_table(outcome_, folder_));
    }

private:
    void write_text(const char* name, const std::string& text) const {
        write_file((folder_ / name).string(),
                   {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    }

    void add_introduction() {
        const ComparisonConfig& config = outcome_.config;
        const std::size_t seeds = config.seeds.size();
        std::set<int64_t> steps;
        for (const ComparisonSetting& setting : plan_.settings)
            if (!setting.failure) steps.insert(settings_of(setting.config).training.total_steps());
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
    void add_case(std::size_t case_index) {
        if (!plan_.cases[case_index].name.empty())
            document_.parts.push_back(DocumentHeading{plan_.cases[case_index].name, 2});
        const std::size_t entries = outcome_.config.entries.size();
        std::vector<std::optional<ComparedNetwork>> networks(entries);
        for (std::size_t i = 0; i < entries; ++i) {
            const ComparisonRun& run = outcome_.median_run(case_index, i);
            if (!std::isnan(run.figure(outcome_.metric)))
                networks[i].emplace(compared_network(run));
        }
        const std::vector<DeployedCost> deployed = measured_costs(networks);
        add_table(case_index, deployed);
        add_speed(case_index, deployed);
        try_to_draw([&] {
            const DocumentPictures curves = draw_comparison_curves(outcome_, case_index, folder_);
            document_.parts.emplace_back(curves);
        });
        try_to_draw([&] {
            for (DocumentPart& part : comparison_pictures(outcome_, case_index, networks, folder_))
                document_.parts.push_back(std::move(part));
        });
    }

    void add_table(std::size_t case_index, const std::vector<DeployedCost>& deployed) {
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
            const int64_t numbers = deployed[i].network.numbers > 0 ? deployed[i].network.numbers
                                                                    : entry.chosen->deployed;
            const ComparedEntry::Spread main = spread(entry, outcome_.metric);
            std::vector<std::string> row{
                name_of_entry(i),
                entry.chosen->solved,
                numbers > 0 ? fmt::format("{}", numbers) : "–",
                numbers > 0 && whole > 0
                    ? fmt::format("{:.1f} %", 100 * static_cast<double>(numbers) / whole)
                    : "–",
                spread_text(main),
                against(main.median, spread(reference, outcome_.metric).median,
                        plan_.larger_is_better)};
            for (const std::string& metric : metrics_)
                if (metric != outcome_.metric)
                    row.push_back(figure_text(spread(entry, metric).median));
            row.push_back(figure_text(median_of(entry.figures("seconds"), false)));
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

    void add_speed(std::size_t case_index, const std::vector<DeployedCost>& deployed) {
        DocumentTable table;
        table.columns = {"forward pass of the median run", "multiply-adds of an input"};
        for (const int64_t rows : timed_rows) {
            table.columns.push_back(fmt::format("{} {}, ms", rows, rows == 1 ? "row" : "rows"));
            table.columns.push_back(fmt::format("times as fast as {}", name_of_entry(0)));
        }
        for (std::size_t i = 0; i < deployed.size(); ++i) {
            const DeployedCost& one = deployed[i];
            if (one.milliseconds.empty()) continue;
            std::vector<std::string> row{entry_of(case_index, i).chosen ? name_of_entry(i) : "",
                                         fmt::format("{}", one.network.multiply_adds)};
            for (std::size_t k = 0; k < one.milliseconds.size(); ++k) {
                row.push_back(format_number(one.milliseconds[k]));
                row.push_back(i == 0 ? "" : fmt::format("{:.2f}", one.speed[k]));
            }
            table.rows.push_back(std::move(row));
        }
        if (!table.rows.empty()) document_.parts.push_back(std::move(table));
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

    // Why runs have no figures; a loss that is not finite says enough in table.csv.
    void add_failures() {
        std::vector<std::string> reasons;
        for (const auto& entries : outcome_.compared)
            for (const ComparedEntry& entry : entries)
                for (const auto* runs : {&entry.trials, &entry.runs})
                    for (const ComparisonRun& run : *runs)
                        if (run.failure)
                            reasons.push_back(
                                fmt::format("{}: {}", run.title, run.failure->reason));
        if (reasons.empty()) return;
        document_.parts.push_back(DocumentHeading{"Failed", 2});
        document_.parts.push_back(DocumentList{std::move(reasons)});
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

    const ComparisonOutcome& outcome_;
    const ComparisonPlan& plan_;
    const std::filesystem::path& folder_;
    Log& log_;
    const std::vector<std::string> metrics_;
    Document document_;
};

}  // namespace

void write_comparison_report(const ComparisonOutcome& outcome, const std::filesystem::path& folder,
                             Log& log) {
    Report(outcome, folder, log).write();
}

}  // namespace ralimp
