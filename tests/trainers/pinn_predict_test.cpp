// The values of a model as data: written, read back, and compared with closed forms that the
// network's outputs are by construction.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <numbers>

#include "autograd/operations.h"
#include "core/file.h"
#include "core/parallel.h"
#include "data/hdf5_reader.h"
#include "data/number_table.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"
#include "trainers/config.h"
#include "trainers/run_config.h"

namespace ralimp {
namespace {

using Names = std::vector<std::string>;
using Values = std::vector<double>;

PinnConfig config_of(const std::string& text) {
    return std::get<PinnConfig>(
        read_config_text<RunConfig>("kind: pinn\nnetwork: {hidden_layers: 1, width: 4}\n" + text));
}

// u = sin(x) + t², v = x·t for any parameters; residuals u_t - 3 u_xx = 2 t + 3 sin(x) and
// v_x - 1 = t - 1. "Exact" is something else.
const std::string two_outputs =
    "problem: {kind: custom, geometry: {kind: interval, lower: -1, upper: 0.1}, time: [0.5, 2], "
    "outputs: [u, v], equations: [u_t - 3*u_xx, v_x - 1], exact: [cos(x), 2*t]}\n"
    "constraints: {outputs: [sin(x) + t^2 + 0*u, x*t + 0*v]}\n"
    "points: {residual: 5}\nevaluation: {grid: [4, 3]}\n";
const std::string in_float64 = "precision: float64\n";

double closed_form(const std::string& name, double x, double t) {
    if (name == "u") return std::sin(x) + t * t;
    if (name == "v") return x * t;
    if (name == "u_exact") return std::cos(x);
    if (name == "v_exact") return 2 * t;
    return name == "residual_1" ? 2 * t + 3 * std::sin(x) : t - 1;
}

const Names all_names{"u", "v", "u_exact", "v_exact", "residual_1", "residual_2"};

Names lines_of(const std::string& path) {
    std::ifstream file(path);
    Names lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

TEST(PinnPredict, WritesAGridThatReadsBackAsHdf5) {
    const TemporaryFolder folder;
    const std::string file = folder / "field.h5";
    PinnTask task(config_of(two_outputs + in_float64));
    write_field(file, task.predict({{5, 3}, {}}));
    const Values x = read_hdf5_dataset(file, "x").to_vector<double>();
    const Values t = read_hdf5_dataset(file, "t").to_vector<double>();
    ASSERT_EQ(x.size(), 5u);
    EXPECT_EQ(t, (Values{0.5, 1.25, 2}));
    EXPECT_EQ(x.front(), -1);
    EXPECT_EQ(x.back(), 0.1);  // -1 + 1.1 rounds to something above
    EXPECT_NEAR(x[1], -1 + 1.1 / 4, 1e-15);
    for (const std::string& name : all_names) {
        const Tensor values = read_hdf5_dataset(file, name);
        ASSERT_EQ(values.shape(), (Shape{5, 3})) << name;
        const Values list = values.to_vector<double>();
        for (std::size_t i = 0; i < 5; ++i)
            for (std::size_t k = 0; k < 3; ++k)
                EXPECT_NEAR(list[3 * i + k], closed_form(name, x[i], t[k]), 1e-13)
                    << name << " at " << x[i] << ", " << t[k];
    }
    // The same values as CSV, bit by bit.
    write_field(folder / "field.csv", task.predict({{5, 3}, {}}));
    const NumberTable table = read_number_table(folder / "field.csv");
    Names columns{"x", "t"};
    columns.insert(columns.end(), all_names.begin(), all_names.end());
    EXPECT_EQ(table.columns, columns);
    ASSERT_EQ(table.values.shape(), (Shape{15, 8}));
    for (std::size_t i = 0; i < all_names.size(); ++i)
        EXPECT_EQ(select(table.values, 1, static_cast<int64_t>(2 + i)).to_doubles(),
                  read_hdf5_dataset(file, all_names[i]).to_vector<double>())
            << all_names[i];
    EXPECT_EQ(select(table.values, 1, 0).to_doubles()[3], x[1]);
    EXPECT_EQ(select(table.values, 1, 1).to_doubles()[4], t[1]);
}

TEST(PinnPredict, WithoutAPlaceTakesTheGridOfEvaluations) {
    PinnTask task(config_of(two_outputs + in_float64));
    const FieldData data = task.predict({});
    ASSERT_EQ(data.positions.size(), 2u);
    EXPECT_EQ(data.positions[1], (Values{0.5, 1, 1.5}));  // without the end, as evaluations
    EXPECT_EQ(data.values.shape(), (Shape{12, 6}));
    // An error against the "exact" solution that evaluate() finds too.
    const Tensor error = abs(slice(data.values, 1, 0, 2) - slice(data.values, 1, 2, 4));
    EXPECT_EQ(max(error).item(), task.evaluate()[1].second);
}

TEST(PinnPredict, Float32ValuesAreWrittenWhole) {
    PinnTask task(config_of(two_outputs));
    const FieldData data = task.predict({{7, 2}, {}});
    EXPECT_EQ(data.values.dtype(), DType::float64);
    const Values u = select(data.values, 1, 0).to_doubles();
    const Values points = data.points.to_vector<double>();
    for (std::size_t row = 0; row < u.size(); ++row) {
        EXPECT_EQ(u[row], static_cast<double>(static_cast<float>(u[row])));
        EXPECT_NEAR(u[row], closed_form("u", points[2 * row], points[2 * row + 1]), 1e-6);
    }
}

TEST(PinnPredict, IsAReferenceOfAnotherRun) {
    const TemporaryFolder folder;
    const std::string file = folder / "field.h5";
    // Outside the disk there is no solution: log(5 - x^2 - y^2 …) is not even defined in corners.
    const std::string disk =
        "precision: float64\nproblem: {kind: custom, geometry: {kind: disk, radius: 1}, equations: "
        "[u_x], REFERENCE}\nconstraints: {outputs: [log(1.5 - x^2 - y^2) + 0*u]}\n"
        "points: {residual: 20}\n";
    const auto with = [&](const std::string& more) {
        std::string text = disk;
        text.replace(text.find("REFERENCE"), 9, more);
        return config_of(text);
    };
    PinnTask task(with("exact: []"));
    const FieldData data = task.predict({{21, 15}, {}});
    write_field(file, data);
    const Values u = read_hdf5_dataset(file, "u").to_vector<double>();
    const Values points = data.points.to_vector<double>();
    int inside = 0;
    for (std::size_t row = 0; row < u.size(); ++row) {
        const double x = points[2 * row], y = points[2 * row + 1];
        if (std::hypot(x, y) < 0.999) {
            EXPECT_NEAR(u[row], std::log(1.5 - x * x - y * y), 1e-14);
            ++inside;
        } else if (std::hypot(x, y) > 1.001) {
            EXPECT_TRUE(std::isnan(u[row])) << x << " " << y;
        }
    }
    EXPECT_GT(inside, 150);
    PinnTask again(with("reference: " + file));
    EXPECT_EQ(again.evaluate()[0].second, 0);
    EXPECT_EQ(again.evaluate()[0].first, "relative_l2");
    // CSV has the points inside alone, so that it can be the file of a condition.
    write_field(folder / "field.csv", data);
    EXPECT_EQ(static_cast<int64_t>(lines_of(folder / "field.csv").size()) - 1,
              sum(to(data.inside, DType::int64)).item());
    EXPECT_NO_THROW(
        PinnTask(with("conditions: [{kind: points, file: " + (folder / "field.csv") + "}]")));
    // A reference that says nothing inside is refused still.
    Tensor spoilt = data.values.clone();
    spoilt.fill(NAN);
    write_field(file, {data.axes, data.positions, data.points, data.inside, data.names, spoilt});
    EXPECT_EQ(error_of([&] { PinnTask(with("reference: " + file)); }).code, ExitCode::bad_input);
}

TEST(PinnPredict, AtPointsOfAFile) {
    const TemporaryFolder folder;
    const std::string file = folder / "points.csv";
    std::ofstream(file) << "t,note,x\n1,7,0\n0.5,7,-1\n2,7,0.1\n0.4,7,0\n1,7,3\n";
    PinnTask task(config_of(two_outputs + in_float64));
    const FieldData data = task.predict({{}, file});
    EXPECT_EQ(data.points.to_vector<double>(), (Values{0, 1, -1, 0.5, 0.1, 2, 0, 0.4, 3, 1}));
    EXPECT_EQ(data.inside.to_vector<uint8_t>(), (std::vector<uint8_t>{1, 1, 1, 0, 0}));
    write_field(folder / "out.csv", data);
    write_field(folder / "out.h5", data);
    EXPECT_EQ(lines_of(folder / "out.csv")[0], "x,t,u,v,u_exact,v_exact,residual_1,residual_2");
    EXPECT_EQ(lines_of(folder / "out.csv").size(), 6u);
    EXPECT_NE(lines_of(folder / "out.csv")[4].find(",nan,nan,"), std::string::npos);
    EXPECT_EQ(read_hdf5_dataset(folder / "out.h5", "t").to_vector<double>(),
              (Values{1, 0.5, 2, 0.4, 1}));
    for (const std::string& name : all_names) {
        const Values values = read_hdf5_dataset(folder / "out.h5", name).to_vector<double>();
        const Values points = data.points.to_vector<double>();
        ASSERT_EQ(values.size(), 5u);
        for (std::size_t row = 0; row < 5; ++row)
            if (row >= 3 && name.find("exact") != std::string::npos)
                EXPECT_TRUE(std::isnan(values[row]));
            else
                EXPECT_NEAR(values[row], closed_form(name, points[2 * row], points[2 * row + 1]),
                            1e-13)
                    << name;
    }
    // Where the formula of the solution cannot be computed at all.
    std::ofstream(file) << "x,t\n0,-1\n0,-2\n";
    PinnTask burgers(config_of("problem: {kind: burgers}\npoints: {residual: 5}\n"));
    EXPECT_EQ(burgers.predict({{}, file}).values.shape(), (Shape{2, 3}));
}

TEST(PinnPredict, PointsThatCannotBeReadAreRefused) {
    const TemporaryFolder folder;
    const std::string file = folder / "points.csv";
    PinnTask task(config_of(two_outputs));
    const auto complaint = [&](const std::string& text) {
        std::ofstream(file) << text;
        const Thrown thrown = error_of([&] { task.predict({{}, file}); });
        EXPECT_EQ(thrown.code, ExitCode::bad_input);
        return thrown.text;
    };
    EXPECT_EQ(complaint("x,y\n1,2\n"), file + ": has no column t; it has x, y");
    EXPECT_EQ(complaint("a,b\n1,2\n"), file + ": has no column x, t; it has a, b");
    EXPECT_NE(complaint("x,t\n1,no\n").find("points.csv:2: 'no'"), std::string::npos);
    EXPECT_EQ(error_of([&] { task.predict({{}, folder / "none.csv"}); }).code, ExitCode::bad_input);
}

TEST(PinnPredict, GridsThatCannotBeAreRefused) {
    PinnTask task(config_of(two_outputs));
    const auto complaint = [&](const std::vector<int64_t>& grid) {
        const Thrown predicted = error_of([&] { task.predict({grid, {}}); });
        const Thrown evaluated = error_of([&] { task.evaluate_on(grid); });
        EXPECT_EQ(predicted.text, evaluated.text);
        EXPECT_EQ(predicted.code, ExitCode::bad_config);
        return predicted.text;
    };
    EXPECT_EQ(complaint({5}), "--grid: 1 numbers for 2 axes (x, t)");
    EXPECT_EQ(complaint({5, 6, 7}), "--grid: 3 numbers for 2 axes (x, t)");
    EXPECT_EQ(complaint({5, 1}), "--grid: 1 points along an axis; at least 2");
    EXPECT_EQ(complaint({8192, 8192}), "--grid: 6.71e+07 points; at most 1.68e+07");
    EXPECT_EQ(complaint({INT64_MAX, INT64_MAX}), "--grid: 8.51e+37 points; at most 1.68e+07");
}

TEST(PinnPredict, EvaluatesOnAnyGrid) {
    PinnTask task(config_of(two_outputs + in_float64));
    PinnTask other(
        config_of("problem: {kind: heat}\nevaluation: {grid: [9, 7]}\n"
                  "points: {residual: 5}\n"));
    PinnTask fine(config_of("problem: {kind: heat}\npoints: {residual: 5}\n"));
    EXPECT_EQ(fine.evaluate_on({9, 7}), other.evaluate());
    EXPECT_NE(fine.evaluate(), other.evaluate());
    // u - cos(x) at x = -1, t = 1.25 (the end of the time is left out): the largest error is that
    // of v - 2 t = t (x - 2) there.
    EXPECT_NEAR(task.evaluate_on({2, 2})[1].second, 1.25 * 3, 1e-14);
    // Without a known solution the residual: sqrt of the mean of (x - 1)² at 0, ½, 1.
    PinnTask unknown(config_of(in_float64 +
                               "problem: {kind: custom, geometry: {kind: interval}, equations: "
                               "[u_x - 1]}\nconstraints: {outputs: [x^2/2 + 0*u]}\n"));
    const NamedValues figures = unknown.evaluate_on({3});
    ASSERT_EQ(figures.size(), 1u);
    EXPECT_EQ(figures[0].first, "residual_rms");
    EXPECT_NEAR(figures[0].second, std::sqrt((1 + 0.25) / 3), 1e-14);
}

TEST(PinnPredict, ARunWithAReferenceHasItsGrid) {
    const TemporaryFolder folder;
    const std::string file = folder / "u.h5";
    PinnTask source(config_of("problem: {kind: allen_cahn}\npoints: {residual: 5}\n"));
    write_field(file, source.predict({{6, 4}, {}}));
    PinnTask task(
        config_of("problem: {kind: allen_cahn, reference: " + file + "}\npoints: {residual: 5}\n"));
    EXPECT_EQ(error_of([&] {
                  task.evaluate_on({5, 5});
              }).text,
              "--grid: the run is compared with " + file + " on the grid of that");
    // Its values are known on its own grid alone.
    EXPECT_EQ(task.predict({}).names, (Names{"u", "u_exact", "residual"}));
    EXPECT_EQ(task.predict({}).positions[0].size(), 6u);
    EXPECT_EQ(task.predict({{5, 5}, {}}).names, (Names{"u", "residual"}));
}

TEST(PinnPredict, NeedsNoDataOfTheTraining) {
    const TemporaryFolder folder;
    const std::string file = folder / "data.csv";
    const PinnConfig config = config_of(
        in_float64 +
        "problem: {kind: custom, geometry: {kind: interval}, time: [0, 1], equations: [u_t], "
        "conditions: [{kind: points, name: data, file: " +
        file + "}], exact: [x]}\nconstraints: {outputs: [x + t + 0*u], leave_out: [data]}\n");
    std::ofstream(file) << "x,t,u\n0.5,0.5,1\n";
    PinnTask training(config);
    std::filesystem::remove(file);
    EXPECT_EQ(error_of([&] { PinnTask gone(config); }).code, ExitCode::bad_input);
    PinnTask task(config, TaskUse::trained_model);
    EXPECT_EQ(task.evaluate(), training.evaluate());
    EXPECT_EQ(task.predict({{3, 3}, {}}).values.to_vector<double>(),
              training.predict({{3, 3}, {}}).values.to_vector<double>());
    // A reference is missed only by what compares with it.
    PinnTask without(config_of("problem: {kind: kdv, reference: " + file + "}\n"),
                     TaskUse::trained_model);
    EXPECT_EQ(without.predict({{3, 3}, {}}).names, (Names{"u", "residual"}));
    EXPECT_EQ(error_of([&] { without.evaluate(); }).code, ExitCode::bad_input);
}

TEST(PinnPredict, NumberOfThreadsChangesNoBit) {
    const int before = thread_count();
    Values values[2];
    for (const int threads : {1, 2}) {
        set_thread_count(threads);
        PinnTask task(config_of("problem: {kind: burgers}\npoints: {residual: 5}\n"));
        // Two pieces, the second one of an odd size.
        values[threads - 1] = task.predict({{145, 121}, {}}).values.to_vector<double>();
    }
    set_thread_count(before);
    ASSERT_EQ(values[0].size(), 145u * 121 * 3);
    for (std::size_t i = 0; i < values[0].size(); ++i)
        ASSERT_EQ(std::bit_cast<uint64_t>(values[0][i]), std::bit_cast<uint64_t>(values[1][i]));
}

TEST(PinnPredict, ResidualsGiveWayToOutputsOfTheirName) {
    PinnTask task(
        config_of("problem: {kind: custom, geometry: {kind: interval}, outputs: "
                  "[residual], equations: [residual_x - 1]}\n"));
    EXPECT_EQ(task.predict({{4}, {}}).names, (Names{"residual", "equation_residual"}));
}

TEST(PinnPredict, SirenRunsSayWhatTheyHave) {
    const auto task = make_task(
        read_config_text<RunConfig>("kind: siren\ndata: {size: [4, 4]}\nnetwork: {width: 4}\n"));
    EXPECT_EQ(error_of([&] { task->predict({}); }).text,
              "predict: is for pinn runs; this is a siren run, whose values ralimp render draws");
    EXPECT_EQ(error_of([&] { task->evaluate_on({4, 4}); }).code, ExitCode::bad_config);
}

TEST(FieldFile, PlacesAndNamesThatCannotBeWritten) {
    const TemporaryFolder folder;
    const Tensor column = Tensor::zeros({2, 1}, DType::float64);
    const FieldData data{{"x"}, {}, column, Tensor::ones({2}, DType::uint8), {"u"}, column};
    for (const char* name : {"field", "field.txt", "field.H5x", ".csv"}) {
        const Thrown thrown = error_of([&] { write_field(folder / name, data); });
        EXPECT_EQ(thrown.code, ExitCode::bad_config);
        EXPECT_EQ(thrown.text,
                  "--output: '" + (folder / name) + "' ends neither in .csv nor in .h5 or .hdf5");
    }
    for (const char* name : {"none/field.csv", "none/field.h5"})
        EXPECT_EQ(error_of([&] { write_field(folder / name, data); }).code, ExitCode::io);
    EXPECT_EQ(folder.entries(), 0);
    // Too many rows for text; the column takes no memory.
    const int64_t rows = (int64_t{1} << 22) + 1;
    const Tensor many = expand(Tensor::zeros({1, 1}, DType::float64), {rows, 1});
    EXPECT_NE(error_of([&] {
                  write_field(folder / "field.csv",
                              {{"x"}, {}, many, Tensor::ones({rows}, DType::uint8), {"u"}, many});
              }).text.find("4194305 rows are too many for a CSV file"),
              std::string::npos);
    // Numbers keep every bit, whatever they are.
    const Values numbers{0.1, -0.0, 5e-324, 1.7976931348623157e308, 1.0 / 3, -2};
    const Tensor odd = Tensor::from(numbers, {6, 1});
    write_field(folder / "odd.csv", {{"x"}, {}, odd, Tensor::ones({6}, DType::uint8), {"u"}, odd});
    const Values back = read_number_table(folder / "odd.csv").values.to_vector<double>();
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(std::bit_cast<uint64_t>(back[2 * i + 1]), std::bit_cast<uint64_t>(numbers[i]));
        EXPECT_EQ(std::bit_cast<uint64_t>(back[2 * i]), std::bit_cast<uint64_t>(numbers[i]));
    }
}

}  // namespace
}  // namespace ralimp
