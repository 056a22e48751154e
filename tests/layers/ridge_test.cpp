// Ridge regression: the minimum of the penalized error, whichever of its two matrices is solved.
#include "layers/ridge.h"

#include <gtest/gtest.h>

#include <limits>

#include "autograd/jet.h"
#include "autograd/operations.h"
#include "tests/error_of.h"

namespace ralimp {
namespace {

Tensor normal(const Shape& shape, uint64_t seed) {
    return random_normal(shape, {seed, RandomStream::noise, 0}, DType::float64);
}

double largest(const Tensor& x) { return max(abs(x)).item(); }

TEST(Ridge, FindsTheMapThatMadeTheTargets) {
    const Tensor x = normal({200, 5}, 30) + 2.0;
    const Tensor w = normal({3, 5}, 31);
    const Tensor y = linear(x, w, Tensor::from(std::vector<double>{1, -2, 0.5}, {3}));
    const RidgeSolution exact = ridge_regression(x, y, 1e-12);
    EXPECT_LT(largest(exact.weight - w), 1e-8);
    EXPECT_LT(largest(linear(x, exact.weight, exact.bias) - y), 1e-8);
}

// At the minimum the gradient of the penalized error vanishes; the error is convex. More rows than
// features and fewer, within a panel of the decomposition and over several.
TEST(Ridge, TheGradientVanishesAtTheSolution) {
    for (const auto& [rows, features, outputs] : {std::array<int64_t, 3>{200, 5, 3},
                                                  {7, 7, 2},
                                                  {500, 300, 2},
                                                  {150, 1100, 70},
                                                  {2, 9, 1},
                                                  {300, 301, 1}})
        for (const double penalty : {0.3, 1e-4}) {
            const Tensor x = normal({rows, features}, 32) + 2.0, y = normal({rows, outputs}, 33);
            const RidgeSolution ridge = ridge_regression(x, y, penalty);
            EXPECT_EQ(ridge.weight.shape(), (Shape{outputs, features}));
            EXPECT_EQ(ridge.bias.shape(), Shape{outputs});
            const Tensor weight = requires_grad(ridge.weight), bias = requires_grad(ridge.bias);
            const Tensor loss = sum(square(linear(x, weight, bias) - y)) * (1.0 / rows) +
                                sum(square(weight)) * penalty;
            for (const Tensor& gradient : grad({loss}, {weight, bias}))
                EXPECT_LT(largest(gradient), 1e-10) << rows << " x " << features;
        }
}

TEST(Ridge, HasTheTypeOfTheFeatures) {
    const Tensor x = normal({40, 90}, 34), y = normal({40, 3}, 35);
    const RidgeSolution wide = ridge_regression(x, y, 0.1);
    const RidgeSolution narrow =
        ridge_regression(to(x, DType::float32), to(y, DType::float32), 0.1);
    EXPECT_EQ(narrow.weight.dtype(), DType::float32);
    EXPECT_EQ(narrow.bias.dtype(), DType::float32);
    EXPECT_LT(largest(to(narrow.weight, DType::float64) - wide.weight), 1e-5);
    EXPECT_LT(largest(to(narrow.bias, DType::float64) - wide.bias), 1e-5);
}

TEST(Ridge, RefusesWhatHasNoSolution) {
    const Tensor x = normal({20, 4}, 36), y = normal({20, 1}, 37);
    EXPECT_THROW(ridge_regression(x, normal({3, 1}, 1), 1), Error);
    EXPECT_THROW(ridge_regression(x, y, 0), Error);
    const Tensor infinite = x.clone();
    infinite.data<double>()[7] = std::numeric_limits<double>::infinity();
    EXPECT_NE(error_of([&] { ridge_regression(infinite, y, 1); }).text.find("is not finite"),
              std::string::npos);
    // The same feature twice.
    const Tensor twice = concatenate({x, x}, 1);
    EXPECT_EQ(error_of([&] { ridge_regression(twice, y, 1e-8); }).text, "");
    EXPECT_NE(error_of([&] { ridge_regression(twice, y, 1e-30); }).text.find("1e-30 is too small"),
              std::string::npos);
}

}  // namespace
}  // namespace ralimp
