#include "trainers/comparison_pictures.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "autograd/operations.h"
#include "trainers/plot.h"

namespace ralimp {
namespace {

using Networks = std::vector<std::optional<ComparedNetwork>>;

constexpr double smallest_drawn_error = 1e-6;

// Of the figure that decides.
Curve course_of(const ComparisonRun& run, const std::string& metric, const std::string& label) {
    Curve curve{label, {}, {}};
    if (run.failure) return curve;
    const MetricsTable metrics = read_metrics((run.folder / "metrics.csv").string());
    const auto column = [&](const std::string& name) {
        return static_cast<std::size_t>(
            std::find(metrics.columns.begin(), metrics.columns.end(), name) -
            metrics.columns.begin());
    };
    const std::size_t seconds = column("seconds"), figure = column(metric);
    if (seconds == metrics.columns.size() || figure == metrics.columns.size()) return curve;
    for (const auto& row : metrics.rows) {
        if (!row[seconds] || !row[figure]) continue;
        curve.x.push_back(*row[seconds]);
        curve.y.push_back(*row[figure]);
    }
    return curve;
}

std::string caption_of(const ComparisonOutcome& outcome, std::size_t case_index,
                       std::size_t entry) {
    const ComparisonRun& run = outcome.median_run(case_index, entry);
    return fmt::format("{}, seed {}, {} {}", outcome.config.entries[entry].name, run.seed,
                       outcome.metric, format_number(run.figure(outcome.metric)));
}

// |error| of the first output over two axes, with one scale; of a PINN whose solution is known.
std::optional<DocumentPictures> error_maps(const ComparisonOutcome& outcome, std::size_t case_index,
                                           const Networks& networks,
                                           const std::filesystem::path& folder) {
    std::vector<Field> fields;
    FieldAxis x, y;
    for (std::size_t i = 0; i < networks.size(); ++i) {
        if (!networks[i]) continue;
        Task& task = *networks[i]->run.task;
        if (task.kind() != PinnConfig::kind) return std::nullopt;
        const FieldData data = task.predict({});
        const std::string exact = data.names[0] + "_exact";
        const auto found = std::find(data.names.begin(), data.names.end(), exact);
        if (data.positions.size() != 2 || found == data.names.end()) return std::nullopt;
        const auto& rows = data.positions[0];
        const auto& columns = data.positions[1];
        y = {data.axes[0], rows.front(), rows.back()};
        x = {data.axes[1], columns.front(), columns.back()};
        const Tensor error =
            select(data.values, 1, 0) - select(data.values, 1, found - data.names.begin());
        std::vector<double> orders = error.to_doubles();
        for (double& value : orders)
            value = std::log10(std::max(std::abs(value), smallest_drawn_error));
        fields.push_back({caption_of(outcome, case_index, i),
                          Tensor::from(orders, {static_cast<int64_t>(rows.size()),
                                                static_cast<int64_t>(columns.size())}),
                          1, Palette::inferno});
    }
    if (fields.empty()) return std::nullopt;
    const std::string name = outcome.picture_name("errors", case_index);
    plot_fields((folder / name).string(), fields, x, y, {.columns = 3});
    return DocumentPictures{{{name, "log10 |error| of the median runs, one scale"}}};
}

}  // namespace

DocumentPictures draw_comparison_curves(const ComparisonOutcome& outcome, std::size_t case_index,
                                        const std::filesystem::path& folder) {
    CurvePanel size{outcome.metric, "deployed numbers", "", {}, false, false, {}};
    CurvePanel time{outcome.metric, "seconds of training", "", {}, false, false, {}};
    double smallest = INFINITY, largest = 0;
    for (std::size_t i = 0; i < outcome.config.entries.size(); ++i) {
        const ComparedEntry& entry = outcome.compared[case_index][i];
        const std::vector<double> values = entry.figures(outcome.metric);
        const bool failed = std::all_of(entry.runs.begin(), entry.runs.end(),
                                        [](const auto& run) { return run.failure.has_value(); });
        const std::string label = outcome.config.entries[i].name + (failed ? " (failed)" : "");
        size.curves.push_back(
            {label, std::vector<double>(values.size(), static_cast<double>(entry.chosen->deployed)),
             values, CurveStyle::points});
        time.curves.push_back(course_of(outcome.median_run(case_index, i), outcome.metric, label));
        for (const CurvePanel* panel : {&size, &time})
            for (const double y : panel->curves.back().y)
                if (std::isfinite(y)) {
                    smallest = std::min(smallest, y);
                    largest = std::max(largest, y);
                }
    }
    size.log_y = time.log_y = smallest > 0 && largest > 10 * smallest;
    const std::string name = outcome.picture_name("quality", case_index);
    plot_curves((folder / name).string(), {size, time});
    return {{{name, "every run by its size, and the course of the median run of each entry"}}};
}

std::vector<DocumentPart> comparison_pictures(const ComparisonOutcome& outcome,
                                              std::size_t case_index, const Networks& networks,
                                              const std::filesystem::path& folder) {
    if (auto maps = error_maps(outcome, case_index, networks, folder)) return {std::move(*maps)};
    std::map<std::string, DocumentPictures> rows;  // by the name of the picture
    for (std::size_t i = 0; i < networks.size(); ++i) {
        if (!networks[i]) continue;
        const ComparisonRun& run = outcome.median_run(case_index, i);
        std::error_code error;
        for (const auto& file :
             std::filesystem::directory_iterator(run.folder / "pictures", error)) {
            const std::string name = file.path().filename().string();
            if (file.path().extension() != ".png" || name == "loss.png" || name == "original.png")
                continue;
            rows[name].pictures.push_back({std::filesystem::relative(file.path(), folder).string(),
                                           caption_of(outcome, case_index, i)});
        }
    }
    std::vector<DocumentPart> parts;
    for (auto& [name, pictures] : rows) {
        parts.push_back(DocumentText{name});
        parts.push_back(std::move(pictures));
    }
    return parts;
}

}  // namespace ralimp
