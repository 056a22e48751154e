// Physics-informed networks: the loss is the residual of an equation plus its conditions.
#pragma once
#include <array>

#include "layers/network.h"
#include "trainers/loss_kind.h"
#include "trainers/pinn_problem.h"
#include "trainers/task.h"
#include "trainers/training_config.h"

namespace ralimp {

struct PinnLossConfig {
    LossKind kind = LossKind::mse;
    double residual_weight = 1;
    double initial_weight = 1;
    double boundary_weight = 1;

    static void describe(auto& config, auto& field) {
        field("kind", config.kind, "mean of squares or of absolute values, of every term");
        field("residual_weight", config.residual_weight, "of the equation", at_least(0));
        field("initial_weight", config.initial_weight, "of the initial condition", at_least(0));
        field("boundary_weight", config.boundary_weight, "of the boundary condition", at_least(0));
    }
};

struct PinnEvaluationConfig {
    std::array<int64_t, 2> grid{256, 100};

    static void describe(auto& config, auto& field) {
        field("grid", config.grid, "points along x and t; the last t is one cell before the end",
              between(2, 4096));
    }
};

struct PinnConfig {
    RunSettings run;
    PinnProblemConfig problem;
    NetworkConfig network;
    PointsConfig points;
    PinnLossConfig loss;
    PinnEvaluationConfig evaluation;

    static constexpr const char* kind = "pinn";
    static void describe(auto& config, auto& field) {
        RunSettings::describe(config.run, field);
        field("problem", config.problem, "the equation");
        field("network", config.network, "the network");
        field("points", config.points, "where the equation and its conditions are enforced");
        field("loss", config.loss, "loss and weights");
        field("evaluation", config.evaluation, "comparison with the exact solution");
    }
};

class PinnTask : public Task {
public:
    explicit PinnTask(const PinnConfig& config);

    std::string kind() const override { return PinnConfig::kind; }
    Layer& model() override { return *network_; }
    Tensor calibration_batch() const override;
    void set_batch(int64_t sample_step) override;
    int64_t parts() const override;
    Loss loss(int64_t part) const override;
    NamedValues evaluate() override;
    std::vector<std::string> metric_names() const override { return {"relative_l2", "max_error"}; }
    bool larger_is_better() const override { return false; }
    std::vector<std::string> draw(const std::filesystem::path& folder) override;

private:
    // The present model's first output at grid points [rows, axes] float64, in pieces: [rows]
    // float64.
    Tensor predict(const Tensor& points) const;
    // The exact solution at the evaluation points, computed once: [rows] float64.
    const Tensor& exact_solution(const Tensor& points);

    PinnConfig config_;
    std::unique_ptr<PinnProblem> problem_;
    std::unique_ptr<Mlp> network_;
    DType dtype_;
    int64_t part_rows_;

    int64_t drawn_ = -1;      // number of the present draw of points
    Tensor residual_points_;  // [residual, axes]
    struct Condition {
        std::string name;
        double weight;
        int64_t rows;
    };
    std::vector<Condition> conditions_;
    Tensor condition_points_;  // [all conditions' rows, axes]
    Tensor condition_values_;  // [the same, outputs]
    Tensor exact_;             // [evaluation points] float64, once computed
};

}  // namespace ralimp
