#include "trainers/plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <thread>

#include "data/image.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"
#include "trainers/gnuplot.h"

namespace ralimp {
namespace {

namespace fs = std::filesystem;

// Sets an environment variable and puts the old value back.
class Environment {
public:
    Environment(const char* name, const std::string& value) : name_(name) {
        if (const char* old = std::getenv(name)) {
            old_ = old;
            was_set_ = true;
        }
        setenv(name, value.c_str(), 1);
    }
    ~Environment() { was_set_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

private:
    const char* name_;
    std::string old_;
    bool was_set_ = false;
};

struct Rgb {
    int r, g, b;
};

class Picture {
public:
    explicit Picture(const std::string& path) : image_(read_image(path)) {
        pixels_ = image_.pixels.to_vector<float>();
    }
    int64_t height() const { return image_.height(); }
    int64_t width() const { return image_.width(); }
    // Counted from the left and from the bottom.
    Rgb at(int64_t x, int64_t y) const {
        const int64_t start = ((height() - 1 - y) * width() + x) * image_.channels();
        const auto level = [&](int64_t c) {
            return static_cast<int>(
                std::lround(255 * pixels_[static_cast<std::size_t>(start + c)]));
        };
        return {level(0), level(1), level(2)};
    }
    bool is(int64_t x, int64_t y, const Rgb& color, int tolerance = 6) const {
        const Rgb got = at(x, y);
        return std::abs(got.r - color.r) <= tolerance && std::abs(got.g - color.g) <= tolerance &&
               std::abs(got.b - color.b) <= tolerance;
    }
    int64_t count(const Rgb& color) const {
        int64_t result = 0;
        for (int64_t y = 0; y < height(); ++y)
            for (int64_t x = 0; x < width(); ++x) result += is(x, y, color);
        return result;
    }

private:
    Image image_;
    std::vector<float> pixels_;
};

constexpr Rgb blue{0x00, 0x72, 0xB2}, orange{0xD5, 0x5E, 0x00}, grey{0xC8, 0xC8, 0xC8};
constexpr Rgb viridis_low{0x44, 0x01, 0x54}, viridis_middle{0x21, 0x91, 0x8C};
constexpr Rgb viridis_high{0xFD, 0xE7, 0x25}, inferno_high{0xFC, 0xFF, 0xA4};

// Every test looks into the folder of temporary files as well: nothing may stay there.
class Plot : public testing::Test {
protected:
    Plot() : temporary_("TMPDIR", temporary_folder_.path().string()) {}
    void TearDown() override { EXPECT_EQ(temporary_folder_.entries(), 0); }

    TemporaryFolder temporary_folder_, folder_;
    Environment temporary_;
};

CurvePanel two_curves() {
    CurvePanel panel{"Loss", "step", "loss", {{"total", {}, {}}, {"data", {}, {}}}, false, true};
    for (int i = 0; i < 200; ++i)
        for (std::size_t k = 0; k < 2; ++k) {
            panel.curves[k].x.push_back(i);
            panel.curves[k].y.push_back(std::exp(-0.05 * i) * (k == 0 ? 1 : 0.1));
        }
    return panel;
}

TEST_F(Plot, CurvesAreDrawnInTheirColors) {
    plot_curves(folder_ / "a.png", {two_curves()});
    const Picture picture(folder_ / "a.png");
    EXPECT_GT(picture.count(blue), 300);
    EXPECT_GT(picture.count(orange), 300);
    EXPECT_EQ(folder_.entries(), 1);
    plot_curves(folder_ / "b.png", {two_curves(), two_curves()});
    EXPECT_EQ(Picture(folder_ / "b.png").width(), 2 * picture.width());
}

TEST_F(Plot, ValuesThatCannotBeDrawnLeaveGaps) {
    CurvePanel panel = two_curves();
    plot_curves(folder_ / "whole.png", {panel});
    const int64_t whole = Picture(folder_ / "whole.png").count(blue);
    auto& y = panel.curves[0].y;
    for (std::size_t i = 60; i < 140; ++i)
        y[i] = i % 4 == 0 ? NAN : i % 4 == 1 ? INFINITY : i % 4 == 2 ? -1 : 0;
    plot_curves(folder_ / "gap.png", {panel});
    const int64_t with_gap = Picture(folder_ / "gap.png").count(blue);
    EXPECT_LT(with_gap, 0.75 * static_cast<double>(whole));
    EXPECT_GT(with_gap, 0.4 * static_cast<double>(whole));
}

TEST_F(Plot, CurvesWithNothingOrLittleToDraw) {
    const std::vector<std::pair<std::vector<double>, std::vector<double>>> cases = {
        {{}, {}},
        {{1}, {5}},
        {{1, 2}, {NAN, -1}},
        {{1, 2, 3}, {5, 5, 5}},
        {{0, 1}, {0, 0}},
        {{1, 2}, {1e300, 1}},
        {{1, 2}, {5e-324, 1}},
        {{3, 3}, {1, 2}},
        {{1, 2}, {-1e308, 1e308}},
        {{-2, -1}, {1, 2}}};
    for (const auto& [x, y] : cases)
        for (const bool logarithmic : {false, true}) {
            SCOPED_TRACE(fmt::format("{} points, logarithmic {}", x.size(), logarithmic));
            const CurvePanel panel{"t", "x", "y", {{"a", x, y}}, logarithmic, logarithmic};
            ASSERT_NO_THROW(plot_curves(folder_ / "a.png", {panel}));
        }
    ASSERT_NO_THROW(plot_curves(folder_ / "a.png", {CurvePanel{}}));
    // A line of one point would be invisible.
    plot_curves(folder_ / "a.png", {{"t", "x", "y", {{"", {1}, {5}}}}});
    EXPECT_GT(Picture(folder_ / "a.png").count(blue), 5);
}

TEST_F(Plot, FieldsHaveTheirColorsAndTheirPlace) {
    const auto tensor = [](std::vector<double> values, const Shape& shape) {
        return Tensor::from(values, shape);
    };
    // Row 0 is at the bottom. The first two share the scale 0 … 4.
    plot_fields(folder_ / "a.png",
                {{"first", tensor({0, 2, NAN, 4}, {2, 2})},
                 {"second", tensor({2, 2, 2, INFINITY}, {2, 2})},
                 {"third", tensor({1e-7, 3e-7}, {2, 1}), 1, Palette::inferno}},
                {"t", 0, 1}, {"x", -1, 1});
    const Picture picture(folder_ / "a.png");
    const int64_t panel = picture.width() / 3;
    EXPECT_EQ(panel * 3, picture.width());
    const int64_t left = 78 + 90, right = 78 + 270, low = 62 + 80, high = 62 + 240;
    EXPECT_TRUE(picture.is(left, low, viridis_low));
    EXPECT_TRUE(picture.is(right, low, viridis_middle));
    EXPECT_TRUE(picture.is(left, high, grey));
    EXPECT_TRUE(picture.is(right, high, viridis_high));
    EXPECT_TRUE(picture.is(panel + left, low, viridis_middle));
    EXPECT_TRUE(picture.is(panel + right, high, grey));
    EXPECT_TRUE(picture.is(2 * panel + left, low, {0, 0, 4}));
    EXPECT_TRUE(picture.is(2 * panel + right, low, {0, 0, 4}));
    EXPECT_TRUE(picture.is(2 * panel + left, high, inferno_high));
    // The cells fill the axes: their corners have their colour too.
    for (const int64_t y : {62 + 3, 62 + 157}) EXPECT_TRUE(picture.is(78 + 3, y, viridis_low)) << y;
    EXPECT_TRUE(picture.is(78 + 177, 62 + 157, viridis_low));
    EXPECT_TRUE(picture.is(78 + 183, 62 + 163, viridis_high));
    EXPECT_TRUE(picture.is(78 + 357, 62 + 317, viridis_high));
}

TEST_F(Plot, FieldsOfOddShapesAndValues) {
    const std::vector<std::vector<double>> values = {
        {NAN}, {0}, {-1e300}, {1e-310}, {INFINITY}, {1, 2, 3}, {-5e-324, 5e-324}, {-1e308, 1e308}};
    for (const auto& row : values) {
        const auto count = static_cast<int64_t>(row.size());
        for (const Shape& shape : {Shape{1, count}, Shape{count, 1}})
            ASSERT_NO_THROW(plot_fields(folder_ / "a.png", {{"f", Tensor::from(row, shape)}},
                                        {"t", 0, 1e-3}, {"x", -1e5, 1e5}))
                << row[0] << " in " << to_string(shape);
    }
}

TEST_F(Plot, FieldsOfOtherTypesAndViews) {
    // Written as [x, t]: the transposed view has time along the columns.
    const Tensor values = Tensor::from(std::vector<float>{0, 4, 2, 4}, {2, 2});
    plot_fields(folder_ / "a.png", {{"f", values.strided_view({2, 2}, {1, 2})}}, {"t", 0, 1},
                {"x", -1, 1});
    const Picture picture(folder_ / "a.png");
    EXPECT_TRUE(picture.is(78 + 90, 62 + 80, viridis_low));
    EXPECT_TRUE(picture.is(78 + 270, 62 + 80, viridis_middle));
    EXPECT_TRUE(picture.is(78 + 90, 62 + 240, viridis_high));
}

TEST_F(Plot, TextIsTextOnly) {
    const std::string target = folder_ / "touched";
    const std::string evil[] = {"`touch " + target + "`",
                                "$(touch " + target + ")",
                                "'; system('touch " + target + "'); '",
                                "\"; system(\"touch " + target + "\"); \"",
                                "a\nsystem('touch " + target + "')",
                                "@x ^2 _1 {/Bold b} \\n % %d | < >",
                                "löss – ∂u/∂t ν"};
    for (const std::string& text : evil) {
        SCOPED_TRACE(text);
        plot_curves(folder_ / "a.png", {{text, text, text, {{text, {1, 2}, {3, 4}}}}});
        plot_fields(folder_ / "b.png", {{text, Tensor::from(std::vector<double>{1, 2}, {1, 2})}},
                    {text, 0, 1}, {text, 0, 1});
        EXPECT_FALSE(fs::exists(target));
    }
    EXPECT_EQ(gnuplot_string("it's `1`\nü"), "\"it\\047s \\140\\061\\140\\040ü\"");
    // A digit behind an octal code is not read as a part of it.
    EXPECT_EQ(gnuplot_string("0.55a5"), "\"0\\056\\065\\065a5\"");
    // Nor does a path mean anything to gnuplot or a shell.
    for (const char* name : {"with space.png", "it's.png", "$(touch x).png", "|cat.png", "-d"}) {
        plot_curves(folder_ / name, {two_curves()});
        EXPECT_GT(fs::file_size(folder_ / name), 1000u);
    }
}

TEST_F(Plot, SeveralAtOnce) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] { plot_curves(folder_ / std::to_string(i), {two_curves()}); });
    for (auto& thread : threads) thread.join();
    for (int i = 0; i < 4; ++i) EXPECT_GT(Picture(folder_ / std::to_string(i)).count(blue), 300);
}

// A program of this name that does something else; what is thrown is returned, and the old picture
// must be there still.
class PlotFailure : public Plot {
protected:
    Thrown with_gnuplot(const std::string& script) {
        write("picture.png", "old");
        write("gnuplot", "#!/bin/sh\n" + script + "\n");
        fs::permissions(folder_ / "gnuplot", fs::perms::owner_all);
        const Environment path("PATH", folder_.path().string() + ":" + std::getenv("PATH"));
        const Thrown thrown =
            error_of([&] { plot_curves(folder_ / "picture.png", {two_curves()}); });
        std::ifstream file(folder_ / "picture.png");
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "old");
        return thrown;
    }
    void write(const std::string& name, const std::string& text) {
        std::ofstream(folder_ / name) << text;
    }
};

TEST_F(PlotFailure, MissingGnuplot) {
    const Environment path("PATH", folder_.path().string());
    EXPECT_EQ(error_of([&] { plot_curves(folder_ / "a.png", {two_curves()}); }).text,
              "plot: gnuplot was not found; install gnuplot-nox");
    EXPECT_EQ(folder_.entries(), 0);
}

TEST_F(PlotFailure, FailingGnuplot) {
    EXPECT_EQ(with_gnuplot("printf 'line one\\n   ^\\n  line two\\n' >&2; exit 3").text,
              "plot: gnuplot failed: line one line two");
    EXPECT_EQ(with_gnuplot("exit 1").text, "plot: gnuplot failed: it said nothing");
    EXPECT_EQ(with_gnuplot("exit 0").text, "plot: gnuplot made no picture: it said nothing");
    EXPECT_EQ(with_gnuplot("kill -9 $$").text, "plot: gnuplot was ended by signal 9");
    EXPECT_EQ(with_gnuplot("exec /nonexistent/x").code, ExitCode::failure);
}

TEST_F(PlotFailure, ErrorsOfTheRealGnuplotAreTold) {
    const std::string text = error_of([] { run_gnuplot("set nonsense\n", {}); }).text;
    EXPECT_NE(text.find("plot: gnuplot failed: "), std::string::npos) << text;
    EXPECT_NE(text.find("nonsense"), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST_F(PlotFailure, PlacesThatCannotBeWritten) {
    EXPECT_EQ(error_of([&] { plot_curves(folder_ / "none/a.png", {two_curves()}); }).code,
              ExitCode::io);
    const Environment temporary("TMPDIR", folder_ / "none");
    // An unusable TMPDIR is replaced by /tmp.
    EXPECT_NO_THROW(plot_curves(folder_ / "a.png", {two_curves()}));
}

TEST_F(PlotFailure, WrongArguments) {
    const std::string path = folder_ / "a.png";
    const Tensor good = Tensor::from(std::vector<double>{1, 2}, {1, 2});
    EXPECT_EQ(error_of([&] {
                  plot_curves(path, {{"t", "x", "y", {{"c", {1, 2}, {1}}}}});
              }).text,
              "plot_curves: curve 'c' has 2 x values and 1 y values");
    EXPECT_EQ(error_of([&] { plot_curves(path, {}); }).text,
              "plot_curves: there is no panel to draw");
    EXPECT_EQ(error_of([&] {
                  plot_fields(path, {}, {"t", 0, 1}, {"x", 0, 1});
              }).text,
              "plot_fields: there is no field to draw");
    EXPECT_EQ(error_of([&] {
                  plot_fields(path, {{"f", good}}, {"t", 1, 1}, {"x", 0, 1});
              }).text,
              "plot_fields: axis 't' goes from 1 to 1");
    EXPECT_EQ(error_of([&] {
                  plot_fields(path, {{"f", Tensor::empty({3}, DType::float64)}}, {"t", 0, 1},
                              {"x", 0, 1});
              }).text,
              "plot_fields: field 'f' is [rows, columns], not [3]");
    EXPECT_EQ(folder_.entries(), 0);
}

}  // namespace
}  // namespace ralimp
