// Marching cubes: closed surfaces for every cube and at random, areas and volumes of known solids,
// what happens at the box's sides and without a surface.
#include "data/marching_cubes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "core/random.h"
#include "data/solids.h"
#include "tests/error_of.h"

namespace ralimp {
namespace {

const Box unit_box{{-1, -1, -1}, {1, 1, 1}};

PointFunction of(const std::function<double(double, double, double)>& f) {
    return [f](const Tensor& points) {
        const auto p = points.to_vector<double>();
        std::vector<double> values;
        for (std::size_t i = 0; i < p.size(); i += 3) values.push_back(f(p[i], p[i + 1], p[i + 2]));
        return Tensor::from(values, {static_cast<int64_t>(values.size())});
    };
}

// The values at the points of a grid of so many cubes, in the order in which they are asked for.
PointFunction listed(std::vector<double> values) {
    return [values, next = std::size_t{0}](const Tensor& points) mutable {
        const auto count = static_cast<std::size_t>(points.size(0));
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(next);
        next += count;
        return Tensor::from(std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(count)),
                            {points.size(0)});
    };
}

TEST(CubeTriangles, EndWhereTheFacesSayInEveryConfiguration) {
    const auto& edges = cube_edges();
    std::size_t most = 0;
    for (std::size_t below = 0; below < 256; ++below) {
        const auto& triangles = cube_triangles()[below];
        most = std::max(most, triangles.size());
        // Each edge between corners of different signs is used, and no other.
        std::set<uint8_t> used, crossed;
        for (const auto& triangle : triangles) used.insert(triangle.begin(), triangle.end());
        for (uint8_t edge = 0; edge < 12; ++edge)
            if ((below >> edges[edge].from & 1) != (below >> edges[edge].to & 1))
                crossed.insert(edge);
        EXPECT_EQ(used, crossed) << below;
    }
    EXPECT_EQ(most, 5u);
    EXPECT_TRUE(cube_triangles()[0].empty());
    EXPECT_TRUE(cube_triangles()[255].empty());
}

// Each configuration stands alone in positive surroundings, and as a hole in negative ones.
TEST(MarchingCubes, EveryConfigurationIsAClosedSurface) {
    for (int below = 1; below < 256; ++below)
        for (const double outside : {1.0, -1.0}) {
            std::vector<double> values(64, outside);
            for (int corner = 0; corner < 8; ++corner)
                if (below >> corner & 1)
                    values[static_cast<std::size_t>(1 + (corner & 1) + 4 * (1 + (corner >> 1 & 1)) +
                                                    16 * (1 + (corner >> 2)))] = -outside * 0.7;
            const Mesh mesh = marching_cubes(unit_box, {3, 3, 3}, listed(values));
            EXPECT_TRUE(defects_of(mesh).watertight()) << below;
            // Outwards is where the values are positive.
            EXPECT_GT(volume_of(mesh) * outside, 0) << below;
        }
}

// All pairs of neighbours meet, ambiguous faces too.
TEST(MarchingCubes, RandomSignsGiveClosedSurfaces) {
    constexpr int side = 20;
    for (uint32_t seed = 0; seed < 5; ++seed) {
        std::vector<double> values(side * side * side, 1.0);
        for (int i = 0; i < side * side * side; ++i) {
            const int x = i % side, y = i / side % side, z = i / side / side;
            if (std::min({x, y, z}) > 0 && std::max({x, y, z}) < side - 1)
                values[static_cast<std::size_t>(i)] =
                    random_uniform<double>({seed, RandomStream::user, 0},
                                           static_cast<uint64_t>(i)) -
                    0.2 * (seed + 1);
        }
        const Mesh mesh = marching_cubes(unit_box, {side - 1, side - 1, side - 1}, listed(values));
        EXPECT_TRUE(defects_of(mesh).watertight()) << seed;
        EXPECT_GT(mesh.triangles.size(), 1000u);
        EXPECT_GT(volume_of(mesh), 0);
    }
}

TEST(MarchingCubes, ASphereHasTheAreaAndVolumeOfASphere) {
    constexpr double pi = std::numbers::pi, radius = 0.7;
    double before = 1;
    // Odd numbers, and other ones along each axis.
    for (const auto& cubes : {std::array<int64_t, 3>{7, 9, 8}, {15, 17, 16}, {31, 33, 32}}) {
        const Mesh mesh = marching_cubes(unit_box, cubes, of([](double x, double y, double z) {
                                             return std::hypot(x, y, z) - radius;
                                         }));
        EXPECT_TRUE(defects_of(mesh).watertight());
        EXPECT_EQ(euler_characteristic(mesh), 2);
        const double error = std::abs(volume_of(mesh) / (4 * pi / 3 * std::pow(radius, 3)) - 1);
        EXPECT_LT(error, before / 3);  // of second order
        before = error;
        EXPECT_NEAR(area_of(mesh) / (4 * pi * radius * radius), 1, 3 * error);
    }
    EXPECT_LT(before, 5e-3);
}

TEST(MarchingCubes, ATorusAndASphereHaveTheirCharacteristics) {
    const auto extract = [](SolidKind kind) {
        return marching_cubes(unit_box, {41, 40, 37},
                              [kind](const Tensor& x) { return solid_distance(kind, x); });
    };
    const Mesh torus = extract(SolidKind::torus), both = extract(SolidKind::torus_and_sphere);
    EXPECT_TRUE(defects_of(torus).watertight());
    EXPECT_EQ(euler_characteristic(torus), 0);
    EXPECT_NEAR(volume_of(torus), 2 * std::numbers::pi * std::numbers::pi * 0.6 * 0.04, 0.02);
    EXPECT_TRUE(defects_of(both).watertight());
    EXPECT_EQ(euler_characteristic(both), 2);
}

TEST(MarchingCubes, APlaneIsExactAndOpenWhereItLeavesTheBox) {
    const Box box{{0, -1, 2}, {3, 1, 4}};
    const Mesh mesh = marching_cubes(box, {3, 1, 2}, of([](double x, double y, double z) {
                                         return z - 2.75 - 0.1 * x + 0.2 * y;
                                     }));
    for (const Vector3& p : mesh.vertices) EXPECT_NEAR(p[2], 2.75 + 0.1 * p[0] - 0.2 * p[1], 1e-12);
    EXPECT_NEAR(area_of(mesh), 6 * std::sqrt(1 + 0.01 + 0.04), 1e-12);
    EXPECT_EQ(euler_characteristic(mesh), 1);  // a disk
    const MeshDefects defects = defects_of(mesh);
    EXPECT_GT(defects.open_edges, 0);
    EXPECT_EQ(defects.crowded_edges + defects.flipped_edges, 0);
    // Through the points of the grid itself.
    const Mesh flat =
        marching_cubes(unit_box, {4, 4, 4}, of([](double, double, double z) { return z; }));
    EXPECT_NEAR(area_of(flat), 4, 1e-12);
    EXPECT_EQ(flat.vertices.size(), 25u);
    for (const Vector3& p : flat.vertices) EXPECT_EQ(p[2], 0);
}

TEST(MarchingCubes, OneCubeIsEnough) {
    const Mesh mesh =
        marching_cubes(unit_box, {1, 1, 1}, of([](double x, double, double) { return x - 0.5; }));
    EXPECT_EQ(mesh.triangles.size(), 2u);
    EXPECT_NEAR(area_of(mesh), 4, 1e-12);
    for (const Vector3& p : mesh.vertices) EXPECT_DOUBLE_EQ(p[0], 0.5);
}

TEST(MarchingCubes, HugeTinyAndInfiniteValuesGivePointsOnTheEdges) {
    constexpr double infinity = std::numeric_limits<double>::infinity(), tiny = 5e-324;
    for (const auto& [low, high] : {std::pair{-1e308, 1e308},
                                    {-tiny, tiny},
                                    {-tiny, 0.0},
                                    {-infinity, 1.0},
                                    {-1.0, infinity},
                                    {-infinity, infinity},
                                    {-1e308, tiny}}) {
        const double a = low, b = high;
        const Mesh mesh = marching_cubes(
            unit_box, {3, 3, 3}, of([a, b](double x, double, double) { return x < 0 ? a : b; }));
        for (const Vector3& p : mesh.vertices)
            EXPECT_TRUE(std::abs(p[0]) <= 1.0 / 3 + 1e-15) << low << " " << high << " " << p[0];
    }
}

TEST(MarchingCubes, SaysWhyThereIsNoSurface) {
    const auto text = [](const std::function<double(double, double, double)>& f) {
        return error_of([&] { marching_cubes(unit_box, {3, 4, 5}, of(f)); }).text;
    };
    EXPECT_EQ(text([](double x, double, double) { return 2 + x; }),
              "no surface: the values lie between 1 and 3");
    EXPECT_EQ(text([](double, double, double) { return -0.5; }),
              "no surface: the values lie between -0.5 and -0.5");
    EXPECT_EQ(text([](double x, double y, double z) {
                  return x > 0.9 && y > 0.9 && z > 0.9 ? std::nan("") : 1;
              }),
              "the function is NaN at (1, 1, 1)");
    EXPECT_NE(error_of([] {
                  marching_cubes(unit_box, {0, 3, 3}, of([](double, double, double) { return 1; }));
              }).text,
              "");
}

TEST(MarchingCubes, CostsWhatWasSaid) {
    int64_t evaluations = 0, largest = 0;
    std::vector<int64_t> planes;
    const Mesh mesh = marching_cubes(
        unit_box, {300, 301, 7},
        [&](const Tensor& points) {
            evaluations += points.size(0);
            largest = std::max(largest, points.size(0));
            return solid_distance(SolidKind::sphere, points);
        },
        [&](int64_t done) { planes.push_back(done); });
    EXPECT_EQ(marching_cost({300, 301, 7}).evaluations, evaluations);
    EXPECT_LE(largest, 65536);
    EXPECT_EQ(planes, (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(marching_cost({9, 9, 9}).grid_bytes, 2 * 100 * 20);
    // The whole box is larger than the sphere in it.
    const auto bytes = static_cast<int64_t>(mesh.vertices.size() * 24 + mesh.triangles.size() * 12);
    EXPECT_LT(bytes, marching_cost({300, 301, 7}).mesh_bytes);
    EXPECT_GT(marching_cost({1600, 1600, 1600}).mesh_bytes, int64_t{1} << 30);
}

}  // namespace
}  // namespace ralimp
