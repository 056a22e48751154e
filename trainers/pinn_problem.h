// A partial differential equation on a box of inputs, as a PINN sees it: which derivatives it
// needs, its residual, its conditions, and the exact solution where one is known.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/jet.h"
#include "core/describe.h"
#include "data/burgers.h"
#include "data/samplers.h"
#include "layers/network.h"

namespace ralimp {

struct PointsConfig {
    int64_t residual = 10000;
    int64_t initial = 50;
    int64_t boundary = 50;
    Sampler sampler = Sampler::latin_hypercube;
    int64_t resample_every = 0;

    static void describe(auto& config, auto& field) {
        field("residual", config.residual, "points where the equation must hold", at_least(1));
        field("initial", config.initial, "points of the initial condition", at_least(1));
        field("boundary", config.boundary, "points of the boundary condition", at_least(1));
        field("sampler", config.sampler, "how points are drawn");
        field(
            "resample_every", config.resample_every,
            "steps between two draws of all points; 0: one draw for all (an L-BFGS phase keeps the "
            "points it starts with)",
            at_least(0));
    }
};

// Points at which the solution itself is given.
struct ValueCondition {
    std::string name;  // also the name of its loss term
    Tensor points;     // [rows, axes] float64
    Tensor values;     // [rows, outputs] float64
};

class PinnProblem {
public:
    virtual ~PinnProblem() = default;

    virtual std::string name() const = 0;
    virtual Box domain() const = 0;
    virtual std::vector<std::string> axis_names() const = 0;  // {"x", "t"}
    virtual std::vector<std::string> output_names() const = 0;
    virtual std::shared_ptr<const JetPlan> derivatives() const = 0;

    // u carries derivatives(); the result [rows, equations] is 0 for a solution.
    virtual Tensor residual(const Jet& u, const Tensor& points) const = 0;
    virtual std::vector<ValueCondition> conditions(const PointsConfig& points,
                                                   const RandomKey& key) const = 0;
    // The points that evaluation compares at, [grid[0] · grid[1], 2] float64, the first axis
    // outermost: cells of equal size from the lower end on, both ends of the first axis included,
    // the end of the last not.
    Tensor evaluation_points(const std::array<int64_t, 2>& grid) const;
    // points [rows, axes] float64 -> [rows, outputs] float64.
    virtual Tensor exact(const Tensor& points) const = 0;
};

// u_t + u u_x = viscosity · u_xx on x in [-1, 1], t in [0, 1]; u(x, 0) = -sin πx, u(±1, t) = 0. The
// problem of Raissi, Perdikaris & Karniadakis, J. Comput. Phys. 378 (2019).
struct BurgersConfig {
    double viscosity = burgers_viscosity;

    static constexpr const char* kind = "burgers";
    static void describe(auto& config, auto& field) {
        field("viscosity", config.viscosity, "of the equation; 0.01/π in the literature",
              between(1e-3, 0.25));  // where burgers_solution is exact
    }
};

using PinnProblemConfig = std::variant<BurgersConfig>;

std::unique_ptr<PinnProblem> make_problem(const PinnProblemConfig& config);

}  // namespace ralimp
