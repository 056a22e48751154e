#include "data/solids.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/parallel.h"

namespace ralimp {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double ring = 0.6, tube = 0.2;  // radii of the torus

bool has_torus(SolidKind kind) { return kind != SolidKind::sphere; }
double sphere_radius(SolidKind kind) {
    return kind == SolidKind::sphere ? 0.7 : kind == SolidKind::torus ? 0 : 0.2;
}

// The parts of a solid do not touch: the nearest surface is then that of the part with the smallest
// distance, inside as well as outside.
double distance(SolidKind kind, const double* p) {
    double nearest = std::numeric_limits<double>::infinity();
    if (has_torus(kind)) nearest = std::hypot(std::hypot(p[0], p[1]) - ring, p[2]) - tube;
    if (const double radius = sphere_radius(kind); radius > 0)
        nearest = std::min(nearest, std::hypot(p[0], p[1], p[2]) - radius);
    return nearest;
}

struct Place {
    Vector3 point, normal;
};

// From uniform numbers. The height is uniform on a sphere (Archimedes).
Place on_sphere(double radius, double u, double v) {
    const double z = 2 * u - 1, across = std::sqrt(std::max(0.0, 1 - z * z)), angle = 2 * pi * v;
    const Vector3 normal{across * std::cos(angle), across * std::sin(angle), z};
    return {{radius * normal[0], radius * normal[1], radius * normal[2]}, normal};
}

Place on_torus(double u, double v) {
    // The share of the area up to the angle a around the tube is (a + tube / ring sin a) / 2π;
    // its inverse by bisection.
    double low = 0, high = 2 * pi;
    for (int i = 0; i < 54; ++i) {
        const double middle = (low + high) / 2;
        (middle + tube / ring * std::sin(middle) < 2 * pi * u ? low : high) = middle;
    }
    const double around = (low + high) / 2, along = 2 * pi * v;
    const double out = std::cos(around), up = std::sin(around);
    const Vector3 normal{out * std::cos(along), out * std::sin(along), up};
    const double radius = ring + tube * out;
    return {{radius * std::cos(along), radius * std::sin(along), tube * up}, normal};
}

}  // namespace

Tensor solid_distance(SolidKind kind, const Tensor& points) {
    const Tensor rows = points.contiguous();
    const int64_t count = rows.size(0);
    Tensor result = Tensor::empty({count}, DType::float64);
    const auto* in = rows.data<double>();
    auto* out = result.data<double>();
    parallel_for(count, 4096, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) out[i] = distance(kind, in + 3 * i);
    });
    return result;
}

SurfacePoints sample_solid(SolidKind kind, int64_t count, const RandomKey& key) {
    const double radius = sphere_radius(kind);
    const double sphere_area = 4 * pi * radius * radius;
    const double torus_area = has_torus(kind) ? 4 * pi * pi * ring * tube : 0;
    SurfacePoints result{Tensor::empty({count, 3}, DType::float64),
                         Tensor::empty({count, 3}, DType::float64)};
    auto* points = result.points.data<double>();
    auto* normals = result.normals.data<double>();
    parallel_for(count, 1024, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const auto draw = [&](uint64_t k) {
                return random_uniform<double>(key, 3 * static_cast<uint64_t>(i) + k);
            };
            const bool torus = draw(0) * (sphere_area + torus_area) < torus_area;
            const Place place =
                torus ? on_torus(draw(1), draw(2)) : on_sphere(radius, draw(1), draw(2));
            for (std::size_t k = 0; k < 3; ++k) {
                points[3 * i + static_cast<int64_t>(k)] = place.point[k];
                normals[3 * i + static_cast<int64_t>(k)] = place.normal[k];
            }
        }
    });
    return result;
}

}  // namespace ralimp
