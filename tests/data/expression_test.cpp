// Formulas in text: values against the compiler's own arithmetic, and every kind of bad text.
#include "data/expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "core/error.h"

namespace ralimp {
namespace {

double value_of(const std::string& text, double x = 0, double y = 0) {
    const Expression expression = parse_expression(text);
    std::vector<double> values;
    for (const std::string& name : expression.names) values.push_back(name == "x" ? x : y);
    return evaluate(expression, values);
}

TEST(Expression, Arithmetic) {
    EXPECT_EQ(value_of("1"), 1);
    EXPECT_EQ(value_of(" 1 + 2 * 3 "), 7);
    EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
    EXPECT_EQ(value_of("7 - 2 - 1"), 4);
    EXPECT_EQ(value_of("8 / 4 / 2"), 1);
    EXPECT_EQ(value_of("2 ^ 3 ^ 2"), 512);
    EXPECT_EQ(value_of("2 ** 3 ** 2"), 512);
    EXPECT_EQ(value_of("-2 ^ 2"), -4);
    EXPECT_EQ(value_of("(-2) ^ 2"), 4);
    EXPECT_EQ(value_of("2 ^ -1"), 0.5);
    EXPECT_EQ(value_of("2 * -3"), -6);
    EXPECT_EQ(value_of("--3"), 3);
    EXPECT_EQ(value_of("+3"), 3);
    EXPECT_EQ(value_of("1 -\n\t1"), 0);
    EXPECT_EQ(value_of("max(1, 2) + min(1, 2)"), 3);
}

TEST(Expression, NumbersAsInC) {
    for (const char* text : {"1", "1.", ".5", "1e3", "1E-3", "1.5e+2", "0.1", "00012", "1e-300"})
        EXPECT_EQ(value_of(text), std::strtod(text, nullptr)) << text;
    EXPECT_EQ(value_of("pi"), std::numbers::pi);
}

TEST(Expression, Functions) {
    const double x = 0.7;
    EXPECT_DOUBLE_EQ(value_of("exp(x)", x), std::exp(x));
    EXPECT_DOUBLE_EQ(value_of("log(x)", x), std::log(x));
    EXPECT_DOUBLE_EQ(value_of("sqrt(x)", x), std::sqrt(x));
    EXPECT_DOUBLE_EQ(value_of("sin(x)", x), std::sin(x));
    EXPECT_DOUBLE_EQ(value_of("cos(x)", x), std::cos(x));
    EXPECT_DOUBLE_EQ(value_of("tan(x)", x), std::tan(x));
    EXPECT_DOUBLE_EQ(value_of("sinh(x)", x), std::sinh(x));
    EXPECT_DOUBLE_EQ(value_of("cosh(x)", x), std::cosh(x));
    EXPECT_DOUBLE_EQ(value_of("tanh(x)", x), std::tanh(x));
    EXPECT_DOUBLE_EQ(value_of("sech(x)", x), 1 / std::cosh(x));
    EXPECT_DOUBLE_EQ(value_of("erf(x)", x), std::erf(x));
    EXPECT_DOUBLE_EQ(value_of("abs(-x)", x), x);
    EXPECT_DOUBLE_EQ(value_of("-sin(pi*x) + y/2", x, 3), -std::sin(std::numbers::pi * x) + 1.5);
}

TEST(Expression, NamesInTheOrderOfTheirFirstUse) {
    const Expression expression = parse_expression("u_t + u*u_x - nu*u_xx + u");
    EXPECT_EQ(expression.names, (std::vector<std::string>{"u_t", "u", "u_x", "nu", "u_xx"}));
    EXPECT_EQ(expression.columns, (std::vector<int32_t>{1, 7, 9, 15, 18}));
}

struct Bad {
    const char* text;
    int column;
    const char* message;
};

TEST(Expression, ComplaintsNameThePlace) {
    for (const Bad& bad : {Bad{"", 1, "an expression is expected"},
                           {"   ", 4, "an expression is expected"},
                           {"1 +", 4, "not the end"},
                           {"u_t + * u", 7, "is expected, not *"},
                           {"(1 + 2", 7, ") is missing at the end"},
                           {"1 + 2)", 6, "an operator or the end is expected"},
                           {"u u_x", 3, "an operator or the end"},
                           {"2x", 2, "2*x"},
                           {"1.2.3", 4, "an operator is expected after the number"},
                           {"sine(x)", 1, "sine is no function; known are exp"},
                           {"x(1)", 1, "x is no function"},
                           {"1 + sin", 5, "sin is a function"},
                           {"min(1)", 6, ", is expected, not )"},
                           {"sin(1, 2)", 6, ") is expected, not ,"},
                           {"u; system", 2, "an operator or the end"},
                           {"u == 0", 3, "an operator or the end"},
                           {"a $ b", 3, "an operator or the end"},
                           {"$", 1, "not $"},
                           {"1e999", 1, "this is no number"},
                           {".", 1, "this is no number"},
                           {"2 * \xc3\xbc", 5, "the byte 0xc3"}}) {
        try {
            parse_expression(bad.text);
            FAIL() << bad.text;
        } catch (const Error& error) {
            const std::string message = error.what();
            EXPECT_NE(message.find(fmt::format("column {}:", bad.column)), std::string::npos)
                << message;
            EXPECT_NE(message.find(bad.message), std::string::npos) << message;
            const std::size_t mark = message.rfind('\n');
            EXPECT_EQ(message.size() - mark - 1, 4u + static_cast<unsigned>(bad.column)) << message;
        }
    }
}

TEST(Expression, APartOfATextIsComplainedAboutInTheWhole) {
    const std::string text = "2*x < sin(y";
    EXPECT_EQ(parse_expression_in(text, 0, 3).names, std::vector<std::string>{"x"});
    EXPECT_EQ(parse_expression_in(text, 0, 3).text, "2*x");
    EXPECT_EQ(parse_expression_in("y < x+z", 3, 7).columns, (std::vector<int32_t>{5, 7}));
    try {
        parse_expression_in(text, 5, text.size());
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "expression, column 12: ) is missing at the end\n"
                     "    2*x < sin(y\n"
                     "               ^");
    }
    EXPECT_THROW(parse_expression_in("1 < 2", 0, 0), Error);
    EXPECT_THROW(parse_expression_in("1 <", 3, 3), Error);
}

TEST(Expression, DepthAndLengthAreBounded) {
    for (const char* open : {"(", "-", "sin(", "2^"}) {
        std::string deep;
        for (int i = 0; i < 1000; ++i) deep += open;
        EXPECT_THROW(parse_expression(deep + "1"), Error) << open;
    }
    EXPECT_THROW(parse_expression(std::string(5000, '1')), Error);
    std::string wide = "0";
    for (int i = 0; i < 1000; ++i) wide += "+1";
    EXPECT_EQ(value_of(wide), 1000);
}

TEST(Expression, NanIsPassedOn) {
    for (const char* text : {"min(x, 1)", "min(1, x)", "max(x, 1)", "max(1, x)"})
        EXPECT_TRUE(std::isnan(value_of(text, std::nan("")))) << text;
}

TEST(Expression, AValueForEveryName) {
    EXPECT_THROW(evaluate(parse_expression("x + y"), {1}), Error);
}

}  // namespace
}  // namespace ralimp
