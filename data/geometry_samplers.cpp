#include "data/geometry_samplers.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"

namespace ralimp {
namespace {

constexpr int64_t points_of_a_chunk = 256;
// A geometry that fills less than about this share of its bounding box is given up.
constexpr int64_t most_candidates_of_a_point = 4096;
constexpr int64_t fewest_candidates = int64_t{1} << 16;
constexpr int64_t most_grid_candidates = int64_t{1} << 22;

// A region of a box of candidates: `accepts` says whether a row of its axes belongs to the region.
template <class Accepts>
struct Region {
    const char* operation;
    Box box;
    Accepts accepts;
};
template <class Accepts>
Region(const char*, Box, Accepts) -> Region<Accepts>;

// The rows that the region accepts, in their order.
template <class Accepts>
std::vector<double> accepted_rows(const Region<Accepts>& region, const Tensor& candidates) {
    const int64_t count = candidates.size(0), axes = candidates.size(1);
    const auto* rows = candidates.data<double>();
    std::vector<char> accepted(static_cast<std::size_t>(count));
    parallel_for(count, points_of_a_chunk, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            accepted[static_cast<std::size_t>(i)] = region.accepts(rows + i * axes);
    });
    std::vector<double> result;
    for (int64_t i = 0; i < count; ++i)
        if (accepted[static_cast<std::size_t>(i)])
            result.insert(result.end(), rows + i * axes, rows + (i + 1) * axes);
    return result;
}

[[noreturn]] void give_up(const char* operation, int64_t found, int64_t candidates) {
    fail("{}: only {} of {} candidates belong to the geometry; it is too small a part of {}",
         operation, found, candidates,
         std::string_view(operation) == "boundary_points" ? "the boundaries of its parts"
                                                          : "its bounding box");
}

Tensor first_rows(const std::vector<double>& rows, int64_t count, int64_t axes) {
    return Tensor::from(std::span(rows).first(static_cast<std::size_t>(count * axes)),
                        {count, axes});
}

// Sequences, of which more points can be drawn: uniform and Sobol.
template <class Accepts, class Draw>
Tensor rows_of_a_sequence(const Region<Accepts>& region, int64_t count, Draw draw) {
    const int64_t axes = region.box.dims(), block = std::max<int64_t>(count, 1024);
    const int64_t most = std::max(fewest_candidates, most_candidates_of_a_point * count);
    std::vector<double> rows;
    for (int64_t drawn = 0; static_cast<int64_t>(rows.size()) < count * axes; drawn += block) {
        if (drawn >= most)
            give_up(region.operation, static_cast<int64_t>(rows.size()) / axes, drawn);
        const std::vector<double> more = accepted_rows(region, draw(block, drawn));
        rows.insert(rows.end(), more.begin(), more.end());
    }
    return first_rows(rows, count, axes);
}

// A Latin hypercube has a fixed number of points: it is drawn larger until enough are accepted.
template <class Accepts>
Tensor rows_of_a_latin_hypercube(const Region<Accepts>& region, int64_t count,
                                 const RandomKey& key) {
    const int64_t axes = region.box.dims();
    for (int64_t candidates = count;;) {
        const std::vector<double> rows =
            accepted_rows(region, latin_hypercube_points(key, region.box, candidates));
        const int64_t found = static_cast<int64_t>(rows.size()) / axes;
        if (found >= count) return first_rows(rows, count, axes);
        if (candidates == most_latin_hypercube_points) give_up(region.operation, found, candidates);
        const double share = static_cast<double>(found + 1) / static_cast<double>(candidates + 1);
        const auto enough = static_cast<int64_t>(1.05 * static_cast<double>(count) / share + 16);
        candidates = std::min(most_latin_hypercube_points, enough);
    }
}

// The finest grid with at most `count` accepted points; grid(n) has n positions along each of so
// many growing axes.
template <class Accepts, class Grid>
Tensor rows_of_a_grid(const Region<Accepts>& region, int64_t count, int64_t growing_axes,
                      Grid grid) {
    const int64_t axes = region.box.dims();
    const auto most =
        static_cast<double>(std::clamp(most_candidates_of_a_point * count, fewest_candidates,
                                       std::max(most_grid_candidates, 4 * count)));
    // The rounding makes the cube root of 1000 10.
    const auto root = [&](double points) {
        return static_cast<int64_t>(std::pow(points, 1 / static_cast<double>(growing_axes)) + 1e-9);
    };
    const auto power = [&](int64_t n) {
        return std::pow(static_cast<double>(n), static_cast<double>(growing_axes));
    };
    std::vector<double> rows;
    const auto accepted = [&](int64_t n) {
        rows = accepted_rows(region, grid(n));
        return static_cast<int64_t>(rows.size()) / axes;
    };
    // From the share that a fine grid fills to about the right size, then step by step.
    const int64_t probe = root(static_cast<double>(std::max(count, fewest_candidates)));
    const double share = static_cast<double>(accepted(probe)) / power(probe);
    int64_t n = std::max<int64_t>(1, root(std::min(static_cast<double>(count) / share, most)));
    while (n > 1 && accepted(n) > count) --n;
    while (power(n + 1) <= most && accepted(n + 1) <= count) ++n;
    const int64_t found = std::min(accepted(n), count);
    check(found > 0,
          "{}: no grid of at most {} points has one in the geometry; ask for more points",
          region.operation, count);
    return first_rows(rows, found, axes);
}

template <class Accepts>
Tensor rows_of_random_points(Sampler sampler, const Region<Accepts>& region, int64_t count,
                             const RandomKey& key) {
    switch (sampler) {
        case Sampler::uniform:
            return rows_of_a_sequence(region, count, [&](int64_t points, int64_t first) {
                return uniform_points(key, region.box, points, first);
            });
        case Sampler::sobol:
            return rows_of_a_sequence(region, count, [&](int64_t points, int64_t first) {
                return sobol_points(key, region.box, points, first);
            });
        case Sampler::latin_hypercube:
        case Sampler::grid:
            break;
    }
    return rows_of_a_latin_hypercube(region, count, key);
}

void append_time(const char* operation, Box& box, const std::optional<TimeInterval>& time) {
    if (!time) return;
    check(std::isfinite(time->start) && std::isfinite(time->end) && time->start <= time->end,
          "{}: [{}, {}] is not an interval of time", operation, time->start, time->end);
    box.lower.push_back(time->start);
    box.upper.push_back(time->end);
}

Point point_of(const double* row, int64_t dims) {
    Point point{};
    std::copy(row, row + dims, point.begin());
    return point;
}

}  // namespace

Tensor interior_points(Sampler sampler, const Geometry& geometry, int64_t count,
                       const RandomKey& key, std::optional<TimeInterval> time) {
    const char* operation = "interior_points";
    check(count >= 1, "{}: {} points cannot be drawn", operation, count);
    // A grid has points on the boundary, which rounding may move a little; random ones need no
    // tolerance.
    const bool is_grid = sampler == Sampler::grid;
    const auto accepts = [&](const double* row) {
        const Point point = point_of(row, geometry.dims());
        return (is_grid || geometry.signed_distance(point) <= 0) && geometry.contains(point);
    };
    Region region{operation, geometry.bounding_box(), accepts};
    append_time(operation, region.box, time);
    if (!is_grid) return rows_of_random_points(sampler, region, count, key);
    return rows_of_a_grid(region, count, region.box.dims(), [&](int64_t n) {
        return grid_points(region.box,
                           std::vector<int64_t>(static_cast<std::size_t>(region.box.dims()), n));
    });
}

Tensor initial_points(Sampler sampler, const Geometry& geometry, int64_t count, double time,
                      const RandomKey& key) {
    check(std::isfinite(time), "initial_points: {} is not a time", time);
    const Tensor inside = interior_points(sampler, geometry, count, key);
    const int64_t rows = inside.size(0), dims = inside.size(1);
    Tensor points = Tensor::full({rows, dims + 1}, time, DType::float64);
    points.strided_view({rows, dims}, {dims + 1, 1}).copy_from(inside);
    return points;
}

BoundaryPoints boundary_points(Sampler sampler, const Geometry& geometry, int64_t count,
                               const RandomKey& key, std::optional<TimeInterval> time) {
    const char* operation = "boundary_points";
    check(count >= 1, "{}: {} points cannot be drawn", operation, count);
    const int64_t dims = geometry.dims(), parameters = std::max<int64_t>(1, dims - 1);
    const auto boundary_of = [&](const double* row) {
        return geometry.boundary_at({row[0], parameters > 1 ? row[1] : 0});
    };
    const auto accepts = [&](const double* row) { return boundary_of(row).has_value(); };
    const auto axes_of = static_cast<std::size_t>(parameters);
    Region region{operation, Box{std::vector<double>(axes_of, 0), std::vector<double>(axes_of, 1)},
                  accepts};
    append_time(operation, region.box, time);
    Tensor rows;
    if (sampler != Sampler::grid) {
        rows = rows_of_random_points(sampler, region, count, key);
    } else {
        // With one axis the boundary is a few ends, all of them taken.
        const int64_t ends =
            dims > 1 ? 0 : std::min(count, static_cast<int64_t>(geometry.boundary_measure()));
        const int64_t growing = (ends > 0 ? 0 : parameters) + (time ? 1 : 0);
        const auto grid = [&](int64_t n) {
            Box box = region.box;
            std::vector<int64_t> counts(static_cast<std::size_t>(box.dims()), n);
            if (ends > 0) counts[0] = ends;
            // Middles of cells: a closed curve would hold both its ends twice.
            for (std::size_t k = 0; k < axes_of; ++k) {
                box.lower[k] = 0.5 / static_cast<double>(counts[k]);
                box.upper[k] = 1 - box.lower[k];
            }
            return grid_points(box, counts);
        };
        rows = growing == 0 ? grid(1) : rows_of_a_grid(region, count, growing, grid);
    }
    const int64_t found = rows.size(0), axes = dims + (time ? 1 : 0), row_axes = rows.size(1);
    BoundaryPoints result{Tensor::empty({found, axes}, DType::float64),
                          Tensor::empty({found, dims}, DType::float64)};
    const auto* in = rows.data<double>();
    auto* points = result.points.data<double>();
    auto* normals = result.normals.data<double>();
    parallel_for(found, points_of_a_chunk, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const double* row = in + i * row_axes;
            const BoundaryPoint at = *boundary_of(row);
            std::copy_n(at.point.begin(), dims, points + i * axes);
            std::copy_n(at.normal.begin(), dims, normals + i * dims);
            if (time) points[i * axes + dims] = row[row_axes - 1];
        }
    });
    return result;
}

}  // namespace ralimp
