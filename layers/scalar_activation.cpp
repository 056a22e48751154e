#include "layers/scalar_activation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/activation.h"
#include "core/error.h"

namespace ralimp {
namespace {

struct Entry {
    const char* name;
    double (*value)(double);
};

template <class Op>
double value_of(double t) {
    double value = 0;
    Op::template derivatives<0>(t, &value);
    return value;
}

template <class... Ops>
std::vector<Entry> entries_of(List<Ops...>) {
    return {{Ops::name, &value_of<Ops>}...};
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

double activation_value(std::string_view name, double t) { return find(name).value(t); }

ScalarFunction activation_function(std::string_view name, double frequency) {
    double (*const value)(double) = find(name).value;
    return [value, frequency](double t) { return value(frequency * t); };
}

}  // namespace ralimp
