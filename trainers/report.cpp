#include "trainers/report.h"

#include <sys/resource.h>

#include <algorithm>

#include "core/kernels.h"
#include "trainers/plot.h"
#include "trainers/result.h"

namespace ralimp {
namespace {

// The largest memory the process ever had, as the operating system counts it.
int64_t peak_memory_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return int64_t{usage.ru_maxrss} * 1024;
}

Curve curve_of(const MetricsTable& table, std::size_t column) {
    Curve curve{table.columns[column], {}, {}};
    for (std::size_t row = 0; row < table.steps.size(); ++row) {
        if (!table.rows[row][column]) continue;
        curve.x.push_back(static_cast<double>(table.steps[row]));
        curve.y.push_back(*table.rows[row][column]);
    }
    return curve;
}

}  // namespace

void draw_loss_curves(const std::filesystem::path& metrics, const std::filesystem::path& picture) {
    const MetricsTable table = read_metrics(metrics.string());
    const auto find = [&](const char* name) {
        return static_cast<std::size_t>(
            std::find(table.columns.begin(), table.columns.end(), name) - table.columns.begin());
    };
    // loss and its terms | learning_rate, gradient_norm, weights, seconds | figures of the
    // evaluation
    const std::size_t terms_end = find("learning_rate"), figures = find("seconds") + 1;
    CurvePanel loss{"loss", "step", "", {}, false, true};
    for (std::size_t column = 0; column < terms_end; ++column)
        loss.curves.push_back(curve_of(table, column));
    std::vector<CurvePanel> panels{loss};
    if (figures < table.columns.size()) {
        const Curve curve = curve_of(table, figures);
        const bool log =
            std::all_of(curve.y.begin(), curve.y.end(), [](double y) { return y > 0 && y < 1; });
        panels.push_back({curve.label, "step", "", {curve}, false, log});
        panels.back().curves[0].label.clear();
    }
    plot_curves(picture.string(), panels);
}

void begin_run(const RunFolder& folder, const std::string& config_text, Task& task, Log& log,
               bool is_new) {
    folder.write_config(config_text);
    log.open_file(folder.log().string());
    log.line("ralimp {}, {}", RALIMP_VERSION, backend_description({}));
    log.line("run {}", folder.path().string());
    const ParameterCount count = task.model().count();
    log.line("{}: {}; {} trained parameters, {} deployed", task.kind(), task.model().description(),
             count.trained, count.deployed);
    if (!is_new) return;
    task.write_data(folder.path());
    for (const std::string& remark : task.remarks()) log.line("{}", remark);
}

void write_training_result(const RunFolder& folder, const RunConfig& config, Task& task,
                           const TrainingResult& result) {
    const ParameterCount count = task.model().count();
    Result values{{"task", task.kind()}};
    for (const auto& [name, value] : result.metrics) values.emplace_back(name, value);
    values.emplace_back("trained_parameters", count.trained);
    values.emplace_back("deployed_parameters", count.deployed);
    values.emplace_back("steps", result.steps);
    values.emplace_back("seconds", result.seconds);
    values.emplace_back("steps_per_second", result.steps_per_second);
    values.emplace_back("clamped_exponents", result.clamped_exponents);
    values.emplace_back("peak_memory_bytes", peak_memory_bytes());
    values.emplace_back("seed", settings_of(config).seed);
    values.emplace_back("version", std::string(RALIMP_VERSION));
    values.emplace_back("stopped_by", result.stopped_by);
    write_result(folder.result().string(), values);
}

}  // namespace ralimp
