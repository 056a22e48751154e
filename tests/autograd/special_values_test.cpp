// Ties, zeros, infinities and NaN: what the operations and their derivatives give there.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/gradcheck.h"
#include "autograd/operations.h"

namespace ralimp {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();
using Values = std::vector<double>;

Tensor row(const Values& values) {
    return Tensor::from(values, {static_cast<int64_t>(values.size())});
}

Values slope(const std::function<Tensor(const Tensor&)>& f, const Values& at) {
    const Tensor x = requires_grad(row(at));
    return grad(f(x), x).to_doubles();
}

Values second(const std::function<Tensor(const Tensor&)>& f, const Values& at) {
    const Tensor x = requires_grad(row(at));
    return grad(grad(f(x), x, true), x).to_doubles();
}

TEST(SpecialValues, DerivativesAtKinks) {
    EXPECT_EQ(slope([](const Tensor& x) { return abs(x); }, {-2, 0, 3}), (Values{-1, 0, 1}));
    EXPECT_EQ(slope([](const Tensor& x) { return relu(x); }, {-2, 0, 3}), (Values{0, 0, 1}));
    EXPECT_EQ(slope([](const Tensor& x) { return clamp(x, -1, 1); }, {-2, -1, 0, 1, 2}),
              (Values{0, 1, 1, 1, 0}));
}

TEST(SpecialValues, TiesOfMaximumGoToTheFirst) {
    const Tensor a = requires_grad(row({1, 2, 3})), b = requires_grad(row({3, 2, 1}));
    Tensors gradients = grad({maximum(a, b)}, {a, b});
    EXPECT_EQ(gradients[0].to_doubles(), (Values{0, 1, 1}));
    EXPECT_EQ(gradients[1].to_doubles(), (Values{1, 0, 0}));
    gradients = grad({minimum(a, b)}, {a, b});
    EXPECT_EQ(gradients[0].to_doubles(), (Values{1, 1, 0}));
    EXPECT_EQ(gradients[1].to_doubles(), (Values{0, 0, 1}));
}

TEST(SpecialValues, TiesOfMaxShareTheGradient) {
    EXPECT_EQ(slope([](const Tensor& x) { return max(x); }, {1, 4, 4, 2, 4, 4}),
              (Values{0, 0.25, 0.25, 0, 0.25, 0.25}));
    EXPECT_EQ(slope([](const Tensor& x) { return min(x); }, {1, 4, 1, 2}),
              (Values{0.5, 0, 0.5, 0}));
}

TEST(SpecialValues, PowerAtZero) {
    const auto power = [](double n) { return [n](const Tensor& x) { return pow(x, n); }; };
    EXPECT_EQ(slope(power(1), {0, -2}), (Values{1, 1}));
    EXPECT_EQ(slope(power(2), {0, -2}), (Values{0, -4}));
    EXPECT_EQ(slope(power(3), {0, -2}), (Values{0, 12}));
    EXPECT_EQ(second(power(2), {0, -2}), (Values{2, 2}));
    EXPECT_EQ(second(power(3), {0, -2}), (Values{0, -12}));
    EXPECT_EQ(slope(power(1.5), {0, 4}), (Values{0, 3}));
    EXPECT_EQ(slope(power(0), {0, 5}), (Values{0, 0}));
    EXPECT_EQ(slope(power(-1), {-2}), (Values{-0.25}));
}

TEST(SpecialValues, PowerOfTensorsAtZero) {
    const Tensor a = requires_grad(row({0, 0, 0, -2})), b = requires_grad(row({0, 1, 2, 3}));
    const Tensor y = pow(a, b);
    EXPECT_EQ(y.to_doubles(), (Values{1, 0, 0, -8}));
    const Tensors gradients = grad({y}, {a, b}, {}, true);
    EXPECT_EQ(gradients[0].to_doubles(), (Values{0, 1, 0, 12}));
    const Values by_exponent = gradients[1].to_doubles();
    EXPECT_EQ(Values(by_exponent.begin(), by_exponent.end() - 1), (Values{0, 0, 0}));
    EXPECT_TRUE(std::isnan(by_exponent.back()));  // a negative base has no real neighbour powers
    EXPECT_EQ(grad(gradients[0], a).to_doubles(), (Values{0, 0, 2, -12}));
}

// With zeros: one, several, at the ends; against the definition, for both orders.
TEST(SpecialValues, CumulativeProductWithZeros) {
    const auto f = [](const Tensors& x) { return Tensors{cumulative_product(x[0], -1)}; };
    const Tensors inputs{Tensor::from<double>({0,  2,   3, 4, 5,  //
                                               2,  0,   3, 0, 5,  //
                                               1,  2,   3, 4, 0,  //
                                               0,  0,   0, 0, 0,  //
                                               -1, 0.5, 2, 3, -2},
                                              {5, 5})};
    EXPECT_EQ(gradcheck(f, inputs), "");
    EXPECT_EQ(gradgradcheck(f, inputs), "");
    EXPECT_EQ(slope([](const Tensor& x) { return cumulative_product(x, 0); }, {2, 0, 3}),
              (Values{1, 8, 0}));
}

TEST(SpecialValues, LogsumexpOfInfinities) {
    const auto f = [](const Tensor& x) { return logsumexp(x); };
    EXPECT_EQ(f(row({-infinity, -infinity})).item(), -infinity);
    EXPECT_EQ(slope(f, {-infinity, -infinity}), (Values{0, 0}));
    EXPECT_EQ(second(f, {-infinity, -infinity}), (Values{0, 0}));
    EXPECT_EQ(f(row({-infinity, 3})).item(), 3);
    EXPECT_EQ(slope(f, {-infinity, 3}), (Values{0, 1}));
    EXPECT_EQ(f(row({infinity, 3})).item(), infinity);
    EXPECT_TRUE(std::isnan(f(row({nan, 3})).item()));
    EXPECT_DOUBLE_EQ(f(row({1000, 1000})).item(), 1000 + std::log(2.0));
    EXPECT_DOUBLE_EQ(f(row({-1000, -1000})).item(), -1000 + std::log(2.0));
}

TEST(SpecialValues, SoftmaxOfLargeValues) {
    EXPECT_EQ(softmax(row({1e300, 0, -infinity})).to_doubles(), (Values{1, 0, 0}));
    EXPECT_EQ(log_softmax(row({1000, 1000, -infinity})).to_doubles(),
              (Values{-std::log(2.0), -std::log(2.0), -infinity}));
}

// The textbook shortcut E[x²] - E[x]² gives 0 or worse here.
TEST(SpecialValues, VarianceFarFromZero) {
    EXPECT_DOUBLE_EQ(variance(row({1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4})).item(), 1.25);
    const Tensor x = Tensor::from<float>({40001, 40002, 40003, 40004}, {4});
    EXPECT_FLOAT_EQ(static_cast<float>(variance(x, {}, false, 1).item()), 5.0f / 3);
}

TEST(SpecialValues, ExtremesWithNaN) {
    EXPECT_TRUE(std::isnan(max(row({1, nan, 3})).item()));
    EXPECT_TRUE(std::isnan(maximum(row({1}), row({nan})).item()));
    EXPECT_TRUE(std::isnan(minimum(row({nan}), row({1})).item()));
    EXPECT_TRUE(std::isnan(relu(row({nan})).item()));
    const Values sorted = sort(row({nan, 2, infinity, 1}), 0, false).to_doubles();
    EXPECT_EQ(Values(sorted.begin(), sorted.end() - 1), (Values{1, 2, infinity}));
    EXPECT_TRUE(std::isnan(sorted.back()));
    EXPECT_EQ(argsort(row({nan, 2, infinity, 1}), 0, true).to_doubles(), (Values{2, 1, 3, 0}));
}

TEST(SpecialValues, SaturatedFunctionsStayFinite) {
    for (const auto& f : std::vector<std::function<Tensor(const Tensor&)>>{
             [](const Tensor& x) { return sigmoid(x); }, [](const Tensor& x) { return tanh(x); },
             [](const Tensor& x) { return silu(x); }, [](const Tensor& x) { return softplus(x); },
             [](const Tensor& x) { return gelu(x); }, [](const Tensor& x) { return gelu_tanh(x); },
             [](const Tensor& x) { return gaussian(x); }, [](const Tensor& x) { return erf(x); }}) {
        for (const Values& values : {f(row({-1000, 1000})).to_doubles(), slope(f, {-1000, 1000}),
                                     second(f, {-1000, 1000})})
            for (double value : values) EXPECT_TRUE(std::isfinite(value)) << value;
    }
}

TEST(SpecialValues, PermutationsArePermutations) {
    const Values order = sort(random_permutation(1000, {5})).to_doubles();
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], static_cast<double>(i));
    EXPECT_NE(random_permutation(1000, {5}).to_doubles(), order);
    EXPECT_NE(random_permutation(1000, {5}).to_doubles(),
              random_permutation(1000, {6}).to_doubles());
}

// Means within 4 standard errors, for float32 and float64.
TEST(SpecialValues, MomentsOfRandomTensors) {
    const int64_t count = 200000;
    for (DType dtype : {DType::float32, DType::float64}) {
        const Tensor normal = to(random_normal({count}, {9}, dtype, -1, 2), DType::float64);
        EXPECT_NEAR(mean(normal).item(), -1, 4 * 2 / std::sqrt(count));
        EXPECT_NEAR(variance(normal).item(), 4, 4 * 4 * std::sqrt(2.0 / count));
        const Tensor uniform = to(random_uniform({count}, {9}, dtype, -1, 3), DType::float64);
        EXPECT_NEAR(mean(uniform).item(), 1, 4 * std::sqrt(16 / 12.0 / count));
        EXPECT_GE(min(uniform).item(), -1);
        EXPECT_LE(max(uniform).item(), 3);
    }
}

}  // namespace
}  // namespace ralimp
