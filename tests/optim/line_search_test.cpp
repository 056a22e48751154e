#include "optim/line_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ralimp {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Line {
    std::function<double(double)> loss, slope;
    LinePoint at(double step) const { return {step, loss(step), slope(step), {}}; }
};

LineSearchResult run(const Line& line, double first_step, const LineSearchLimits& limits = {}) {
    return search_line(line.at(0), first_step, limits, [&](double step) { return line.at(step); });
}

void expect_strong_wolfe(const Line& line, const LineSearchResult& found,
                         const LineSearchLimits& limits) {
    ASSERT_EQ(found.outcome, LineSearchOutcome::strong_wolfe);
    EXPECT_EQ(found.best.loss, line.loss(found.best.step));
    EXPECT_LE(found.best.loss, line.loss(0) + limits.c1 * found.best.step * line.slope(0));
    EXPECT_LE(std::abs(found.best.slope), limits.c2 * std::abs(line.slope(0)));
}

// The three functions of Moré & Thuente, "Line search algorithms with guaranteed sufficient
// decrease" (1994), Section 5, and their parameters.
const Line more_thuente[] = {
    {[](double a) { return -a / (a * a + 2); },
     [](double a) { return (a * a - 2) / ((a * a + 2) * (a * a + 2)); }},
    {[](double a) { return std::pow(a + 0.004, 5) - 2 * std::pow(a + 0.004, 4); },
     [](double a) { return 5 * std::pow(a + 0.004, 4) - 8 * std::pow(a + 0.004, 3); }},
    {[](double a) {
         const double beta = 0.01, l = 39;
         const double phi0 = a <= 1 - beta   ? 1 - a
                             : a >= 1 + beta ? a - 1
                                             : (a - 1) * (a - 1) / (2 * beta) + beta / 2;
         return phi0 + 2 * (1 - beta) / (l * M_PI) * std::sin(l * M_PI / 2 * a);
     },
     [](double a) {
         const double beta = 0.01, l = 39;
         const double phi0 = a <= 1 - beta ? -1 : a >= 1 + beta ? 1 : (a - 1) / beta;
         return phi0 + (1 - beta) * std::cos(l * M_PI / 2 * a);
     }},
};

TEST(LineSearch, MeetsTheConditionsFromAnyFirstStep) {
    const LineSearchLimits limits[] = {{1e-3, 0.1, 60}, {0.1, 0.11, 60}, {1e-4, 0.9, 60}};
    for (size_t function = 0; function < std::size(more_thuente); ++function)
        for (const LineSearchLimits& limit : limits)
            for (const double first : {1e-3, 1e-1, 1.0, 1e1, 1e3}) {
                SCOPED_TRACE(testing::Message() << "function " << function << " c1 " << limit.c1
                                                << " first step " << first);
                const Line& line = more_thuente[function];
                expect_strong_wolfe(line, run(line, first, limit), limit);
            }
}

TEST(LineSearch, FindsTheMinimumOfACubicAtOnce) {
    // Interpolation is exact for a cubic: the first step is too long, the second is the
    // minimizer 1.
    const Line line{[](double a) { return a * a * a - 3 * a; },
                    [](double a) { return 3 * a * a - 3; }};
    const LineSearchResult found = run(line, 3, {1e-4, 1e-9, 10});
    expect_strong_wolfe(line, found, {1e-4, 1e-9, 10});
    EXPECT_EQ(found.evaluations, 2);
    EXPECT_NEAR(found.best.step, 1, 1e-12);
}

TEST(LineSearch, WalksBackFromWhatIsNotFinite) {
    for (const double bad : {infinity, -infinity, std::nan("")}) {
        const Line line{[=](double a) { return a < 1e-3 ? (a - 8e-4) * (a - 8e-4) : bad; },
                        [=](double a) { return a < 1e-3 ? 2 * (a - 8e-4) : bad; }};
        const LineSearchResult found = run(line, 1);
        expect_strong_wolfe(line, found, {});
        EXPECT_GT(found.non_finite, 0);
        EXPECT_LT(found.best.step, 1e-3);
    }
}

TEST(LineSearch, ANonFiniteSlopeIsNoPointToGoTo) {
    const Line line{[](double a) { return a * a - a; },
                    [](double a) { return a > 0.3 ? std::nan("") : 2 * a - 1; }};
    const LineSearchResult found = run(line, 0.5, {1e-4, 0.9, 25});
    expect_strong_wolfe(line, found, {});
    EXPECT_LE(found.best.step, 0.3);
}

TEST(LineSearch, GivesTheLowestPointWhenTheLimitIsReached) {
    // Falls for ever: no point is flat enough.
    const Line line{[](double a) { return -a; }, [](double) { return -1.0; }};
    const LineSearchResult found = run(line, 1, {1e-4, 0.9, 5});
    EXPECT_EQ(found.outcome, LineSearchOutcome::lower);
    EXPECT_EQ(found.evaluations, 5);
    EXPECT_GT(found.best.step, 100);
    EXPECT_EQ(found.best.loss, -found.best.step);
}

TEST(LineSearch, NeverReturnsARisingPoint) {
    // The slope at the start is a lie, as it is when the derivative is wrong: the loss only rises.
    const Line line{[](double a) { return 1 + a; }, [](double a) { return a == 0 ? -1.0 : 1.0; }};
    const LineSearchResult found = run(line, 1, {1e-4, 0.9, 25});
    EXPECT_EQ(found.outcome, LineSearchOutcome::failed);
    EXPECT_EQ(found.best.step, 0);
    EXPECT_EQ(found.best.loss, 1);
    EXPECT_EQ(found.evaluations, 25);
}

TEST(LineSearch, RejectsAStartItCannotUse) {
    const Line up{[](double a) { return a; }, [](double) { return 1.0; }};
    EXPECT_THROW(run(up, 1), Error);
    const Line down{[](double a) { return -a; }, [](double) { return -1.0; }};
    EXPECT_THROW(run(down, 0), Error);
    const Line broken{[](double) { return std::nan(""); }, [](double) { return -1.0; }};
    EXPECT_THROW(run(broken, 1), Error);
}

}  // namespace
}  // namespace ralimp
