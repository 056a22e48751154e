#include "optim/lbfgs.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tests/optim/problems.h"

namespace ralimp {
namespace {

using problems::IllConditioned;
using problems::objective;
using problems::Regression;
using problems::Rosenbrock;

// Σ exp(x_i²) + x_i x_{i-1}: overflows quickly away from its minimum at 0.
struct Explosive {
    template <class T>
    static T value(const T* x, T* gradient, int64_t count) {
        T loss = 0;
        for (int64_t i = 0; i < count; ++i) {
            const T term = std::exp(x[i] * x[i]);
            gradient[i] = 2 * x[i] * term + (i > 0 ? x[i - 1] : 0) + (i + 1 < count ? x[i + 1] : 0);
            loss += term + (i > 0 ? x[i] * x[i - 1] : 0);
        }
        return loss;
    }
};

ParameterLayout layout_of(const Tensor& parameters) {
    return ParameterLayout::single(parameters.elements(), parameters.dtype());
}

// Steps until the optimizer stops; the loss must fall in every step and be the last accepted one.
StepResult run(Lbfgs& lbfgs, const Tensor& parameters, const Objective& evaluate) {
    double loss = std::numeric_limits<double>::infinity();
    for (int step = 0; step < 100000; ++step) {
        const StepResult result = lbfgs.step(parameters, 1, evaluate);
        EXPECT_TRUE(std::isfinite(result.loss_after.value()));
        EXPECT_LE(*result.loss_after, loss);
        loss = *result.loss_after;
        if (result.stop != StopReason::none) {
            EXPECT_EQ(evaluate().loss, loss) << "the parameters are not those of the loss";
            return result;
        }
        EXPECT_TRUE(result.message.empty());
    }
    ADD_FAILURE() << "no stop";
    return {};
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(Lbfgs, SolvesRosenbrockInBothTypes) {
    for (const DType dtype : {DType::float64, DType::float32})
        for (const int64_t count : {2, 3, 10, 51}) {
            const Tensor x = problems::rosenbrock_start(count, dtype);
            Lbfgs lbfgs(layout_of(x), {.history_size = 10});
            const StepResult last = run(lbfgs, x, objective<Rosenbrock>(x));
            // The chain has a second minimum, of loss about 4, from 4 variables on.
            const bool is_global = x.to_doubles()[0] > 0;
            EXPECT_LT(*last.loss_after, is_global ? (dtype == DType::float64 ? 1e-16 : 1e-8) : 4.1)
                << name_of(dtype) << " " << count << " " << last.message;
            EXPECT_LT(last.gradient_norm, dtype == DType::float64 ? 1e-4 : 0.1);
        }
}

TEST(Lbfgs, SolvesAnIllConditionedQuadratic) {
    for (const DType dtype : {DType::float64, DType::float32}) {
        const Tensor x = Tensor::zeros({33}, dtype);
        Lbfgs lbfgs(layout_of(x), {.history_size = 40, .tolerance_change = 0});
        const StepResult last = run(lbfgs, x, objective<IllConditioned>(x));
        for (double value : x.to_doubles())
            EXPECT_NEAR(value, 1, dtype == DType::float64 ? 1e-8 : 1e-3);
        EXPECT_LT(lbfgs.iterations(), 2500) << last.message;
    }
}

TEST(Lbfgs, AQuadraticOfTwoVariablesNeedsAFewIterations) {
    const Tensor x = Tensor::zeros({2}, DType::float64);
    Lbfgs lbfgs(layout_of(x), {});
    EXPECT_EQ(run(lbfgs, x, objective<IllConditioned>(x)).stop, StopReason::gradient_tolerance);
    EXPECT_LE(lbfgs.iterations(), 25);
}

// deepxde#1208: float32 after Adam exploded.
TEST(Lbfgs, AfterAdamInFloat32TheLossOnlyFalls) {
    const Tensor x = problems::regression_start(30, DType::float32);
    const Objective evaluate = objective<Regression>(x);
    for (int step = 0; step < 300; ++step) {
        const Evaluation at = evaluate();
        for (int64_t i = 0; i < 30; ++i)  // signed gradient descent: Adam with a short memory
            x.data<float>()[i] -= at.gradient.data<float>()[i] > 0 ? 1e-3f : -1e-3f;
    }
    const double before = evaluate().loss;
    Lbfgs lbfgs(layout_of(x), {.max_iterations = 2000});
    const StepResult last = run(lbfgs, x, evaluate);
    EXPECT_LT(*last.loss_after, before / 10);
    EXPECT_GT(lbfgs.iterations(), 30);
    for (double value : x.to_doubles()) EXPECT_LT(std::abs(value), 1e3);
}

// deepxde#1437: NaN from a random start with step length 1.
TEST(Lbfgs, FromRandomStartsItStaysFinite) {
    for (unsigned seed = 0; seed < 20; ++seed)
        for (const DType dtype : {DType::float32, DType::float64}) {
            std::mt19937 random(seed);
            std::normal_distribution<double> normal(0, seed % 2 ? 1 : 3);
            const Tensor x = problems::filled(17, dtype, [&](int64_t) { return normal(random); });
            const double before = objective<Explosive>(x)().loss;
            Lbfgs lbfgs(layout_of(x), {.initial_step = 100});
            const StepResult last = run(lbfgs, x, objective<Explosive>(x));
            EXPECT_LT(*last.loss_after, before);
            EXPECT_NEAR(*last.loss_after, 17, 1e-3) << last.message;
        }
}

// deepxde#1977: a stop without a reason.
TEST(Lbfgs, EveryStopSaysWhy) {
    const auto stop_of = [](LbfgsConfig config, auto problem) {
        const Tensor x = problems::rosenbrock_start(5);
        Lbfgs lbfgs(layout_of(x), config);
        const StepResult last = run(lbfgs, x, objective<decltype(problem)>(x));
        EXPECT_TRUE(contains(last.message, std::string(name_of(last.stop)))) << last.message;
        EXPECT_TRUE(contains(last.message, fmt::format("{} iterations", lbfgs.iterations())));
        EXPECT_EQ(last.message.find('\n'), std::string::npos);
        // Asked again it changes nothing and says the same.
        const auto before = x.to_doubles();
        const StepResult again = lbfgs.step(x, 1, objective<decltype(problem)>(x));
        EXPECT_EQ(again.stop, last.stop);
        EXPECT_EQ(again.message, last.message);
        EXPECT_EQ(again.evaluations, 0);
        EXPECT_EQ(x.to_doubles(), before);
        return last.stop;
    };
    EXPECT_EQ(stop_of({.tolerance_gradient = 1e-3}, Rosenbrock{}), StopReason::gradient_tolerance);
    EXPECT_EQ(stop_of({.tolerance_gradient = 0, .tolerance_change = 1e-2}, Rosenbrock{}),
              StopReason::change_tolerance);
    EXPECT_EQ(stop_of({.max_iterations = 3}, Rosenbrock{}), StopReason::max_iterations);
    EXPECT_EQ(stop_of({.max_evaluations = 4}, Rosenbrock{}), StopReason::max_evaluations);
    EXPECT_EQ(stop_of({.tolerance_gradient = 0, .tolerance_change = 0}, Explosive{}),
              StopReason::line_search_failed);
}

// deepxde#1819, #364: the options were not honoured.
TEST(Lbfgs, LimitsAreHonouredToTheUnit) {
    for (const int64_t iterations : {1, 37, 1000}) {
        const Tensor x = problems::regression_start(36);
        Lbfgs lbfgs(layout_of(x), {.history_size = 3,
                                   .max_iterations = iterations,
                                   .tolerance_gradient = 0,
                                   .tolerance_change = 0});
        EXPECT_EQ(run(lbfgs, x, objective<Regression>(x)).stop, StopReason::max_iterations);
        EXPECT_EQ(lbfgs.iterations(), iterations);
        EXPECT_LE(lbfgs.pairs().count(), 3);
    }
    for (int64_t allowed = 1; allowed < 40; ++allowed) {
        const Tensor x = problems::rosenbrock_start(9);
        int64_t calls = 0;
        const Objective evaluate = objective<Rosenbrock>(x);
        const Objective counted = [&] {
            ++calls;
            return evaluate();
        };
        Lbfgs lbfgs(layout_of(x), {.max_evaluations = allowed});
        StepResult result;
        int64_t sum = 0;
        while (result.stop == StopReason::none) {
            result = lbfgs.step(x, 1, counted);
            sum += result.evaluations;
        }
        EXPECT_EQ(result.stop, StopReason::max_evaluations);
        EXPECT_EQ(calls, allowed);
        EXPECT_EQ(sum, allowed);
        EXPECT_EQ(evaluate().loss, *result.loss_after);
    }
}

// From an evaluation on, everything is infinite, as when a residual overflows.
TEST(Lbfgs, WhenAllBecomesInfiniteTheLastGoodParametersStay) {
    for (const int64_t from : {1, 2, 10, 25}) {
        const Tensor x = problems::rosenbrock_start(6);
        const Objective evaluate = objective<Rosenbrock>(x);
        int64_t calls = 0;
        const Objective breaking = [&] {
            Evaluation at = evaluate();
            if (++calls >= from) at.loss = std::numeric_limits<double>::infinity();
            return at;
        };
        Lbfgs lbfgs(layout_of(x), {});
        StepResult result;
        auto before = x.to_doubles();
        while (result.stop == StopReason::none) {
            before = x.to_doubles();
            result = lbfgs.step(x, 1, breaking);
        }
        EXPECT_EQ(result.stop, StopReason::non_finite) << result.message;
        EXPECT_EQ(x.to_doubles(), before);
    }
}

TEST(Lbfgs, AWrongGradientEndsInAFailedLineSearchAtTheStart) {
    const Tensor x = problems::rosenbrock_start(4);
    const auto before = x.to_doubles();
    const Objective evaluate = objective<Rosenbrock>(x);
    const Objective wrong = [&] {
        const Evaluation at = evaluate();
        for (int64_t i = 0; i < 4; ++i) at.gradient.data<double>()[i] *= -1;
        return at;
    };
    Lbfgs lbfgs(layout_of(x), {});
    const StepResult result = lbfgs.step(x, 1, wrong);
    EXPECT_EQ(result.stop, StopReason::line_search_failed);
    EXPECT_EQ(result.evaluations, 26);
    EXPECT_EQ(x.to_doubles(), before);
}

TEST(Lbfgs, AFailedLineSearchFallsBackToSteepestDescent) {
    // The pairs come from one function; the next one falls along its own gradient only, so that the
    // quasi-Newton direction meets a wall.
    const Tensor x = problems::rosenbrock_start(2);
    Lbfgs lbfgs(layout_of(x), {.max_line_search = 4});
    for (int step = 0; step < 6; ++step) lbfgs.step(x, 1, objective<Rosenbrock>(x));
    ASSERT_GT(lbfgs.pairs().count(), 2);
    const auto start = x.to_doubles();
    const Objective slot = [&] {
        const auto now = x.to_doubles();
        const double loss = now[1] == start[1] ? now[0] - start[0] : 1;
        return Evaluation{loss, Tensor::from<double>({1, 0}, {2})};
    };
    lbfgs.objective_changed();
    const StepResult result = lbfgs.step(x, 1, slot);
    EXPECT_EQ(result.stop, StopReason::none) << result.message;
    EXPECT_EQ(result.loss, 0);
    EXPECT_LT(*result.loss_after, 0);
    EXPECT_EQ(result.evaluations, 1 + 4 + 4);
    EXPECT_EQ(x.to_doubles()[1], start[1]);
    EXPECT_EQ(lbfgs.pairs().count(), 0);  // dropped; a straight slope gives no new pair
}

TEST(Lbfgs, AnExceptionLeavesEverythingAsBeforeTheStep) {
    const Tensor disturbed = problems::rosenbrock_start(8);
    const Tensor quiet = problems::rosenbrock_start(8);
    Lbfgs a(layout_of(disturbed), {}), b(layout_of(quiet), {});
    const Objective evaluate = objective<Rosenbrock>(disturbed);
    int64_t calls = 0;
    const Objective interrupted = [&] {
        if (++calls % 3 == 0) throw std::runtime_error("interrupted");
        return evaluate();
    };
    int64_t caught = 0;
    for (int step = 0; step < 20; ++step) {
        const auto before = disturbed.to_doubles();
        try {
            a.step(disturbed, 1, interrupted);
        } catch (const std::runtime_error&) {
            ++caught;
            EXPECT_EQ(disturbed.to_doubles(), before);
            a.step(disturbed, 1, evaluate);
        }
        b.step(quiet, 1, objective<Rosenbrock>(quiet));
        ASSERT_EQ(disturbed.to_doubles(), quiet.to_doubles()) << "step " << step;
    }
    EXPECT_GT(caught, 3);
    EXPECT_EQ(a.iterations(), b.iterations());
    EXPECT_EQ(a.evaluations(), b.evaluations());
}

TEST(Lbfgs, AChangedObjectiveIsEvaluatedAnew) {
    const Tensor x = problems::rosenbrock_start(3);
    Lbfgs lbfgs(layout_of(x), {.tolerance_gradient = 1e-6});
    run(lbfgs, x, objective<Rosenbrock>(x));
    const double old_loss = objective<IllConditioned>(x)().loss;
    x.fill(0);
    lbfgs.objective_changed();
    const StepResult first = lbfgs.step(x, 1, objective<IllConditioned>(x));
    EXPECT_NE(first.loss, old_loss);
    EXPECT_EQ(first.loss, 0.5 * (1 + 1e3 + 1e6));
    EXPECT_LT(*run(lbfgs, x, objective<IllConditioned>(x)).loss_after, 1e-9);
}

TEST(Lbfgs, StartingAtTheMinimumStopsAtOnce) {
    const Tensor x = Tensor::ones({5}, DType::float64);
    Lbfgs lbfgs(layout_of(x), {});
    const StepResult result = lbfgs.step(x, 1, objective<Rosenbrock>(x));
    EXPECT_EQ(result.stop, StopReason::gradient_tolerance);
    EXPECT_EQ(result.evaluations, 1);
    EXPECT_EQ(x.to_doubles(), std::vector<double>(5, 1.0));
}

TEST(Lbfgs, RejectsSettingsOutOfRange) {
    const LbfgsConfig wrong[] = {{.history_size = 0},
                                 {.max_iterations = 0},
                                 {.max_evaluations = 0},
                                 {.tolerance_gradient = -1},
                                 {.tolerance_change = -1},
                                 {.initial_step = 0},
                                 {.c1 = 0.95},
                                 {.c2 = 1},
                                 {.max_line_search = 0},
                                 {.c1 = std::nan("")}};
    for (const LbfgsConfig& config : wrong) {
        try {
            Lbfgs lbfgs(ParameterLayout::single(3, DType::float64), config);
            ADD_FAILURE() << "accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::bad_config) << error.what();
        }
    }
}

// The classical two loops, vector by vector, in double.
std::vector<double> two_loops(const std::vector<std::vector<double>>& s,
                              const std::vector<std::vector<double>>& y, std::vector<double> q) {
    const auto dot = [](const auto& a, const auto& b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
        return sum;
    };
    const auto add = [](auto& a, double factor, const auto& b) {
        for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
    };
    std::vector<double> alpha(s.size());
    for (std::size_t k = s.size(); k-- > 0;) {
        alpha[k] = dot(s[k], q) / dot(s[k], y[k]);
        add(q, -alpha[k], y[k]);
    }
    const double scale = dot(s.back(), y.back()) / dot(y.back(), y.back());
    for (double& value : q) value *= -scale;
    for (std::size_t k = 0; k < s.size(); ++k)
        add(q, -alpha[k] - dot(y[k], q) / dot(s[k], y[k]), s[k]);
    return q;
}

TEST(CurvaturePairs, DirectionIsThatOfTheTwoLoopsAlsoAfterTheRingIsFull) {
    constexpr int64_t n = 5003, capacity = 4;
    for (const DType dtype : {DType::float64, DType::float32}) {
        CurvaturePairs pairs(ParameterLayout::single(n, dtype), capacity);
        std::vector<std::vector<double>> s, y;
        std::mt19937 random(3);
        std::normal_distribution<double> normal;
        const auto draw = [&](double deviation) {
            return problems::filled(n, dtype, [&](int64_t) { return deviation * normal(random); });
        };
        for (int k = 0; k < 11; ++k) {
            const Tensor step = draw(1), change = draw(0.5), gradient = draw(1);
            const std::vector<double> steps = step.to_doubles();
            dispatch_floating("test", dtype, [&]<class T>(T) {
                for (int64_t i = 0; i < n; ++i)
                    change.data<T>()[i] +=
                        static_cast<T>((1 + i % 7) * steps[static_cast<std::size_t>(i)]);
            });
            pairs.add({step, change, gradient, 1});
            s.push_back(steps);
            y.push_back(change.to_doubles());
            if (s.size() > capacity) s.erase(s.begin()), y.erase(y.begin());
            if (k == 6) continue;  // two pairs between two directions
            const std::vector<double> expected = two_loops(s, y, gradient.to_doubles());
            const std::vector<double> found = pairs.descent_direction(gradient).to_doubles();
            for (std::size_t i = 0; i < expected.size(); ++i)
                ASSERT_NEAR(found[i], expected[i], 1e-12) << k << " " << i;
            // Loaded, it goes on with the same bits.
            CurvaturePairs loaded(ParameterLayout::single(n, dtype), capacity);
            loaded.load(pairs.state());
            EXPECT_EQ(loaded.descent_direction(gradient).to_doubles(), found);
        }
    }
}

}  // namespace
}  // namespace ralimp
