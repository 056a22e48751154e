// The reverse walk: what grad() promises about weights, inputs, graphs and higher orders.
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/operations.h"

namespace ralimp {
namespace {

Tensor leaf(const std::vector<double>& values) {
    return requires_grad(Tensor::from(values, {static_cast<int64_t>(values.size())}));
}

void expect_values(const Tensor& tensor, const std::vector<double>& expected,
                   double tolerance = 1e-13) {
    const std::vector<double> values = tensor.to_doubles();
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(values[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << i;
}

std::string message_of(const std::function<void()>& f) {
    try {
        f();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST(Grad, WeightsDefaultToOnes) {
    const Tensor x = leaf({1, -2, 3});
    expect_values(grad(square(x), x), {2, -4, 6});
    const Tensor weights = Tensor::from<double>({10, 100, 1000}, {3});
    expect_values(grad({square(x)}, {x}, {weights})[0], {20, -400, 6000});
}

TEST(Grad, SeveralOutputsAddUp) {
    const Tensor x = leaf({0.5, 2}), y = leaf({3, -1});
    const Tensors gradients = grad({x * y, square(x), y}, {x, y});
    expect_values(gradients[0], {3 + 1.0, -1 + 4.0});
    expect_values(gradients[1], {0.5 + 1, 2 + 1});
}

TEST(Grad, ATensorUsedSeveralTimes) {
    const Tensor x = leaf({2, 3});
    expect_values(grad(x * x * x + x, x), {13, 28});
    expect_values(grad(divide(x, x), x), {0, 0});
    expect_values(grad(concatenate({x, x, x}), x), {3, 3});
}

TEST(Grad, TheSameInputTwice) {
    const Tensor x = leaf({2, 3});
    const Tensors gradients = grad({square(x)}, {x, x});
    expect_values(gradients[0], {4, 6});
    expect_values(gradients[1], {4, 6});
}

TEST(Grad, AnInputThatIsAlsoAnOutput) {
    const Tensor x = leaf({2, 3});
    expect_values(grad(x, x), {1, 1});
    const Tensor y = square(x);
    const Tensors gradients = grad({y, sum(y * x)}, {y, x});
    expect_values(gradients[0], {1 + 2, 1 + 3});
    expect_values(gradients[1], {3 * 4 + 4, 3 * 9 + 6});
}

TEST(Grad, AnInputInsideTheGraph) {
    const Tensor x = leaf({0.3, 0.7});
    const Tensor inner = sin(x);
    const Tensor outer = square(inner) * x;
    const Tensors gradients = grad({outer}, {inner, x});
    expect_values(gradients[0], {2 * std::sin(0.3) * 0.3, 2 * std::sin(0.7) * 0.7});
    expect_values(gradients[1], {std::sin(0.6) * 0.3 + std::pow(std::sin(0.3), 2),
                                 std::sin(1.4) * 0.7 + std::pow(std::sin(0.7), 2)});
    // Asked for alone, nothing behind it is walked.
    expect_values(grad(outer, inner), {2 * std::sin(0.3) * 0.3, 2 * std::sin(0.7) * 0.7});
}

TEST(Grad, UnusedInputsGetZeros) {
    const Tensor x = leaf({1, 2}), unused = requires_grad(Tensor::ones({2, 3}, DType::float32));
    const Tensors gradients = grad({square(x)}, {x, unused});
    EXPECT_EQ(gradients[1].shape(), (Shape{2, 3}));
    EXPECT_EQ(gradients[1].dtype(), DType::float32);
    expect_values(gradients[1], {0, 0, 0, 0, 0, 0});
    // An output without any graph, and one whose derivative is 0 everywhere.
    expect_values(grad(Tensor::ones({2}, DType::float64), x), {0, 0});
    expect_values(grad(sign(x), x), {0, 0});
    expect_values(grad(pow(x, 0.0), x), {0, 0});
}

TEST(Grad, CreateGraph) {
    const Tensor x = leaf({0.4});
    EXPECT_FALSE(grad(exp(x), x).requires_grad());
    const Tensor slope = grad(exp(x), x, true);
    EXPECT_TRUE(slope.requires_grad());
    expect_values(grad(slope, x), {std::exp(0.4)});
    // Recording is on again afterwards, and stays off where it was.
    EXPECT_TRUE(is_recording());
    {
        const NoGrad pause;
        EXPECT_FALSE(is_recording());
        const Tensor again = grad(Tensors{slope}, Tensors{x}, {}, true)[0];
        EXPECT_FALSE(is_recording());
        EXPECT_TRUE(again.requires_grad());
    }
    EXPECT_TRUE(is_recording());
    // Also after an error inside a walk.
    EXPECT_THROW(grad({slope}, {Tensor::ones({1})}), Error);
    EXPECT_TRUE(is_recording());
}

TEST(Grad, AGradientThatIsAWeightLeavesTheGraph) {
    const Tensor x = leaf({2}), weight = leaf({5});
    const Tensor result = grad({x}, {x}, {weight})[0];
    EXPECT_FALSE(result.requires_grad());
    expect_values(result, {5});
    // With a graph the weight is a variable: d(2 x w)/dw.
    const Tensor connected = grad({square(x)}, {x}, {weight}, true)[0];
    expect_values(grad(connected, weight), {4});
}

TEST(Grad, TheGraphCanBeWalkedTwice) {
    const Tensor x = leaf({0.4, 0.9});
    const Tensor y = tanh(x) * x;
    const std::vector<double> first = grad(y, x).to_doubles();
    EXPECT_EQ(grad(y, x).to_doubles(), first);
}

// With t = tanh(sin x): the first three derivatives in closed form.
TEST(Grad, ThirdDerivativesOfTanhOfSin) {
    const std::vector<double> points{-2.1, -0.6, 0, 0.35, 1.2};
    const Tensor x = leaf(points);
    const Tensor first = grad(tanh(sin(x)), x, true);
    const Tensor second = grad(first, x, true);
    const Tensor third = grad(second, x, true);
    std::vector<double> d1, d2, d3;
    for (double p : points) {
        const double s = std::sin(p), c = std::cos(p), t = std::tanh(s), u = 1 - t * t;
        d1.push_back(u * c);
        d2.push_back(-2 * t * u * c * c - u * s);
        d3.push_back((6 * t * t - 2) * u * c * c * c + 6 * t * u * s * c - u * c);
    }
    expect_values(first, d1);
    expect_values(second, d2);
    expect_values(third, d3, 1e-12);
}

TEST(Grad, EighthDerivativeOfAPolynomial) {
    const Tensor x = leaf({0.5, -1.5});
    Tensor value = pow(x, 9.0);
    for (int order = 0; order < 8; ++order) value = grad(value, x, true);
    expect_values(value, {362880 * 0.5, 362880 * -1.5}, 1e-11);
    EXPECT_EQ(grad(grad(value, x, true), x, true).to_doubles(), (std::vector<double>{0, 0}));
}

// The Laplacian of f(x, y) = x² y³ by nested walks through a view of the inputs.
TEST(Grad, NestedThroughViews) {
    const Tensor points = requires_grad(Tensor::from<double>({1, 2, -0.5, 3}, {2, 2}));
    const Tensor x = slice(points, 1, 0, 1), y = slice(points, 1, 1, 2);
    const Tensor f = square(x) * pow(y, 3.0);
    const Tensor gradient = grad(f, points, true);
    const Tensor xx = select(grad(select(gradient, 1, 0), points), 1, 0);
    const Tensor yy = select(grad(select(gradient, 1, 1), points), 1, 1);
    expect_values(xx + yy, {2 * 8 + 6 * 2.0, 2 * 27 + 0.25 * 6 * 3});
}

TEST(Grad, NoGradRecordsNothing) {
    const Tensor x = leaf({1, 2});
    const NoGrad pause;
    EXPECT_FALSE((x * x).requires_grad());
    EXPECT_FALSE(reshape(x, {2, 1}).requires_grad());
    EXPECT_FALSE(concatenate({x, x}).requires_grad());
}

TEST(Grad, WholeNumbersAreNeverConnected) {
    const Tensor x = leaf({3, 1, 2});
    EXPECT_FALSE(argsort(x).requires_grad());
    EXPECT_FALSE(greater(x, x).requires_grad());
    EXPECT_FALSE(to(x, DType::int64).requires_grad());
}

TEST(Grad, ConversionBetweenFloatingTypes) {
    const Tensor x = requires_grad(Tensor::from<float>({0.5f, 2.0f}, {2}));
    const Tensor gradient = grad(square(to(x, DType::float64)), x);
    EXPECT_EQ(gradient.dtype(), DType::float32);
    expect_values(gradient, {1, 4});
}

TEST(Grad, Errors) {
    const Tensor x = leaf({1, 2});
    EXPECT_EQ(message_of([&] { grad(x * 2.0, Tensor::ones({2}, DType::float64)); }),
              "grad: an input [2] does not require a gradient; make it a leaf with "
              "requires_grad() first");
    EXPECT_EQ(message_of([&] { grad({x}, {x}, {x, x}); }), "grad: 2 weights for 1 outputs");
    EXPECT_EQ(message_of([&] { grad({x}, {x}, {Tensor::ones({2})}); }),
              "grad: weight 0 is float32 [2] on cpu, its output float64 [2] on cpu; they must "
              "agree");
    EXPECT_EQ(message_of([] { requires_grad(Tensor::ones({2}, DType::int64)); }),
              "requires_grad: int64 values have no gradient");
}

// A derivative that returns a wrong shape is named.
TEST(Grad, AWrongDerivativeIsReported) {
    const Tensor x = leaf({1, 2});
    const Tensor wrong = record("wrong", Tensor::ones({3}, DType::float64), {x}, Keep::nothing,
                                [](const VjpContext& c) { return Tensors{c.gradient}; });
    EXPECT_EQ(message_of([&] { grad(wrong, x); }),
              "grad: the derivative of wrong gives float64 [3] for its input float64 [2]");
}

// Only what is asked for is computed: the derivative of an input that is not wanted is skipped.
TEST(Grad, NeedsNamesTheWantedInputs) {
    const Tensor a = leaf({1}), b = leaf({1});
    const Tensor out = record("checked", Tensor::ones({1}, DType::float64), {a, b}, Keep::nothing,
                              [](const VjpContext& c) {
                                  check(!c.needs(0) && c.needs(1), "wrong needs");
                                  return Tensors{Tensor(), c.gradient * 7.0};
                              });
    expect_values(grad(out, b), {7});
    EXPECT_EQ(message_of([&] { grad(out, a); }), "wrong needs");
}

}  // namespace
}  // namespace ralimp
