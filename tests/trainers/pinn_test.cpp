// PINNs from their configs: trained on problems posed in text, compared with what is known.
#include "trainers/pinn.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <numbers>
#include <tuple>

#include "autograd/operations.h"
#include "core/parallel.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"
#include "tests/trainers/training_testing.h"
#include "trainers/config.h"
#include "trainers/objective.h"

namespace ralimp {
namespace {

double metric(const Trained& trained, const std::string& name) {
    for (const auto& [known, value] : trained.result.metrics)
        if (known == name) return value;
    ADD_FAILURE() << "no metric " << name;
    return 0;
}

PinnTask task_of(const std::string& text) {
    return PinnTask(std::get<PinnConfig>(read_config_text<RunConfig>("kind: pinn\n" + text)));
}

const std::string small_network = "precision: float64\nnetwork: {hidden_layers: 2, width: 12}\n";
const std::string short_training =
    "training: {phases: [{steps: 100, optimizer: {kind: adam, learning_rate: 5e-3}}, {steps: 150, "
    "optimizer: {kind: lbfgs}}]}\n";

TEST(Pinn, SolvesAProblemFromTextOnADisk) {
    const NoPrograms no_programs;
    const TemporaryFolder folder;
    const Trained trained = train_in(
        folder / "run",
        "kind: pinn\nproblem: {kind: custom, geometry: {kind: disk}, equations: [u_xx + u_yy - 4], "
        "conditions: [{kind: dirichlet, values: [x^2 + y^2]}], exact: [x^2 + y^2]}\n"
        "points: {residual: 200, boundary: 60}\nevaluation: {grid: [21, 21]}\n" +
            small_network + short_training);
    EXPECT_EQ(trained.error, "");
    EXPECT_LT(metric(trained, "relative_l2"), 2e-2);
}

const std::string adaptive_points =
    "problem: {kind: burgers}\nprecision: float64\nnetwork: {hidden_layers: 2, width: 8}\n"
    "points: {residual: 300, initial: 5, boundary: 5, resample_every: 10, "
    "adaptive: {candidates: 3000, exponent: EXPONENT, offset: OFFSET}}\n";

// The residual points of a draw; row by row x, t.
std::vector<double> adaptive_draw(const std::string& exponent, const std::string& offset,
                                  int64_t draw) {
    std::string text = adaptive_points;
    text.replace(text.find("EXPONENT"), 8, exponent);
    text.replace(text.find("OFFSET"), 6, offset);
    PinnTask task = task_of(text);
    EXPECT_TRUE(task.saved_state().empty()) << "the first draw follows from the seed";
    task.set_batch(10 * draw);
    const NamedTensors state = task.saved_state();
    EXPECT_EQ(state.size(), 2u);
    EXPECT_EQ(state[0].second.item(), static_cast<double>(draw));
    return state[1].second.to_doubles();
}

// The untrained network's residual is largest where the equation's own scales are; what is asked is
// that points follow it: their mean |residual| grows with the exponent.
TEST(Pinn, AdaptivePointsLieWhereTheResidualIsLarge) {
    const auto mean_residual = [](const std::vector<double>& points) {
        PinnTask task = task_of(
            "problem: {kind: burgers}\nprecision: float64\n"
            "network: {hidden_layers: 2, width: 8}\n");
        const auto count = static_cast<int64_t>(points.size()) / 2;
        return mean(abs(task.residuals(Tensor::from(points, {count, 2})))).item();
    };
    const double even = mean_residual(adaptive_draw("0", "1", 1)),
                 mixed = mean_residual(adaptive_draw("1", "1", 1)),
                 sharp = mean_residual(adaptive_draw("1", "0", 1)),
                 sharper = mean_residual(adaptive_draw("3", "0", 1));
    EXPECT_GT(mixed, 1.03 * even);
    EXPECT_GT(sharp, 1.03 * mixed);
    EXPECT_GT(sharper, 1.1 * sharp);
}

// Half of the points have no residual, or nearly all have one too small for its power.
TEST(Pinn, AdaptivePointsAreCompletedWhereFewHaveAResidual) {
    for (const char* text :
         {"problem: {kind: custom, geometry: {kind: interval, lower: -1}, equations: ['max(x, 0)*"
          "(u - 1)']}\npoints: {residual: 90, resample_every: 1, adaptive: {candidates: 100, "
          "offset: 0}}\n",
          "problem: {kind: burgers}\npoints: {residual: 90, resample_every: 1, adaptive: "
          "{candidates: 100, exponent: 300, offset: 0}}\n"}) {
        PinnTask task = task_of(std::string("precision: float64\n") + text);
        task.set_batch(1);
        EXPECT_EQ(task.saved_state().at(1).second.size(0), 90) << text;
    }
}

TEST(Pinn, AdaptivePointsFollowFromSeedModelAndDraw) {
    const std::vector<double> first = adaptive_draw("1", "1", 1);
    EXPECT_EQ(first.size(), 600u);
    EXPECT_EQ(first, adaptive_draw("1", "1", 1));
    EXPECT_NE(first, adaptive_draw("1", "1", 2));
}

// deepxde#618, #680, #585, #353 and #2086: the seed alone decides, for every way to draw points.
TEST(Pinn, PointsAndLossesFollowFromTheSeedForEverySamplerAndAnyThreads) {
    const int before = thread_count();
    for (const char* sampler : {"uniform", "latin_hypercube", "sobol", "grid"})
        for (const char* adaptive : {"", ", adaptive: {candidates: 4001}"}) {
            const auto drawn = [&](int seed, int threads) {
                set_thread_count(threads);
                PinnTask task = task_of(fmt::format(
                    "seed: {}\nproblem: {{kind: schrodinger}}\nnetwork: {{hidden_layers: 2, width: "
                    "20}}\npoints: {{residual: 2501, initial: 301, boundary: 201, resample_every: "
                    "1, sampler: {}{}}}\n",
                    seed, sampler, adaptive));
                task.set_batch(2);
                return std::pair{task.calibration_batch().to_doubles(), loss_values(task)};
            };
            const auto one = drawn(3, 1);
            EXPECT_EQ(one, drawn(3, 1)) << sampler << adaptive;
            EXPECT_EQ(one, drawn(3, 4)) << sampler << adaptive;
            const auto other = drawn(4, 1);
            // A grid lies where it lies; the network differs all the same.
            EXPECT_EQ(one.first == other.first, sampler == std::string("grid") && adaptive[0] == 0)
                << sampler << adaptive;
            EXPECT_NE(one.second, other.second) << sampler << adaptive;
        }
    set_thread_count(before);
}

TEST(Pinn, AdaptivePointsThatCannotBeAreRefused) {
    const auto message = [](const std::string& points) {
        return error_of([&] { task_of("points: " + points + "\n"); }).text;
    };
    EXPECT_NE(message("{residual: 100, resample_every: 5, adaptive: {candidates: 99}}")
                  .find("candidates must be at least points.residual"),
              std::string::npos);
    EXPECT_NE(message("{residual: 100, adaptive: {candidates: 200}}").find("needs resample_every"),
              std::string::npos);
    // From a checkpoint of another problem.
    PinnTask task =
        task_of("points: {residual: 9, resample_every: 1, adaptive: {candidates: 9}}\n");
    for (const Tensor& points : {Tensor::zeros({4, 3}), Tensor::zeros({4}), Tensor::zeros({0, 2}),
                                 Tensor::zeros({4, 2}, DType::float64)})
        EXPECT_EQ(error_of([&] {
                      task.restore_state({{"draw", Tensor::full({}, 1, DType::float64)},
                                          {"residual_points", points}});
                  }).code,
                  ExitCode::bad_input);
}

// u_t = a u_xx with a unknown: 0.3 from exact values at some points, started at 1 with bounds and
// without.
TEST(Pinn, FindsAnUnknownCoefficient) {
    const NoPrograms no_programs;
    const TemporaryFolder folder;
    const std::string data = folder / "data.csv";
    {
        std::ofstream file(data);
        file << "x,t,u\n";
        for (int i = 0; i < 60; ++i) {
            const double x = std::fmod(0.37 * i, 1.0), t = std::fmod(0.61 * i, 1.0);
            file << fmt::format("{},{},{}\n", x, t,
                                std::exp(-0.3 * std::numbers::pi * std::numbers::pi * t) *
                                    std::sin(std::numbers::pi * x));
        }
    }
    for (const char* bounds : {"", ", lower: 0.01, upper: 5"}) {
        const Trained trained = train_in(
            folder / (bounds[0] ? "bounded" : "free"),
            fmt::format("kind: pinn\nproblem: {{kind: custom, geometry: {{kind: interval}}, time: "
                        "[0, 1], coefficients: [{{name: a, value: 1, train: true{}}}], equations: "
                        "[u_t - a*u_xx], conditions: [{{kind: points, file: {}}}]}}\n"
                        "points: {{residual: 200}}\nevaluation: {{grid: [11, 10]}}\n",
                        bounds, data) +
                small_network + short_training);
        EXPECT_EQ(trained.error, "");
        EXPECT_NEAR(metric(trained, "coefficient_a"), 0.3, 0.01) << bounds;
    }
}

// The data ask for 0.3, the bounds keep it out of reach: from inside it comes as near as it may.
TEST(Pinn, BoundsOfAnUnknownCoefficientHold) {
    const NoPrograms no_programs;
    for (const auto& [bounds, start, end] :
         {std::tuple{"lower: 0.5, upper: 2", 0.8, 0.5}, {"lower: -2, upper: 0.25", -1.0, 0.25}}) {
        const std::string text = fmt::format(
            "kind: pinn\nproblem: {{kind: custom, geometry: {{kind: interval}}, coefficients: "
            "[{{name: a, value: {}, train: true, {}}}], equations: [u_x - u + a - 0.3]}}\n"
            "constraints: {{outputs: [0*u]}}\npoints: {{residual: 20}}\n"
            "evaluation: {{grid: [11]}}\n",
            start, bounds);
        const std::string training =
            "training: {phases: [{steps: 400, optimizer: {kind: adam, learning_rate: 0.1}}], "
            "log_every: 10, evaluate_every: 10}\n";
        EXPECT_NEAR(task_of(text.substr(text.find('\n') + 1) + small_network).evaluate()[1].second,
                    start, 1e-12);
        const TemporaryFolder folder;
        const Trained trained = train_in(folder / "run", text + small_network + training);
        EXPECT_EQ(trained.error, "");
        EXPECT_NEAR(metric(trained, "coefficient_a"), end, 0.04) << bounds;
        for (const double value : trained.column("coefficient_a")) {
            if (start > 0)
                EXPECT_TRUE(0.5 <= value && value <= 2) << value;
            else
                EXPECT_TRUE(-2 <= value && value <= 0.25) << value;
        }
    }
}

TEST(Pinn, NamesItsTermsAndFigures) {
    using Names = std::vector<std::string>;
    const auto terms_of = [](PinnTask& task) {
        Names names;
        for (const auto& [name, value] : task.loss(0).terms) names.push_back(name);
        return names;
    };
    PinnTask wave = task_of("problem: {kind: wave}\n");
    EXPECT_EQ(terms_of(wave), (Names{"residual", "initial", "boundary", "initial_2"}));
    EXPECT_EQ(wave.metric_names(), (Names{"relative_l2", "max_error"}));
    PinnTask schrodinger = task_of("problem: {kind: schrodinger}\n");
    EXPECT_EQ(terms_of(schrodinger), (Names{"residual_1", "residual_2", "initial", "periodic"}));
    EXPECT_EQ(schrodinger.metric_names(), (Names{"residual_rms"}));
    PinnTask custom = task_of(
        "problem: {kind: custom, geometry: {kind: interval}, outputs: [u, p], coefficients: "
        "[{name: c, train: true}], equations: [u_x - c*p], exact: [x, 1], conditions: [{kind: "
        "dirichlet, name: left, values: [0, 1], where: x = 0}]}\n");
    EXPECT_EQ(terms_of(custom), (Names{"residual", "left"}));
    EXPECT_EQ(custom.metric_names(), (Names{"relative_l2", "max_error", "relative_l2_u",
                                            "relative_l2_p", "coefficient_c"}));
    EXPECT_EQ(custom.evaluate().size(), 5u);
}

// Also on grids where the solution is 0, which only its values tell.
TEST(Pinn, FiguresHaveTheirNamesBeforeTheFirstEvaluation) {
    for (const char* problem : {"{kind: burgers}", "{kind: heat}", "{kind: wave}",
                                "{kind: custom, geometry: {kind: rectangle}, outputs: [u, v], "
                                "equations: [u_x, v_x], conditions: [{kind: dirichlet, "
                                "values: [0, 1]}], exact: [0*x, 1 + 0*x]}"})
        for (const char* grid : {"[3, 3]", "[4, 5]"}) {
            SCOPED_TRACE(fmt::format("{} on {}", problem, grid));
            PinnTask task = task_of(fmt::format(
                "problem: {}\npoints: {{residual: 4}}\nevaluation: {{grid: {}}}\n", problem, grid));
            const std::vector<std::string> before = task.metric_names();
            std::vector<std::string> given;
            for (const auto& [name, value] : task.evaluate()) given.push_back(name);
            EXPECT_EQ(given, before);
            EXPECT_EQ(task.metric_names(), before);
        }
}

TEST(Pinn, WritesEveryPointWithItsCondition) {
    const TemporaryFolder folder;
    task_of(
        "problem: {kind: allen_cahn}\nprecision: float64\n"
        "points: {residual: 7, initial: 3, boundary: 2}\n")
        .write_data(folder.path());
    std::ifstream file(folder / "points.csv");
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, "condition,x,t");
    std::map<std::string, int> rows;
    while (std::getline(file, line)) {
        const std::string name = line.substr(0, line.find(','));
        ++rows[name];
        double x = 0, t = 0;
        ASSERT_EQ(std::sscanf(line.c_str() + name.size(), ",%lf,%lf", &x, &t), 2) << line;
        EXPECT_TRUE(-1 <= x && x <= 1 && 0 <= t && t <= 1) << line;
        EXPECT_TRUE(name != "initial" || t == 0) << line;
        EXPECT_TRUE(name != "periodic" || std::abs(x) == 1) << line;
    }
    EXPECT_EQ(rows, (std::map<std::string, int>{{"initial", 3}, {"periodic", 4}, {"residual", 7}}));
}

// More points than a layer may start from: every kind of point has its share, and those of the
// equations come from the whole domain.
TEST(Pinn, TheCalibrationBatchHasOfAllPoints) {
    for (const char* sampler : {"latin_hypercube", "grid"}) {
        const PinnTask task = task_of(fmt::format(
            "problem: {{kind: allen_cahn}}\nprecision: float64\nnetwork: {{hidden_layers: 2, "
            "width: 4}}\npoints: {{residual: 20000, initial: 300, boundary: 2, sampler: {}}}\n",
            sampler));
        const Tensor batch = task.calibration_batch();
        ASSERT_EQ(batch.shape(), Shape({calibration_batch_rows, 2}));
        const std::vector<double> values = batch.to_doubles();
        const std::size_t all = values.size() / 2;
        std::size_t late = 0, right = 0, initial = 0, periodic = 0;
        for (std::size_t row = 0; row < all; ++row) {
            const double x = values[2 * row], t = values[2 * row + 1];
            late += t > 0.5;
            right += x > 0;
            initial += t == 0;
            periodic += std::abs(x) == 1;
        }
        const double half = 0.5 * static_cast<double>(all);
        EXPECT_NEAR(static_cast<double>(late), half, 0.06 * half) << sampler;
        EXPECT_NEAR(static_cast<double>(right), half, 0.06 * half) << sampler;
        if (sampler == std::string("grid")) continue;  // it has points on the boundary too
        EXPECT_EQ(initial, 60u);                       // 300 of 20304 points
        EXPECT_EQ(periodic, 1u);                       // 4 of them
    }
}

// Every kind of condition, and to the last bit the very points that the loss sees.
TEST(Pinn, ThePointsWrittenAreThoseOfTheLoss) {
    const TemporaryFolder folder;
    std::ofstream(folder / "data.csv") << "x,y,t,u\n0.25,0.5,1,3\n0.5,0.125,0,4\n";
    for (const char* precision : {"float32", "float64"}) {
        PinnTask task = task_of(
            "problem: {kind: custom, geometry: {kind: rectangle}, time: [0, 1], equations: [u_t - "
            "u_xx], exact: [x + y], conditions: [{kind: initial, values: [x]}, {kind: dirichlet, "
            "name: left, values: [0], where: x = 0}, {kind: neumann, name: right, values: [0], "
            "where: x = 1}, {kind: robin, name: low, values: [0], where: y = 0}, {kind: formula, "
            "name: high, formulas: [u_y], where: y = 1}, {kind: periodic, axis: y}, {kind: pin, "
            "at: [0, 1, 0.5], values: [0]}, {kind: measurements, points: 5}, {kind: points, name: "
            "known, file: " +
            (folder / "data.csv") + "}]}\npoints: {residual: 11, initial: 4, boundary: 3}\n" +
            "precision: " + precision + "\n");
        task.write_data(folder.path());
        std::ifstream file(folder / "points.csv");
        std::string line;
        std::getline(file, line);
        EXPECT_EQ(line, "condition,x,y,t");
        std::map<std::string, int> rows;
        std::vector<double> values;
        while (std::getline(file, line)) {
            const std::string name = line.substr(0, line.find(','));
            ++rows[name];
            double x = 0, y = 0, t = 0;
            ASSERT_EQ(std::sscanf(line.c_str() + name.size(), ",%lf,%lf,%lf", &x, &y, &t), 3);
            values.insert(values.end(), {x, y, t});
            EXPECT_EQ(name == "initial", t == 0 && name != "known") << line;
            for (const auto& [of, at, bound] :
                 {std::tuple{"left", x, 0.0}, {"right", x, 1.0}, {"low", y, 0.0}, {"high", y, 1.0}})
                if (name == of) {
                    EXPECT_EQ(at, bound) << line;
                }
            if (name == "periodic") {
                EXPECT_TRUE(y == 0 || y == 1) << line;
            }
        }
        EXPECT_EQ(rows, (std::map<std::string, int>{{"residual", 11},
                                                    {"initial", 4},
                                                    {"left", 3},
                                                    {"right", 3},
                                                    {"low", 3},
                                                    {"high", 3},
                                                    {"periodic", 6},
                                                    {"pin", 1},
                                                    {"measurements", 5},
                                                    {"known", 2}}));
        EXPECT_EQ(values, task.calibration_batch().to_doubles()) << precision;
    }
}

// A term's weight is its own, else that of its kind; the terms themselves are not weighted.
TEST(Pinn, WeighsItsTerms) {
    PinnTask task = task_of(
        "problem: {kind: custom, geometry: {kind: interval}, time: [0, 1], equations: [u_t - u_x, "
        "u_x + u], conditions: [{kind: initial, values: [x]}, {kind: dirichlet, values: [1]}, "
        "{kind: neumann, values: [2], weight: 11}, {kind: initial, values: [x], weight: 0}]}\n"
        "loss: {residual_weight: 2, initial_weight: 3, boundary_weight: 5}\n"
        "precision: float64\n");
    const Loss loss = task.loss(0);
    const double weights[] = {2, 2, 3, 0, 5, 11};
    double expected = 0;
    ASSERT_EQ(loss.terms.size(), 6u);
    const char* const names[] = {"residual_1", "residual_2", "initial",
                                 "initial_2",  "dirichlet",  "neumann"};
    std::size_t found = 0;
    for (const auto& [name, value] : loss.terms)
        for (std::size_t i = 0; i < 6; ++i)
            if (name == names[i]) {
                expected += weights[i] * value.item();
                ++found;
            }
    EXPECT_EQ(found, 6u);
    EXPECT_NEAR(loss.total.item(), expected, 1e-14 * expected);
}

void write_dataset(hid_t file, const char* name, const std::vector<hsize_t>& shape,
                   const std::vector<double>& values) {
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t set =
        H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(set);
    H5Sclose(space);
}

// A reference file of u = x + 10 t on 3 x 2 points.
std::string reference_file(const TemporaryFolder& folder, const std::string& name,
                           const std::vector<hsize_t>& shape, const std::vector<double>& u,
                           double last_x = 1) {
    const std::string path = folder / name;
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    write_dataset(file, "x", {3}, {0, 0.25, last_x});
    write_dataset(file, "t", {2}, {0, 0.5});
    write_dataset(file, "u", shape, u);
    H5Fclose(file);
    return path;
}

TEST(Pinn, ReadsReferencesInBothOrders) {
    const TemporaryFolder folder;
    const std::string text =
        "problem: {kind: custom, geometry: {kind: interval}, time: [0, 1], "
        "equations: [u_t], reference: ";
    const PinnConfig config =
        std::get<PinnConfig>(read_config_text<RunConfig>("kind: pinn\nproblem: {kind: heat}\n"));
    const auto problem = make_problem(config.problem, config.points);
    const std::vector<double> expected{0, 5, 0.25, 5.25, 1, 6};
    const std::vector<double> points{0, 0, 0, 0.5, 0.25, 0, 0.25, 0.5, 1, 0, 1, 0.5};
    for (const auto& [shape, u] :
         {std::pair{std::vector<hsize_t>{3, 2}, std::vector<double>{0, 5, 0.25, 5.25, 1, 6}},
          {{2, 3}, {0, 0.25, 1, 5, 5.25, 6}}}) {
        const PinnReference reference =
            reference_from_file(*problem, reference_file(folder, "u.h5", shape, u));
        EXPECT_EQ(reference.grid, (std::vector<int64_t>{3, 2}));
        EXPECT_EQ(reference.points.to_vector<double>(), points);
        EXPECT_EQ(reference.values.to_vector<double>(), expected);
    }
    const auto complaint = [&](const std::string& path) {
        return error_of([&] { reference_from_file(*problem, path); });
    };
    EXPECT_EQ(complaint("/nowhere.h5").code, ExitCode::bad_input);
    // Not a number: in the positions, in the values.
    EXPECT_EQ(complaint(reference_file(folder, "nan_x.h5", {3, 2}, {0, 0, 0, 0, 0, 0}, NAN)).code,
              ExitCode::bad_input);
    const std::string nan_u = reference_file(folder, "nan_u.h5", {3, 2}, {0, 0, 0, NAN, 0, 0});
    EXPECT_EQ(complaint(nan_u).code, ExitCode::bad_input);
    const Thrown shape = complaint(reference_file(folder, "shape.h5", {2, 2}, {0, 0, 0, 0}));
    EXPECT_EQ(shape.code, ExitCode::bad_input);
    EXPECT_NE(shape.text.find("u has shape [2, 2], the axes have [3, 2]"), std::string::npos)
        << shape.text;
    const Thrown outside = complaint(reference_file(folder, "x.h5", {3, 2}, {0, 0, 0, 0, 0, 0}, 2));
    EXPECT_NE(outside.text.find("outside the problem's 0 to 1"), std::string::npos) << outside.text;
}

TEST(Pinn, BadGridsAreRefused) {
    const auto complaint = [](const std::string& text) {
        return error_of([&] { task_of(text); }).text;
    };
    EXPECT_NE(
        complaint("evaluation: {grid: [5]}\n").find("evaluation.grid: 1 numbers for 2 axes (x, t)"),
        std::string::npos);
    EXPECT_NE(complaint("problem: {kind: poisson}\nevaluation: {grid: [5, 5, 5]}\n")
                  .find("evaluation.grid: 3 numbers for 2 axes (x, y)"),
              std::string::npos);
    EXPECT_NE(complaint("problem: {kind: custom, geometry: {kind: disk}, equations: [u_x]}\n"
                        "evaluation: {grid: [2, 2]}\n")
                  .find("evaluation.grid: none of its points lies in the geometry"),
              std::string::npos);
    EXPECT_NE(complaint("problem: {kind: custom, geometry: {kind: interval}, equations: [u_x], "
                        "exact: [log(x - 2)]}\n")
                  .find("problem.exact: infinite or NaN"),
              std::string::npos);
    for (const char* start : {"1e-40", "0.99999999"})
        EXPECT_NE(complaint(fmt::format(
                                "precision: float32\nproblem: {{kind: custom, geometry: {{kind: "
                                "interval}}, equations: [a*u_x], coefficients: [{{name: a, value: "
                                "{}, train: true, lower: 0, upper: 1}}]}}\n",
                                start))
                      .find("problem.coefficients: a starts at"),
                  std::string::npos)
            << start;
    EXPECT_NE(complaint("evaluation: {grid: [65536, 65536]}\n").find("evaluation.grid: 4.29e+09"),
              std::string::npos);
    EXPECT_NE(complaint("evaluation: {grid: [5, 1]}\n").find("evaluation.grid"), std::string::npos);
}

}  // namespace
}  // namespace ralimp
