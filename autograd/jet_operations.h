// The elementwise operations of operations.h for jets, by the rules of differentiation: what
// formulas of coordinates and outputs need. Layers use the fused ones of jet.h. Jets of one plan;
// shapes [rows, features] broadcast.
#pragma once
#include "autograd/jet.h"

namespace ralimp {

// A value that does not depend on the input, [] or [rows, features]: every derivative is 0.
Jet constant(const Tensor& value, const std::shared_ptr<const JetPlan>& plan);

Jet neg(const Jet& x);
Jet operator/(const Jet& a, const Jet& b);
Jet operator+(const Jet& a, double b);
Jet operator+(double a, const Jet& b);
Jet operator-(const Jet& a, double b);
Jet operator-(double a, const Jet& b);
Jet operator*(double a, const Jet& b);
Jet operator/(const Jet& a, double b);
Jet operator/(double a, const Jet& b);

Jet exp(const Jet& x);
Jet log(const Jet& x);
Jet sqrt(const Jet& x);
Jet reciprocal(const Jet& x);
Jet sin(const Jet& x);
Jet cos(const Jet& x);
Jet sinh(const Jet& x);
Jet cosh(const Jet& x);
Jet tanh(const Jet& x);
Jet erf(const Jet& x);
Jet abs(const Jet& x);                       // derivative 0 at 0
Jet pow(const Jet& x, double exponent);      // whole exponents also for x <= 0
Jet pow(const Jet& a, const Jet& exponent);  // for a > 0
Jet maximum(const Jet& a, const Jet& b);     // at a tie that of a; NaN wins
Jet minimum(const Jet& a, const Jet& b);

// f(x) for any elementwise f of plain operations, through its derivatives by reverse mode.
Jet apply(Tensor (*elementwise)(const Tensor&), const Jet& x);

}  // namespace ralimp
