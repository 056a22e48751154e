#include "optim/optimizer.h"

#include <algorithm>

namespace ralimp {
namespace {

template <class Entries>
auto find(Entries& entries, std::string_view name) {
    return std::find_if(entries.begin(), entries.end(),
                        [&](const auto& entry) { return entry.first == name; });
}

template <class Entries>
void compare_names(const Entries& expected, const Entries& given, std::string& faults) {
    for (const auto& entry : expected)
        if (find(given, entry.first) == given.end())
            faults += fmt::format("; missing {}", entry.first);
    for (auto entry = given.begin(); entry != given.end(); ++entry)
        if (find(expected, entry->first) == expected.end() || find(given, entry->first) != entry)
            faults += fmt::format("; unexpected {}", entry->first);
}

std::string describe(const Tensor& tensor) {
    if (!tensor.has_values()) return "undefined";
    return fmt::format("{} {}", name_of(tensor.dtype()), to_string(tensor.shape()));
}

}  // namespace

std::string_view name_of(StopReason reason) {
    switch (reason) {
        case StopReason::none:
            return "none";
        case StopReason::gradient_tolerance:
            return "gradient tolerance";
        case StopReason::change_tolerance:
            return "change tolerance";
        case StopReason::max_iterations:
            return "maximum iterations";
        case StopReason::max_evaluations:
            return "maximum evaluations";
        case StopReason::line_search_failed:
            return "line search failed";
        case StopReason::non_finite:
            return "non-finite";
    }
    return "unknown";
}

void Optimizer::load(const OptimizerState& given) {
    const OptimizerState expected = state();
    std::string faults;
    compare_names(expected.tensors, given.tensors, faults);
    compare_names(expected.scalars, given.scalars, faults);
    for (const auto& [name, tensor] : expected.tensors) {
        const auto entry = find(given.tensors, name);
        if (entry != given.tensors.end() && describe(entry->second) != describe(tensor))
            faults +=
                fmt::format("; {} is {}, not {}", name, describe(entry->second), describe(tensor));
    }
    if (!faults.empty())
        fail_with(ExitCode::bad_input, "optimizer {}: the saved state does not fit{}", name(),
                  faults);
    load_checked(given);
}

const Tensor& tensor_of(const OptimizerState& state, std::string_view name) {
    const auto entry = find(state.tensors, name);
    check(entry != state.tensors.end(), "optimizer state: there is no tensor {}", name);
    return entry->second;
}

double scalar_of(const OptimizerState& state, std::string_view name) {
    const auto entry = find(state.scalars, name);
    check(entry != state.scalars.end(), "optimizer state: there is no number {}", name);
    return entry->second;
}

}  // namespace ralimp
