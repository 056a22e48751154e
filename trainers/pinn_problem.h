// A problem as a PINN sees it, compiled from its config: where its points lie, which formulas are 0
// there, and the solution where it is known. Points and values are float64.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/random.h"
#include "data/geometry_samplers.h"
#include "trainers/formula.h"
#include "trainers/pinn_problem_config.h"

namespace ralimp {

// RAD of Wu, Zhu, Tan, Kartha & Lu, Comput. Methods Appl. Mech. Engrg. 403 (2023): every draw but
// the first chooses points with a probability proportional to |r|^exponent / mean + offset.
struct AdaptivePointsConfig {
    int64_t candidates = 0;
    double exponent = 1;
    double offset = 1;

    static void describe(auto& config, auto& field) {
        field("candidates", config.candidates,
              "points drawn by the sampler, of which the residual points are chosen; 0: off",
              between(0, 1 << 20));
        field("exponent", config.exponent, "how sharply the choice follows the residual",
              at_least(0));
        field("offset", config.offset, "share of the choice that does not follow it", at_least(0));
    }
};

struct PointsConfig {
    int64_t residual = 10000;
    int64_t initial = 50;
    int64_t boundary = 50;
    Sampler sampler = Sampler::latin_hypercube;
    int64_t resample_every = 0;
    AdaptivePointsConfig adaptive = {};

    static void describe(auto& config, auto& field) {
        field("residual", config.residual, "points where the equation must hold", point_counts);
        field("initial", config.initial, "points of an initial condition", point_counts);
        field("boundary", config.boundary, "points of a boundary condition", point_counts);
        field("sampler", config.sampler, "how points are drawn");
        field(
            "resample_every", config.resample_every,
            "steps between two draws of all points; 0: one draw for all (a phase of L-BFGS or BFGS "
            "keeps the points it starts with, see renew_data_every)",
            at_least(0));
        field("adaptive", config.adaptive, "residual points where residuals are large");
        field.check(
            "adaptive",
            config.adaptive.candidates == 0 || config.adaptive.candidates >= config.residual,
            "candidates must be at least points.residual");
        field.check("adaptive", config.adaptive.candidates == 0 || config.resample_every > 0,
                    "needs resample_every: the first draw does not follow the residual");
    }
};

// Where a condition is compared, [rows, …] each; a row of points belongs to a row of the others.
struct ConditionPoints {
    Tensor points;    // [rows, axes]
    Tensor normals;   // [rows, axes in space], undefined away from the boundary
    Tensor partners;  // [rows, axes], undefined unless two points are compared
    Tensor targets;   // [rows, formulas], undefined where the formulas are compared with 0
};

// formulas(points) - formulas(partners) or - targets is 0, column by column.
struct PinnCondition {
    std::string name;  // also that of its loss term
    std::optional<double> weight;
    bool initial = false;  // at the start, not on the boundary
    std::vector<Formula> formulas;
    std::function<ConditionPoints(const RandomKey&)> draw;
};

struct PinnEquation {
    std::string name;  // of its loss term: residual, or residual_1, residual_2, …
    Formula formula;
};

// What a formula of the config says; complaints begin with the path. Throws Error(bad_config).
Formula formula_at(const std::string& path, std::string_view text, const FormulaNames& names);

class PinnProblem {
public:
    // Throws Error(bad_config) that names the place of what cannot be used.
    PinnProblem(const CustomProblemConfig& config, const PointsConfig& points);

    const std::vector<std::string>& axes() const { return names_.axes; }  // the time is the last
    const std::vector<std::string>& outputs() const { return names_.outputs; }
    const FormulaNames& names() const { return names_; }  // inside the domain
    const Geometry& geometry() const { return *geometry_; }
    const std::optional<TimeInterval>& time() const { return time_; }
    // The box around geometry and time.
    const Box& domain() const { return domain_; }
    // Those that are trained, in the order of FormulaPoints::coefficients.
    const std::vector<CoefficientConfig>& trained_coefficients() const { return trained_; }

    const std::vector<PinnEquation>& equations() const { return equations_; }
    const std::vector<PinnCondition>& conditions() const { return conditions_; }
    Tensor residual_points(const RandomKey& key, int64_t count) const;  // [rows, axes]

    PinnProblem(const PinnProblem&) = delete;  // its conditions draw through it
    PinnProblem& operator=(const PinnProblem&) = delete;

    // Points [rows, axes] to the solution [rows, outputs]; empty when it is not known as a formula.
    std::function<Tensor(const Tensor&)> exact;

private:
    void add_condition(const ConditionConfig& config, const std::string& path);
    PinnCondition compile(const InitialConditionConfig& config, const std::string& path) const;
    PinnCondition compile(const DirichletConditionConfig& config, const std::string& path) const;
    PinnCondition compile(const NeumannConditionConfig& config, const std::string& path) const;
    PinnCondition compile(const RobinConditionConfig& config, const std::string& path) const;
    PinnCondition compile(const FormulaConditionConfig& config, const std::string& path) const;
    PinnCondition compile(const PeriodicConditionConfig& config, const std::string& path) const;
    PinnCondition compile(const PinConditionConfig& config, const std::string& path) const;
    PinnCondition compile(const PointsConditionConfig& config, const std::string& path) const;
    PinnCondition compile(const MeasurementsConditionConfig& config, const std::string& path) const;

    // One formula "left - (value)" for each output that is given; left is "u_t" and such.
    std::vector<Formula> differences(
        const ConditionOptions& options, const std::vector<std::string>& values,
        const std::string& path, bool at_boundary,
        const std::function<std::string(const std::string&)>& left) const;
    std::vector<std::string> given_outputs(const ConditionOptions& options,
                                           const std::string& path) const;
    // Draws on the part of the boundary that `where` names.
    std::function<ConditionPoints(const RandomKey&)> boundary_draw(const ConditionOptions& options,
                                                                   const std::string& where,
                                                                   const std::string& path) const;
    FormulaNames boundary_names() const;

    // Points and solution there, [count, axes] and [count, outputs]: of the reference's grid or of
    // the formula at points drawn by the sampler.
    std::pair<Tensor, Tensor> random_solution_points(const RandomKey& key, int64_t count) const;

    PointsConfig points_;
    std::optional<std::filesystem::path> reference_;
    bool has_formula_ = false;  // of the solution
    GeometryPtr geometry_;
    std::optional<TimeInterval> time_;
    Box domain_;
    FormulaNames names_;
    std::vector<CoefficientConfig> trained_;
    std::vector<PinnEquation> equations_;
    std::vector<PinnCondition> conditions_;
};

}  // namespace ralimp
