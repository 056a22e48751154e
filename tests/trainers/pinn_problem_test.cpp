// Problems from text and by name: known solutions satisfy what the problem asks, others do not, and
// every kind of bad problem is refused with its place.
#include "trainers/pinn_problem.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <numbers>

#include "autograd/operations.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"
#include "trainers/config.h"
#include "trainers/run_config.h"

namespace ralimp {
namespace {

PinnConfig config_of(const std::string& problem, const std::string& more = "") {
    return std::get<PinnConfig>(read_config_text<RunConfig>(
        "kind: pinn\nprecision: float64\nproblem: " + problem + "\n" + more));
}

std::unique_ptr<PinnProblem> problem_of(const std::string& problem, const std::string& more = "") {
    const PinnConfig config = config_of(problem, more);
    return make_problem(config.problem, config.points);
}

// Outputs as functions of points [rows, axes], with every derivative that the plan carries, by
// nested reverse mode.
Jet jet_of(const std::function<Tensor(const Tensor&)>& f, const Tensor& at,
           const std::shared_ptr<const JetPlan>& plan) {
    const Tensor points = requires_grad(at);
    const Tensor values = f(points);
    Tensors channels{values};
    for (int channel = 1; channel < plan->channels(); ++channel) {
        Tensors columns;
        for (int64_t output = 0; output < values.size(1); ++output) {
            Tensor derivative = slice(values, 1, output, output + 1);
            for (int axis : plan->axes(channel))
                derivative = slice(grad(sum(derivative), points, true), 1, axis, axis + 1);
            columns.push_back(derivative);
        }
        channels.push_back(concatenate(columns, 1));
    }
    return Jet(stack(channels, 0), plan);
}

std::shared_ptr<const JetPlan> plan_of(const std::vector<Formula>& formulas) {
    std::vector<std::vector<int>> derivatives;
    for (const Formula& formula : formulas)
        for (const auto& axes : formula.derivatives()) derivatives.push_back(axes);
    return JetPlan::make(derivatives);
}

// The largest violation of an equation or a condition by a function.
double violation(const std::vector<Formula>& formulas, const ConditionPoints& at,
                 const std::function<Tensor(const Tensor&)>& f) {
    double largest = 0;
    const Jet u = jet_of(f, at.points, plan_of(formulas));
    for (std::size_t i = 0; i < formulas.size(); ++i) {
        Tensor value = formulas[i].evaluate({&u, at.points, at.normals, {}});
        if (at.partners.defined()) {
            const Jet partner = jet_of(f, at.partners, plan_of(formulas));
            value = value - formulas[i].evaluate({&partner, at.partners, {}, {}});
        }
        if (at.targets.defined()) {
            const auto column = static_cast<int64_t>(i);
            value = value - slice(at.targets, 1, column, column + 1);
        }
        largest = std::max(largest, max(abs(value)).item());
    }
    return largest;
}

const RandomKey key{5, RandomStream::points, 0};

double violation_of_conditions(const PinnProblem& problem,
                               const std::function<Tensor(const Tensor&)>& f) {
    double largest = 0;
    for (const PinnCondition& condition : problem.conditions())
        largest = std::max(largest, violation(condition.formulas, condition.draw(key), f));
    return largest;
}

double violation_of_equations(const PinnProblem& problem,
                              const std::function<Tensor(const Tensor&)>& f) {
    double largest = 0;
    for (const PinnEquation& equation : problem.equations())
        largest = std::max(largest, violation({equation.formula},
                                              {problem.residual_points(key, 20), {}, {}, {}}, f));
    return largest;
}

TEST(PinnProblem, KnownSolutionsSolveTheBuiltInProblems) {
    for (const char* text : {"{kind: heat}", "{kind: heat, diffusivity: 0.7}", "{kind: wave}",
                             "{kind: wave, speed: 2}", "{kind: poisson}", "{kind: helmholtz}",
                             "{kind: helmholtz, wave_number: 3, frequencies: [2, 1]}"}) {
        const auto problem = problem_of(text, "points: {residual: 50}");
        EXPECT_LT(violation_of_equations(*problem, problem->exact), 1e-10) << text;
        EXPECT_LT(violation_of_conditions(*problem, problem->exact), 1e-12) << text;
        // A function beside the solution violates both.
        const auto beside = [&](const Tensor& at) {
            const Tensor x = slice(at, 1, 0, 1), y = slice(at, 1, 1, 2);
            return problem->exact(at) + x * x * y * y * y + 0.25;
        };
        EXPECT_GT(violation_of_equations(*problem, beside), 1e-2) << text;
        EXPECT_GT(violation_of_conditions(*problem, beside), 1e-2) << text;
    }
}

// Waves in closed form that solve the equations alone, for any coefficients; and the starts of the
// problems, of which only those in a file of data are checked otherwise.
TEST(PinnProblem, TravellingWavesSolveTheBuiltInEquations) {
    struct Wave {
        const char* problem;
        std::function<Tensor(const Tensor&x, const Tensor&t)> u, start;
    };
    const double pi = std::numbers::pi;
    const auto sech = [](const Tensor& z) { return 1.0 / cosh(z); };
    const Wave waves[] = {
        {"{kind: burgers, viscosity: 0.1}",
         // c - a tanh(a (x - c t)/(2 ν))
         [](const Tensor& x, const Tensor& t) {
             return 0.3 - tanh((x - t * 0.3) * (0.7 / 0.2)) * 0.7;
         },
         [=](const Tensor& x, const Tensor&) { return sin(x * pi) * -1.0; }},
        {"{kind: allen_cahn, diffusion: 0.02, reaction: 3}",
         // 1/(1 + exp(-(x √(r/2d) + 3 r t/2)))
         [](const Tensor& x, const Tensor& t) {
             return sigmoid(x * std::sqrt(3 / 0.04) + t * 4.5);
         },
         [=](const Tensor& x, const Tensor&) { return x * x * cos(x * pi); }},
        {"{kind: kdv, dispersion: 0.02}",
         // The soliton 3 c sech²(½ √(c/d) (x - c t))
         [=](const Tensor& x, const Tensor& t) {
             return square(sech((x - t * 0.4) * (0.5 * std::sqrt(0.4 / 0.02)))) * 1.2;
         },
         [=](const Tensor& x, const Tensor&) { return cos(x * pi); }},
        {"{kind: schrodinger}",
         // The moving soliton a sech(a (x - v t)) exp(i (v x + (a² - v²) t/2))
         [=](const Tensor& x, const Tensor& t) {
             const Tensor size = sech((x - t * 0.5) * 1.5) * 1.5,
                          phase = x * 0.5 + t * ((1.5 * 1.5 - 0.25) / 2);
             return concatenate({size * cos(phase), size * sin(phase)}, 1);
         },
         [=](const Tensor& x, const Tensor&) {
             return concatenate({sech(x) * 2.0, x * 0.0}, 1);
         }},
    };
    const auto of_points = [](const auto& f) {
        return [f](const Tensor& at) { return f(slice(at, 1, 0, 1), slice(at, 1, 1, 2)); };
    };
    for (const Wave& wave : waves) {
        const auto problem = problem_of(wave.problem);
        EXPECT_LT(violation_of_equations(*problem, of_points(wave.u)), 1e-9) << wave.problem;
        const auto slower = [&](const Tensor& at) {
            return wave.u(slice(at, 1, 0, 1), slice(at, 1, 1, 2) * 0.9);
        };
        EXPECT_GT(violation_of_equations(*problem, slower), 1e-2) << wave.problem;
        const PinnCondition& initial = problem->conditions()[0];
        ASSERT_EQ(initial.name, "initial");
        const ConditionPoints at = initial.draw(key);
        EXPECT_LT(violation(initial.formulas, at, of_points(wave.start)), 1e-12) << wave.problem;
        EXPECT_GT(violation(initial.formulas, at, of_points(wave.u)), 1e-2) << wave.problem;
    }
}

TEST(PinnProblem, BurgersStartsAndEndsAsItsSolution) {
    const auto problem = problem_of("{kind: burgers}");
    ASSERT_EQ(problem->conditions().size(), 2u);
    EXPECT_EQ(problem->conditions()[0].name, "initial");
    EXPECT_EQ(problem->conditions()[1].name, "boundary");
    for (const PinnCondition& condition : problem->conditions()) {
        const ConditionPoints at = condition.draw(key);
        const Tensor u = problem->exact(at.points);
        const Jet jet(reshape(u, {1, u.size(0), 1}), JetPlan::value_only());
        EXPECT_LT(
            max(abs(condition.formulas[0].evaluate({&jet, at.points, at.normals, {}}))).item(),
            1e-12);
    }
}

// u = x² + 3 y on the unit disk, n = (x, y): u_n = 2 x² + 3 y.
TEST(PinnProblem, EveryConditionMeansWhatItSays) {
    const auto f = [](const Tensor& at) {
        const Tensor x = slice(at, 1, 0, 1), y = slice(at, 1, 1, 2);
        return x * x + y * 3.0;
    };
    const auto conditions = [&](const std::string& list) {
        return problem_of(
            "{kind: custom, geometry: {kind: disk}, equations: [u_xx + u_yy - 2], "
            "coefficients: [{name: c, value: 3}], conditions: [" +
            list + "]}");
    };
    for (const char* condition :
         {"{kind: dirichlet, values: ['x^2 + c*y']}", "{kind: neumann, values: [2*x^2 + 3*y]}",
          "{kind: robin, value_factor: 2, normal_factor: x, values: ['2*(x^2+3*y)+x*(2*x^2+3*y)']}",
          "{kind: formula, formulas: [u_n - n_x*u_x - 3*n_y, u_y - c, u_xx - 2]}",
          "{kind: dirichlet, values: [1 + 3*y - y^2]}"}) {
        const auto problem = conditions(condition);
        EXPECT_LT(violation_of_conditions(*problem, f), 1e-12) << condition;
    }
    for (const char* condition :
         {"{kind: dirichlet, values: [x]}", "{kind: neumann, values: [2*x^2]}",
          "{kind: robin, value_factor: 2, normal_factor: x, values: ['2*(x^2+3*y)']}",
          "{kind: robin, value_factor: 2, normal_factor: x, values: ['x*(2*x^2+3*y)']}",
          "{kind: formula, formulas: [u_n]}"})
        EXPECT_GT(violation_of_conditions(*conditions(condition), f), 0.1) << condition;
}

// u = x² + 2 y t - 3 z on unit balls of one to three axes, in time: n = (x, y, z).
TEST(PinnProblem, NormalDerivativesInEveryDimensionAndInTime) {
    struct Case {
        const char *geometry, *normal_derivative;
        int64_t axes;
    };
    for (const Case& c : {Case{"{kind: interval, lower: -1, upper: 1}", "2*x^2", 1},
                          {"{kind: disk}", "2*x^2 + 2*y*t", 2},
                          {"{kind: sphere}", "2*x^2 + 2*y*t - 3*z", 3}}) {
        const auto f = [&](const Tensor& at) {
            const auto axis = [&](int64_t k) { return slice(at, 1, k, k + 1); };
            const Tensor t = axis(c.axes);
            Tensor u = square(axis(0));
            if (c.axes > 1) u = u + axis(1) * t * 2.0;
            if (c.axes > 2) u = u - axis(2) * 3.0;
            return u;
        };
        const auto violated = [&](const std::string& condition) {
            return violation_of_conditions(
                *problem_of(fmt::format("{{kind: custom, geometry: {}, time: [0.5, 2], equations: "
                                        "[u_t], conditions: [{}]}}",
                                        c.geometry, condition)),
                f);
        };
        const std::string values = c.normal_derivative;
        EXPECT_LT(violated("{kind: neumann, values: ['" + values + "']}"), 1e-12) << c.geometry;
        EXPECT_LT(violated("{kind: robin, value_factor: 0, normal_factor: t, values: ['t*(" +
                           values + ")']}"),
                  1e-12)
            << c.geometry;
        EXPECT_GT(violated("{kind: neumann, values: ['0.9*(" + values + ")']}"), 0.1) << c.geometry;
    }
}

TEST(PinnProblem, PeriodicConditionsCompareBothEnds) {
    const auto problem = [&](const std::string& condition) {
        return problem_of(
            "{kind: custom, geometry: {kind: rectangle, lower: [-1, 0]}, time: [0, "
            "2], equations: [u_t], conditions: [" +
            condition + "]}");
    };
    const auto f = [](const Tensor& at) {  // period 2 in x; u_xx differs at the ends of y
        const Tensor x = slice(at, 1, 0, 1), y = slice(at, 1, 1, 2), t = slice(at, 1, 2, 3);
        return sin(x * std::numbers::pi) * t + y * y * (1.0 - y);
    };
    EXPECT_LT(violation_of_conditions(*problem("{kind: periodic}"), f), 1e-12);
    EXPECT_LT(violation_of_conditions(*problem("{kind: periodic, derivatives: 2}"), f), 1e-12);
    EXPECT_LT(violation_of_conditions(*problem("{kind: periodic, axis: y, derivatives: 0}"), f),
              1e-12);
    EXPECT_NEAR(violation_of_conditions(*problem("{kind: periodic, axis: y}"), f), 1, 1e-12);
}

TEST(PinnProblem, MeasurementsAreTheSolutionWithNoise) {
    const auto measured = [](const std::string& noise, const RandomKey& at) {
        return problem_of(
                   "{kind: custom, geometry: {kind: disk}, time: [0, 2], outputs: [u, v], "
                   "equations: [u_t], exact: [x + 10*t, 5 - y], conditions: "
                   "[{kind: measurements, points: 4000, noise: " +
                   noise + "}]}")
            ->conditions()[0]
            .draw(at);
    };
    const ConditionPoints exact = measured("0", key), noisy = measured("0.1", key);
    EXPECT_EQ(exact.points.shape(), (Shape{4000, 3}));
    const Tensor x = slice(exact.points, 1, 0, 1), y = slice(exact.points, 1, 1, 2),
                 t = slice(exact.points, 1, 2, 3);
    EXPECT_LE(max(x * x + y * y).item(), 1);
    EXPECT_GT(max(t).item(), 1.9);
    EXPECT_LT(max(abs(concatenate({x + t * 10.0, 5.0 - y}, 1) - exact.targets)).item(), 1e-12);
    EXPECT_EQ(exact.points.to_doubles(), noisy.points.to_doubles());
    const Tensor errors = noisy.targets - exact.targets;
    for (const int64_t column : {0, 1}) {
        const auto deviation = [&](const Tensor& all) {
            const Tensor one = slice(all, 1, column, column + 1);
            return std::sqrt(mean(square(one - mean(one))).item());
        };
        EXPECT_NEAR(deviation(errors) / deviation(exact.targets), 0.1, 0.004) << column;
        EXPECT_NEAR(mean(slice(errors, 1, column, column + 1)).item(), 0,
                    0.1 * deviation(exact.targets) * 4 / std::sqrt(4000.0));
    }
    // Fixed for a seed, whichever draw it is.
    const RandomKey later{key.seed, key.stream, 7}, other{key.seed + 1, key.stream, 0};
    EXPECT_EQ(measured("0.1", later).targets.to_doubles(), noisy.targets.to_doubles());
    EXPECT_NE(measured("0.1", other).targets.to_doubles(), noisy.targets.to_doubles());

    const auto complaint = [](const std::string& condition) {
        return error_of([&] {
                   problem_of("{kind: custom, equations: [u_x], conditions: [" + condition + "]}");
               })
            .text;
    };
    EXPECT_EQ(complaint("{kind: measurements, points: 5}"),
              "problem.conditions[0]: measures the known solution; give problem.exact or "
              "problem.reference");
    EXPECT_NE(complaint("{kind: measurements}").find("points: is required here"), std::string::npos)
        << complaint("{kind: measurements}");
}

TEST(PinnProblem, InitialConditionsOfEveryOrder) {
    const auto f = [](const Tensor& at) {
        const Tensor x = slice(at, 1, 0, 1), t = slice(at, 1, 1, 2);
        return x + (t - 0.5) * 2.0 * x + square(t - 0.5) * 3.0;
    };
    const auto problem = problem_of(
        "{kind: custom, geometry: {kind: interval}, time: [0.5, 1], equations: [u_t], conditions: "
        "[{kind: initial, values: [x]}, {kind: initial, derivative: 1, values: [2*x]}, {kind: "
        "initial, derivative: 2, values: [6]}]}");
    EXPECT_LT(violation_of_conditions(*problem, f), 1e-12);
    EXPECT_EQ(problem->conditions()[0].name, "initial");
    EXPECT_EQ(problem->conditions()[1].name, "initial_2");
    EXPECT_EQ(problem->conditions()[2].name, "initial_3");
}

TEST(PinnProblem, PartsOfTheBoundary) {
    const auto points_where = [&](const std::string& where) {
        const auto problem = problem_of(
            "{kind: custom, geometry: {kind: rectangle}, equations: [u_x], "
            "coefficients: [{name: h, value: 0.25}], conditions: [{kind: dirichlet, "
            "points: 30, values: [0], where: '" +
            where + "'}]}");
        return problem->conditions()[0].draw(key);
    };
    const auto columns = [&](const std::string& where) {
        const ConditionPoints at = points_where(where);
        EXPECT_EQ(at.points.shape(), (Shape{30, 2})) << where;
        EXPECT_EQ(at.normals.shape(), (Shape{30, 2})) << where;
        return std::pair{slice(at.points, 1, 0, 1), slice(at.points, 1, 1, 2)};
    };
    EXPECT_EQ(min(columns("x = 1").first).item(), 1);
    EXPECT_EQ(max(columns("x == 0").first).item(), 0);
    EXPECT_LE(max(columns("y < h").second).item(), 0.25);
    EXPECT_GE(min(columns("y >= 3*h").second).item(), 0.75);
    const auto [x, y] = columns("x + y <= 0.5");
    EXPECT_LE(max(x + y).item(), 0.5);
    EXPECT_EQ(min(slice(points_where("y = 1").normals, 1, 1, 2)).item(), 1);
    // Strict comparisons leave the faces at their bound out.
    EXPECT_GT(min(columns("x > 0").first).item(), 0);
    EXPECT_LT(max(columns("y < 1").second).item(), 1);
    EXPECT_EQ(max(columns("x <= 0").first).item(), 0);
    for (const char* nothing : {"x = 2", "x < 0", "y > 1", "x >= 1.1"}) {
        const Thrown thrown = error_of([&] { points_where(nothing); });
        EXPECT_EQ(thrown.code, ExitCode::bad_config) << nothing;
        EXPECT_EQ(thrown.text,
                  fmt::format("problem.conditions[0].where: none of the boundary's points with {} "
                              "were found; 30 are asked for",
                              nothing));
    }
}

// Of a grid every part of the boundary has its share, and never more points than asked for.
TEST(PinnProblem, PartsOfTheBoundaryByAGrid) {
    for (const int points : {7, 40, 100, 333}) {
        const auto problem = problem_of(
            fmt::format("{{kind: custom, geometry: {{kind: disk}}, equations: [u_x], conditions: "
                        "[{{kind: dirichlet, points: {}, values: [0], where: 'y > -0.5'}}]}}",
                        points),
            "points: {sampler: grid}");
        const ConditionPoints at = problem->conditions()[0].draw(key);
        const Tensor x = slice(at.points, 1, 0, 1), y = slice(at.points, 1, 1, 2);
        EXPECT_LE(at.points.size(0), points);
        EXPECT_GE(at.points.size(0), points * 8 / 10);
        const double step = 2 * std::numbers::pi / points;
        EXPECT_LT(min(y).item(), -0.5 + step);
        EXPECT_GT(max(y).item(), 1 - step);
        EXPECT_LT(min(x).item(), -1 + step);
        EXPECT_GT(max(x).item(), 1 - step);
    }
}

// A file with datasets x, t, u and more of them.
std::string hdf5_points(const std::string& path, const std::vector<double>& x,
                        const std::vector<double>& t, const std::vector<double>& u) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (const auto& [name, values] : {std::pair{"x", x}, {"t", t}, {"u", u}}) {
        const hsize_t count = values.size();
        const hid_t space = H5Screate_simple(1, &count, nullptr);
        const hid_t set =
            H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (count > 0)
            H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
        H5Dclose(set);
        H5Sclose(space);
    }
    H5Fclose(file);
    return path;
}

TEST(PinnProblem, PointsFromAFile) {
    const TemporaryFolder folder;
    const auto text_file = [&](const std::string& text) {
        std::ofstream(folder / "data.csv") << text;
        return folder / "data.csv";
    };
    const auto with = [](const std::string& file) {
        return problem_of(
            "{kind: custom, geometry: {kind: interval}, time: [0, 1], outputs: [u, p], "
            "equations: [u_x - p], conditions: [{kind: pin, at: [0, 0], outputs: [p], values: [0]},"
            " {kind: points, outputs: [u], file: " +
            file + "}]}");
    };
    for (const std::string& file :
         {text_file("t,u,x\n0.5,2,0.1\n0.25,3,0.2\n"),
          hdf5_points(folder / "data.h5", {0.1, 0.2}, {0.5, 0.25}, {2, 3})}) {
        const ConditionPoints at = with(file)->conditions()[1].draw(key);
        EXPECT_EQ(at.points.to_vector<double>(), (std::vector<double>{0.1, 0.5, 0.2, 0.25}));
        EXPECT_EQ(at.targets.to_vector<double>(), (std::vector<double>{2, 3}));
    }
    // Whatever is wrong with a file, the condition is named, and the file.
    const auto refused = [&](const std::string& file, const std::string& what) {
        const Thrown thrown = error_of([&] { with(file); });
        EXPECT_NE(thrown.text.find("problem.conditions[1].file: " + file), std::string::npos)
            << thrown.text;
        EXPECT_NE(thrown.text.find(what), std::string::npos) << thrown.text;
        EXPECT_TRUE(thrown.code == ExitCode::bad_config || thrown.code == ExitCode::bad_input);
    };
    refused(text_file("t,u,x\n0.5,2,0.1\n0.25,3,1.5\n"),
            "row 2 has x = 1.5, outside the domain's 0 to 1");
    refused(text_file("t,u,x\n"), "no row");
    refused(text_file(""), "no row");
    refused(text_file("t,x\n0.5,0.1\n"), "has no column u");
    refused(text_file("t,u,x\n0.5,2\n"), "2 entries for 3 columns");
    refused(hdf5_points(folder / "empty.h5", {}, {}, {}), "is empty");
    refused(hdf5_points(folder / "short.h5", {0.1, 0.2}, {0.5}, {2, 3}), "has 1 numbers, x has 2");
    refused(hdf5_points(folder / "outside.h5", {0.1, 0.2}, {0.5, -1}, {2, 3}), "row 2 has t = -1");
}

// At one point, whatever the key.
TEST(PinnProblem, PinsOutputsAtAPoint) {
    const auto problem = problem_of(
        "{kind: custom, geometry: {kind: rectangle}, time: [0, 2], outputs: [u, p], equations: "
        "[u_x - p], conditions: [{kind: pin, at: [1, 0.5, 2], outputs: [p], values: [x + t]}]}");
    const PinnCondition& pin = problem->conditions()[0];
    EXPECT_EQ(pin.name, "pin");
    EXPECT_EQ(pin.draw(key).points.to_vector<double>(), (std::vector<double>{1, 0.5, 2}));
    const auto field = [](double p) {
        return [p](const Tensor& at) {
            return concatenate({slice(at, 1, 0, 1), slice(at, 1, 2, 3) + p}, 1);
        };
    };
    EXPECT_LT(violation_of_conditions(*problem, field(1)), 1e-15);
    EXPECT_NEAR(violation_of_conditions(*problem, field(0.5)), 0.5, 1e-15);
}

TEST(PinnProblem, TheSameKeyDrawsTheSamePoints) {
    const auto problem = problem_of("{kind: wave}", "points: {residual: 20, sampler: sobol}");
    RandomKey other = key;
    other.step = 1;
    for (const PinnCondition& condition : problem->conditions()) {
        const auto points = [&](const RandomKey& k) {
            return condition.draw(k).points.to_vector<double>();
        };
        EXPECT_EQ(points(key), points(key));
        EXPECT_NE(points(key), points(other));
    }
    // Conditions of one kind do not share their points.
    EXPECT_NE(problem->conditions()[0].draw(key).points.to_vector<double>(),
              problem->conditions()[1].draw(key).points.to_vector<double>());
}

// Of the published solutions: the first row is the initial condition, and differences in time and
// space satisfy the equation as well as differences can.
TEST(PinnProblem, PublishedSolutionsSolveTheBuiltInProblems) {
    const char* data = std::getenv("RALIMP_DATA");
    if (!data) GTEST_SKIP() << "RALIMP_DATA is not set";
    for (const char* name : {"allen_cahn", "kdv", "schrodinger"}) {
        const PinnConfig config =
            config_of(fmt::format("{{kind: {}, reference: {}/pinn/{}.h5}}", name, data, name));
        const auto problem = make_problem(config.problem, config.points);
        const PinnReference reference =
            reference_from_file(*problem, *problem_text(config.problem).reference);
        const int64_t nx = reference.grid[0], nt = reference.grid[1];
        const auto outputs = static_cast<int64_t>(problem->outputs().size());
        const Tensor u = reshape(reference.values, {nx, nt, outputs});
        const Tensor points = reshape(reference.points, {nx, nt, 2});
        const double dx = (select(select(select(points, 0, 1), 0, 0), 0, 0) -
                           select(select(select(points, 0, 0), 0, 0), 0, 0))
                              .item();
        const double dt = (select(select(select(points, 0, 0), 0, 1), 0, 1) -
                           select(select(select(points, 0, 0), 0, 0), 0, 1))
                              .item();
        // Fourth-order differences away from the ends.
        const auto at = [&](int64_t i, int64_t j) {
            return reshape(slice(slice(u, 0, 3 + i, nx - 3 + i), 1, 2 + j, nt - 2 + j),
                           {(nx - 6) * (nt - 4), outputs});
        };
        const Tensor value = at(0, 0);
        const Tensor u_t = (at(0, -2) - at(0, -1) * 8.0 + at(0, 1) * 8.0 - at(0, 2)) / (12 * dt);
        const Tensor u_x = (at(-2, 0) - at(-1, 0) * 8.0 + at(1, 0) * 8.0 - at(2, 0)) / (12 * dx);
        const Tensor u_xx =
            (at(-1, 0) * 16.0 - at(-2, 0) - value * 30.0 + at(1, 0) * 16.0 - at(2, 0)) /
            (12 * dx * dx);
        const Tensor u_xxx = (at(-3, 0) - at(-2, 0) * 8.0 + at(-1, 0) * 13.0 - at(1, 0) * 13.0 +
                              at(2, 0) * 8.0 - at(3, 0)) /
                             (8 * dx * dx * dx);
        const auto plan = JetPlan::make({{1}, {0, 0, 0}});
        Tensors channels(static_cast<std::size_t>(plan->channels()));
        for (int channel = 0; channel < plan->channels(); ++channel) {
            const auto& axes = plan->axes(channel);
            channels[static_cast<std::size_t>(channel)] = axes == std::vector<int>{1} ? u_t
                                                          : axes.size() == 1          ? u_x
                                                          : axes.size() == 2          ? u_xx
                                                          : axes.size() == 3          ? u_xxx
                                                                                      : value;
        }
        const Jet jet(stack(channels, 0), plan);
        const Tensor inner =
            reshape(slice(slice(points, 0, 3, nx - 3), 1, 2, nt - 2), {(nx - 6) * (nt - 4), 2});
        for (const PinnEquation& equation : problem->equations()) {
            const Tensor residual = equation.formula.evaluate({&jet, inner, {}, {}});
            EXPECT_LT(std::sqrt((mean(square(residual)) / mean(square(u_t))).item()), 0.02) << name;
        }
        const Tensor start = select(u, 1, 0), x = select(points, 1, 0);
        const Jet initial(unsqueeze(start, 0), JetPlan::value_only());
        for (const Formula& formula : problem->conditions()[0].formulas)
            EXPECT_LT(max(abs(formula.evaluate({&initial, x, {}, {}}))).item(), 1e-6) << name;
    }
}

struct Bad {
    const char* problem;
    const char* message;
};

// Maps that change their kind: what each forgets is its own.
TEST(PinnProblem, ALongListOfConditionsIsReadQuicklyAndRefused) {
    std::string text = "{kind: custom, geometry: {kind: interval}, equations: [u], conditions: [";
    for (int i = 0; i < 15'000; ++i) text += "{kind: neumann, values: [0]}, ";
    const auto start = std::chrono::steady_clock::now();
    const Thrown thrown = error_of([&] { config_of(text + "]}"); });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_NE(thrown.text.find("conditions must have at most 1000 items, not 15000"),
              std::string::npos)
        << thrown.text;
    EXPECT_LT(seconds.count(), 20);
}

TEST(PinnProblem, BadProblemsAreRefusedWithTheirPlace) {
    const std::string start = "{kind: custom, geometry: {kind: interval}, ";
    for (const Bad& bad : {
             Bad{"time: [0, 1], equations: [u_t + w]}",
                 "problem.equations[0]: expression, column 7: w"},
             {"equations: [x + 1]}", "problem.equations[0]: 'x + 1' names no output"},
             {"equations: []}", "equations"},
             {"time: [1, 0], equations: [u_x]}", "must start before it ends"},
             {"equations: [u_t]}", "u_t is unknown"},
             {"axes: [x, y], equations: [u_x]}", "problem.axes: 2 names for a geometry of 1 axes"},
             {"outputs: [x], equations: [x]}", "the name 'x' is taken already"},
             {"outputs: [2u], equations: [u]}", "problem.outputs: '2u' is no name"},
             {"coefficients: [{name: u}], equations: [u]}", "the name 'u' is taken already"},
             {"coefficients: [{name: u_n}], equations: [u]}",
              "problem: the name 'u_n' reads as a derivative of u"},
             {"outputs: [u, u_x], equations: [u]}", "the name 'u_x' reads as a derivative of u"},
             {"coefficients: [{name: n_x}], equations: [u]}", "'n_x' reads as a component of n"},
             {"axes: [a_b], equations: [u]}", "problem.axes: 'a_b' has a _"},
             {"outputs: [u, v], equations: [u], conditions: [{kind: dirichlet, outputs: [u, u], "
              "values: [0, 1]}]}",
              "problem.conditions[0].outputs: u stands twice"},
             {"equations: [u_x], conditions: [{kind: dirichlet, values: [0], points: "
              "9000000000000000000}]}",
              "points"},
             {"coefficients: [{name: c, value: 3, lower: 0, upper: 2, train: true}], equations: "
              "[u]}",
              "must be between lower and upper"},
             {"coefficients: [{name: c, lower: 0}], equations: [u]}", "must be given together"},
             {"equations: [u_x], conditions: [{kind: initial, values: [0]}]}",
              "problem.conditions[0]: an initial condition needs problem.time"},
             {"equations: [u_x], conditions: [{kind: dirichlet, values: [0], name: residual}]}",
              "problem.conditions[0].name: 'residual' is what the equations' term is called "
              "already"},
             {"equations: [u_x, u], conditions: [{kind: dirichlet, values: [0], name: residual}]}",
              "problem.conditions[0].name: 'residual' is what the equations' term is called "
              "already"},
             {"equations: [u_x, u], conditions: [{kind: dirichlet, values: [0], name: "
              "residual_2}]}",
              "problem.conditions[0].name: 'residual_2' is what the equations' term"},
             {"equations: [u_x], conditions: [{kind: dirichlet, values: [0, 1]}]}",
              "problem.conditions[0].values: 2 formulas for 1 outputs (u)"},
             {"equations: [u_x], conditions: [{kind: dirichlet, values: []}]}", "values"},
             {"equations: [u_x], conditions: [{kind: dirichlet}]}", "values"},
             {"equations: [u_x], conditions: [{kind: dirichlet, values: ['2*']}]}",
              "problem.conditions[0].values[0]: expression, column 3"},
             {"equations: [u_x], conditions: [{kind: dirichlet, values: [u]}]}", "u is unknown"},
             {"equations: [u_x], conditions: [{kind: dirichlet, values: [0], outputs: [v]}]}",
              "problem.conditions[0].outputs: v is no output"},
             {"equations: [u_x], conditions: [{kind: dirichlet, values: [0], where: x}]}",
              "problem.conditions[0].where: 'x' compares nothing"},
             {"equations: [u_x], conditions: [{kind: dirichlet, values: [0], where: x = q}]}",
              "column 5: q is neither an axis nor a fixed coefficient"},
             {"equations: [u_x], conditions: [{kind: dirichlet, values: [0], where: x < 2*}]}",
              "column 7: a number, a name or ( is expected, not the end\n    x < 2*\n          ^"},
             {"equations: [u_x], conditions: [{kind: dirichlet, values: [0], where: 2x > 0}]}",
              "where: expression, column 2: an operator is expected after the number (2x is "
              "written "
              "2*x)\n    2x > 0\n     ^"},
             {"equations: [u_x], conditions: [{kind: neumann, values: [0], points: 0}]}", "points"},
             {"equations: [u_x], conditions: [{kind: formula, formulas: [x]}]}",
              "problem.conditions[0].formulas[0]: 'x' names no output"},
             {"equations: [u_x], conditions: [{kind: robin, values: [0], value_factor: w}]}",
              "problem.conditions[0].value_factor: expression, column 1: w"},
             {"equations: [u_x], conditions: [{kind: periodic, axis: t}]}", "t is no axis"},
             {"equations: [u_x], conditions: [{kind: periodic, name: 'a,b'}]}",
              "problem.conditions[0].name: 'a,b' is no name"},
             {"equations: [u_x], conditions: [{kind: periodic, name: seconds}]}",
              "problem.conditions[0].name: 'seconds' is what a column"},
             {"equations: [u_x], conditions: [{kind: periodic, name: relative_l2_u}]}",
              "problem.conditions[0].name: 'relative_l2_u' is what a column"},
             {"equations: [u_x], conditions: [{kind: points, file: /nowhere.csv}]}",
              "problem.conditions[0].file: /nowhere.csv"},
             {"equations: [u_x], conditions: [{kind: pin, at: [0.5, 1], values: [0]}]}",
              "problem.conditions[0].at: 2 numbers for 1 axes (x)"},
             {"equations: [u_x], conditions: [{kind: pin, at: [1.5], values: [0]}]}",
              "problem.conditions[0].at: x = 1.5 is outside the domain's 0 to 1"},
             {"equations: [u_x], conditions: [{kind: pin, at: [0], points: 3, values: [0]}]}",
              "problem.conditions[0].points: a pin has one point"},
             {"equations: [u_x], exact: [x, x]}", "problem.exact: 2 formulas for 1 outputs"},
             {"equations: [u_x], exact: [u]}", "problem.exact[0]: expression, column 1: u"},
             {"equations: [u_x], exact: [x], reference: a.h5}", "not both"},
         }) {
        const Thrown thrown = error_of([&] { problem_of(start + bad.problem); });
        EXPECT_NE(thrown.text.find(bad.message), std::string::npos) << bad.problem << "\n"
                                                                    << thrown.text;
        EXPECT_TRUE(thrown.code == ExitCode::bad_config || thrown.code == ExitCode::bad_input)
            << bad.problem;
    }
}

}  // namespace
}  // namespace ralimp
