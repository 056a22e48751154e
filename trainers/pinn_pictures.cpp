#include "trainers/pinn_pictures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "autograd/operations.h"
#include "trainers/plot.h"
#include "trainers/task.h"

namespace ralimp {
namespace {

// A part of the domain along one axis or two, at one position on each of the others.
struct Section {
    std::vector<std::size_t> axes;
    std::string place;  // of the others, "z = 0.5, t = 0.25"; empty when there are none
    // [grid of the axes…, columns], NaN outside the geometry
    Tensor network;   // columns: outputs
    Tensor exact;     // the same; undefined when it is not known
    Tensor residual;  // columns: equations
};

std::size_t nearest(const std::vector<double>& positions, double wanted) {
    const auto distance = [&](double a, double b) {
        return std::abs(a - wanted) < std::abs(b - wanted);
    };
    return static_cast<std::size_t>(std::min_element(positions.begin(), positions.end(), distance) -
                                    positions.begin());
}

// Number of space axes that pictures show.
std::size_t shown_in_space(const PinnProblem& problem) {
    return std::min<std::size_t>(2, static_cast<std::size_t>(problem.geometry().dims()));
}

// At a time for a problem in space and time; without one the time is an axis of the section.
Section section_of(const PinnPictureSource& source, std::optional<double> time) {
    const PinnProblem& problem = source.problem;
    const PinnReference& reference = source.reference;
    const bool from_file = reference.values.defined() && !problem.exact;
    const std::size_t count = problem.axes().size(), in_space = shown_in_space(problem);
    Section section;
    Shape shape;
    // Of every axis the positions that are chosen, as numbers and as rows of the grid.
    std::vector<std::vector<std::size_t>> chosen(count);
    std::vector<std::optional<double>> exactly(count);
    for (std::size_t axis = 0; axis < count; ++axis) {
        const bool is_time = problem.time() && axis + 1 == count;
        const std::vector<double>& positions = reference.positions[axis];
        if (is_time ? !time.has_value() : axis < in_space) {
            section.axes.push_back(axis);
            shape.push_back(reference.grid[axis]);
            for (std::size_t i = 0; i < positions.size(); ++i) chosen[axis].push_back(i);
            continue;
        }
        double at =
            is_time ? *time : (problem.domain().lower[axis] + problem.domain().upper[axis]) / 2;
        chosen[axis] = {nearest(positions, at)};
        if (from_file)
            at = positions[chosen[axis][0]];
        else
            exactly[axis] = at;
        section.place += fmt::format("{}{} = {:.4g}", section.place.empty() ? "" : ", ",
                                     problem.axes()[axis], at);
    }
    std::vector<int64_t> rows{0};
    for (std::size_t axis = 0; axis < count; ++axis) {
        std::vector<int64_t> next;
        for (const int64_t row : rows)
            for (const std::size_t i : chosen[axis])
                next.push_back(row * reference.grid[axis] + static_cast<int64_t>(i));
        rows = std::move(next);
    }
    const Tensor index = Tensor::from(rows, {static_cast<int64_t>(rows.size())});
    Tensors columns;
    for (std::size_t axis = 0; axis < count; ++axis) {
        const Tensor column =
            slice(reference.points, 1, static_cast<int64_t>(axis), static_cast<int64_t>(axis) + 1);
        columns.push_back(exactly[axis]
                              ? Tensor::full({index.elements(), 1}, *exactly[axis], DType::float64)
                              : index_select(column, 0, index));
    }
    const Tensor points = concatenate(columns, 1);
    const Tensor inside = unsqueeze(inside_of(problem, points), 1);
    const auto on_grid = [&](const Tensor& values) {
        Shape whole = shape;
        whole.push_back(values.size(1));
        const Tensor nothing =
            Tensor::full({1, 1}, std::numeric_limits<double>::quiet_NaN(), DType::float64);
        return reshape(where(inside, values, nothing), whole);
    };
    section.network = on_grid(source.outputs(points));
    section.residual = on_grid(source.residuals(points));
    const bool on_points_of_grid =
        std::none_of(exactly.begin(), exactly.end(), [](const auto& at) { return at.has_value(); });
    if (reference.values.defined() && on_points_of_grid)
        section.exact = on_grid(index_select(reference.values, 0, index));
    else if (problem.exact)
        section.exact = on_grid(in_pieces(points, problem.exact));
    return section;
}

Tensor column_of(const Tensor& values, std::size_t column) {
    return select(values, values.dims() - 1, static_cast<int64_t>(column));
}

// Of all equations as one.
Tensor whole_residual(const Section& section) { return sqrt(mean(square(section.residual), {-1})); }

std::string with_place(const std::string& title, const Section& section) {
    return section.place.empty() ? title : title + ", " + section.place;
}

// "solution.png", of several outputs "solution_u.png".
std::string file_name(const PinnProblem& problem, const std::string& what, std::size_t output) {
    return problem.outputs().size() == 1 ? what + ".png"
                                         : what + "_" + problem.outputs()[output] + ".png";
}

FieldAxis axis_of(const PinnPictureSource& source, std::size_t axis) {
    return {source.problem.axes()[axis], source.reference.range.lower[axis],
            source.reference.range.upper[axis]};
}

// Maps over the two axes of sections, all alike, in rows of `columns`.
void plot_maps(const std::filesystem::path& path, const PinnPictureSource& source,
               const Section& like, std::vector<Field> fields, int columns) {
    const FieldAxis first = axis_of(source, like.axes[0]), next = axis_of(source, like.axes[1]);
    // Through time: t to the right and x upwards; in space x to the right and y upwards.
    const bool through_time =
        source.problem.time() && like.axes[1] + 1 == source.problem.axes().size();
    if (!through_time)
        for (Field& field : fields) field.values = transpose(field.values, 0, 1);
    plot_fields(path.string(), fields, through_time ? next : first, through_time ? first : next,
                {columns, !through_time});
}

// Network, exact solution and error of an output; values of one kind share a scale.
void add_maps(std::vector<Field>& fields, const Section& section, const std::string& name,
              std::size_t output, int scale) {
    const Tensor network = column_of(section.network, output);
    fields.push_back({with_place("network " + name, section), network, scale});
    if (!section.exact.defined()) return;
    const Tensor exact = column_of(section.exact, output);
    fields.push_back({with_place("exact " + name, section), exact, scale});
    fields.push_back(
        {with_place("|error|", section), abs(network - exact), scale + 1, Palette::inferno});
}

// Widens a range, {low, high} or empty at first, by what is finite of the values.
void widen(std::vector<double>& range, const std::vector<double>& values) {
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        if (range.empty()) range = {value, value};
        range = {std::min(range[0], value), std::max(range[1], value)};
    }
}

CurvePanel line_panel(const PinnPictureSource& source, const Section& section, std::size_t output) {
    const std::string& u = source.problem.outputs()[output];
    const std::vector<double>& x = source.reference.positions[0];
    CurvePanel panel{with_place(u, section), source.problem.axes()[0], u, {}};
    panel.curves.push_back({"network", x, column_of(section.network, output).to_doubles()});
    if (section.exact.defined())
        panel.curves.push_back(
            {"exact", x, column_of(section.exact, output).to_doubles(), CurveStyle::dashed});
    return panel;
}

// One axis and no time.
void draw_lines(const std::filesystem::path& path, const PinnPictureSource& source,
                const Section& section, std::size_t output) {
    const std::vector<double>& x = source.reference.positions[0];
    const std::string& axis = source.problem.axes()[0];
    std::vector<CurvePanel> panels{line_panel(source, section, output)};
    if (section.exact.defined())
        panels.push_back(
            {"|error|",
             axis,
             "",
             {{"", x,
               abs(column_of(section.network, output) - column_of(section.exact, output))
                   .to_doubles()}}});
    CurvePanel residual{"|residual|", axis, "", {}};
    const auto& equations = source.problem.equations();
    for (std::size_t i = 0; i < equations.size(); ++i)
        residual.curves.push_back({equations.size() == 1 ? "" : equations[i].name, x,
                                   abs(column_of(section.residual, i)).to_doubles()});
    panels.push_back(residual);
    plot_curves(path.string(), panels);
}

void draw_residuals(const std::filesystem::path& path, const PinnPictureSource& source,
                    const std::vector<Section>& sections) {
    const auto& equations = source.problem.equations();
    std::vector<Field> fields;
    for (const Section& section : sections)
        for (std::size_t i = 0; i < equations.size(); ++i)
            fields.push_back({with_place("|" + equations[i].name + "|", section),
                              abs(column_of(section.residual, i)), static_cast<int>(i),
                              Palette::inferno});
    plot_maps(path, source, sections[0], fields, static_cast<int>(equations.size()));
}

}  // namespace

std::vector<std::string> draw_solution(const std::filesystem::path& folder,
                                       const PinnPictureSource& source) {
    const PinnProblem& problem = source.problem;
    const bool one_axis = shown_in_space(problem) == 1;
    const bool through_time = problem.time().has_value() && one_axis;
    std::vector<Section> sections;
    if (problem.time() && !through_time)
        for (const double time : source.times) sections.push_back(section_of(source, time));
    else
        sections.push_back(section_of(source, {}));
    std::vector<Section> slices;
    if (through_time)
        for (const double time : source.times) slices.push_back(section_of(source, time));

    std::vector<std::string> names;
    const auto next_file = [&](const std::string& name) {
        names.push_back(name);
        return folder / name;
    };
    const bool one_equation = problem.equations().size() == 1;
    for (std::size_t output = 0; output < problem.outputs().size(); ++output) {
        const auto file = next_file(file_name(problem, "solution", output));
        if (one_axis && !through_time) {
            draw_lines(file, source, sections[0], output);
            continue;
        }
        std::vector<Field> fields;
        for (const Section& section : sections) {
            add_maps(fields, section, problem.outputs()[output], output, 0);
            fields.push_back({with_place(one_equation ? "|residual|" : "residual, rms", section),
                              whole_residual(section), 2, Palette::inferno});
        }
        plot_maps(file, source, sections[0], fields,
                  static_cast<int>(fields.size() / sections.size()));
        std::vector<CurvePanel> panels;
        for (const Section& slice : slices) panels.push_back(line_panel(source, slice, output));
        std::vector<double> shown;
        for (const CurvePanel& panel : panels)
            for (const Curve& curve : panel.curves) widen(shown, curve.y);
        for (CurvePanel& panel : panels) panel.y_also = shown;
        if (!panels.empty())
            plot_curves(next_file(file_name(problem, "slices", output)).string(), panels);
    }
    if (!one_equation && (!one_axis || through_time))
        draw_residuals(next_file("residuals.png"), source, sections);
    return names;
}

void draw_frames(const std::filesystem::path& folder, const PinnPictureSource& source,
                 int64_t count) {
    const PinnProblem& problem = source.problem;
    if (!problem.time())
        fail_with(ExitCode::bad_config, "render: --frames: the problem has no time");
    check(2 <= count && count <= 10000, "draw_frames: {} frames; from 2 to 10000", count);
    const auto at_frame = [&](int64_t frame) {
        const double share = static_cast<double>(frame) / static_cast<double>(count - 1);
        const auto& [start, end] = *problem.time();
        return section_of(source, frame + 1 == count ? end : start + (end - start) * share);
    };
    const std::size_t outputs = problem.outputs().size();
    const bool lines = shown_in_space(problem) == 1;
    const auto panels_of = [&](const Section& section) {
        std::vector<CurvePanel> panels;
        for (std::size_t output = 0; output < outputs; ++output)
            panels.push_back(line_panel(source, section, output));
        return panels;
    };
    // Scales of its own for each output.
    const auto maps_of = [&](const Section& section) {
        std::vector<Field> fields;
        for (std::size_t output = 0; output < outputs; ++output)
            add_maps(fields, section, problem.outputs()[output], output,
                     static_cast<int>(2 * output));
        return fields;
    };
    // Every frame is computed twice, so that few are kept in memory: first for the scales alone.
    std::vector<std::vector<double>> shown(2 * outputs);
    for (int64_t frame = 0; frame < count; ++frame) {
        const Section section = at_frame(frame);
        if (lines) {
            const auto panels = panels_of(section);
            for (std::size_t i = 0; i < panels.size(); ++i)
                for (const Curve& curve : panels[i].curves) widen(shown[i], curve.y);
        } else {
            for (const Field& field : maps_of(section))
                widen(shown[static_cast<std::size_t>(field.scale)], field.values.to_doubles());
        }
    }
    for (int64_t frame = 0; frame < count; ++frame) {
        const Section section = at_frame(frame);
        const auto file = folder / fmt::format("frame-{:04d}.png", frame);
        if (lines) {
            auto panels = panels_of(section);
            for (std::size_t i = 0; i < panels.size(); ++i) panels[i].y_also = shown[i];
            plot_curves(file.string(), panels);
        } else {
            auto fields = maps_of(section);
            for (Field& field : fields) field.also = shown[static_cast<std::size_t>(field.scale)];
            plot_maps(file, source, section, fields, static_cast<int>(fields.size() / outputs));
        }
    }
}

}  // namespace ralimp
