// ralimp fit: what a RaLiMP layer of given options can promise for an activation.
#include <fmt/core.h>

#include "core/available_memory.h"
#include "core/file.h"
#include "layers/fit_report.h"
#include "trainers/commands.h"
#include "trainers/config.h"
#include "trainers/plot.h"
#include "trainers/signals.h"

namespace ralimp {
namespace {

std::vector<double> absolute_differences(const std::vector<double>& a,
                                         const std::vector<double>& b) {
    std::vector<double> result(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) result[i] = std::abs(a[i] - b[i]);
    return result;
}

// Left: the function and what stands in for it. Right: the errors.
void draw(const FitReport& report, const std::string& path) {
    const std::string name = report.options.activation;
    const CurvePanel functions{
        name + " and its replacements",
        "t",
        "",
        {{name, report.t, report.function},
         {"rational surrogate", report.t, report.surrogate, CurveStyle::dashed},
         {"waves", report.t, report.wave_sum, CurveStyle::dashed},
         {"one layer of random features", report.reached, report.estimate}}};
    const CurvePanel errors{
        "errors",
        "t",
        "",
        {{"rational fit", report.t, absolute_differences(report.function, report.surrogate)},
         {"quadrature", report.t, absolute_differences(report.surrogate, report.wave_sum)},
         {"sampling, predicted", report.reached, report.deviation_predicted, CurveStyle::dashed},
         {"sampling, measured", report.reached, report.deviation_measured}},
        false,
        true};
    plot_curves(path, {functions, errors});
}

// One layer's projection rows are drawn at a time.
void check_memory(const FitOptions& options) {
    const double bytes = static_cast<double>(options.features) *
                         static_cast<double>(options.dimension) * sizeof(double);
    const double available = available_memory();
    if (bytes > available)
        fail_with(
            ExitCode::bad_config,
            "features: {} of dimension {} take {:.3g} GiB, {:.3g} GiB of memory are available",
            options.features, options.dimension, bytes / (1 << 30), available / (1 << 30));
}

// Whatever is wrong with a fit is wrong with its options.
FitReport report_of(const FitOptions& options) {
    try {
        return make_fit_report(options);
    } catch (const Error& error) {
        fail_with(ExitCode::bad_config, "{}", error.what());
    }
}

}  // namespace

ExitCode fit(const FitCommandOptions& options) {
    std::vector<std::string> changes = options.changes;
    changes.insert(changes.begin(), "activation=" + options.activation);
    const auto config = read_config_text<FitOptions>("{}", "fit", changes);
    check_memory(config);
    if (!options.picture.empty()) check_writable(options.picture.string());
    const FitReport report = report_of(config);
    fmt::print("{}", report.to_text());
    if (!options.picture.empty()) {
        const StopSignals signals;  // gnuplot and its files are not left behind
        draw(report, options.picture.string());
        fmt::print("picture {}\n", options.picture.string());
    }
    return ExitCode::success;
}

std::string fit_keys() { return config_help<FitOptions>(); }

}  // namespace ralimp
