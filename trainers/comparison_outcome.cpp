#include "trainers/comparison_outcome.h"

#include <algorithm>
#include <cmath>

namespace ralimp {
namespace {

bool is_better(double a, double b, bool larger_is_better) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
    return larger_is_better ? a > b : a < b;
}

}  // namespace

double median_of(std::vector<double> values, bool larger_is_better) {
    check(!values.empty(), "median: of nothing");
    std::sort(values.begin(), values.end(),
              [&](double a, double b) { return is_better(a, b, larger_is_better); });
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

std::vector<double> ComparedEntry::figures(const std::string& name) const {
    std::vector<double> values;
    for (const ComparisonRun& run : runs) values.push_back(run.figure(name));
    return values;
}

ComparedEntry::Spread ComparedEntry::spread(const std::string& metric,
                                            bool larger_is_better) const {
    const std::vector<double> values = figures(metric);
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

std::vector<std::string> ComparisonOutcome::figure_names() const {
    for (const auto& entries : compared)
        for (const ComparedEntry& entry : entries)
            for (const ComparisonRun& run : entry.runs) {
                if (std::isnan(run.figure(metric))) continue;
                // They stand between its task and its parameters.
                std::vector<std::string> names;
                for (const auto& [figure, value] : run.result) {
                    if (figure == "trained_parameters") break;
                    names.push_back(figure);
                }
                names.erase(names.begin());
                return names;
            }
    return plan.metrics;
}

std::string ComparisonOutcome::picture_name(const char* stem, std::size_t case_index) const {
    const std::string& one_case = plan.cases[case_index].name;
    return fmt::format("{}{}.png", stem, one_case.empty() ? "" : "-" + one_case);
}

}  // namespace ralimp
