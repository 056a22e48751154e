// BFGS and its self-scaled relatives: quasi-Newton methods that keep the whole inverse Hessian, for
// networks of a few thousand parameters.
#pragma once
#include "optim/inverse_hessian.h"
#include "optim/quasi_newton.h"

namespace ralimp {

struct BfgsConfig {
    double learning_rate = 1;
    InverseHessianUpdate update = InverseHessianUpdate::self_scaled_broyden;
    double max_memory_gib = 4;
    int64_t max_iterations = 50000;
    std::optional<int64_t> max_evaluations = {};
    double tolerance_gradient = 0;
    double tolerance_change = 0;
    double initial_step = 1;
    double c1 = 1e-4;
    double c2 = 0.9;
    int64_t max_line_search = 25;

    static constexpr const char* kind = "bfgs";
    static void describe(auto& config, auto& field) {
        describe_quasi_newton_step(config, field);
        field("update", config.update, "how the inverse Hessian learns from a step");
        field("max_memory_gib", config.max_memory_gib,
              "the inverse Hessian, parameters² x 8 bytes, may take this much", more_than(0));
        QuasiNewtonOptions::describe(config, field);
    }
};

// Nocedal & Wright, "Numerical optimization" (2nd ed., 2006), Algorithm 6.1, with the updates of
// InverseHessian.
class Bfgs final : public QuasiNewton {
public:
    // Throws Error(bad_config) for a matrix beyond max_memory_gib.
    Bfgs(const ParameterLayout& layout, const BfgsConfig& config);

    const InverseHessian& inverse_hessian() const {
        return static_cast<const InverseHessian&>(curvature());
    }
};

}  // namespace ralimp
