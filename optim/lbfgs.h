// L-BFGS: a quasi-Newton method that keeps the last pairs of step and gradient change.
#pragma once
#include "optim/curvature_pairs.h"
#include "optim/quasi_newton.h"

namespace ralimp {

struct LbfgsConfig {
    double learning_rate = 1;
    int64_t history_size = 50;
    int64_t max_iterations = 50000;
    std::optional<int64_t> max_evaluations = {};
    double tolerance_gradient = 1e-9;
    double tolerance_change = 1e-12;
    double initial_step = 1;
    double c1 = 1e-4;
    double c2 = 0.9;
    int64_t max_line_search = 25;

    static constexpr const char* kind = "lbfgs";
    static void describe(auto& config, auto& field) {
        describe_quasi_newton_step(config, field);
        field("history_size", config.history_size, "pairs of step and gradient change kept",
              at_least(1));
        QuasiNewtonOptions::describe(config, field);
    }
};

// Nocedal & Wright, "Numerical optimization" (2nd ed., 2006), Algorithm 7.5.
class Lbfgs final : public QuasiNewton {
public:
    Lbfgs(const ParameterLayout& layout, const LbfgsConfig& config);

    const CurvaturePairs& pairs() const { return static_cast<const CurvaturePairs&>(curvature()); }
};

}  // namespace ralimp
