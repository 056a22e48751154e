// The built-in activations as functions of one double, by name: what the rational surrogates are
// fitted to. The formulas and their list are in core/activation.h.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ralimp {

using ScalarFunction = std::function<double(double)>;

// The names, in the order of activation::Activations.
const std::vector<std::string>& activation_names();

// The activation's value at t. Throws Error, with the known names, for an unknown one.
double activation_value(std::string_view name, double t);

// t -> activation(frequency * t); the frequency is SIREN's ω for `sin`. The envelope is the s of
// `wire`, cos(frequency t) e^(-(s t)²); `finer` is sin(frequency (|t| + 1) t).
ScalarFunction activation_function(std::string_view name, double frequency = 1,
                                   double envelope = 1);

}  // namespace ralimp
