// What pictures of a PINN show: the numbers that gnuplot is given, against closed forms that the
// network's outputs are by construction.
#include "trainers/pinn_pictures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "autograd/operations.h"
#include "data/image.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"
#include "trainers/config.h"
#include "trainers/gnuplot.h"
#include "trainers/run_config.h"

namespace ralimp {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;
using Values = std::vector<double>;

PinnTask task_of(const std::string& text) {
    return PinnTask(std::get<PinnConfig>(read_config_text<RunConfig>(
        "kind: pinn\nprecision: float64\nnetwork: {hidden_layers: 1, width: 4}\n"
        "points: {residual: 9}\n" +
        text)));
}

// While one lives, a program named gnuplot keeps what it is given and draws nothing.
class Watched {
public:
    Watched() {
        const std::string file = folder_ / "gnuplot";
        std::ofstream(file) << "#!/bin/sh\nrun='" << folder_.path().string() << "'/run$(ls -d '"
                            << folder_.path().string()
                            << "'/run* 2>/dev/null | wc -l)\nmkdir $run && cp * $run/ && printf x "
                               ">picture.png\n";
        fs::permissions(file, fs::perms::owner_all);
        path_ = std::getenv("PATH");
        setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
    }
    ~Watched() { setenv("PATH", path_.c_str(), 1); }

    // Of the picture with this number.
    std::string script(int picture) const {
        std::ifstream file(folder_ / fmt::format("run{}/script", picture));
        return {std::istreambuf_iterator<char>(file), {}};
    }
    Values numbers(int picture, const std::string& name) const {
        std::ifstream file(folder_ / fmt::format("run{}/{}", picture, name), std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        Values values(bytes.size() / sizeof(double));
        std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
        return values;
    }
    bool has(int picture, const std::string& name) const {
        return fs::exists(folder_ / fmt::format("run{}/{}", picture, name));
    }
    bool shows(int picture, const std::string& title) const {
        return script(picture).find("set title " + gnuplot_string(title) + " ") !=
               std::string::npos;
    }
    // The lines that begin so.
    Names lines(int picture, const std::string& begin) const {
        std::istringstream text(script(picture));
        Names found;
        for (std::string line; std::getline(text, line);)
            if (line.starts_with(begin)) found.push_back(line);
        return found;
    }

private:
    TemporaryFolder folder_;
    std::string path_;
};

// f at every point, the last axis fastest, must be what was given.
void expect_map(const Values& got, const Values& rows, const Values& columns,
                const std::function<double(double, double)>& f, const std::string& what) {
    ASSERT_EQ(got.size(), rows.size() * columns.size()) << what;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t k = 0; k < columns.size(); ++k)
            EXPECT_NEAR(got[i * columns.size() + k], f(rows[i], columns[k]), 1e-12)
                << what << " at " << rows[i] << ", " << columns[k];
}

void expect_line(const Values& got, const Values& x, const std::function<double(double)>& f,
                 const std::string& what) {
    ASSERT_EQ(got.size(), 2 * x.size()) << what;
    for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(got[2 * i], x[i]) << what;
        EXPECT_NEAR(got[2 * i + 1], f(x[i]), 1e-12) << what;
    }
}

// Numbers behind the beginnings of lines.
Values numbers_behind(const Names& lines, const std::string& begin) {
    Values values;
    for (const std::string& line : lines) values.push_back(std::atof(line.c_str() + begin.size()));
    return values;
}

// Width by height in pixels of every field of a picture.
std::vector<std::pair<double, double>> sizes_of_fields(const Watched& watched, int picture) {
    int width = 0, height = 0;
    EXPECT_EQ(std::sscanf(watched.script(picture).c_str(), "set terminal pngcairo size %d,%d",
                          &width, &height),
              2);
    const auto margin = [&](const char* side) {
        const std::string begin = fmt::format("set {} at screen ", side);
        return numbers_behind(watched.lines(picture, begin), begin);
    };
    const Values l = margin("lmargin"), r = margin("rmargin"), b = margin("bmargin"),
                 t = margin("tmargin");
    std::vector<std::pair<double, double>> sizes;
    for (std::size_t i = 0; i < l.size(); ++i)
        sizes.emplace_back((r[i] - l[i]) * width, (t[i] - b[i]) * height);
    return sizes;
}

const std::string in_time =
    "problem: {kind: custom, geometry: {kind: interval}, time: [0.5, 2.5], outputs: [u, v], "
    "equations: [u_t - 1, v_x - 1], exact: [x + 1, 3*t]}\n"
    "constraints: {outputs: [x + 2*t + 0*u, x*t + 0*v]}\n";

TEST(PinnPictures, MapsAndSlicesInTime) {
    const Watched watched;
    const TemporaryFolder folder;
    PinnTask task = task_of(in_time + "evaluation: {grid: [3, 4], times: [0.7, 2.5]}\n");
    const Names names = task.draw(folder.path());
    EXPECT_EQ(names, (Names{"solution_u.png", "slices_u.png", "solution_v.png", "slices_v.png",
                            "residuals.png"}));
    for (const std::string& name : names) EXPECT_TRUE(fs::exists(folder / name)) << name;
    const Values x{0, 0.5, 1}, t{0.5, 1, 1.5, 2};
    expect_map(
        watched.numbers(0, "field0"), x, t, [](double a, double b) { return a + 2 * b; },
        "network");
    expect_map(
        watched.numbers(0, "field1"), x, t, [](double a, double) { return a + 1; }, "exact");
    expect_map(
        watched.numbers(0, "field2"), x, t, [](double, double b) { return std::abs(2 * b - 1); },
        "error");
    expect_map(
        watched.numbers(0, "field3"), x, t,
        [](double, double b) { return std::sqrt((1 + (b - 1) * (b - 1)) / 2); }, "residual");
    EXPECT_FALSE(watched.has(0, "field4"));
    for (const char* title : {"network u", "exact u", "|error|", "residual, rms"})
        EXPECT_TRUE(watched.shows(0, title)) << title;
    // Network and exact have one scale, which both of them reach: 1 … 5.
    const Names scales = watched.lines(0, "set cbrange ");
    ASSERT_EQ(scales.size(), 4u);
    EXPECT_EQ(scales[0], "set cbrange [1:5]");
    EXPECT_EQ(scales[1], scales[0]);
    // Slices at the very times, not those of the grid.
    for (const auto& [title, panel, at] :
         {std::tuple{"v, t = 0.7", 0, 0.7}, std::tuple{"v, t = 2.5", 1, 2.5}}) {
        EXPECT_TRUE(watched.shows(3, title));
        expect_line(
            watched.numbers(3, fmt::format("curve{}x{}", panel, 2 * panel)), x,
            [&](double a) { return a * at; }, title);
        expect_line(
            watched.numbers(3, fmt::format("curve{}x{}", panel, 2 * panel + 1)), x,
            [&](double) { return 3 * at; }, title);
    }
    // With one scale: v is from 0 to 2.5, what it should be up to 7.5.
    const Names ranges = watched.lines(3, "set yrange");
    ASSERT_EQ(ranges.size(), 2u);
    EXPECT_EQ(ranges[0], ranges[1]);
    expect_map(
        watched.numbers(4, "field0"), x, t, [](double, double) { return 1; }, "residual_1");
    expect_map(
        watched.numbers(4, "field1"), x, t, [](double, double b) { return std::abs(b - 1); },
        "residual_2");
    EXPECT_TRUE(watched.shows(4, "|residual_2|"));
}

TEST(PinnPictures, LinesOfOneAxis) {
    const Watched watched;
    const TemporaryFolder folder;
    PinnTask known = task_of(
        "problem: {kind: custom, geometry: {kind: interval}, equations: [u_x, u - 3], exact: "
        "[2*x]}\nconstraints: {outputs: [x^2 + 0*u]}\nevaluation: {grid: [5]}\n");
    EXPECT_EQ(known.draw(folder.path()), (Names{"solution.png"}));
    const Values x{0, 0.25, 0.5, 0.75, 1};
    expect_line(
        watched.numbers(0, "curve0x0"), x, [](double a) { return a * a; }, "network");
    expect_line(
        watched.numbers(0, "curve0x1"), x, [](double a) { return 2 * a; }, "exact");
    expect_line(
        watched.numbers(0, "curve1x2"), x, [](double a) { return 2 * a - a * a; }, "error");
    expect_line(
        watched.numbers(0, "curve2x3"), x, [](double a) { return 2 * a; }, "residual_1");
    expect_line(
        watched.numbers(0, "curve2x4"), x, [](double a) { return 3 - a * a; }, "residual_2");
    PinnTask unknown = task_of(
        "problem: {kind: custom, geometry: {kind: interval}, equations: [u_x]}\n"
        "constraints: {outputs: [x^2 + 0*u]}\nevaluation: {grid: [5]}\n");
    unknown.draw(folder.path());
    expect_line(
        watched.numbers(1, "curve1x1"), x, [](double a) { return 2 * a; }, "residual");
    EXPECT_FALSE(watched.has(1, "curve1x2"));
}

// x to the right, y upwards, a unit equally long along both; NaN outside.
TEST(PinnPictures, MapsInSpaceHaveOneScale) {
    const Watched watched;
    const TemporaryFolder folder;
    PinnTask task = task_of(
        "problem: {kind: custom, geometry: {kind: difference, parts: [{kind: rectangle, upper: [2, "
        "1]}, {kind: disk, center: [2, 1], radius: 0.1}]}, equations: [u_x]}\n"
        "constraints: {outputs: [x + 10*y + 0*u]}\nevaluation: {grid: [5, 3]}\n");
    EXPECT_EQ(task.draw(folder.path()), (Names{"solution.png"}));
    Values network = watched.numbers(0, "field0");
    ASSERT_EQ(network.size(), 15u);
    EXPECT_TRUE(std::isnan(network.back()));
    network.back() = 12;
    expect_map(
        network, {0, 0.5, 1}, {0, 0.5, 1, 1.5, 2}, [](double y, double x) { return x + 10 * y; },
        "network");
    Values residual = watched.numbers(0, "field1");
    residual.back() = 1;
    expect_map(
        residual, {0, 0.5, 1}, {0, 0.5, 1, 1.5, 2}, [](double, double) { return 1; }, "residual");
    EXPECT_TRUE(watched.shows(0, "|residual|"));
    const auto sizes = sizes_of_fields(watched, 0);
    ASSERT_EQ(sizes.size(), 2u);
    for (const auto& [width, height] : sizes) {
        EXPECT_NEAR(width / height, 2, 0.02);
        EXPECT_NEAR(width * height, 360 * 320, 2000);
    }
}

// 2-D + time: a row for each time; the default ones are quarters.
TEST(PinnPictures, MapsInSpaceAtTimes) {
    const Watched watched;
    const TemporaryFolder folder;
    PinnTask task = task_of(
        "problem: {kind: custom, geometry: {kind: rectangle}, time: [1, 2], equations: [u_t], "
        "exact: [x + y]}\nconstraints: {outputs: [x + 2*y + t + 0*u]}\n"
        "evaluation: {grid: [2, 3, 7]}\n");
    EXPECT_EQ(task.draw(folder.path()), (Names{"solution.png"}));
    const double times[] = {1.25, 1.5, 1.75};
    for (std::size_t row = 0; row < 3; ++row) {
        const double t = times[row];
        EXPECT_TRUE(watched.shows(0, fmt::format("network u, t = {}", t)));
        const auto field = [&](std::size_t column) {
            return watched.numbers(0, fmt::format("field{}", 4 * row + column));
        };
        expect_map(
            field(0), {0, 0.5, 1}, {0, 1}, [&](double y, double x) { return x + 2 * y + t; },
            "network");
        expect_map(
            field(1), {0, 0.5, 1}, {0, 1}, [](double y, double x) { return x + y; }, "exact");
        expect_map(
            field(2), {0, 0.5, 1}, {0, 1}, [&](double y, double) { return y + t; }, "error");
        expect_map(
            field(3), {0, 0.5, 1}, {0, 1}, [](double, double) { return 1; }, "residual");
    }
    EXPECT_FALSE(watched.has(0, "field12"));
    // Four columns, three rows, the first time on top.
    const auto margins = [&](const std::string& begin) {
        return numbers_behind(watched.lines(0, begin), begin);
    };
    const Values left = margins("set lmargin at screen "), low = margins("set bmargin at screen ");
    ASSERT_EQ(left.size(), 12u);
    EXPECT_EQ(left[0], left[4]);
    EXPECT_LT(left[0], left[1]);
    EXPECT_EQ(low[0], low[3]);
    EXPECT_GT(low[0], low[4]);
    EXPECT_GT(low[4], low[8]);
    EXPECT_GT(low[8], 0);
    // Every map of a kind has the scale of all of them.
    const Names scales = watched.lines(0, "set cbrange ");
    EXPECT_EQ(scales[0], "set cbrange [0:4.75]");
    EXPECT_EQ(scales[9], scales[0]);
    EXPECT_EQ(scales[2], "set cbrange [1.25:2.75]");
    EXPECT_EQ(scales[10], scales[2]);
}

TEST(PinnPictures, SpaceOfThreeAxesIsCutInTheMiddle) {
    const Watched watched;
    const TemporaryFolder folder;
    const std::string problem =
        "problem: {kind: custom, geometry: {kind: cuboid, upper: [1, 1, 3]}, TIME equations: "
        "[u_z], exact: [x*z]}\nconstraints: {outputs: [x + 2*y + 4*z + 0*u]}\n";
    std::string steady = problem, moving = problem;
    steady.replace(steady.find("TIME"), 4, "");
    moving.replace(moving.find("TIME"), 4, "time: [0, 1],");
    task_of(steady + "evaluation: {grid: [2, 3, 4]}\n").draw(folder.path());
    // No point of the grid is in the middle; the picture is.
    EXPECT_TRUE(watched.shows(0, "network u, z = 1.5"));
    expect_map(
        watched.numbers(0, "field0"), {0, 0.5, 1}, {0, 1},
        [](double y, double x) { return x + 2 * y + 6; }, "network");
    expect_map(
        watched.numbers(0, "field1"), {0, 0.5, 1}, {0, 1}, [](double, double x) { return 1.5 * x; },
        "exact");
    expect_map(
        watched.numbers(0, "field3"), {0, 0.5, 1}, {0, 1}, [](double, double) { return 4; },
        "residual");
    task_of(moving + "evaluation: {grid: [2, 3, 4, 5], times: [0.3]}\n").draw(folder.path());
    EXPECT_TRUE(watched.shows(1, "|error|, z = 1.5, t = 0.3"));
    expect_map(
        watched.numbers(1, "field0"), {0, 0.5, 1}, {0, 1},
        [](double y, double x) { return x + 2 * y + 6; }, "network");
    EXPECT_FALSE(watched.has(1, "field4"));
}

// A file knows the solution at its own times: the nearest is taken, and named.
TEST(PinnPictures, WithAFileTheNearestTimeIsShown) {
    const Watched watched;
    const TemporaryFolder folder;
    const std::string file = folder / "u.h5";
    const std::string problem =
        "problem: {kind: custom, geometry: {kind: interval}, time: [0, 1], equations: [u_t], "
        "MORE}\nconstraints: {outputs: [x + FACTOR*t + 0*u]}\n";
    const auto with = [&](const std::string& more, const std::string& factor) {
        std::string text = problem;
        text.replace(text.find("MORE"), 4, more);
        text.replace(text.find("FACTOR"), 6, factor);
        return text;
    };
    PinnTask source = task_of(with("exact: []", "2"));
    write_field(file, source.predict({{3, 6}, {}}));
    PinnTask task =
        task_of(with("reference: " + file, "5") + "evaluation: {times: [0.29, 0.31, 1]}\n");
    EXPECT_EQ(task.draw(folder.path()), (Names{"solution.png", "slices.png"}));
    const double times[] = {0.2, 0.4, 1};
    const Values x{0, 0.5, 1};
    for (int panel = 0; panel < 3; ++panel) {
        EXPECT_TRUE(watched.shows(1, fmt::format("u, t = {}", times[panel])));
        expect_line(
            watched.numbers(1, fmt::format("curve{}x{}", panel, 2 * panel)), x,
            [&](double a) { return a + 5 * times[panel]; }, "network");
        expect_line(
            watched.numbers(1, fmt::format("curve{}x{}", panel, 2 * panel + 1)), x,
            [&](double a) { return a + 2 * times[panel]; }, "file");
    }
}

TEST(PinnPictures, FramesShareTheirScales) {
    const Watched watched;
    const TemporaryFolder folder;
    PinnTask task = task_of(in_time + "evaluation: {grid: [3, 2]}\n");
    task.draw_frames(folder.path(), 3);
    EXPECT_EQ(folder.entries(), 3);
    for (const char* name : {"frame-0000.png", "frame-0001.png", "frame-0002.png"})
        EXPECT_TRUE(fs::exists(folder / name)) << name;
    const double times[] = {0.5, 1.5, 2.5};
    const Values x{0, 0.5, 1};
    for (int frame = 0; frame < 3; ++frame) {
        const double t = times[frame];
        EXPECT_TRUE(watched.shows(frame, fmt::format("u, t = {}", t)));
        expect_line(
            watched.numbers(frame, "curve0x0"), x, [&](double a) { return a + 2 * t; }, "u");
        expect_line(
            watched.numbers(frame, "curve0x1"), x, [](double a) { return a + 1; }, "u");
        expect_line(
            watched.numbers(frame, "curve1x2"), x, [&](double a) { return a * t; }, "v");
        EXPECT_EQ(watched.lines(frame, "set yrange"), watched.lines(0, "set yrange"));
    }
    // u from 1 to 6, v from 0 to 7.5, and a margin.
    const Names ranges = watched.lines(0, "set yrange");
    ASSERT_EQ(ranges.size(), 2u);
    double low = 0, high = 0;
    ASSERT_EQ(std::sscanf(ranges[1].c_str(), "set yrange [%lf:%lf]", &low, &high), 2);
    EXPECT_NEAR(low, -0.375, 1e-12);
    EXPECT_NEAR(high, 7.875, 1e-12);
}

TEST(PinnPictures, FramesOfMaps) {
    const Watched watched;
    const TemporaryFolder folder;
    PinnTask task = task_of(
        "problem: {kind: custom, geometry: {kind: rectangle}, time: [0, 1], outputs: [u, v], "
        "equations: [u_t, v_t]}\nconstraints: {outputs: [x + 2*t + 0*u, y - t + 0*v]}\n"
        "evaluation: {grid: [2, 3, 2]}\n");
    task.draw_frames(folder.path(), 2);
    for (int frame = 0; frame < 2; ++frame) {
        expect_map(
            watched.numbers(frame, "field0"), {0, 0.5, 1}, {0, 1},
            [&](double, double x) { return x + 2 * frame; }, "u");
        expect_map(
            watched.numbers(frame, "field1"), {0, 0.5, 1}, {0, 1},
            [&](double y, double) { return y - frame; }, "v");
        EXPECT_EQ(watched.lines(frame, "set cbrange"),
                  (Names{"set cbrange [0:3]", "set cbrange [-1:1]"}));
    }
}

TEST(PinnPictures, FramesAndTimesThatCannotBe) {
    const TemporaryFolder folder;
    PinnTask steady = task_of("problem: {kind: poisson}\n");
    const Thrown thrown = error_of([&] { steady.draw_frames(folder.path(), 5); });
    EXPECT_EQ(thrown.text, "render: --frames: the problem has no time");
    EXPECT_EQ(thrown.code, ExitCode::bad_config);
    EXPECT_EQ(folder.entries(), 0);
    const auto siren = make_task(
        read_config_text<RunConfig>("kind: siren\ndata: {size: [4, 4]}\nnetwork: {width: 4}\n"));
    EXPECT_EQ(error_of([&] { siren->draw_frames(folder.path(), 5); }).text,
              "render: --frames is for pinn runs; this is a siren run");
    const auto complaint = [](const std::string& text) {
        const Thrown error = error_of([&] { task_of(text); });
        EXPECT_EQ(error.code, ExitCode::bad_config);
        return error.text;
    };
    EXPECT_EQ(complaint("problem: {kind: heat}\nevaluation: {times: [0.5, 1.5]}\n"),
              "evaluation.times: 1.5 is outside the problem's 0 to 1");
    EXPECT_EQ(complaint("problem: {kind: poisson}\nevaluation: {times: [0.5]}\n"),
              "evaluation.times: the problem has no time");
    EXPECT_NE(complaint("evaluation: {times: []}\n").find("evaluation.times"), std::string::npos);
    EXPECT_NE(complaint("evaluation: {times: [.nan]}\n").find("evaluation.times"),
              std::string::npos);
}

TEST(PinnPictures, GnuplotDrawsThem) {
    const TemporaryFolder folder;
    const auto size_of = [&](const std::string& name) {
        const Image image = read_image(folder / name);
        return std::pair{image.width(), image.height()};
    };
    PinnTask task = task_of(
        "problem: {kind: custom, geometry: {kind: disk}, time: [0, 1], equations: [u_t, u_x], "
        "exact: [x]}\nevaluation: {grid: [12, 12, 3], times: [0, 1]}\n");
    EXPECT_EQ(task.draw(folder.path()), (Names{"solution.png", "residuals.png"}));
    const auto [width, height] = size_of("solution.png");
    EXPECT_EQ(size_of("residuals.png"), (std::pair{width / 2, height}));
    task.draw_frames(folder.path(), 2);
    EXPECT_EQ(size_of("frame-0001.png").second, height / 2);
    PinnTask lines = task_of("problem: {kind: heat}\nevaluation: {grid: [12, 3]}\n");
    EXPECT_EQ(lines.draw(folder.path()), (Names{"solution.png", "slices.png"}));
    EXPECT_GT(size_of("slices.png").first, 0);
}

}  // namespace
}  // namespace ralimp
