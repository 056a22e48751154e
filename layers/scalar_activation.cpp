#include "layers/scalar_activation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/activation.h"
#include "core/error.h"

namespace ralimp {
namespace {

struct Entry {
    const char* name;
    double (*value)(double t, double parameter);
    double (*parameter)(double scale, double envelope);
};

template <class Op>
double value_of(double t, double parameter) {
    double value = 0;
    activation::derivatives_of<Op, 0>(t, parameter, &value);
    return value;
}

template <class... Ops>
std::vector<Entry> entries_of(List<Ops...>) {
    return {{Ops::name, &value_of<Ops>, &activation::parameter_of<Ops>}...};
}

const std::vector<Entry>& entries() {
    static const std::vector<Entry> table = entries_of(activation::Activations{});
    return table;
}

const Entry& find(std::string_view name) {
    for (const Entry& entry : entries())
        if (name == entry.name) return entry;
    fail("activation: unknown name '{}'; known are {}", name, fmt::join(activation_names(), ", "));
}

}  // namespace

const std::vector<std::string>& activation_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const Entry& entry : entries()) all.emplace_back(entry.name);
        return all;
    }();
    return names;
}

double activation_value(std::string_view name, double t) { return activation_function(name)(t); }

ScalarFunction activation_function(std::string_view name, double frequency, double envelope) {
    const Entry& entry = find(name);
    const double parameter = entry.parameter(frequency, envelope);
    return [value = entry.value, frequency, parameter](double t) {
        return value(frequency * t, parameter);
    };
}

}  // namespace ralimp
