// What a quasi-Newton method knows of the inverse Hessian H: nothing at first (H is the identity),
// then what steps and gradient changes told. L-BFGS keeps the last of them, BFGS the matrix.
#pragma once
#include "optim/optimizer.h"

namespace ralimp {

// An accepted step, in buffers [n].
struct AcceptedStep {
    Tensor step;        // s = x_{k+1} - x_k, of the parameters' type
    Tensor change;      // y = g_{k+1} - g_k
    Tensor gradient;    // g_k
    double length = 1;  // s = -length H g_k, up to the rounding of x
};

class Curvature {
public:
    virtual ~Curvature() = default;

    // Nothing is known: -H g is steepest descent.
    virtual bool is_empty() const = 0;
    // -H g as float64 [n].
    virtual Tensor descent_direction(const Tensor& gradient) const = 0;
    // Learns from a step. One without clearly positive curvature would make H indefinite: it is
    // left out.
    virtual void add(const AcceptedStep& step) = 0;
    virtual void clear() = 0;

    // As of Optimizer: views, not copies.
    virtual OptimizerState state() const = 0;
    // Throws Error(bad_input) for values that cannot be, and then has changed nothing.
    virtual void load(const OptimizerState& state) = 0;
};

// -g as float64 [n].
Tensor steepest_descent(const Tensor& gradient);

// Whether s·y is far enough above the rounding of the parameters' type to be believed.
bool has_positive_curvature(const Tensor& step, const Tensor& change);

// A whole number between 0 and `high` of a saved state; throws Error(bad_input) otherwise.
int64_t whole_scalar(const OptimizerState& state, std::string_view name, double high);

}  // namespace ralimp
