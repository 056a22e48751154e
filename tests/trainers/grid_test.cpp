// Grids: coordinates, and differences against polynomials for which they are exact.
#include "trainers/grid.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ralimp {
namespace {

TEST(Grid, CoordinatesRunFromMinusOneToOneWithTheFastestAxisFirst) {
    const Grid grid{3, 2};
    EXPECT_EQ(grid_coordinates(grid, 0, 6, DType::float64).to_vector<double>(),
              (std::vector<double>{-1, -1, 1, -1, -1, 0, 1, 0, -1, 1, 1, 1}));
    EXPECT_EQ(grid_coordinates(grid, 2, 4, DType::float64).to_vector<double>(),
              (std::vector<double>{-1, 0, 1, 0}));
    EXPECT_EQ(grid_coordinates({1, 1}, 0, 1, DType::float32).to_vector<float>(),
              (std::vector<float>{0, 0}));
    EXPECT_EQ(grid_coordinates({5}, 0, 5, DType::float64).to_vector<double>(),
              (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
    EXPECT_EQ(grid_step({3, 2}, 0), 2);
    EXPECT_EQ(grid_step({3, 2}, 1), 1);
    EXPECT_EQ(grid_step({3, 1}, 0), 0);
    EXPECT_EQ(points_of({3, 7}), 21);
    EXPECT_EQ(to_string_of({3, 7}), "3x7");
}

// u = 1 + 2x - 3y + xy + x² - y², v = 5y: three-point differences are exact, at the ends too. With
// two samples of an axis, u has no curvature along it to see.
TEST(Grid, DifferencesAreExactForQuadraticPolynomials) {
    for (const Grid& grid : {Grid{3, 3}, Grid{4, 7}, Grid{9, 3}}) {
        SCOPED_TRACE(to_string_of(grid));
        const int64_t points = points_of(grid);
        const auto at = grid_coordinates(grid, 0, points, DType::float64).to_vector<double>();
        const double hx = grid_step(grid, 0), hy = grid_step(grid, 1);
        std::vector<double> values, dx, dy, dxx, dyy;
        for (std::size_t i = 0; i < at.size(); i += 2) {
            const double x = at[i], y = at[i + 1];
            values.insert(values.end(), {1 + 2 * x - 3 * y + x * y + x * x - y * y, 5 * y});
            dx.insert(dx.end(), {hx * (2 + y + 2 * x), 0});
            dy.insert(dy.end(), {hy * (-3 + x - 2 * y), hy * 5});
            dxx.insert(dxx.end(), {hx * hx * 2, 0});
            dyy.insert(dyy.end(), {hy * hy * -2, 0});
        }
        const Tensor u = Tensor::from(values, {points, 2});
        const auto expect = [&](int64_t coordinate, int order, const std::vector<double>& wanted) {
            const Tensor difference = grid_difference(u, grid, coordinate, order);
            EXPECT_LT(max(abs(difference - Tensor::from(wanted, {points, 2}))).item(), 1e-13)
                << coordinate << " " << order;
        };
        expect(0, 1, dx);
        expect(1, 1, dy);
        expect(0, 2, dxx);
        expect(1, 2, dyy);
    }
}

TEST(Grid, DifferencesOfFewSamples) {
    const Tensor pair = Tensor::from<double>({1, 4}, {2, 1});
    EXPECT_EQ(grid_difference(pair, {2}, 0, 1).to_vector<double>(), (std::vector<double>{3, 3}));
    EXPECT_EQ(grid_difference(pair, {2}, 0, 2).to_vector<double>(), (std::vector<double>{0, 0}));
    EXPECT_EQ(grid_difference(pair, {2, 1}, 0, 1).to_vector<double>(), (std::vector<double>{0, 0}));
    EXPECT_EQ(grid_difference(pair, {2, 1}, 1, 1).to_vector<double>(), (std::vector<double>{3, 3}));
}

}  // namespace
}  // namespace ralimp
