#include "data/geometry_samplers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/parallel.h"
#include "tests/data/geometry_cases.h"
#include "tests/error_of.h"

namespace ralimp {
namespace {

constexpr Sampler samplers[] = {Sampler::latin_hypercube, Sampler::uniform, Sampler::grid,
                                Sampler::sobol};
const RandomKey key{4, RandomStream::points, 2};
constexpr TimeInterval time{0.5, 2};

const char* name_of(Sampler sampler) {
    return enum_names(sampler)[static_cast<std::size_t>(sampler)].second;
}

std::vector<double> values(const Tensor& tensor) { return tensor.to_vector<double>(); }

// A whole number for each cell of the bounding box cut into 4 along each axis.
int cell_of(const Box& box, const Point& point) {
    int cell = 0;
    for (std::size_t k = 0; k < box.lower.size(); ++k) {
        const double part = (point[k] - box.lower[k]) / (box.upper[k] - box.lower[k]);
        cell = 4 * cell + std::clamp(static_cast<int>(4 * part), 0, 3);
    }
    return cell;
}

// Each cell has its share of the points within five standard deviations; the share by the formula
// on a fine grid.
TEST(GeometrySamplers, InteriorPointsAreUniform) {
    for (const GeometryCase& known : geometry_cases()) {
        const Geometry& geometry = *known.geometry;
        const Box& box = geometry.bounding_box();
        const int64_t dims = geometry.dims(), fine = dims == 3 ? 80 : 800;
        std::map<int, double> share;
        double total = 0;
        const Box middles = scaled(box, 1 - 1.0 / static_cast<double>(fine));
        const auto grid = values(
            grid_points(middles, std::vector<int64_t>(static_cast<std::size_t>(dims), fine)));
        for (std::size_t i = 0; i < grid.size() / static_cast<std::size_t>(dims); ++i) {
            const Point p = point_of(grid, i, dims, dims);
            if (!known.is_inside(p[0], p[1], p[2])) continue;
            share[cell_of(box, p)] += 1;
            total += 1;
        }
        for (const Sampler sampler : samplers) {
            constexpr int64_t count = 10000;
            const Tensor points = interior_points(sampler, geometry, count, key);
            const int64_t rows = points.size(0);
            ASSERT_EQ(points.shape(), Shape({rows, dims}));
            if (sampler == Sampler::grid) {
                EXPECT_LE(rows, count) << known.name;
                EXPECT_GE(rows, (dims == 3 ? 0.8 : 0.95) * count) << known.name;
            } else {
                EXPECT_EQ(rows, count);
            }
            std::map<int, int64_t> counts;
            const auto x = values(points);
            for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
                const Point p = point_of(x, i, dims, dims);
                ASSERT_TRUE(geometry.contains(p)) << known.name;
                ASSERT_TRUE(sampler == Sampler::grid || known.is_inside(p[0], p[1], p[2]))
                    << known.name << " at " << p[0] << " " << p[1] << " " << p[2];
                ++counts[cell_of(box, p)];
            }
            if (sampler == Sampler::grid) continue;  // its cells are open at one end
            for (const auto& [cell, part] : share) {
                const double p = part / total;
                EXPECT_NEAR(static_cast<double>(counts[cell]), count * p,
                            5 * std::sqrt(count * p * (1 - p)) + 2)
                    << known.name << ", " << name_of(sampler) << ", cell " << cell;
            }
        }
    }
}

TEST(GeometrySamplers, ABoxHasThePointsOfItsSampler) {
    const auto rectangle = box({-1, 0}, {1, 3});
    for (const Sampler sampler : samplers) {
        EXPECT_EQ(values(interior_points(sampler, *rectangle, 1000, key)),
                  values(sample_points(sampler, rectangle->bounding_box(), 1000, key)));
        EXPECT_EQ(values(interior_points(sampler, *rectangle, 1000, key, time)),
                  values(sample_points(sampler, {{-1, 0, 0.5}, {1, 3, 2}}, 1000, key)));
    }
}

// On the boundary, also after rounding to float32; the normal is the gradient of the distance.
TEST(GeometrySamplers, BoundaryPointsHaveOutwardNormals) {
    for (const GeometryCase& known : geometry_cases())
        for (const Sampler sampler : samplers) {
            const Geometry& geometry = *known.geometry;
            const int64_t dims = geometry.dims();
            // Where a circle and an edge touch, parts closer than the tolerance are not told apart:
            // their directions differ by its square root.
            std::vector<const Geometry*> primitives;
            geometry.append_primitives(primitives);
            const double rounding = primitives.size() > 1 ? 2e-3 : 1e-5;
            const BoundaryPoints boundary = boundary_points(sampler, geometry, 1000, key);
            const int64_t rows = boundary.points.size(0);
            ASSERT_EQ(boundary.normals.shape(), Shape({rows, dims}));
            EXPECT_LE(rows, 1000);
            const int64_t fewest = sampler != Sampler::grid ? 1000
                                   : dims == 1 ? static_cast<int64_t>(known.boundary_measure)
                                   : dims == 2 ? 990
                                               : 700;
            EXPECT_GE(rows, fewest) << known.name;
            const auto x = values(boundary.points), n = values(boundary.normals);
            for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
                const Point p = point_of(x, i, dims, dims), normal = point_of(n, i, dims, dims);
                ASSERT_TRUE(geometry.on_boundary(p)) << known.name << " " << p[0] << " " << p[1];
                ASSERT_TRUE(geometry.contains(p)) << known.name;
                ASSERT_NEAR(std::hypot(normal[0], normal[1], normal[2]), 1, 1e-14);
                Point rounded{};
                for (std::size_t k = 0; k < 3; ++k) rounded[k] = static_cast<float>(p[k]);
                ASSERT_TRUE(geometry.on_boundary(rounded)) << known.name;
                ASSERT_TRUE(geometry.contains(rounded)) << known.name;
                for (std::size_t k = 0; k < static_cast<std::size_t>(dims); ++k) {
                    constexpr double step = 1e-6;
                    Point ahead = p, behind = p;
                    ahead[k] += step;
                    behind[k] -= step;
                    const double slope =
                        (geometry.signed_distance(ahead) - geometry.signed_distance(behind)) /
                        (2 * step);
                    ASSERT_NEAR(normal[k], slope, rounding)
                        << known.name << " at " << p[0] << " " << p[1] << " " << p[2];
                }
            }
        }
}

// Shares of the boundary that are known, each within five standard deviations.
TEST(GeometrySamplers, BoundaryPointsAreUniform) {
    struct Share {
        const char* name;
        double part;
        std::function<bool(const Point&)> holds;
    };
    constexpr double pi = std::numbers::pi;
    const Share shares[] = {
        {"interval", 0.5, [](const Point& p) { return p[0] < 0; }},
        {"interval with a gap", 0.25, [](const Point& p) { return p[0] == 2; }},
        {"rectangle", 0.2, [](const Point& p) { return p[0] == 2; }},
        {"cuboid", 6 / 22.0, [](const Point& p) { return p[0] == 1; }},
        {"disk", 1 / 8.0, [](const Point& p) { return p[0] > 1 && p[1] - 2 > p[0] - 1; }},
        {"sphere", 1 / 4.0, [](const Point& p) { return p[2] > 0; }},
        {"sphere", 1 / 4.0, [](const Point& p) { return p[0] > 1; }},
        {"clockwise triangle", 5 / 12.0, [](const Point& p) { return p[0] > 0 && p[1] > 0; }},
        {"L", 1 / 8.0, [](const Point& p) { return p[0] == 1; }},
        {"squares side by side", 1 / 6.0, [](const Point& p) { return p[0] < 1 && p[1] == 0; }},
        {"a square twice", 0.25, [](const Point& p) { return p[0] == 1; }},
        {"square without a flush corner", 1 / 8.0, [](const Point& p) { return p[0] == 0.5; }},
        {"square with a hole", pi / (8 + pi),
         [](const Point& p) { return std::abs(p[0]) < 0.6 && std::abs(p[1]) < 0.6; }},
        {"cube without a ball", pi / (24 + pi),
         [](const Point& p) { return std::hypot(p[0], p[1], p[2]) < 0.6; }},
        {"half a ball", 1 / 3.0, [](const Point& p) { return p[2] == 0; }},
    };
    for (const GeometryCase& known : geometry_cases())
        for (const Share& share : shares) {
            if (share.name != known.name) continue;
            const double part = share.part;
            for (const Sampler sampler : samplers) {
                if (sampler == Sampler::grid) continue;
                constexpr int64_t count = 20000;
                const BoundaryPoints boundary =
                    boundary_points(sampler, *known.geometry, count, key, time);
                const auto x = values(boundary.points);
                const int64_t axes = known.geometry->dims() + 1;
                int64_t early = 0, holds = 0;
                for (std::size_t i = 0; i < count; ++i) {
                    holds += share.holds(point_of(x, i, axes, axes - 1));
                    const double t = x[(i + 1) * static_cast<std::size_t>(axes) - 1];
                    ASSERT_GE(t, 0.5);
                    ASSERT_LE(t, 2);
                    early += t < 0.8;
                }
                EXPECT_NEAR(static_cast<double>(holds), count * part,
                            5 * std::sqrt(count * part * (1 - part)))
                    << known.name << ", " << name_of(sampler);
                EXPECT_NEAR(static_cast<double>(early), count * 0.2, 5 * std::sqrt(count * 0.16));
            }
        }
}

// Space times time, inside and on the boundary, of every geometry: the points lie where those
// without a time may, at moments spread evenly over the whole interval.
TEST(GeometrySamplers, PointsInTimeFillTheInterval) {
    constexpr int64_t count = 2000;
    for (const GeometryCase& known : geometry_cases())
        for (const Sampler sampler : samplers) {
            const Geometry& geometry = *known.geometry;
            const int64_t dims = geometry.dims();
            const BoundaryPoints boundary = boundary_points(sampler, geometry, count, key, time);
            for (const bool inside : {true, false}) {
                const Tensor points =
                    inside ? interior_points(sampler, geometry, count, key, time) : boundary.points;
                const int64_t rows = points.size(0);
                ASSERT_EQ(points.shape(), Shape({rows, dims + 1})) << known.name;
                EXPECT_LE(rows, count);
                EXPECT_GE(rows, sampler == Sampler::grid ? count / 2 : count) << known.name;
                const auto x = values(points);
                int64_t quarters[4] = {};
                for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
                    const Point p = point_of(x, i, dims + 1, dims);
                    ASSERT_TRUE(inside ? geometry.contains(p) : geometry.on_boundary(p))
                        << known.name;
                    const double t = x[(i + 1) * static_cast<std::size_t>(dims + 1) - 1];
                    ASSERT_TRUE(time.start <= t && t <= time.end) << known.name << ' ' << t;
                    ++quarters[std::min(static_cast<int>((t - 0.5) / 1.5 * 4), 3)];
                }
                if (sampler == Sampler::grid) continue;  // has both ends, few moments in between
                for (const int64_t quarter : quarters)
                    EXPECT_NEAR(static_cast<double>(quarter), count / 4.0,
                                5 * std::sqrt(count * 3 / 16.0))
                        << known.name << ", " << name_of(sampler) << (inside ? "" : ", boundary");
            }
            ASSERT_EQ(boundary.normals.shape(), Shape({boundary.points.size(0), dims}));
        }
}

TEST(GeometrySamplers, InitialPointsAreInsideAtOneTime) {
    for (const GeometryCase& known : geometry_cases())
        for (const Sampler sampler : samplers) {
            const int64_t dims = known.geometry->dims();
            const Tensor inside = interior_points(sampler, *known.geometry, 500, key);
            const Tensor points = initial_points(sampler, *known.geometry, 500, 0.25, key);
            ASSERT_EQ(points.shape(), Shape({inside.size(0), dims + 1}));
            const auto x = values(points), y = values(inside);
            for (std::size_t i = 0; i < static_cast<std::size_t>(inside.size(0)); ++i) {
                ASSERT_EQ(point_of(x, i, dims + 1, dims), point_of(y, i, dims, dims));
                ASSERT_EQ(x[(i + 1) * static_cast<std::size_t>(dims + 1) - 1], 0.25);
            }
        }
}

TEST(GeometrySamplers, GridsOfSpaceAndTime) {
    const auto x = values(boundary_points(Sampler::grid, *box({-1}, {1}), 7, key, time).points);
    EXPECT_EQ(x, (std::vector<double>{-1, 0.5, -1, 1.25, -1, 2, 1, 0.5, 1, 1.25, 1, 2}));
    const auto square = box({0, 0}, {4, 4});
    EXPECT_EQ(values(boundary_points(Sampler::grid, *square, 4, key).points),
              (std::vector<double>{0, 2, 4, 2, 2, 0, 2, 4}));
    // Five along each axis would be 13 in the disk.
    EXPECT_EQ(values(interior_points(Sampler::grid, *make_ball({0, 0}, 3), 12, key)),
              (std::vector<double>{-1, -1, -1, 1, 1, -1, 1, 1}));
    EXPECT_EQ(boundary_points(Sampler::grid, *square, 1000, key, time).points.size(0), 31 * 31);
    EXPECT_EQ(boundary_points(Sampler::grid, *box({-1}, {1}), 1, key).points.size(0), 1);
}

TEST(GeometrySamplers, DependOnTheKeyAlone) {
    const int threads = thread_count();
    for (const GeometryCase& known : geometry_cases())
        for (const Sampler sampler : samplers) {
            const auto draw = [&](const RandomKey& drawn) {
                const BoundaryPoints boundary =
                    boundary_points(sampler, *known.geometry, 1000, drawn, time);
                return std::array{
                    values(interior_points(sampler, *known.geometry, 1000, drawn, time)),
                    values(boundary.points), values(boundary.normals)};
            };
            set_thread_count(1);
            const auto one = draw(key);
            set_thread_count(3);
            EXPECT_EQ(draw(key), one);
            set_thread_count(threads);
            if (sampler == Sampler::grid) continue;
            for (const RandomKey& other :
                 {RandomKey{5, RandomStream::points, 2}, RandomKey{4, RandomStream::points, 3}}) {
                const auto different = draw(other);
                EXPECT_NE(different[0], one[0]) << known.name;
                EXPECT_NE(different[1], one[1]) << known.name;
            }
        }
}

TEST(GeometrySamplers, Errors) {
    const auto disk = make_ball({0, 0}, 1);
    EXPECT_EQ(error_of([&] { interior_points(Sampler::uniform, *disk, 0, key); }).text,
              "interior_points: 0 points cannot be drawn");
    EXPECT_EQ(error_of([&] { boundary_points(Sampler::uniform, *disk, 0, key); }).text,
              "boundary_points: 0 points cannot be drawn");
    EXPECT_EQ(error_of([&] {
                  interior_points(Sampler::uniform, *disk, 9, key, TimeInterval{1, 0});
              }).text,
              "interior_points: [1, 0] is not an interval of time");
    EXPECT_NE(error_of([&] {
                  boundary_points(Sampler::sobol, *disk, 9, key, TimeInterval{0, NAN});
              }).text,
              "");
    EXPECT_NE(error_of([&] { initial_points(Sampler::sobol, *disk, 9, NAN, key); }).text, "");
    // A thin rim that nearly no candidate hits ends in an error, never in an endless search.
    const auto rim = make_difference({make_ball({0, 0}, 1), make_ball({0, 0}, 1 - 1e-5)});
    const std::string text =
        error_of([&] { interior_points(Sampler::latin_hypercube, *rim, 100, key); }).text;
    EXPECT_EQ(text.find("interior_points: only 1"), 0u) << text;
    EXPECT_NE(text.find(" of 1048576 candidates belong to the geometry; it is too small a part of "
                        "its bounding box"),
              std::string::npos)
        << text;
    EXPECT_EQ(error_of([&] {
                  interior_points(Sampler::grid,
                                  *make_difference({make_ball({0, 0}, 1), make_ball({0, 0}, 0.9)}),
                                  1, key);
              }).text,
              "interior_points: no grid of at most 1 points has one in the geometry; ask for more "
              "points");
}

}  // namespace
}  // namespace ralimp
