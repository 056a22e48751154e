// Formulas over points: against the same formula in C++, the plain evaluation of expressions, and
// gradients by differences.
#include "trainers/formula.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/gradcheck.h"
#include "autograd/operations.h"
#include "layers/network.h"
#include "tests/error_of.h"

namespace ralimp {
namespace {

const FormulaNames names{{"x", "t"}, {"u", "v"}, {"a"}, {{"nu", 0.25}, {"two", 2}}, 1};

// A network of two outputs at some points, with every derivative up to the third along x and t.
class FormulaOfANetwork : public testing::Test {
protected:
    void SetUp() override {
        NetworkConfig config;
        config.hidden_layers = 2;
        config.width = 7;
        network_ = make_network(config, {{-1, 0}, {1, 1}}, 2, DType::float64, 3);
        points_ = random_uniform({5, 2}, {1, RandomStream::points, 0}, DType::float64, 0.1, 0.9);
        normals_ = random_uniform({5, 1}, {2, RandomStream::points, 0}, DType::float64, -1, 1);
        plan_ = JetPlan::make({{0, 0, 0}, {0, 0, 1}, {0, 1, 1}, {1, 1, 1}});
        u_ = std::make_unique<Jet>(network_->forward(Jet::input(points_, plan_)));
        at_ = {u_.get(), points_, normals_, {Tensor::full({}, 3, DType::float64)}};
    }
    Tensor column(const std::vector<int>& axes, int64_t output) const {
        return slice(u_->derivative(axes), 1, output, output + 1);
    }
    void expect_equal(const std::string& text, const Tensor& expected) {
        const Tensor value = Formula(text, names).evaluate(at_);
        ASSERT_EQ(value.shape(), (Shape{5, 1})) << text;
        EXPECT_LT(max(abs(value - expected)).item(), 1e-14) << text;
    }

    std::unique_ptr<Mlp> network_;
    std::shared_ptr<const JetPlan> plan_;
    Tensor points_, normals_;
    std::unique_ptr<Jet> u_;
    FormulaPoints at_;
};

TEST_F(FormulaOfANetwork, EveryNameStandsForItsTensor) {
    const Tensor x = slice(points_, 1, 0, 1), t = slice(points_, 1, 1, 2);
    const Tensor u = column({}, 0), v = column({}, 1);
    expect_equal("x", x);
    expect_equal("t", t);
    expect_equal("u", u);
    expect_equal("v", v);
    expect_equal("u_x", column({0}, 0));
    expect_equal("v_t", column({1}, 1));
    expect_equal("u_xx", column({0, 0}, 0));
    expect_equal("u_xt", column({0, 1}, 0));
    expect_equal("u_tx", column({0, 1}, 0));
    expect_equal("v_ttt", column({1, 1, 1}, 1));
    expect_equal("v_xxt", column({0, 0, 1}, 1));
    expect_equal("v_txx", column({0, 0, 1}, 1));
    expect_equal("a", Tensor::full({5, 1}, 3, DType::float64));
    expect_equal("nu", Tensor::full({5, 1}, 0.25, DType::float64));
    expect_equal("n_x", normals_);
    expect_equal("u_n", normals_ * column({0}, 0));
    expect_equal("1", Tensor::ones({5, 1}, DType::float64));
    expect_equal("u_t + u*u_x - nu*u_xx",
                 column({1}, 0) + u * column({0}, 0) - column({0, 0}, 0) * 0.25);
    expect_equal("(1 - u^two)/(2*v - 3) - -x", (1.0 - u * u) / (v * 2.0 - 3.0) + x);
}

// Each point by itself with plain numbers gives the same.
TEST_F(FormulaOfANetwork, FunctionsAgreeWithPlainNumbers) {
    for (const char* text : {"exp(x)",      "log(x)",
                             "sqrt(x)",     "sin(3*x)",
                             "cos(3*x)",    "tan(x)",
                             "sinh(x)",     "cosh(x)",
                             "tanh(x)",     "sech(x)",
                             "erf(x)",      "abs(x - t)",
                             "min(x, t)",   "max(x, 0.5)",
                             "min(0.5, x)", "max(1, 2)*x",
                             "x^t",         "x^2",
                             "x^-1.5",      "2^x",
                             "x^1",         "x^0",
                             "1/x",         "x/2",
                             "2/4 + x*0",   "exp(sin(pi*x)*2) - t",
                             "sin(1)",      "-x^2"}) {
        const Expression expression = parse_expression(text);
        const Tensor value = Formula(text, names).evaluate(at_);
        for (int64_t row = 0; row < 5; ++row) {
            std::vector<double> numbers;
            for (const std::string& name : expression.names)
                numbers.push_back(points_.to_vector<double>()[static_cast<std::size_t>(
                    row * 2 + (name == "x" ? 0 : 1))]);
            const double expected = evaluate(expression, numbers);
            EXPECT_NEAR(value.to_vector<double>()[static_cast<std::size_t>(row)], expected,
                        1e-14 * std::max(1.0, std::abs(expected)))
                << text;
        }
    }
}

TEST_F(FormulaOfANetwork, DifferentiatesByPointsAndCoefficients) {
    const Formula formula("a*sin(x)*t + sech(a*t) - x^3/a + max(x, t)*exp(-a)", names);
    const auto f = [&](const Tensors& inputs) -> Tensors {
        return {formula.evaluate({nullptr, inputs[0], {}, {inputs[1]}})};
    };
    const Tensors inputs{points_, Tensor::full({}, 0.7, DType::float64)};
    EXPECT_EQ(gradcheck(f, inputs), "");
    EXPECT_EQ(gradgradcheck(f, inputs), "");
}

TEST(Formula, SechHasFiniteDerivativesFarOut) {
    for (const DType dtype : {DType::float32, DType::float64})
        for (const double far : {-1e30, -100.0, 39.0, 100.0, 710.0, 1e30}) {
            const Tensor x = requires_grad(Tensor::full({1, 1}, far, dtype));
            const FormulaNames axis{{"x"}, {}, {}, {}, 0};
            const Tensor value = Formula("sech(x)", axis).evaluate({nullptr, x, {}, {}});
            EXPECT_LT(value.item(), 1e-16);
            EXPECT_LT(std::abs(grad(sum(value), x).item()), 1e-16);
        }
}

TEST(Formula, ListsTheDerivativesItNeeds) {
    using Lists = std::vector<std::vector<int>>;
    EXPECT_EQ(Formula("u + x", names).derivatives(), Lists{});
    EXPECT_EQ(Formula("u_t + u*u_x - u_xx + v_x", names).derivatives(), (Lists{{1}, {0}, {0, 0}}));
    EXPECT_EQ(Formula("u_n", names).derivatives(), (Lists{{0}}));
    EXPECT_TRUE(Formula("u_n", names).names_outputs());
    EXPECT_FALSE(Formula("x*a + n_x", names).names_outputs());
}

TEST(Formula, LongerNamesOfAxesWin) {
    const FormulaNames two{{"x", "x1"}, {"u"}, {}, {}, 0};
    EXPECT_EQ(Formula("u_x1x", two).derivatives(), (std::vector<std::vector<int>>{{0, 1}}));
    EXPECT_EQ(Formula("u_x1x1", two).derivatives(), (std::vector<std::vector<int>>{{1, 1}}));
}

TEST(Formula, ComplaintsNameThePlaceAndWhatIsKnown) {
    const auto complaint = [](const std::string& text, const FormulaNames& known) {
        return error_of([&] { Formula(text, known); }).text;
    };
    EXPECT_NE(complaint("u_t + w", names)
                  .find("column 7: w is unknown; known are x, t, u, v, "
                        "u_x, …, u_n, a, nu, two"),
              std::string::npos)
        << complaint("u_t + w", names);
    EXPECT_NE(complaint("u_y", names).find("u_y is unknown"), std::string::npos);
    EXPECT_NE(complaint("u_", names).find("u_ is unknown"), std::string::npos);
    EXPECT_NE(complaint("_x", names).find("_x is unknown"), std::string::npos);
    EXPECT_NE(complaint("n_t", names).find("n_t is unknown"), std::string::npos);
    EXPECT_NE(complaint("u_xxxx", names).find("derivatives above the third"), std::string::npos);
    FormulaNames inside = names;
    inside.normal_axes = 0;
    EXPECT_NE(complaint("u_n", inside).find("u_n is unknown"), std::string::npos);
    EXPECT_NE(complaint("n_x", inside).find("n_x is unknown"), std::string::npos);
}

}  // namespace
}  // namespace ralimp
