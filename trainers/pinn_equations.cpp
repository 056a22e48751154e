#include "trainers/pinn_equations.h"

namespace ralimp {
namespace {

CoefficientConfig fixed(std::string name, double value) {
    CoefficientConfig coefficient;
    coefficient.name = std::move(name);
    coefficient.value = value;
    return coefficient;
}

InitialConditionConfig initial(std::vector<std::string> values, int64_t derivative = 0) {
    InitialConditionConfig condition;
    condition.values = std::move(values);
    condition.derivative = derivative;
    return condition;
}

// The value on the whole boundary; its loss term is "boundary".
DirichletConditionConfig boundary(std::vector<std::string> values) {
    DirichletConditionConfig condition;
    condition.options.name = "boundary";
    condition.values = std::move(values);
    return condition;
}

PeriodicConditionConfig periodic(int64_t derivatives) {
    PeriodicConditionConfig condition;
    condition.derivatives = derivatives;
    return condition;
}

// On an interval, through time.
CustomProblemConfig evolution(double lower, double upper, double end) {
    CustomProblemConfig problem;
    problem.geometry = IntervalConfig{lower, upper};
    problem.time = {0, end};
    return problem;
}

CustomProblemConfig text_of(const CustomProblemConfig& config) { return config; }

CustomProblemConfig text_of(const BurgersConfig& config) {
    CustomProblemConfig problem = evolution(-1, 1, 1);
    problem.coefficients = {fixed("nu", config.viscosity)};
    problem.equations = {"u_t + u*u_x - nu*u_xx"};
    problem.conditions = {initial({"-sin(pi*x)"}), boundary({"0"})};
    return problem;
}

CustomProblemConfig text_of(const AllenCahnConfig& config) {
    CustomProblemConfig problem = evolution(-1, 1, 1);
    problem.coefficients = {fixed("d", config.diffusion), fixed("r", config.reaction)};
    problem.equations = {"u_t - d*u_xx - r*(u - u^3)"};
    problem.conditions = {initial({"x^2*cos(pi*x)"}), periodic(1)};
    problem.reference = config.reference;
    return problem;
}

CustomProblemConfig text_of(const KdvConfig& config) {
    CustomProblemConfig problem = evolution(-1, 1, 1);
    problem.coefficients = {fixed("d", config.dispersion)};
    problem.equations = {"u_t + u*u_x + d*u_xxx"};
    problem.conditions = {initial({"cos(pi*x)"}), periodic(2)};
    problem.reference = config.reference;
    return problem;
}

CustomProblemConfig text_of(const SchrodingerConfig& config) {
    CustomProblemConfig problem = evolution(-5, 5, std::numbers::pi / 2);
    problem.outputs = {"u", "v"};
    problem.equations = {"u_t + 0.5*v_xx + (u^2 + v^2)*v", "v_t - 0.5*u_xx - (u^2 + v^2)*u"};
    problem.conditions = {initial({"2*sech(x)", "0"}), periodic(1)};
    problem.reference = config.reference;
    return problem;
}

CustomProblemConfig text_of(const HeatConfig& config) {
    CustomProblemConfig problem = evolution(0, 1, 1);
    problem.coefficients = {fixed("a", config.diffusivity)};
    problem.equations = {"u_t - a*u_xx"};
    problem.conditions = {initial({"sin(pi*x)"}), boundary({"0"})};
    problem.exact = {"exp(-a*pi^2*t)*sin(pi*x)"};
    return problem;
}

CustomProblemConfig text_of(const WaveConfig& config) {
    CustomProblemConfig problem = evolution(0, 1, 1);
    problem.coefficients = {fixed("c", config.speed)};
    problem.equations = {"u_tt - c^2*u_xx"};
    problem.conditions = {initial({"sin(pi*x)"}), initial({"0"}, 1), boundary({"0"})};
    problem.exact = {"sin(pi*x)*cos(c*pi*t)"};
    return problem;
}

CustomProblemConfig text_of(const PoissonConfig&) {
    CustomProblemConfig problem;
    problem.geometry = RectangleConfig{{0, 0}, {1, 1}};
    problem.equations = {"u_xx + u_yy + 2*pi^2*sin(pi*x)*sin(pi*y)"};
    problem.conditions = {boundary({"0"})};
    problem.exact = {"sin(pi*x)*sin(pi*y)"};
    return problem;
}

CustomProblemConfig text_of(const HelmholtzConfig& config) {
    CustomProblemConfig problem;
    problem.geometry = RectangleConfig{{-1, -1}, {1, 1}};
    problem.coefficients = {fixed("k", config.wave_number),
                            fixed("a", static_cast<double>(config.frequencies[0])),
                            fixed("b", static_cast<double>(config.frequencies[1]))};
    problem.equations = {"u_xx + u_yy + k^2*u - (k^2 - (a^2 + b^2)*pi^2)*sin(a*pi*x)*sin(b*pi*y)"};
    problem.conditions = {boundary({"0"})};
    problem.exact = {"sin(a*pi*x)*sin(b*pi*y)"};
    return problem;
}

DirichletConditionConfig velocity(std::string name, std::string u, std::string where) {
    DirichletConditionConfig condition = boundary({std::move(u), "0"});
    condition.options.name = std::move(name);
    condition.options.outputs = {"u", "v"};
    condition.where = std::move(where);
    return condition;
}

CustomProblemConfig text_of(const CavityConfig& config) {
    CustomProblemConfig problem;
    problem.geometry = RectangleConfig{{0, 0}, {1, 1}};
    problem.outputs = {"u", "v", "p"};
    problem.coefficients = {fixed("re", config.reynolds)};
    problem.equations = {"u*u_x + v*u_y + p_x - (u_xx + u_yy)/re",
                         "u*v_x + v*v_y + p_y - (v_xx + v_yy)/re", "u_x + v_y"};
    PinConditionConfig pressure;
    pressure.options.name = "pressure";
    pressure.options.outputs = {"p"};
    pressure.at = {0, 0};
    pressure.values = {"0"};
    problem.conditions = {velocity("lid", config.regularized ? "16*x^2*(1 - x)^2" : "1", "y = 1"),
                          velocity("walls", "0", "y < 1"), pressure};
    problem.reference = config.reference;
    return problem;
}

}  // namespace

CustomProblemConfig problem_text(const PinnProblemConfig& config) {
    return std::visit([](const auto& one) { return text_of(one); }, config);
}

std::unique_ptr<PinnProblem> make_problem(const PinnProblemConfig& config,
                                          const PointsConfig& points, ProblemParts parts) {
    CustomProblemConfig text = problem_text(config);
    if (parts == ProblemParts::without_conditions) text.conditions.clear();
    auto problem = std::make_unique<PinnProblem>(text, points);
    if (const auto* burgers = std::get_if<BurgersConfig>(&config))
        problem->exact = [viscosity = burgers->viscosity](const Tensor& at) {
            return burgers_solution(at, viscosity);
        };
    return problem;
}

}  // namespace ralimp
