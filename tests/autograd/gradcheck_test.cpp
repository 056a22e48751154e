// gradcheck itself: it must accept right derivatives and name the elements of wrong ones.
#include "autograd/gradcheck.h"

#include <gtest/gtest.h>

#include "autograd/operations.h"

namespace ralimp {
namespace {

// sin with a derivative that is wrong by a factor, or only in second order.
Tensor sine_scaled(const Tensor& x) {
    return record("sine", sin(x.detach()), {x}, Keep::inputs, [](const VjpContext& c) {
        return Tensors{c.gradient * cos(c.inputs[0]) * 1.001};
    });
}
Tensor sine_flat(const Tensor& x) {
    return record("sine", sin(x.detach()), {x}, Keep::inputs, [](const VjpContext& c) {
        return Tensors{c.gradient * cos(c.inputs[0].detach())};
    });
}

Tensors points() {
    return {Tensor::from<double>({0.1, -0.7, 1.3, 2.0, 0.4, -0.2, 0.9, 3.0}, {2, 4})};
}

TEST(Gradcheck, AcceptsRightDerivatives) {
    const auto right = [](const Tensors& x) { return Tensors{sin(x[0]), exp(x[0]) * x[0]}; };
    EXPECT_EQ(gradcheck(right, points()), "");
    EXPECT_EQ(gradgradcheck(right, points()), "");
}

TEST(Gradcheck, NamesWrongElements) {
    const auto wrong = [](const Tensors& x) { return Tensors{sine_scaled(x[0])}; };
    const std::string message = gradcheck(wrong, points());
    EXPECT_NE(message.find("input 0 at [0, 0]: analytic "), std::string::npos) << message;
    EXPECT_NE(message.find("and 3 more wrong elements"), std::string::npos) << message;
}

TEST(Gradcheck, OneWrongElementIsFound) {
    const auto wrong = [](const Tensors& x) {
        const Tensor kink = Tensor::from<double>({0, 0, 0, 0, 0, 0, 1, 0}, {2, 4});
        return Tensors{where(to(kink, DType::uint8), sine_scaled(x[0]), sin(x[0]))};
    };
    const std::string message = gradcheck(wrong, points());
    EXPECT_EQ(message.rfind("input 0 at [1, 2]: analytic ", 0), 0u) << message;
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1) << message;
}

TEST(Gradcheck, AWrongSecondDerivativeIsFoundBySecondOrderOnly) {
    const auto wrong = [](const Tensors& x) { return Tensors{sine_flat(x[0])}; };
    EXPECT_EQ(gradcheck(wrong, points()), "");
    EXPECT_NE(gradgradcheck(wrong, points()), "");
}

TEST(Gradcheck, NaNIsWrong) {
    const auto nan = [](const Tensors& x) { return Tensors{log(x[0])}; };
    EXPECT_NE(gradcheck(nan, points()), "");
}

TEST(Gradcheck, ChecksOnlyWhatRequiresAGradient) {
    Tensors inputs{requires_grad(points()[0]), Tensor::full({2, 4}, 0.5, DType::float32)};
    const auto function = [](const Tensors& x) {
        return Tensors{sin(x[0]) * to(x[1], DType::float64)};
    };
    EXPECT_EQ(gradcheck(function, inputs), "");
    EXPECT_EQ(gradgradcheck(function, inputs), "");
}

TEST(Gradcheck, LeavesTheInputsAsTheyWere) {
    const Tensors inputs = points();
    const std::vector<double> before = inputs[0].to_doubles();
    EXPECT_EQ(gradgradcheck([](const Tensors& x) { return Tensors{square(x[0])}; }, inputs), "");
    EXPECT_EQ(inputs[0].to_doubles(), before);
}

TEST(Gradcheck, NeedsFloat64) {
    EXPECT_THROW(gradcheck([](const Tensors& x) { return Tensors{sin(x[0])}; },
                           {Tensor::ones({2}, DType::float32)}),
                 Error);
}

}  // namespace
}  // namespace ralimp
