#include "layers/fit_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"

namespace ralimp {
namespace {

constexpr std::size_t curve_points = 801;  // odd, so that a kink in the middle is seen
constexpr std::size_t reached_points = 41;

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference = std::abs(a[i] - b[i]);
        if (!(difference <= largest)) largest = difference;  // NaN stays
    }
    return largest;
}

double largest(const std::vector<double>& values) {
    return *std::max_element(values.begin(), values.end());
}

// Real and phase input always use the pairs ±g: one row then gives two features, as the two parts
// of a symmetric draw do.
bool always_pairs(Split split) { return split != Split::symmetric; }

// Variance of a layer of m features per part at one geometry.
double layer_variance(const FitOptions& options, const WaveSum& sum, const PairGeometry& pair) {
    const double angle = angle_of(options.split);
    const auto m = static_cast<double>(options.features);
    const bool pairs = options.antithetic || always_pairs(options.split);
    double waves = 0;
    if (options.share_projections) {
        waves = wave_variance(angle, sum.waves, pair, pairs);
    } else {
        for (const Wave& wave : sum.waves) waves += wave_variance(angle, {&wave, 1}, pair, pairs);
    }
    const double draws = pairs && !always_pairs(options.split) ? m / 2 : m;
    return waves / draws + polynomial_variance(sum.polynomial, pair) / m;
}

PairGeometry geometry(double norm, double t) { return {norm, norm, t}; }

// One random layer: its estimates of the surrogate at every reached t. x lies along the first axis,
// w in the plane of the first two.
class RandomLayer {
public:
    RandomLayer(const FitOptions& options, const WaveSum& sum, double norm, uint32_t draw)
        : options_(options), sum_(sum), norm_(norm) {
        const uint64_t groups = options.share_projections ? 1 : sum.waves.size();
        const bool mirrored = options.antithetic && !always_pairs(options.split);
        for (uint64_t group = 0; group < groups; ++group)
            rows_.push_back(
                draw_rows(options.features, draw, group, {options.orthogonal, mirrored}));
        // Each degree has a group of its own: rows that are multiplied must be independent.
        for (std::size_t k = 1; k < sum.polynomial.size(); ++k)
            polynomial_rows_.push_back(
                draw_rows(options.features, draw, groups + k, {options.orthogonal, false}));
    }

    double estimate(double t) const {
        double total = sum_.polynomial.empty() ? 0 : sum_.polynomial[0] + polynomial(t);
        const auto m = static_cast<std::size_t>(options_.features);
        const double angle = angle_of(options_.split);
        for (std::size_t k = 0; k < sum_.waves.size(); ++k) {
            const Wave& wave = sum_.waves[k];
            const std::vector<Row>& rows = rows_[options_.share_projections ? 0 : k];
            std::complex<double> mean = 0;
            for (std::size_t i = 0; i < m; ++i) {
                const double x = project_input(rows[i]), w = project_weight(rows[i], t);
                std::complex<double> draw = product(angle, wave.frequency, x, w);
                if (always_pairs(options_.split))
                    draw = 0.5 * (draw + product(angle, wave.frequency, -x, -w));
                mean += draw;
            }
            mean /= static_cast<double>(m);
            total += wave.cosine * mean.real() + wave.sine * mean.imag();
        }
        return total;
    }

private:
    struct Row {
        double g0, g1;
    };

    std::vector<Row> draw_rows(int64_t count, uint32_t draw, uint64_t group,
                               const ProjectionOptions& projection) const {
        const RandomKey key{options_.seed + (group << 32), RandomStream::projections, draw};
        const std::vector<double> values =
            projection_rows(count, options_.dimension, key, projection);
        std::vector<Row> rows;
        for (std::size_t i = 0; i < values.size();
             i += static_cast<std::size_t>(options_.dimension))
            rows.push_back({values[i], values[i + 1]});
        return rows;
    }

    double project_input(const Row& row) const { return row.g0 * std::sqrt(norm_); }
    double project_weight(const Row& row, double t) const {
        const double cosine = std::clamp(t / norm_, -1.0, 1.0);
        return std::sqrt(norm_) * (cosine * row.g0 + std::sqrt(1 - cosine * cosine) * row.g1);
    }
    std::complex<double> product(double angle, double s, double x, double w) const {
        return input_feature(angle, s, x, norm_) * weight_feature(angle, s, w, norm_);
    }

    double polynomial(double t) const {
        double sum = 0;
        const auto m = static_cast<std::size_t>(options_.features);
        const std::size_t degree = sum_.polynomial.size() - 1;
        for (std::size_t i = 0; i < m && degree > 0; ++i) {
            double prefix = 1;
            for (std::size_t k = 1; k <= degree; ++k) {
                const Row& row = polynomial_rows_[k - 1][i];
                prefix *= project_input(row) * project_weight(row, t);
                sum += sum_.polynomial[k] * prefix;
            }
        }
        return sum / static_cast<double>(m);
    }

    const FitOptions& options_;
    const WaveSum& sum_;
    double norm_;
    std::vector<std::vector<Row>> rows_, polynomial_rows_;
};

std::vector<double> predicted_deviations(const FitReport& report, const WaveSum& waves) {
    std::vector<double> result;
    for (double t : report.reached)
        result.push_back(
            std::sqrt(layer_variance(report.options, waves, geometry(report.scaled_norm, t))));
    return result;
}

void measure_sampling(FitReport& report, const ScalarFunction& function) {
    const auto repeats = static_cast<std::size_t>(report.options.repeats);
    std::vector<std::vector<double>> estimates(repeats);
    parallel_for(static_cast<int64_t>(repeats), 8, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const RandomLayer layer(report.options, report.waves, report.scaled_norm,
                                    static_cast<uint32_t>(i));
            for (double t : report.reached)
                estimates[static_cast<std::size_t>(i)].push_back(layer.estimate(t));
        }
    });
    report.estimate = estimates[0];
    for (std::size_t j = 0; j < report.reached.size(); ++j) {
        const double wanted = report.waves.value(report.reached[j]);
        const double truth = function(report.reached[j]);
        double mean = 0, square = 0, error = 0;
        for (const std::vector<double>& layer : estimates) {
            mean += (layer[j] - wanted) / static_cast<double>(repeats);
            square += (layer[j] - wanted) * (layer[j] - wanted) / static_cast<double>(repeats);
            error += (layer[j] - truth) * (layer[j] - truth) / static_cast<double>(repeats);
        }
        report.deviation_measured.push_back(std::sqrt(square));
        report.total_measured = std::max(report.total_measured, std::sqrt(error));
        const double standard_error =
            std::sqrt(std::max(square - mean * mean, 1e-300) / static_cast<double>(repeats));
        report.bias_in_deviations =
            std::max(report.bias_in_deviations, std::abs(mean) / standard_error);
    }
    report.sampling_measured = largest(report.deviation_measured);
}

std::vector<TradeRow> trade_rows(const FitReport& report) {
    std::vector<TradeRow> rows;
    for (int count : {1, 2, 3, 4, 6, 8, 12, 16}) {
        FrequencyOptions nodes = report.options.nodes;
        nodes.count = count;
        WaveSum waves;
        try {
            waves = make_waves(report.fit, nodes);
        } catch (const Error&) {
            continue;  // the cut-off drops every node of this rule
        }
        TradeRow row;
        row.nodes = count;
        for (const Wave& wave : waves.waves)
            row.largest_node =
                std::max(row.largest_node, wave.frequency * report.fit.pole_pairs[wave.pair].width);
        row.exponent = waves.largest_frequency() * report.scaled_norm;
        std::vector<double> values;
        for (double t : report.t) values.push_back(waves.value(t));
        row.quadrature_error = largest_difference(values, report.surrogate);
        row.sampling_error = largest(predicted_deviations(report, waves));
        rows.push_back(row);
    }
    return rows;
}

void validate(const FitOptions& options) {
    check(options.features >= 1, "fit report: {} features must be at least 1", options.features);
    check(options.dimension >= 2, "fit report: dimension {} must be at least 2", options.dimension);
    check(options.repeats >= 2, "fit report: {} repeats must be at least 2", options.repeats);
    check(options.squared_norm >= 0, "fit report: squared_norm = {} must not be negative",
          options.squared_norm);
    check(options.split != Split::symmetric || !options.antithetic || options.features % 2 == 0,
          "fit report: antithetic features of the symmetric split come in pairs; {} is odd",
          options.features);
}

}  // namespace

FitReport make_fit_report(const FitOptions& options) {
    validate(options);
    FitReport report;
    report.options = options;
    if (options.squared_norm == 0) report.options.squared_norm = options.half_width;
    const ScalarFunction function =
        activation_function(options.activation, options.frequency, options.envelope);
    RationalFitOptions fit_options;
    fit_options.multiplicity = options.multiplicity;
    fit_options.minimax = options.minimax;
    fit_options.seed = options.seed;
    report.fit =
        fit_rational(function, options.half_width, options.degree, options.pole_pairs, fit_options);
    report.waves = make_waves(report.fit, options.nodes);

    // Over random directions w·x has mean 0 and root mean square |x||w| / sqrt(dimension).
    const double norm = report.options.squared_norm;
    report.scale = scale_of(options.scale, report.waves.largest_frequency() * norm,
                            norm / std::sqrt(static_cast<double>(options.dimension)));
    report.scaled_norm = norm / (report.scale * report.scale);
    report.exponent = report.waves.largest_frequency() * report.scaled_norm;
    report.input_width = (options.degree >= 0 ? 1 : 0) +
                         std::max(options.degree, 0) * options.features +
                         2 * static_cast<int64_t>(report.waves.waves.size()) * options.features;

    for (std::size_t i = 0; i < curve_points; ++i) {
        const double t = options.half_width * (2 * static_cast<double>(i) / (curve_points - 1) - 1);
        report.t.push_back(t);
        report.function.push_back(function(t));
        report.surrogate.push_back(report.fit.value(t));
        report.wave_sum.push_back(report.waves.value(t));
    }
    const double reach = std::min(options.half_width, report.scaled_norm);
    for (std::size_t i = 0; i < reached_points; ++i)
        report.reached.push_back(reach * (2 * static_cast<double>(i) / (reached_points - 1) - 1));

    report.fit_error = largest_difference(report.function, report.surrogate);
    report.quadrature_error = largest_difference(report.surrogate, report.wave_sum);
    report.quadrature_bound = report.waves.error_bound;
    report.deviation_predicted = predicted_deviations(report, report.waves);
    report.sampling_predicted = largest(report.deviation_predicted);
    report.total_predicted = report.fit_error + report.quadrature_bound + report.sampling_predicted;
    measure_sampling(report, function);
    for (const auto& [name, error] : {std::pair{"rational fit", report.fit_error},
                                      {"quadrature", report.quadrature_error},
                                      {"quadrature", report.quadrature_bound},
                                      {"sampling", report.sampling_predicted},
                                      {"sampling", report.sampling_measured},
                                      {"total", report.total_measured}})
        check(
            std::isfinite(error),
            "fit report: the error of the {} is {}: its numbers leave the range of a double; take "
            "a smaller half_width, frequency or squared_norm, or fewer nodes",
            name, std::abs(error));
    report.trade = trade_rows(report);
    return report;
}

std::string FitReport::to_text() const {
    std::string text;
    const auto out = std::back_inserter(text);
    const std::string argument =
        options.frequency == 1 ? "t" : fmt::format("{:g} t", options.frequency);
    fmt::format_to(
        out, "{}({}) on [-{:g}, {:g}], degree {}, {} pole pairs{}{}\n", options.activation,
        argument, options.half_width, options.half_width, options.degree, options.pole_pairs,
        options.multiplicity > 1 ? fmt::format(" of multiplicity {}", options.multiplicity) : "",
        options.minimax ? ", minimax" : "");
    fmt::format_to(out, "  polynomial  ");
    for (std::size_t k = 0; k < fit.polynomial.size(); ++k)
        fmt::format_to(out, "{}{:.6g}{}", k ? "  " : "", fit.polynomial[k],
                       k == 0 ? "" : fmt::format(" t^{}", k));
    fmt::format_to(out, "\n  {:>12} {:>12} {:>13} {:>13}\n", "position p", "width q", "even a",
                   "odd b");
    // A line for each power; the first one also names the pole.
    for (const PolePair& pair : fit.pole_pairs)
        for (std::size_t i = 0; i < pair.multiplicity(); ++i)
            fmt::format_to(
                out, "  {:>25} {:13.6g} {:13.6g}\n",
                i == 0 ? fmt::format("{:12.6f} {:12.6f}", pair.position, pair.width) : "",
                pair.even[i], pair.odd[i]);

    fmt::format_to(out, "nodes {}, {} per atom", name_of(options.nodes.rule), options.nodes.count);
    if (std::isfinite(options.nodes.s_max))
        fmt::format_to(out, ", cut at {:g} (discarded weight {:.2e})", options.nodes.s_max,
                       waves.discarded_weight);
    fmt::format_to(out, "; split {}, {} features per part, width {}\n", name_of(options.split),
                   options.features, input_width);
    fmt::format_to(out,
                   "scale {:.4g} ({}); |x|^2 = |w|^2 = {:.4g} after scaling, so |t| <= {:.4g}; "
                   "exponent A = {:.3g}\n",
                   scale, name_of(options.scale.rule), scaled_norm, reached.back(), exponent);
    if (scaled_norm < 0.5 * options.half_width)
        fmt::format_to(out,
                       "  note: the features see only {:.0f} % of the fitted interval; a smaller T "
                       "or wider poles would serve them better\n",
                       100 * scaled_norm / options.half_width);
    if (exponent > 1)
        fmt::format_to(out,
                       "  note: A > 1; rare large draws dominate, the measured sampling error can "
                       "fall far below the true one\n");

    fmt::format_to(out, "{:<24} {:>11} {:>11}\n", "error", "predicted", "measured");
    fmt::format_to(out, "{:<24} {:>11} {:11.3e}\n", "rational fit (max)", "", fit_error);
    fmt::format_to(out, "{:<24} {:11.3e} {:11.3e}\n", "quadrature (max)", quadrature_bound,
                   quadrature_error);
    fmt::format_to(out, "{:<24} {:11.3e} {:11.3e}\n", "sampling (deviation)", sampling_predicted,
                   sampling_measured);
    fmt::format_to(out, "{:<24} {:11.3e} {:11.3e}\n", "total", total_predicted, total_measured);
    fmt::format_to(out, "bias over {} layers: at most {:.1f} standard errors\n", options.repeats,
                   bias_in_deviations);

    fmt::format_to(out, "{:>6} {:>13} {:>10} {:>12} {:>12}\n", "nodes", "largest node", "A",
                   "quadrature", "sampling");
    for (const TradeRow& row : trade)
        fmt::format_to(out, "{:6} {:13.3f} {:10.3f} {:12.3e} {:12.3e}\n", row.nodes,
                       row.largest_node, row.exponent, row.quadrature_error, row.sampling_error);
    return text;
}

}  // namespace ralimp
