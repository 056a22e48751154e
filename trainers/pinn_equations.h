// The equations that a config names by `kind:`, each written as the problem a user would pose in
// text, and `custom`, that text itself.
#pragma once
#include <filesystem>
#include <memory>
#include <numbers>
#include <optional>
#include <variant>

#include "data/burgers.h"
#include "trainers/pinn_problem.h"

namespace ralimp {

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

// u_t = diffusion · u_xx + reaction · (u - u³) on x in [-1, 1], t in [0, 1], periodic in x;
// u(x, 0) = x² cos πx. Of the same paper.
struct AllenCahnConfig {
    double diffusion = 1e-4;
    double reaction = 5;
    std::optional<std::filesystem::path> reference;

    static constexpr const char* kind = "allen_cahn";
    static void describe(auto& config, auto& field) {
        field("diffusion", config.diffusion, "factor of u_xx", more_than(0));
        field("reaction", config.reaction, "factor of u - u^3", at_least(0));
        field("reference", config.reference, "HDF5 file of the solution; null: not compared");
    }
};

// u_t + u u_x + dispersion · u_xxx = 0 on x in [-1, 1], t in [0, 1], periodic in x;
// u(x, 0) = cos πx (Zabusky & Kruskal, 1965).
struct KdvConfig {
    double dispersion = 0.0025;
    std::optional<std::filesystem::path> reference;

    static constexpr const char* kind = "kdv";
    static void describe(auto& config, auto& field) {
        field("dispersion", config.dispersion, "factor of u_xxx", more_than(0));
        field("reference", config.reference, "HDF5 file of the solution; null: not compared");
    }
};

// i h_t + ½ h_xx + |h|² h = 0 for h = u + iv on x in [-5, 5], t in [0, π/2], periodic in x;
// h(x, 0) = 2 sech x. Of the paper of Raissi et al.
struct SchrodingerConfig {
    std::optional<std::filesystem::path> reference;

    static constexpr const char* kind = "schrodinger";
    static void describe(auto& config, auto& field) {
        field("reference", config.reference, "HDF5 file of the solution; null: not compared");
    }
};

// u_t = diffusivity · u_xx on x in [0, 1], t in [0, 1]; u(x, 0) = sin πx, 0 at both ends.
struct HeatConfig {
    double diffusivity = 0.1;

    static constexpr const char* kind = "heat";
    static void describe(auto& config, auto& field) {
        field("diffusivity", config.diffusivity, "factor of u_xx", more_than(0));
    }
};

// u_tt = speed² · u_xx on x in [0, 1], t in [0, 1]; u(x, 0) = sin πx at rest, 0 at both ends.
struct WaveConfig {
    double speed = 1;

    static constexpr const char* kind = "wave";
    static void describe(auto& config, auto& field) {
        field("speed", config.speed, "of the waves", more_than(0));
    }
};

// u_xx + u_yy = f on the unit square, 0 on its boundary; u = sin πx sin πy.
struct PoissonConfig {
    static constexpr const char* kind = "poisson";
    static void describe(auto&, auto&) {}
};

// u_xx + u_yy + wave_number² u = f on [-1, 1]², 0 on its boundary; u = sin(a πx) sin(b πy) for
// frequencies a, b (Wang, Teng & Perdikaris, SIAM J. Sci. Comput. 43, 2021).
struct HelmholtzConfig {
    double wave_number = 1;
    std::array<int64_t, 2> frequencies{1, 4};

    static constexpr const char* kind = "helmholtz";
    static void describe(auto& config, auto& field) {
        field("wave_number", config.wave_number, "of the equation", more_than(0));
        field("frequencies", config.frequencies, "half waves along x and y in a unit length",
              at_least(1));
    }
};

// The steady flow of an incompressible fluid in the unit square, driven by its lid, which moves
// along x: velocity (u, v), pressure p with p(0, 0) = 0 (Ghia, Ghia & Shin, J. Comput. Phys. 48,
// 1982). Lengths are in sides of the square, velocities in those of the lid.
struct CavityConfig {
    double reynolds = 100;
    bool regularized = false;
    std::optional<std::filesystem::path> reference;

    static constexpr const char* kind = "cavity";
    static void describe(auto& config, auto& field) {
        field("reynolds", config.reynolds, "Reynolds number", more_than(0));
        field("regularized", config.regularized,
              "the lid's velocity is 16 x^2 (1 - x)^2, smooth at the corners, instead of 1");
        field("reference", config.reference, "HDF5 file of the solution; null: not compared");
    }
};

using PinnProblemConfig =
    std::variant<BurgersConfig, AllenCahnConfig, KdvConfig, SchrodingerConfig, HeatConfig,
                 WaveConfig, PoissonConfig, HelmholtzConfig, CavityConfig, CustomProblemConfig>;

// The same problem as text.
CustomProblemConfig problem_text(const PinnProblemConfig& config);

// Throws Error(bad_config) that names the place of what cannot be used. Without conditions what
// they name, such as files, is not looked at.
enum class ProblemParts { all, without_conditions };
std::unique_ptr<PinnProblem> make_problem(const PinnProblemConfig& config,
                                          const PointsConfig& points,
                                          ProblemParts parts = ProblemParts::all);

}  // namespace ralimp
