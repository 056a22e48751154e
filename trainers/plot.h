// The pictures of a run: curves and fields, drawn by gnuplot into PNG files. They are for people;
// nothing of a training depends on them, so callers log an Error from here as a warning and go on.
#pragma once
#include <string>
#include <vector>

#include "core/tensor.h"

namespace ralimp {

enum class CurveStyle { line, dashed, points };

struct Curve {
    std::string label;         // in the legend; empty for none
    std::vector<double> x, y;  // of one length; a pair that cannot be drawn (NaN, infinite, not
                               // positive on a logarithmic axis) leaves a gap
    CurveStyle style = CurveStyle::line;
};

struct CurvePanel {
    std::string title, x_label, y_label;
    std::vector<Curve> curves;
    bool log_x = false, log_y = false;
    std::vector<double> y_also = {};  // what the y axis must reach besides, where it is not
                                      // logarithmic: equal axes of several pictures
};

// Panels side by side. Error as run_gnuplot and write_file; the old picture is then untouched.
void plot_curves(const std::string& path, const std::vector<CurvePanel>& panels);

// Perceptually uniform: equal steps in value look equally large.
enum class Palette { viridis, inferno };

struct Field {
    std::string title;
    Tensor values;  // [rows, columns] of any type: cells that tile the axes' ranges, row 0 at the
                    // bottom, column 0 at the left; grey where not finite
    int scale = 0;  // fields of one number share one colour scale
    Palette palette = Palette::viridis;
    std::vector<double> also = {};  // what the scale must reach besides
    bool zero_level = false;        // a line where the values, between the middles of cells, are 0
};

struct FieldAxis {
    std::string label;
    double from = 0, to = 1;  // from < to
};

struct FieldLayout {
    int columns = 0;  // fields in a row; 0: all of them
    // A unit is as long along x as along y, unless one side is twelve times the other or more.
    bool equal_aspect = false;
};

// Fields side by side over the same axes, each with its colour bar.
void plot_fields(const std::string& path, const std::vector<Field>& fields, const FieldAxis& x,
                 const FieldAxis& y, const FieldLayout& layout = {});

}  // namespace ralimp
