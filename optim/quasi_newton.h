// Quasi-Newton methods with a strong Wolfe line search, for deterministic objectives. One step is
// one iteration. What they know of the curvature is L-BFGS's or BFGS's.
#pragma once
#include <memory>

#include "core/describe.h"
#include "optim/curvature.h"
#include "optim/line_search.h"

namespace ralimp {

// What every quasi-Newton method can be told, besides its learning rate.
struct QuasiNewtonOptions {
    int64_t max_iterations = 50000;
    std::optional<int64_t> max_evaluations = {};
    double tolerance_gradient = 1e-9;
    double tolerance_change = 1e-12;
    double initial_step = 1;
    double c1 = 1e-4;
    double c2 = 0.9;
    int64_t max_line_search = 25;

    // Of a config that has them all beside fields of its own.
    static QuasiNewtonOptions of(const auto& config) {
        return {config.max_iterations,
                config.max_evaluations,
                config.tolerance_gradient,
                config.tolerance_change,
                config.initial_step,
                config.c1,
                config.c2,
                config.max_line_search};
    }
    // The fields of such a config.
    static void describe(auto& config, auto& field) {
        field("max_iterations", config.max_iterations, "stop after this many iterations",
              at_least(1));
        field("max_evaluations", config.max_evaluations,
              "stop after this many evaluations of loss and gradient; null: no limit", at_least(1));
        field("tolerance_gradient", config.tolerance_gradient,
              "stop when no component of the gradient is larger; 0: off", at_least(0));
        field("tolerance_change", config.tolerance_change,
              "stop when the loss falls by a smaller share or no parameter moves by more; 0: off",
              at_least(0));
        field("initial_step", config.initial_step,
              "first step along the gradient: min(1, initial_step / sum of |gradient|)",
              more_than(0));
        field("c1", config.c1, "sufficient decrease condition, 0 < c1 < c2",
              more_than(0).less_than(1));
        field("c2", config.c2, "curvature condition, c1 < c2 < 1", more_than(0).less_than(1));
        field("max_line_search", config.max_line_search, "evaluations in one line search",
              at_least(1));
        field.check("c2", config.c1 < config.c2, "must be more than c1");
    }
};

void describe_quasi_newton_step(auto& config, auto& field) {
    field("learning_rate", config.learning_rate,
          "first step length tried along each direction; 1 is the quasi-Newton step", more_than(0));
}

// Inner products and directions are float64 whatever the parameters' type. A point with a rising or
// non-finite loss is never accepted. When a line search fails, steepest descent is tried once and
// the curvature forgotten; when that fails too, the optimizer stops with the last good parameters.
//
// Weight decay and learning rate scales of the layout do not apply: they would change the gradient
// but not the loss that the line search compares.
class QuasiNewton : public Optimizer {
public:
    std::string_view name() const override { return name_; }
    // `learning_rate` is the first step length tried; after (re)starts it multiplies the initial
    // step.
    StepResult step(const Tensor& parameters, double learning_rate,
                    const Objective& evaluate) override;
    // Keeps the curvature, as it still approximates that of the objective.
    void objective_changed() override;
    OptimizerState state() const override;

    int64_t iterations() const { return iterations_; }
    int64_t evaluations() const { return evaluations_; }
    const Curvature& curvature() const { return *curvature_; }

protected:
    // Throws Error(bad_config) for options out of range.
    QuasiNewton(ParameterLayout layout, std::string_view name, const QuasiNewtonOptions& options,
                std::unique_ptr<Curvature> curvature);
    void load_checked(const OptimizerState& state) override;

private:
    void check_options() const;
    std::string step_name() const { return name_ + " step"; }
    Evaluation counted(const Objective& evaluate);
    void remember(double loss, const Tensor& gradient);
    void stop(StopReason reason, const std::string& figures);
    void check_limits();
    bool may_evaluate() const;
    void iterate(const Tensor& parameters, const Tensor& origin, double learning_rate,
                 const Objective& evaluate);
    LineSearchResult search(const Tensor& parameters, const Tensor& origin, const Tensor& direction,
                            double slope, double first_step, const Objective& evaluate);
    void accept(const Tensor& parameters, const Tensor& origin, const LinePoint& point);

    std::string name_;
    QuasiNewtonOptions options_;
    std::unique_ptr<Curvature> curvature_;
    bool evaluated_ = false;  // loss_ and gradient_ belong to the present parameters
    double loss_ = 0;
    Tensor gradient_;  // [n]
    int64_t iterations_ = 0;
    int64_t evaluations_ = 0;
    StopReason stop_ = StopReason::none;
    std::string message_;
};

}  // namespace ralimp
