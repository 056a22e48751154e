// Saving, loading and threads: the same bits.
#include <gtest/gtest.h>

#include <cstring>

#include "core/parallel.h"
#include "optim/make_optimizer.h"
#include "tests/error_of.h"
#include "tests/optim/problems.h"

namespace ralimp {
namespace {

const std::vector<OptimizerConfig> every_optimizer = {
    SgdConfig{.learning_rate = 1e-4},
    SgdConfig{.learning_rate = 1e-4, .momentum = 0.9, .dampening = 0.2, .weight_decay = 0.01},
    SgdConfig{.learning_rate = 1e-4, .momentum = 0.9, .nesterov = true},
    AdamConfig{.learning_rate = 1e-2, .weight_decay = 0.1},
    AdamWConfig{.learning_rate = 1e-2, .clipping = {.norm = 10.0}},
    SoapConfig{.learning_rate = 1e-2, .weight_decay = 0.1, .precondition_every = 3},
    SoapConfig{.learning_rate = 1e-2,
               .shampoo_beta = 0.8,
               .precondition_every = 2,
               .max_side = 3,
               .clipping = {.norm = 10.0}},
    LbfgsConfig{.history_size = 4},
    LbfgsConfig{},
    BfgsConfig{},
    BfgsConfig{.update = InverseHessianUpdate::bfgs},
    BfgsConfig{.update = InverseHessianUpdate::self_scaled_bfgs}};

// As a checkpoint keeps it.
OptimizerState saved(const Optimizer& optimizer) {
    OptimizerState state = optimizer.state();
    for (auto& entry : state.tensors) entry.second = entry.second.clone();
    return state;
}

void expect_same_bits(const Tensor& a, const Tensor& b) {
    ASSERT_EQ(a.shape(), b.shape());
    EXPECT_EQ(
        std::memcmp(a.data(), b.data(), static_cast<size_t>(a.elements()) * bytes_of(a.dtype())),
        0);
}

void expect_same_state(const Optimizer& a, const Optimizer& b) {
    const OptimizerState left = a.state(), right = b.state();
    ASSERT_EQ(left.tensors.size(), right.tensors.size());
    for (size_t i = 0; i < left.tensors.size(); ++i) {
        SCOPED_TRACE(left.tensors[i].first);
        expect_same_bits(left.tensors[i].second, right.tensors[i].second);
    }
    EXPECT_EQ(left.scalars, right.scalars);
}

template <class Problem>
void steps(Optimizer& optimizer, double rate, const Tensor& parameters, int count) {
    for (int step = 0; step < count; ++step)
        optimizer.step(parameters, rate, problems::objective<Problem>(parameters));
}

TEST(Resume, GoesOnBitForBitTwiceInARow) {
    for (const OptimizerConfig& config : every_optimizer)
        for (const DType dtype : {DType::float32, DType::float64}) {
            const ParameterLayout layout({{.name = "a", .count = 5},
                                          {.name = "b",
                                           .offset = 5,
                                           .count = 8,
                                           .decay = false,
                                           .learning_rate_scale = 0.5,
                                           .shape = {4, 2}}},
                                         dtype);
            const double rate = learning_rate_of(config);
            const Tensor x = problems::rosenbrock_start(13, dtype);
            const auto unbroken = make_optimizer(config, layout);
            SCOPED_TRACE(testing::Message() << unbroken->name() << " " << name_of(dtype));
            steps<problems::Rosenbrock>(*unbroken, rate, x, 7 + 11 + 13);

            Tensor y = problems::rosenbrock_start(13, dtype);
            auto part = make_optimizer(config, layout);
            steps<problems::Rosenbrock>(*part, rate, y, 7);
            for (const int more : {11, 13}) {
                const OptimizerState state = saved(*part);
                y = y.clone();
                part = make_optimizer(config, layout);
                part->load(state);
                steps<problems::Rosenbrock>(*part, rate, y, more);
            }
            expect_same_bits(x, y);
            expect_same_state(*unbroken, *part);
        }
}

TEST(Resume, AStopIsKeptAndALimitIsAskedAgain) {
    const ParameterLayout layout = ParameterLayout::single(4, DType::float64);
    const auto stop_after_reload = [&](LbfgsConfig before, LbfgsConfig after) {
        const Tensor x = problems::rosenbrock_start(4);
        const Objective evaluate = problems::objective<problems::Rosenbrock>(x);
        Lbfgs first(layout, before), second(layout, after);
        while (first.step(x, 1, evaluate).stop == StopReason::none) continue;
        second.load(saved(first));
        return second.step(x, 1, evaluate).stop;
    };
    EXPECT_EQ(stop_after_reload({.max_iterations = 5}, {.max_iterations = 5}),
              StopReason::max_iterations);
    EXPECT_EQ(stop_after_reload({.max_iterations = 5}, {.max_iterations = 50}), StopReason::none);
    EXPECT_EQ(stop_after_reload({.tolerance_change = 0.1}, {.tolerance_change = 0.1}),
              StopReason::change_tolerance);
    EXPECT_EQ(stop_after_reload({.tolerance_gradient = 1}, {.tolerance_gradient = 1}),
              StopReason::gradient_tolerance);
}

TEST(Resume, AStateThatDoesNotFitIsListedWholeAndNothingChanges) {
    Adam adam(ParameterLayout::single(3, DType::float32), AdamConfig{});
    OptimizerState wrong = saved(adam);
    wrong.tensors[0].first = "momentum";
    wrong.tensors[1].second = Tensor::ones({4});
    wrong.scalars = {{"epochs", 3}};
    const Thrown thrown = error_of([&] { adam.load(wrong); });
    EXPECT_EQ(thrown.code, ExitCode::bad_input);
    EXPECT_EQ(
        thrown.text,
        "optimizer adam: the saved state does not fit; missing first_moment; unexpected "
        "momentum; missing steps; unexpected epochs; second_moment is float32 [4], not float32 "
        "[3]");
    EXPECT_EQ(tensor_of(adam.state(), "second_moment").to_doubles(), std::vector<double>(3, 0));

    // Another optimizer's, another type's, another history's.
    Lbfgs lbfgs(ParameterLayout::single(3, DType::float32), {.history_size = 2});
    EXPECT_EQ(error_of([&] { lbfgs.load(saved(adam)); }).code, ExitCode::bad_input);
    const Adam other(ParameterLayout::single(3, DType::float64), AdamConfig{});
    EXPECT_EQ(error_of([&] { adam.load(saved(other)); }).code, ExitCode::bad_input);
    const Lbfgs longer(ParameterLayout::single(3, DType::float32), {.history_size = 3});
    EXPECT_EQ(error_of([&] { lbfgs.load(saved(longer)); }).code, ExitCode::bad_input);

    for (const double steps : {-1.0, 0.5, std::nan("")}) {
        OptimizerState damaged = saved(adam);
        damaged.scalars[0].second = steps;
        damaged.tensors[0].second.fill(7);
        EXPECT_EQ(error_of([&] { adam.load(damaged); }).code, ExitCode::bad_input);
        EXPECT_EQ(tensor_of(adam.state(), "first_moment").to_doubles(), std::vector<double>(3, 0));
    }
    for (const char* name : {"oldest_pair", "pairs", "stop", "evaluated", "iterations"}) {
        OptimizerState damaged = saved(lbfgs);
        for (auto& entry : damaged.scalars)
            if (entry.first == name) entry.second = 1e18;
        EXPECT_EQ(error_of([&] { lbfgs.load(damaged); }).code, ExitCode::bad_input) << name;
    }
}

TEST(Threads, OneAndTwoGiveTheSameBits) {
    const Shape shape{93, 177};  // more than one chunk, and an odd rest
    const int64_t count = shape.elements();
    const auto layout = [&](DType dtype) {
        return ParameterLayout({{.name = "w", .count = count, .shape = shape}}, dtype);
    };
    const int threads = thread_count();
    const OptimizerConfig configs[] = {every_optimizer[1], every_optimizer[4], every_optimizer[6],
                                       every_optimizer[7]};
    for (const OptimizerConfig& config : configs)
        for (const DType dtype : {DType::float32, DType::float64}) {
            Tensor results[2];
            for (const int used : {1, 2}) {
                set_thread_count(used);
                const auto optimizer = make_optimizer(config, layout(dtype));
                const Tensor x = problems::rosenbrock_start(count, dtype);
                const auto before = x.to_doubles();
                steps<problems::Rosenbrock>(*optimizer, learning_rate_of(config), x, 4);
                EXPECT_NE(x.to_doubles(), before);
                results[used - 1] = x;
            }
            SCOPED_TRACE(testing::Message() << config.index() << " " << name_of(dtype));
            expect_same_bits(results[0], results[1]);
        }
    set_thread_count(threads);
}

}  // namespace
}  // namespace ralimp
