// Elementwise operations on jets against nested reverse mode of the same operations on tensors.
#include "autograd/jet_operations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "autograd/gradcheck.h"
#include "autograd/operations.h"
#include "tests/error_of.h"

namespace ralimp {
namespace {

const std::vector<std::vector<int>> derivatives = {{0, 0, 0}, {0, 0, 1}, {0, 1, 1}, {1, 1, 1}};

// Two smooth functions of two coordinates, on tensors and on jets, both between 0.2 and 3.
template <class X>
struct Pair {
    X a, b;
};
Pair<Tensor> functions(const Tensor& points) {
    const Tensor x = slice(points, 1, 0, 1), t = slice(points, 1, 1, 2);
    return {x * t + 0.5, square(x) * 0.7 + t * 0.9 + 0.3};
}
Pair<Jet> functions(const Jet& points) {
    const Jet x = slice_features(points, 0, 1), t = slice_features(points, 1, 2);
    return {x * t + 0.5, square(x) * 0.7 + t * 0.9 + 0.3};
}

// One formula for both.
struct Case {
    template <class F>
    Case(const char* text, const F& f) : name(text), plain(f), jet(f) {}
    const char* name;
    std::function<Tensor(const Tensor&, const Tensor&)> plain;
    std::function<Jet(const Jet&, const Jet&)> jet;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> all = {
        Case("a / b", [](const auto& a, const auto& b) { return a / b; }),
        Case("a / 3.0", [](const auto& a, const auto&) { return a / 3.0; }),
        Case("3.0 / b", [](const auto&, const auto& b) { return 3.0 / b; }),
        Case("a - 2.0", [](const auto& a, const auto&) { return a - 2.0; }),
        Case("2.0 - a", [](const auto& a, const auto&) { return 2.0 - a; }),
        Case("2.0 + a", [](const auto& a, const auto&) { return 2.0 + a; }),
        Case("2.5 * a", [](const auto& a, const auto&) { return 2.5 * a; }),
        Case("neg(a)", [](const auto& a, const auto&) { return neg(a); }),
        Case("exp(a)", [](const auto& a, const auto&) { return exp(a); }),
        Case("log(b)", [](const auto&, const auto& b) { return log(b); }),
        Case("sqrt(a)", [](const auto& a, const auto&) { return sqrt(a); }),
        Case("reciprocal(b)", [](const auto&, const auto& b) { return reciprocal(b); }),
        Case("sin(a)", [](const auto& a, const auto&) { return sin(a); }),
        Case("cos(b)", [](const auto&, const auto& b) { return cos(b); }),
        Case("sinh(a)", [](const auto& a, const auto&) { return sinh(a); }),
        Case("cosh(b)", [](const auto&, const auto& b) { return cosh(b); }),
        Case("tanh(a)", [](const auto& a, const auto&) { return tanh(a); }),
        Case("erf(b)", [](const auto&, const auto& b) { return erf(b); }),
        Case("abs(a - 1.0)", [](const auto& a, const auto&) { return abs(a - 1.0); }),
        Case("pow(a, 1)", [](const auto& a, const auto&) { return pow(a, 1); }),
        Case("pow(a, 2)", [](const auto& a, const auto&) { return pow(a, 2); }),
        Case("pow(a - 1.0, 3)", [](const auto& a, const auto&) { return pow(a - 1.0, 3); }),
        Case("pow(a - 3.0, -2)", [](const auto& a, const auto&) { return pow(a - 3.0, -2); }),
        Case("pow(b, 1.5)", [](const auto&, const auto& b) { return pow(b, 1.5); }),
        Case("pow(b, 0)", [](const auto&, const auto& b) { return pow(b, 0); }),
        Case("pow(a, b)", [](const auto& a, const auto& b) { return pow(a, b); }),
        Case("maximum(a, b)", [](const auto& a, const auto& b) { return maximum(a, b); }),
        Case("minimum(a, b)", [](const auto& a, const auto& b) { return minimum(a, b); }),
        Case("exp(sin(a) / b) - a * b",
             [](const auto& a, const auto& b) { return exp(sin(a) / b) - a * b; }),
    };
    return all;
}

Tensor points() {
    return random_uniform({7, 2}, {4, RandomStream::user, 0}, DType::float64, 0.1, 1.2);
}

double largest_difference(const Tensor& a, const Tensor& b) {
    return max(abs(a - b) / (abs(b) + 1.0)).item();
}

TEST(JetOperations, AgreeWithNestedReverseMode) {
    const auto plan = JetPlan::make(derivatives, {0, 1});
    const Tensor at = requires_grad(points());
    for (const Case& one : cases()) {
        const Pair<Jet> jets = functions(Jet::input(at, plan));
        const Jet jet = one.jet(jets.a, jets.b);
        const Pair<Tensor> tensors = functions(at);
        const Tensor value = one.plain(tensors.a, tensors.b);
        EXPECT_LT(largest_difference(jet.value(), value), 1e-14) << one.name;
        Tensor laplacian = Tensor::zeros({7, 1}, DType::float64);
        for (int channel = 1; channel < plan->channels(); ++channel) {
            const std::vector<int>& axes = plan->axes(channel);
            if (axes.empty()) continue;
            Tensor derivative = value;
            for (int axis : axes)
                derivative = slice(grad(sum(derivative), at, true), 1, axis, axis + 1);
            EXPECT_LT(largest_difference(jet.channel(channel), derivative), 1e-10)
                << one.name << ", channel " << channel;
            if (axes.size() == 2 && axes[0] == axes[1]) laplacian = laplacian + derivative;
        }
        EXPECT_LT(largest_difference(jet.laplacian(), laplacian), 1e-10) << one.name;
    }
}

TEST(JetOperations, HaveFirstAndSecondGradients) {
    const auto plan = JetPlan::make(derivatives);
    for (const Case& one : cases()) {
        const auto f = [&](const Tensors& inputs) -> Tensors {
            const Pair<Jet> jets = functions(Jet::input(inputs[0], plan));
            return {one.jet(jets.a, jets.b).channels()};
        };
        const Tensor few = slice(points(), 0, 0, 2).contiguous();
        EXPECT_EQ(gradcheck(f, {few}), "") << one.name;
        EXPECT_EQ(gradgradcheck(f, {few}), "") << one.name;
    }
}

// Where pow(x, p) has a derivative of 0 to the power 0 and beyond.
TEST(JetOperations, WholePowersOfZeroAreExact) {
    const auto plan = JetPlan::make({{0, 0, 0}});
    const Jet x = Jet::input(Tensor::zeros({1, 1}, DType::float64), plan);
    using Values = std::vector<double>;
    EXPECT_EQ(pow(x, 0).channels().to_doubles(), (Values{1, 0, 0, 0}));
    EXPECT_EQ(pow(x, 1).channels().to_doubles(), (Values{0, 1, 0, 0}));
    EXPECT_EQ(pow(x, 2).channels().to_doubles(), (Values{0, 0, 2, 0}));
    EXPECT_EQ(pow(x, 3).channels().to_doubles(), (Values{0, 0, 0, 6}));
    EXPECT_EQ(pow(x, 4).channels().to_doubles(), (Values{0, 0, 0, 0}));
}

TEST(JetOperations, ChooseTheFirstAtATieAndNanWins) {
    const auto plan = JetPlan::make({{0}});
    const auto jet = [&](double value, double slope) {
        return Jet(Tensor::from(std::vector<double>{value, slope}, {2, 1, 1}), plan);
    };
    const double nan = std::nan("");
    for (const auto& choose : {static_cast<Jet (*)(const Jet&, const Jet&)>(maximum),
                               static_cast<Jet (*)(const Jet&, const Jet&)>(minimum)}) {
        EXPECT_EQ(choose(jet(1, 3), jet(1, 4)).channel(1).item(), 3);
        EXPECT_TRUE(std::isnan(choose(jet(nan, 3), jet(1, 4)).value().item()));
        EXPECT_TRUE(std::isnan(choose(jet(1, 3), jet(nan, 4)).value().item()));
    }
    EXPECT_EQ(maximum(jet(1, 3), jet(2, 4)).channel(1).item(), 4);
    EXPECT_EQ(minimum(jet(1, 3), jet(2, 4)).channel(1).item(), 3);
}

TEST(JetOperations, RefuseWhatDoesNotFit) {
    const Jet one = Jet::input(points(), JetPlan::make({{0}}));
    const Jet other = Jet::input(points(), JetPlan::make({{1}}));
    EXPECT_NE(error_of([&] { maximum(one, other); }).text.find("jet"), std::string::npos);
    EXPECT_NE(error_of([&] {
                  compose({one.value()}, one);
              }).text.find("1 derivatives for a plan of order 1"),
              std::string::npos);
    EXPECT_NE(error_of([&] {
                  constant(Tensor::zeros({3}, DType::float64), one.shared_plan());
              }).text.find("[3]"),
              std::string::npos);
}

}  // namespace
}  // namespace ralimp
