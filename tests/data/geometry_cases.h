// Geometries of every kind beside what is known of them without the code under test.
#pragma once
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "data/geometry.h"

namespace ralimp {

struct GeometryCase {
    std::string name;
    GeometryPtr geometry;
    std::function<bool(double x, double y, double z)> is_inside;  // the open set
    double boundary_measure;
};

inline GeometryPtr box(std::vector<double> lower, std::vector<double> upper) {
    return make_box({std::move(lower), std::move(upper)});
}

inline std::vector<GeometryCase> geometry_cases() {
    constexpr double pi = std::numbers::pi;
    const auto in = [](double x, double lower, double upper) { return lower < x && x < upper; };
    const auto square = box({0, 0}, {1, 1});
    const auto ball2 = [](double x, double y, double r) { return x * x + y * y < r * r; };
    return {
        {"interval", box({-1}, {2}), [=](double x, double, double) { return in(x, -1, 2); }, 2},
        {"rectangle", box({-1, 2}, {2, 4}),
         [=](double x, double y, double) { return in(x, -1, 2) && in(y, 2, 4); }, 10},
        {"distant square", box({1000, -5}, {1001, -4}),
         [=](double x, double y, double) { return in(x, 1000, 1001) && in(y, -5, -4); }, 4},
        {"cuboid", box({0, 0, -1}, {1, 2, 2}),
         [=](double x, double y, double z) { return in(x, 0, 1) && in(y, 0, 2) && in(z, -1, 2); },
         2 * (2 + 3 + 6)},
        {"disk", make_ball({1, 2}, 0.5),
         [=](double x, double y, double) { return ball2(x - 1, y - 2, 0.5); }, pi},
        {"sphere", make_ball({0, 1, -1}, 2),
         [](double x, double y, double z) { return std::hypot(x, y - 1, z + 1) < 2; }, 16 * pi},
        {"clockwise triangle", make_polygon({{0, 0}, {0, 3}, {4, 0}}),
         [](double x, double y, double) { return x > 0 && y > 0 && 3 * x + 4 * y < 12; }, 12},
        {"L", make_polygon({{-1, -1}, {1, -1}, {1, 0}, {0, 0}, {0, 1}, {-1, 1}}),
         [=](double x, double y, double) {
             return in(x, -1, 1) && in(y, -1, 1) && !(x >= 0 && y >= 0);
         },
         8},
        {"squares side by side", make_union({square, box({1, 0}, {2, 1})}),
         [=](double x, double y, double) { return in(x, 0, 2) && in(y, 0, 1); }, 6},
        {"a square twice", make_union({square, square}),
         [=](double x, double y, double) { return in(x, 0, 1) && in(y, 0, 1); }, 4},
        {"square without a flush corner", make_difference({square, box({0.5, 0}, {1, 0.5})}),
         [=](double x, double y, double) {
             return in(x, 0, 1) && in(y, 0, 1) && !(x >= 0.5 && y <= 0.5);
         },
         4},
        {"square without a flush third of binary fractions",
         make_difference({square, box({0, 0.1 + 0.2}, {1, 1})}),
         [=](double x, double y, double) { return in(x, 0, 1) && in(y, 0, 0.3); }, 2.6},
        {"square with a hole", make_difference({box({-1, -1}, {1, 1}), make_ball({0, 0}, 0.5)}),
         [=](double x, double y, double) {
             return in(x, -1, 1) && in(y, -1, 1) && std::hypot(x, y) > 0.5;
         },
         8 + pi},
        {"lens", make_intersection({make_ball({-0.5, 0}, 1), make_ball({0.5, 0}, 1)}),
         [=](double x, double y, double) { return ball2(x + 0.5, y, 1) && ball2(x - 0.5, y, 1); },
         4 * pi / 3},
        {"half ring and a block on it",
         make_union(
             {make_difference({make_ball({0, 0}, 2), make_ball({0, 0}, 1), box({-2, -2}, {2, 0})}),
              box({-2, -1}, {-1, 0})}),
         [=](double x, double y, double) {
             return (y > 0 && ball2(x, y, 2) && !ball2(x, y, 1)) ||
                    (in(x, -2, -1) && in(y, -1, 1e-12));
         },
         3 * pi + 1 + 3},
        {"cube without a ball",
         make_difference({box({-1, -1, -1}, {1, 1, 1}), make_ball({0, 0, 0}, 0.5)}),
         [=](double x, double y, double z) {
             return in(x, -1, 1) && in(y, -1, 1) && in(z, -1, 1) && std::hypot(x, y, z) > 0.5;
         },
         24 + pi},
        {"half a ball", make_intersection({make_ball({0, 0, 0}, 1), box({-1, -1, 0}, {1, 1, 1})}),
         [](double x, double y, double z) { return z > 0 && std::hypot(x, y, z) < 1; }, 3 * pi},
        {"intervals end to end", make_union({box({0}, {1}), box({1}, {3})}),
         [=](double x, double, double) { return in(x, 0, 3); }, 2},
        {"interval with a gap", make_difference({box({0}, {3}), box({1}, {2})}),
         [=](double x, double, double) { return in(x, 0, 1) || in(x, 2, 3); }, 4},
    };
}

// The box scaled about its middle.
inline Box scaled(Box box, double factor) {
    for (std::size_t k = 0; k < box.lower.size(); ++k) {
        const double middle = (box.lower[k] + box.upper[k]) / 2;
        box.lower[k] = middle + factor * (box.lower[k] - middle);
        box.upper[k] = middle + factor * (box.upper[k] - middle);
    }
    return box;
}

// Row i of points, the first `dims` of `columns` numbers.
inline Point point_of(const std::vector<double>& values, std::size_t i, int64_t columns,
                      int64_t dims) {
    Point point{};
    for (int64_t k = 0; k < dims; ++k)
        point[static_cast<std::size_t>(k)] =
            values[i * static_cast<std::size_t>(columns) + static_cast<std::size_t>(k)];
    return point;
}

}  // namespace ralimp
