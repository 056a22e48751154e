// Physics-informed networks: the loss is the residual of equations plus their conditions.
#pragma once
#include <optional>

#include "layers/network.h"
#include "trainers/loss_kind.h"
#include "trainers/pinn_constraints.h"
#include "trainers/pinn_equations.h"
#include "trainers/pinn_model.h"
#include "trainers/pinn_pictures.h"
#include "trainers/pinn_reference.h"
#include "trainers/pinn_weights.h"
#include "trainers/task.h"
#include "trainers/training_config.h"

namespace ralimp {

struct PinnLossConfig {
    LossKind kind = LossKind::mse;
    double residual_weight = 1;
    double initial_weight = 1;
    double boundary_weight = 1;
    LossWeightsConfig weights;
    CausalConfig causal;

    static void describe(auto& config, auto& field) {
        field("kind", config.kind, "mean of squares or of absolute values, of every term");
        field("residual_weight", config.residual_weight, "of every equation", at_least(0));
        field("initial_weight", config.initial_weight,
              "of every initial condition without a weight of its own", at_least(0));
        field("boundary_weight", config.boundary_weight,
              "of every other condition without a weight of its own", at_least(0));
        field("weights", config.weights, "factors on these weights that follow the training");
        field("causal", config.causal,
              "weights of moments: the equations must hold first at the start, then later");
        field.check(
            "weights",
            !std::holds_alternative<NtkWeights>(config.weights) || config.kind == LossKind::mse,
            "ntk needs loss.kind mse: the kernel is that of squares");
    }
};

struct PinnEvaluationConfig {
    std::optional<std::vector<int64_t>> grid;
    std::optional<std::vector<double>> times;

    static void describe(auto& config, auto& field) {
        field(
            "grid", config.grid,
            "points along each axis, the last time one step before the end; null: 256 x 100 for x "
            "and t, else 1024, 128 x 128 or 64 along each axis; a reference file has its own",
            between(2, 65536).items(1, 4));
        field("times", config.times,
              "of pictures of the solution in space; null: a quarter, half and three quarters of "
              "the time",
              items(1, 16));
    }
};

struct PinnConfig {
    RunSettings run;
    PinnProblemConfig problem;
    ConstraintsConfig constraints;
    NetworkConfig network;
    PointsConfig points;
    PinnLossConfig loss;
    PinnEvaluationConfig evaluation;

    static constexpr const char* kind = "pinn";
    static void describe(auto& config, auto& field) {
        RunSettings::describe(config.run, field);
        field("problem", config.problem, "the equations and their conditions");
        field("constraints", config.constraints, "what holds by construction of the network");
        field("network", config.network, "the network");
        field("points", config.points, "where equations and conditions are enforced");
        field("loss", config.loss, "loss and weights");
        field("evaluation", config.evaluation, "comparison with the known solution");
    }
};

// What the figures "relative_l2" and "relative_l2_u" are called where the solution they would be
// divided by is 0 or rounding alone: then they are root mean squares of the error.
inline constexpr const char* absolute_error_name = "rms_error";

class PinnTask : public Task {
public:
    // For a trained model neither conditions nor points exist, and a reference is read when it is
    // first needed.
    explicit PinnTask(const PinnConfig& config, TaskUse use = TaskUse::training);

    std::string kind() const override { return PinnConfig::kind; }
    Layer& model() override { return *model_; }
    std::unique_ptr<Layer> make_model(const NetworkConfig& network) const override;
    // Of the points of the equations and of every condition, partners included: all, or of each its
    // share.
    Tensor calibration_batch() const override;
    // Of the conditions, at most a quarter, then of the equations; others than those of the
    // training.
    Tensor fresh_inputs(int64_t rows, int64_t number) const override;
    void set_batch(int64_t sample_step) override;
    // The residual points of the last draw and its number, where they followed the residual; the
    // weights of the loss, where they follow the training.
    NamedTensors saved_state() const override;
    void restore_state(const NamedTensors& state) override;
    int64_t parts() const override;
    int64_t rows_of_part() const override;
    Loss loss(int64_t part) const override;
    NamedValues loss_weights() const override { return weights_->values(); }
    // With a known solution relative_l2 and max_error over all outputs, then relative_l2 of each
    // when there are several (absolute_error_name says what stands there for a solution of 0);
    // without one residual_rms, over all equations. Then the trained coefficients.
    void prepare_evaluation() override { solution(); }
    NamedValues evaluate() override;
    // The same for a grid of the user's; not for a run that is compared with a file.
    NamedValues evaluate_on(const std::vector<int64_t>& grid) override;
    // Of each point the outputs; u_exact and so on where the solution is known; the residual of
    // every equation, under the name of its term of the loss. Grids have both ends of the time.
    FieldData predict(const PredictionPlace& place) override;
    // The residuals of the equations at points [rows, axes] float64, in pieces: [rows, equations]
    // float64.
    Tensor residuals(const Tensor& points) const;
    // points.csv: the name of a term of the loss and a point of it in each row, both points of a
    // pair that is compared.
    void write_data(const std::filesystem::path& folder) const override;
    // The formulas of the outputs, and how far the model is from the conditions that are left out.
    std::vector<std::string> remarks() const override;
    std::vector<std::string> metric_names() const override;
    bool larger_is_better() const override { return false; }
    std::vector<std::string> draw(const std::filesystem::path& folder) override;
    void draw_frames(const std::filesystem::path& folder, int64_t count) override;

private:
    std::unique_ptr<PinnModel> pinn_model(const NetworkConfig& network) const;
    // Conditions whose formulas need the same derivatives share a forward pass.
    struct ConditionGroup {
        std::shared_ptr<const JetPlan> plan;
        struct Drawn {
            const PinnCondition* condition;
            int64_t begin, rows;  // of the points; partners follow them
            ConditionPoints at;
            int64_t all_rows() const { return at.partners.defined() ? 2 * rows : rows; }
        };
        std::vector<Drawn> conditions;
        Tensor points;  // of all of them, partners included
    };
    // Draws points for the conditions, grouped.
    std::vector<ConditionGroup> groups_of(const std::vector<const PinnCondition*>& conditions,
                                          const RandomKey& key) const;
    // What the conditions of a group say should be 0, [rows, formulas] each.
    Tensors differences(const ConditionGroup& group, const Tensors& coefficients) const;
    RandomKey key_of(int64_t draw, RandomStream stream) const;
    // As AdaptivePointsConfig says: [residual, axes] float64.
    Tensor adaptive_points(int64_t draw) const;
    double weight_of(const PinnCondition& condition) const;
    void draw_points(int64_t draw);
    std::vector<LossTerm> loss_terms() const;
    std::unique_ptr<PinnWeights> make_weights() const;
    // The rows of all terms in a part, in the order of the terms.
    std::vector<LossTermRows> term_rows(int64_t part) const;
    bool solution_is_known() const { return problem_->exact || text_.reference; }
    // The model's outputs at points [rows, axes] float64, in pieces: [rows, outputs] float64.
    Tensor outputs_at(const Tensor& points) const;
    // The points of evaluations, made or read when first asked for, and the known solution there.
    PinnReference& reference() const;
    const Tensor& solution() const;
    // The names of figures compared with the solution [rows, outputs], undefined where none is
    // known.
    std::vector<std::string> figure_names(const Tensor& expected) const;
    NamedValues figures(const PinnReference& at) const;
    PinnPictureSource picture_source();
    // What predict() gives at points that have their place already; `known` may be undefined.
    FieldData with_values(FieldData data, const Tensor& known) const;

    PinnConfig config_;
    CustomProblemConfig text_;  // of the problem
    std::unique_ptr<PinnProblem> problem_;
    std::vector<const PinnCondition*> enforced_;  // conditions that are terms of the loss
    std::shared_ptr<const JetPlan> plan_;         // of the equations
    std::unique_ptr<PinnModel> model_;
    DType dtype_;
    int64_t part_rows_;
    mutable std::optional<PinnReference> reference_;  // see reference() and solution()
    std::vector<double> picture_times_;

    int64_t drawn_ = -1;      // number of the present draw of points
    Tensor residual_points_;  // [residual, axes]
    std::vector<ConditionGroup> groups_;
    std::unique_ptr<PinnWeights> weights_;
};

}  // namespace ralimp
