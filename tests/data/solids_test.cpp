// The solids with known distances: the distance beside the nearest of many surface points.
#include "data/solids.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "data/samplers.h"

namespace ralimp {
namespace {

TEST(Solids, SamplesLieOnTheSurfaceWithTheGradientAsNormal) {
    for (const SolidKind kind :
         {SolidKind::sphere, SolidKind::torus, SolidKind::torus_and_sphere}) {
        const SurfacePoints sample = sample_solid(kind, 2000, {3, RandomStream::points, 1});
        for (const double d : solid_distance(kind, sample.points).to_vector<double>())
            EXPECT_NEAR(d, 0, 1e-14);
        // A step along the normal is a step of the distance.
        auto points = sample.points.to_vector<double>();
        const auto normals = sample.normals.to_vector<double>();
        for (std::size_t i = 0; i < points.size(); ++i) points[i] += 0.05 * normals[i];
        for (const double d :
             solid_distance(kind, Tensor::from(points, {2000, 3})).to_vector<double>())
            EXPECT_NEAR(d, 0.05, 1e-14);
    }
}

TEST(Solids, TheDistanceIsThatOfTheNearestSurfacePoint) {
    for (const SolidKind kind :
         {SolidKind::sphere, SolidKind::torus, SolidKind::torus_and_sphere}) {
        const auto surface =
            sample_solid(kind, 40000, {5, RandomStream::points, 0}).points.to_vector<double>();
        const Tensor at =
            uniform_points({6, RandomStream::points, 0}, {{-1, -1, -1}, {1, 1, 1}}, 60);
        const auto points = at.to_vector<double>(),
                   exact = solid_distance(kind, at).to_vector<double>();
        for (std::size_t i = 0; i < 60; ++i) {
            double nearest = 9;
            for (std::size_t k = 0; k < surface.size(); k += 3)
                nearest = std::min(nearest, std::hypot(points[3 * i] - surface[k],
                                                       points[3 * i + 1] - surface[k + 1],
                                                       points[3 * i + 2] - surface[k + 2]));
            EXPECT_LE(std::abs(exact[i]), nearest + 1e-12);
            EXPECT_NEAR(std::abs(exact[i]), nearest, 0.01);
        }
    }
    EXPECT_DOUBLE_EQ(
        solid_distance(SolidKind::torus, Tensor::from(std::vector{0.6, 0.0, 0.0}, {1, 3})).item(),
        -0.2);
}

TEST(Solids, SamplesAreUniformByArea) {
    // Torus: 4π² R r outside and inside together; the outer half has a share of 1/2 + r / (π R).
    const auto points = sample_solid(SolidKind::torus, 40000, {9, RandomStream::points, 4})
                            .points.to_vector<double>();
    double outer = 0, quarter = 0;
    for (std::size_t i = 0; i < points.size(); i += 3) {
        outer += std::hypot(points[i], points[i + 1]) > 0.6;
        quarter += points[i] > 0 && points[i + 1] > 0;
    }
    EXPECT_NEAR(outer / 40000, 0.5 + 0.2 / (3.14159265 * 0.6), 0.01);
    EXPECT_NEAR(quarter / 40000, 0.25, 0.01);
    // Both: 4π² · 0.12 to 4π · 0.04.
    const auto both = sample_solid(SolidKind::torus_and_sphere, 40000, {9, RandomStream::points, 4})
                          .points.to_vector<double>();
    double sphere = 0;
    for (std::size_t i = 0; i < both.size(); i += 3)
        sphere += std::hypot(both[i], both[i + 1], both[i + 2]) < 0.3;
    EXPECT_NEAR(sphere / 40000, 0.04 / (0.04 + 3.14159265 * 0.12), 0.005);
}

TEST(Solids, SamplesDoNotDependOnThreads) {
    const RandomKey key{2, RandomStream::points, 8};
    const int before = thread_count();
    set_thread_count(1);
    const auto one =
        sample_solid(SolidKind::torus_and_sphere, 5001, key).points.to_vector<double>();
    set_thread_count(3);
    EXPECT_EQ(sample_solid(SolidKind::torus_and_sphere, 5001, key).points.to_vector<double>(), one);
    set_thread_count(before);
}

}  // namespace
}  // namespace ralimp
