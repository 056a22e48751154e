#include "trainers/pinn_reference.h"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "autograd/operations.h"
#include "data/hdf5_reader.h"

namespace ralimp {
namespace {

// Every combination of positions, the last axis changing fastest.
Tensor combinations(const std::vector<std::vector<double>>& positions) {
    int64_t count = 1;
    for (const auto& along : positions) count *= static_cast<int64_t>(along.size());
    const auto axes = static_cast<int64_t>(positions.size());
    std::vector<double> points(static_cast<std::size_t>(count * axes));
    for (int64_t row = 0; row < count; ++row) {
        int64_t rest = row;
        for (int64_t axis = axes; axis-- > 0;) {
            const auto& along = positions[static_cast<std::size_t>(axis)];
            const auto size = static_cast<int64_t>(along.size());
            points[static_cast<std::size_t>(row * axes + axis)] =
                along[static_cast<std::size_t>(rest % size)];
            rest /= size;
        }
    }
    return Tensor::from(points, {count, axes});
}

void check_finite(const std::string& path, const std::string& name, const Tensor& values) {
    if (!std::isfinite(sum(abs(values)).item()))
        fail_with(ExitCode::bad_input, "{}: {} holds infinite numbers or NaN", path, name);
}

}  // namespace

Tensor inside_of(const PinnProblem& problem, const Tensor& points) {
    const int64_t axes = points.size(1), dims = problem.geometry().dims();
    std::vector<uint8_t> inside(static_cast<std::size_t>(points.size(0)));
    const double* at = points.data<double>();
    for (uint8_t& one : inside) {
        Point point{};
        std::copy(at, at + dims, point.begin());
        one = problem.geometry().contains(point);
        at += axes;
    }
    return Tensor::from(inside, {points.size(0)});
}

Tensor rows_where(const Tensor& x, const Tensor& mask) {
    std::vector<int64_t> rows;
    const uint8_t* at = mask.data<uint8_t>();
    for (int64_t row = 0; row < mask.elements(); ++row)
        if (at[row]) rows.push_back(row);
    const auto count = static_cast<int64_t>(rows.size());
    if (count == mask.elements()) return x;
    return index_select(x, 0, Tensor::from(rows, {count}));
}

void check_grid(const PinnProblem& problem, const std::vector<int64_t>& grid,
                const std::string& key) {
    if (grid.size() != problem.axes().size())
        fail_with(ExitCode::bad_config, "{}: {} numbers for {} axes ({})", key, grid.size(),
                  problem.axes().size(), fmt::join(problem.axes(), ", "));
    constexpr double most_points = 1 << 24;
    double points = 1;
    for (int64_t along : grid) {
        if (along < 2)
            fail_with(ExitCode::bad_config, "{}: {} points along an axis; at least 2", key, along);
        points *= static_cast<double>(along);
    }
    if (points > most_points)
        fail_with(ExitCode::bad_config, "{}: {:.3g} points; at most {:.3g}", key, points,
                  most_points);
}

PinnReference reference_on_grid(const PinnProblem& problem, const std::vector<int64_t>& grid,
                                EndOfTime end) {
    const Box& box = problem.domain();
    PinnReference reference{grid, {}, box, {}, {}, {}};
    for (std::size_t axis = 0; axis < grid.size(); ++axis) {
        const bool without_end =
            end == EndOfTime::excluded && problem.time() && axis + 1 == grid.size();
        const double length = box.upper[axis] - box.lower[axis];
        const auto steps = static_cast<double>(without_end ? grid[axis] : grid[axis] - 1);
        std::vector<double>& along = reference.positions.emplace_back();
        for (int64_t i = 0; i < grid[axis]; ++i)
            along.push_back(box.lower[axis] + length * (static_cast<double>(i) / steps));
        // Rounding must not lead out of the domain.
        if (end == EndOfTime::included) along.back() = box.upper[axis];
    }
    reference.points = combinations(reference.positions);
    reference.inside = inside_of(problem, reference.points);
    return reference;
}

PinnReference reference_from_file(const PinnProblem& problem, const std::filesystem::path& file) {
    const std::string path = file.string();
    PinnReference reference;
    reference.range = problem.domain();
    std::vector<std::vector<double>>& positions = reference.positions;
    for (std::size_t axis = 0; axis < problem.axes().size(); ++axis) {
        const std::string& name = problem.axes()[axis];
        const Tensor values = read_hdf5_dataset(path, name);
        if (values.dims() != 1 || values.size(0) < 2)
            fail_with(ExitCode::bad_input,
                      "{}: {} has shape {}; positions along an axis are a list", path, name,
                      values.shape());
        check_finite(path, name, values);
        positions.push_back(values.to_vector<double>());
        const auto [low, high] =
            std::minmax_element(positions.back().begin(), positions.back().end());
        const Box& box = problem.domain();
        const double slack = 1e-6 * (box.upper[axis] - box.lower[axis]);
        if (*low < box.lower[axis] - slack || *high > box.upper[axis] + slack)
            fail_with(ExitCode::bad_input,
                      "{}: {} is from {} to {}, outside the problem's {} to {}", path, name, *low,
                      *high, box.lower[axis], box.upper[axis]);
        reference.grid.push_back(values.size(0));
    }
    reference.points = combinations(positions);
    reference.inside = inside_of(problem, reference.points);
    // Files often have the time first.
    const auto axes = static_cast<int64_t>(reference.grid.size());
    std::vector<int64_t> time_first = reference.grid;
    std::rotate(time_first.begin(), time_first.end() - 1, time_first.end());
    Tensors columns;
    for (const std::string& name : problem.outputs()) {
        Tensor values = read_hdf5_dataset(path, name);
        if (values.shape() != Shape(reference.grid)) {
            if (!problem.time() || values.shape() != Shape(time_first))
                fail_with(ExitCode::bad_input, "{}: {} has shape {}, the axes have {}", path, name,
                          values.shape(), Shape(reference.grid));
            for (int64_t axis = 0; axis + 1 < axes; ++axis)
                values = transpose(values, axis, axis + 1);
        }
        columns.push_back(reshape(values, {values.elements(), 1}));
        check_finite(path, name, rows_where(columns.back(), reference.inside));
    }
    reference.values = concatenate(columns, 1);
    return reference;
}

}  // namespace ralimp
