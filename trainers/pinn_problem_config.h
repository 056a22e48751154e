// How a config poses a problem: domain, equations and conditions, as text. The built-in equations
// (pinn_equations.h) are written in the same terms.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/describe.h"
#include "data/geometry_config.h"

namespace ralimp {

// A name that formulas may use for a number. With `train` the number is found by the training, as
// in an inverse problem; bounds then keep it inside the open interval.
struct CoefficientConfig {
    std::string name;
    double value = 1;
    bool train = false;
    std::optional<double> lower;
    std::optional<double> upper;

    static void describe(auto& config, auto& field) {
        field("name", config.name, "as formulas write it", required().non_empty());
        field("value", config.value, "its value, or where training starts");
        field("train", config.train, "found by the training");
        field("lower", config.lower, "bound of a trained one; null: none");
        field("upper", config.upper, "bound of a trained one; null: none");
        field.check("upper", config.lower.has_value() == config.upper.has_value(),
                    "lower and upper must be given together");
        field.check("value",
                    !config.lower || !config.upper ||
                        (*config.lower < config.value && config.value < *config.upper),
                    "must be between lower and upper");
    }
};

// As many as a Latin hypercube may have.
inline constexpr Rule point_counts = between(1, 1 << 20);

// What every condition has.
struct ConditionOptions {
    std::string name;                  // of its loss term; empty: its kind
    std::optional<double> weight;      // null: loss.initial_weight or loss.boundary_weight
    std::optional<int64_t> points;     // null: points.initial or points.boundary
    std::vector<std::string> outputs;  // that are given; empty: all

    static void describe(auto& config, auto& field) {
        field("name", config.name, "of its loss term; empty: its kind");
        field("weight", config.weight,
              "of its loss term; null: loss.initial_weight or loss.boundary_weight", at_least(0));
        field("points", config.points, "how many; null: points.initial or points.boundary",
              point_counts);
        field("outputs", config.outputs, "the outputs that are given; empty: all");
    }
};

// Fields that several kinds of condition have.
void describe_values(auto& config, auto& field) {
    field("values", config.values, "a formula for each output", required().items(1));
}
void describe_where(auto& config, auto& field) {
    field("where", config.where,
          "part of the boundary, such as x = 1 or y < 0.5; empty: all of it");
}

// The solution, or a time derivative of it, at the start.
struct InitialConditionConfig {
    ConditionOptions options;
    std::vector<std::string> values;
    int64_t derivative = 0;

    static constexpr const char* kind = "initial";
    static void describe(auto& config, auto& field) {
        ConditionOptions::describe(config.options, field);
        describe_values(config, field);
        field("derivative", config.derivative, "order of the time derivative that is given",
              between(0, 2));
    }
};

// The solution on the boundary.
struct DirichletConditionConfig {
    ConditionOptions options;
    std::vector<std::string> values;
    std::string where;

    static constexpr const char* kind = "dirichlet";
    static void describe(auto& config, auto& field) {
        ConditionOptions::describe(config.options, field);
        describe_values(config, field);
        describe_where(config, field);
    }
};

// The derivative along the outward normal.
struct NeumannConditionConfig {
    ConditionOptions options;
    std::vector<std::string> values;
    std::string where;

    static constexpr const char* kind = "neumann";
    static void describe(auto& config, auto& field) {
        ConditionOptions::describe(config.options, field);
        describe_values(config, field);
        describe_where(config, field);
    }
};

// value_factor u + normal_factor u_n = values.
struct RobinConditionConfig {
    ConditionOptions options;
    std::string value_factor = "1";
    std::string normal_factor = "1";
    std::vector<std::string> values;
    std::string where;

    static constexpr const char* kind = "robin";
    static void describe(auto& config, auto& field) {
        ConditionOptions::describe(config.options, field);
        field("value_factor", config.value_factor, "a formula", non_empty());
        field("normal_factor", config.normal_factor, "a formula", non_empty());
        describe_values(config, field);
        describe_where(config, field);
    }
};

// Whatever else must be 0 on the boundary: formulas of outputs, derivatives and the normal.
struct FormulaConditionConfig {
    ConditionOptions options;
    std::vector<std::string> formulas;
    std::string where;

    static constexpr const char* kind = "formula";
    static void describe(auto& config, auto& field) {
        ConditionOptions::describe(config.options, field);
        field("formulas", config.formulas, "each is 0 there: u_n + u*n_x", required().items(1));
        describe_where(config, field);
    }
};

// The same values, and derivatives along the axis, at both ends of an axis.
struct PeriodicConditionConfig {
    ConditionOptions options;
    std::string axis = "x";
    int64_t derivatives = 1;

    static constexpr const char* kind = "periodic";
    static void describe(auto& config, auto& field) {
        ConditionOptions::describe(config.options, field);
        field("axis", config.axis, "whose ends agree", non_empty());
        field("derivatives", config.derivatives, "up to this order", between(0, 2));
    }
};

// The solution at one point: what fixes a pressure, or a phase.
struct PinConditionConfig {
    ConditionOptions options;
    std::vector<double> at;
    std::vector<std::string> values;

    static constexpr const char* kind = "pin";
    static void describe(auto& config, auto& field) {
        ConditionOptions::describe(config.options, field);
        field("at", config.at, "the point, a number for each axis, the time last", required());
        describe_values(config, field);
    }
};

// Points at which the solution is known, from a file of numbers.
struct PointsConditionConfig {
    ConditionOptions options;
    std::filesystem::path file;

    static constexpr const char* kind = "points";
    static void describe(auto& config, auto& field) {
        ConditionOptions::describe(config.options, field);
        field("file", config.file,
              "CSV with a header, or HDF5: a column or dataset for each axis and each given output",
              required());
    }
};

// The known solution at random points with noise, as an instrument would give it: an inverse
// problem to try a method on.
struct MeasurementsConditionConfig {
    ConditionOptions options;
    double noise = 0;

    static constexpr const char* kind = "measurements";
    static void describe(auto& config, auto& field) {
        ConditionOptions::describe(config.options, field);
        field("noise", config.noise,
              "deviation of normal errors, as a share of the standard deviation of each output",
              at_least(0));
        field.check("points", config.options.points.has_value(), "is required here");
    }
};

using ConditionConfig =
    std::variant<InitialConditionConfig, DirichletConditionConfig, NeumannConditionConfig,
                 RobinConditionConfig, FormulaConditionConfig, PeriodicConditionConfig,
                 PinConditionConfig, PointsConditionConfig, MeasurementsConditionConfig>;

struct CustomProblemConfig {
    GeometryConfig geometry;
    std::vector<std::string> axes;
    std::optional<std::array<double, 2>> time;
    std::vector<std::string> outputs{"u"};
    std::vector<CoefficientConfig> coefficients;
    std::vector<std::string> equations;
    std::vector<ConditionConfig> conditions;
    std::vector<std::string> exact;
    std::optional<std::filesystem::path> reference;

    static constexpr const char* kind = "custom";
    static void describe(auto& config, auto& field) {
        field("geometry", config.geometry, "the domain in space");
        field("axes", config.axes, "names of the axes in space; empty: x, y, z");
        field("time", config.time, "start and end of a further axis t; null: none");
        field("outputs", config.outputs, "names of what the network computes", items(1));
        field("coefficients", config.coefficients, "numbers that formulas name");
        field("equations", config.equations,
              "formulas that are 0 for a solution: u_t + u*u_x - nu*u_xx", required().items(1));
        // Each is a column of metrics.csv.
        field("conditions", config.conditions, "at the start, on the boundary, at given points",
              items(0, 1000));
        field("exact", config.exact, "the solution, a formula for each output; empty: not known");
        field("reference", config.reference,
              "HDF5 file of the solution on a grid: datasets named as the axes and outputs");
        field.check("time", !config.time || (*config.time)[0] < (*config.time)[1],
                    "must start before it ends");
        field.check("reference", !config.reference || config.exact.empty(),
                    "give exact or reference, not both");
    }
};

}  // namespace ralimp
