#include "trainers/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "core/error.h"
#include "core/file.h"
#include "trainers/gnuplot.h"

namespace ralimp {
namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

// Okabe and Ito, "Color universal design" (2008): told apart by colour-blind eyes too.
constexpr std::array colors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                               "#E69F00", "#56B4E9", "#4D4D4D"};

// Samples of matplotlib's viridis and inferno (van der Walt and Smith, CC0), evenly spaced.
constexpr const char* viridis =
    "0 '#440154', 1 '#481f70', 2 '#443983', 3 '#3b528b', 4 '#31688e', 5 '#287c8e', 6 '#21918c', "
    "7 '#20a486', 8 '#35b779', 9 '#5ec962', 10 '#90d743', 11 '#c8e020', 12 '#fde725'";
constexpr const char* inferno =
    "0 '#000004', 1 '#110a30', 2 '#320a5e', 3 '#57106e', 4 '#781c6d', 5 '#9a2865', 6 '#bc3754', "
    "7 '#d84c3e', 8 '#ed6925', 9 '#f98e09', 10 '#fbb61a', 11 '#f4df53', 12 '#fcffa4'";

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void include(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    bool empty() const { return low > high; }
};

// A range that gnuplot can use as it is: not empty, not a point, within what its arithmetic bears.
Range drawable(Range range, double margin) {
    if (range.empty()) return {0, 1};
    range.low = std::clamp(range.low, -1e300, 1e300);
    range.high = std::clamp(range.high, -1e300, 1e300);
    const double size = std::max(std::abs(range.low), std::abs(range.high));
    const double width = range.high - range.low;
    if (width <= 1e-12 * size) {
        const double around = size == 0 ? 1 : 0.05 * size;
        return {range.low - around, range.high + around};
    }
    return {range.low - margin * width, range.high + margin * width};
}

// Whole decades, at most sixteen: what lies further below is zero but for rounding, and would press
// everything else against the top.
Range drawable_logarithmic(const Range& range) {
    if (range.empty()) return {0.1, 1};
    double low = std::floor(std::log10(range.low) + 1e-9);
    double high = std::ceil(std::log10(range.high) - 1e-9);
    if (high <= low) high = low + 1;
    high = std::clamp(high, -299.0, 300.0);
    low = std::clamp(low, std::max(high - 16, -300.0), high - 1);
    return {std::pow(10, low), std::pow(10, high)};
}

std::string range_text(const Range& range) {
    return fmt::format("[{:.17g}:{:.17g}]", range.low, range.high);
}

std::string start_of_script(int width, int height) {
    return fmt::format(
        "set terminal pngcairo size {},{} font 'DejaVu Sans,11' enhanced background 'white'\n"
        "set output 'picture.png'\n"
        "set encoding utf8\n"
        "set border lc rgb '#8A8A8A' lw 1\n"
        "set tics textcolor rgb '#303030' font ',10'\n"
        "set multiplot\n",
        width, height);
}

// Where a panel draws, in pixels from the left and from the bottom of the picture.
struct Area {
    double left, bottom, width, height;
};

std::string margins_text(const Area& area, double width, double height) {
    return fmt::format(
        "set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\n"
        "set bmargin at screen {:.6f}\nset tmargin at screen {:.6f}\n",
        area.left / width, (area.left + area.width) / width, area.bottom / height,
        (area.bottom + area.height) / height);
}

std::string titles_text(const std::string& title, const std::string& x, const std::string& y) {
    return fmt::format(
        "set title {} font ',13' textcolor rgb '#101010' noenhanced\n"
        "set xlabel {} textcolor rgb '#101010' noenhanced\n"
        "set ylabel {} textcolor rgb '#101010' noenhanced\n",
        gnuplot_string(title), gnuplot_string(x), gnuplot_string(y));
}

std::string axis_text(char axis, bool logarithmic, const Range& range) {
    const std::string text = fmt::format("set {}range {}\n", axis, range_text(range));
    if (!logarithmic)
        return text +
               fmt::format("unset logscale {0}\nset format {0} '%g'\nset {0}tics autofreq\n", axis);
    // With few decades each is labelled; gnuplot spaces out the labels of many.
    const bool few = std::log10(range.high / range.low) < 8;
    return text + fmt::format("set logscale {0}\nset format {0} '10^{{%T}}'\nset {0}tics {1}\n",
                              axis, few ? "10" : "autofreq");
}

// Where the colours are used up, curves of a second round differ otherwise.
const char* style_text(CurveStyle style, bool again) {
    switch (style) {
        case CurveStyle::line:
            return again ? "lines lw 1.5 dt (2,3)" : "lines lw 1.5";
        case CurveStyle::dashed:
            return "lines lw 1.5 dt (9,5)";
        case CurveStyle::points:
            return again ? "points pt 5 ps 0.55" : "points pt 7 ps 0.55";
    }
    return "lines";
}

// How many rows its legend takes; an entry is as wide as the longest label, estimated.
int legend_rows(const CurvePanel& panel, double width) {
    std::size_t longest = 0;
    int entries = 0;
    for (const Curve& curve : panel.curves)
        if (!curve.label.empty()) {
            longest = std::max(longest, curve.label.size());
            ++entries;
        }
    const int in_a_row =
        std::max(1, static_cast<int>(width / (7.0 * static_cast<double>(longest) + 45)));
    return (entries + in_a_row - 1) / in_a_row;
}

// One panel; its curves go into files of the names it uses.
std::string panel_text(const CurvePanel& panel, std::size_t number,
                       std::vector<GnuplotFile>& files) {
    Range x_range, y_range;
    std::string plots;
    for (const Curve& curve : panel.curves) {
        check(curve.x.size() == curve.y.size(),
              "plot_curves: curve '{}' has {} x values and {} y values", curve.label,
              curve.x.size(), curve.y.size());
        std::vector<double> pairs;
        int64_t drawn = 0;
        for (std::size_t i = 0; i < curve.x.size(); ++i) {
            const double x = curve.x[i], y = curve.y[i];
            const bool good = std::isfinite(x) && std::isfinite(y) && (!panel.log_x || x > 0) &&
                              (!panel.log_y || y > 0);
            pairs.push_back(good ? x : no_value);
            pairs.push_back(good ? y : no_value);
            if (!good) continue;
            x_range.include(x);
            y_range.include(y);
            ++drawn;
        }
        if (drawn == 0) continue;
        const std::string name = fmt::format("curve{}x{}", number, files.size());
        const auto place = static_cast<std::size_t>(&curve - panel.curves.data());
        const char* color = colors[place % colors.size()];
        // A single point has no line.
        const char* style =
            drawn == 1 ? "points pt 7 ps 1.2" : style_text(curve.style, place >= colors.size());
        plots += fmt::format(
            "{} '{}' binary format='%double%double' using 1:2 with {} lc rgb '{}' {}",
            plots.empty() ? "plot" : ", \\\n    ", name, style, color,
            curve.label.empty() ? "notitle"
                                : "title " + gnuplot_string(curve.label) + " noenhanced");
        files.push_back({name, std::move(pairs)});
    }
    if (!panel.log_y)
        for (const double y : panel.y_also) y_range.include(y);
    std::string text = titles_text(panel.title, panel.x_label, panel.y_label);
    // Lines may begin at an edge; points on it would be cut in half.
    const bool points =
        std::any_of(panel.curves.begin(), panel.curves.end(),
                    [](const Curve& curve) { return curve.style == CurveStyle::points; });
    const Range x =
        panel.log_x ? drawable_logarithmic(x_range) : drawable(x_range, points ? 0.05 : 0);
    const Range y = panel.log_y ? drawable_logarithmic(y_range) : drawable(y_range, 0.05);
    text += axis_text('x', panel.log_x, x) + axis_text('y', panel.log_y, y);
    if (plots.empty()) {
        text += "set label 1 'no finite values' at graph 0.5,0.5 center textcolor rgb '#8A8A8A'\n";
        plots = "plot 1/0 notitle";
    }
    return text + plots + "\nunset label\n";
}

// Width and height of a field in pixels.
std::pair<double, double> plot_size(const FieldAxis& x, const FieldAxis& y,
                                    const FieldLayout& layout) {
    constexpr double width = 360, height = 320, most = 12, widest = 720, highest = 640;
    const double ratio = (x.to - x.from) / (y.to - y.from);
    if (!layout.equal_aspect || !(1 / most < ratio && ratio < most)) return {width, height};
    // Of the same area, if that fits.
    const double wide = std::min({std::sqrt(width * height * ratio), widest, highest * ratio});
    return {std::round(wide), std::round(wide / ratio)};
}

// Where the values of the corners, interpolated within triangles between the middles of
// neighbouring cells, are 0: pieces of line as x, y, Δx, Δy.
std::vector<double> zero_level(const Field& field, const FieldAxis& x, const FieldAxis& y) {
    const std::vector<double> values = field.values.to_doubles();
    const int64_t rows = field.values.size(0), columns = field.values.size(1);
    const double dx = (x.to - x.from) / static_cast<double>(columns);
    const double dy = (y.to - y.from) / static_cast<double>(rows);
    std::vector<double> pieces;
    const auto add_triangle = [&](const std::array<std::array<int64_t, 2>, 3>& corners) {
        std::vector<double> ends;
        for (std::size_t i = 0; i < 3; ++i) {
            const auto [row, column] = corners[i];
            const auto [other_row, other_column] = corners[(i + 1) % 3];
            const double a = values[static_cast<std::size_t>(row * columns + column)];
            const double b = values[static_cast<std::size_t>(other_row * columns + other_column)];
            if (!std::isfinite(a) || !std::isfinite(b) || (a < 0) == (b < 0)) continue;
            const double part = a / (a - b);
            const auto at = [part](int64_t from, int64_t to) {
                return static_cast<double>(from) + part * static_cast<double>(to - from) + 0.5;
            };
            ends.insert(ends.end(),
                        {x.from + dx * at(column, other_column), y.from + dy * at(row, other_row)});
        }
        if (ends.size() == 4)
            pieces.insert(pieces.end(), {ends[0], ends[1], ends[2] - ends[0], ends[3] - ends[1]});
    };
    for (int64_t row = 0; row + 1 < rows; ++row)
        for (int64_t column = 0; column + 1 < columns; ++column) {
            add_triangle({{{row, column}, {row, column + 1}, {row + 1, column + 1}}});
            add_triangle({{{row, column}, {row + 1, column + 1}, {row + 1, column}}});
        }
    return pieces;
}

}  // namespace

void plot_curves(const std::string& path, const std::vector<CurvePanel>& panels) {
    check(!panels.empty(), "plot_curves: there is no panel to draw");
    constexpr double left = 92, right = 28, plot_width = 640, bottom = 64, plot_height = 390;
    constexpr double panel_width = left + plot_width + right, row_height = 18;
    int rows = 0;
    for (const CurvePanel& panel : panels) rows = std::max(rows, legend_rows(panel, plot_width));
    // The legend stands between title and plot, where it hides nothing.
    const double top = 40 + row_height * rows, height = bottom + plot_height + top;
    const double width = panel_width * static_cast<double>(panels.size());
    std::string script = start_of_script(static_cast<int>(width), static_cast<int>(height));
    script +=
        "set border 3\nset tics nomirror out\n"
        "set grid xtics ytics lt 1 lc rgb '#D6D6D6' lw 0.8 dt solid\n"
        "set key at graph 0.5, graph 1.01 bottom center horizontal reverse Left samplen 2.2 "
        "maxrows 8 nobox font ',10'\n";
    script += fmt::format("set title offset 0,{:.2f}\n", row_height * rows / 18.0 - 0.3);
    std::vector<GnuplotFile> files;
    for (std::size_t i = 0; i < panels.size(); ++i) {
        const Area area{panel_width * static_cast<double>(i) + left, bottom, plot_width,
                        height - bottom - top};
        script += margins_text(area, width, height) + panel_text(panels[i], i, files);
    }
    script += "unset multiplot\n";
    write_file(path, run_gnuplot(script, files));
}

void plot_fields(const std::string& path, const std::vector<Field>& fields, const FieldAxis& x,
                 const FieldAxis& y, const FieldLayout& layout) {
    check(!fields.empty(), "plot_fields: there is no field to draw");
    for (const FieldAxis& axis : {x, y})
        check(std::isfinite(axis.from) && std::isfinite(axis.to) && axis.from < axis.to,
              "plot_fields: axis '{}' goes from {} to {}", axis.label, axis.from, axis.to);

    std::vector<GnuplotFile> files;
    std::vector<Shape> shapes;
    std::map<int, Range> ranges;
    for (const Field& field : fields) {
        check(field.values.defined() && field.values.dims() == 2 && field.values.elements() > 0,
              "plot_fields: field '{}' is [rows, columns], not {}", field.title,
              to_string(field.values.shape()));
        std::vector<double> values = field.values.to_doubles();
        Range& range = ranges[field.scale];
        for (double& value : values) {
            if (std::isfinite(value))
                range.include(value);
            else
                value = no_value;
        }
        for (const double value : field.also) range.include(value);
        // gnuplot draws no picture of a single row or column.
        Shape shape = field.values.shape();
        if (shape[1] == 1) {
            std::vector<double> twice;
            for (const double value : values) twice.insert(twice.end(), 2, value);
            values = std::move(twice);
            shape[1] = 2;
        }
        if (shape[0] == 1) {
            values.reserve(2 * values.size());
            std::copy_n(values.begin(), values.size(), std::back_inserter(values));
            shape[0] = 2;
        }
        files.push_back({fmt::format("field{}", files.size()), std::move(values)});
        shapes.push_back(shape);
    }

    constexpr double left = 78, right = 104, bottom = 62, top = 46;
    const auto [plot_width, plot_height] = plot_size(x, y, layout);
    const std::size_t columns =
        layout.columns > 0 ? std::min(static_cast<std::size_t>(layout.columns), fields.size())
                           : fields.size();
    const std::size_t rows = (fields.size() + columns - 1) / columns;
    const double panel_width = left + plot_width + right;
    const double panel_height = bottom + plot_height + top;
    const double width = panel_width * static_cast<double>(columns);
    const double height = panel_height * static_cast<double>(rows);
    std::string script = start_of_script(static_cast<int>(width), static_cast<int>(height));
    script +=
        "set tics nomirror out\nset format cb '%g'\nunset key\n"
        "set object 1 rectangle from graph 0,0 to graph 1,1 behind fs solid noborder "
        "fc rgb '#C8C8C8'\n";
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const Field& field = fields[i];
        const Area area{panel_width * static_cast<double>(i % columns) + left,
                        panel_height * static_cast<double>(rows - 1 - i / columns) + bottom,
                        plot_width, plot_height};
        const Range range = drawable(ranges[field.scale], 0);
        const double dx = (x.to - x.from) / static_cast<double>(shapes[i][1]);
        const double dy = (y.to - y.from) / static_cast<double>(shapes[i][0]);
        const double size = std::max(std::abs(range.low), std::abs(range.high));
        // Very small and large values share a power of ten, written above the colour bar.
        const bool plain = size >= 1e-2 && size < 1e5;
        const int power =
            plain ? 0 : std::max(-300, static_cast<int>(std::floor(std::log10(size))));
        const double unit = std::pow(10, -power);
        for (double& value : files[i].values) value *= unit;
        script += margins_text(area, width, height) + titles_text(field.title, x.label, y.label);
        script += axis_text('x', false, {x.from, x.to}) + axis_text('y', false, {y.from, y.to});
        script += plain ? std::string("unset label\n")
                        : fmt::format(
                              "set label 1 '×10^{{{}}}' at screen {:.6f},{:.6f} font ',10' "
                              "textcolor rgb '#303030'\n",
                              power, (area.left + plot_width + 14) / width,
                              (area.bottom + plot_height + 14) / height);
        script += fmt::format(
            "set cbrange {}\nset palette defined ({}) maxcolors 0\n"
            "set colorbox user origin {:.6f},{:.6f} size {:.6f},{:.6f}\n"
            "plot 'field{}' binary array=({},{}) format='%double' origin=({:.17g},{:.17g}) "
            "dx={:.17g} dy={:.17g} with image",
            range_text({range.low * unit, range.high * unit}),
            field.palette == Palette::viridis ? viridis : inferno,
            (area.left + plot_width + 14) / width, area.bottom / height, 14 / width,
            plot_height / height, i, shapes[i][1], shapes[i][0], x.from + dx / 2, y.from + dy / 2,
            dx, dy);
        std::vector<double> level =
            field.zero_level ? zero_level(field, x, y) : std::vector<double>();
        if (!level.empty()) {
            script += fmt::format(
                ", 'level{}' binary format='%double%double%double%double' using 1:2:3:4 with "
                "vectors nohead lc rgb '#FFFFFF' lw 1.5",
                i);
            files.push_back({fmt::format("level{}", i), std::move(level)});
        }
        script += '\n';
    }
    script += "unset multiplot\n";
    write_file(path, run_gnuplot(script, files));
}

}  // namespace ralimp
