#include <gtest/gtest.h>

#include <limits>

#include "optim/make_optimizer.h"
#include "tests/error_of.h"
#include "tests/optim/problems.h"

namespace ralimp {
namespace {

using problems::objective;
using problems::Rosenbrock;

Objective fixed(double loss, const Tensor& gradient) {
    return [=] { return Evaluation{loss, gradient}; };
}

TEST(FirstOrder, ConvergesOnRosenbrockAndOnAnIllConditionedQuadratic) {
    for (const DType dtype : {DType::float64, DType::float32})
        for (const OptimizerConfig& config :
             {OptimizerConfig(SgdConfig{.learning_rate = 2e-4, .momentum = 0.98}),
              OptimizerConfig(AdamConfig{.learning_rate = 1e-2}),
              OptimizerConfig(AdamWConfig{.learning_rate = 1e-2, .weight_decay = 0})}) {
            const Tensor x = problems::rosenbrock_start(2, dtype);
            const auto optimizer = make_optimizer(config, ParameterLayout::single(2, dtype));
            for (int step = 0; step < 10000; ++step)
                optimizer->step(x, learning_rate_of(config), objective<Rosenbrock>(x));
            EXPECT_LT(objective<Rosenbrock>(x)().loss, 1e-6) << optimizer->name();

            // Adam does not mind the scale of each variable.
            if (std::holds_alternative<SgdConfig>(config)) continue;
            const Tensor y = Tensor::zeros({9}, dtype);
            const auto other = make_optimizer(config, ParameterLayout::single(9, dtype));
            for (int step = 0; step < 3000; ++step)
                other->step(y, 1e-2, objective<problems::IllConditioned>(y));
            for (double value : y.to_doubles()) EXPECT_NEAR(value, 1, 1e-3);
        }
}

// Adam's first step is learning_rate * sign(g) whatever the size of g (epsilon aside).
TEST(FirstOrder, AdamsFirstStepHasTheSizeOfTheLearningRate) {
    const Tensor x = Tensor::zeros({4}, DType::float64);
    Adam adam(ParameterLayout::single(4, DType::float64), AdamConfig{.epsilon = 0});
    adam.step(x, 0.25, fixed(1, Tensor::from<double>({1e-8, -3, 1e20, -1e-3}, {4})));
    const auto values = x.to_doubles();
    const double expected[] = {-0.25, 0.25, -0.25, 0.25};
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(values[i], expected[i], 1e-14);
}

TEST(FirstOrder, DecayAndScalesHoldPerGroup) {
    const ParameterLayout layout(
        {{.name = "matrix", .count = 2},
         {.name = "bias", .offset = 2, .count = 1, .decay = false},
         {.name = "frozen", .offset = 3, .count = 2, .decay = true, .learning_rate_scale = 0},
         {.name = "slow", .offset = 5, .count = 1, .decay = false, .learning_rate_scale = 0.5}},
        DType::float64);
    const Tensor gradient = Tensor::full({6}, 2, DType::float64);
    const Tensor x = Tensor::ones({6}, DType::float64);
    Sgd sgd(layout, {.weight_decay = 0.5});
    sgd.step(x, 0.1, fixed(1, gradient));
    EXPECT_EQ(x.to_doubles(), (std::vector<double>{0.75, 0.75, 0.8, 1, 1, 0.9}));

    // Decoupled decay shrinks a weight without a gradient; epsilon keeps 0 / 0 away.
    const Tensor y = Tensor::ones({6}, DType::float64);
    Adam adamw(layout, AdamWConfig{.weight_decay = 0.5});
    adamw.step(y, 0.1, fixed(1, Tensor::zeros({6}, DType::float64)));
    EXPECT_EQ(y.to_doubles(), (std::vector<double>{0.95, 0.95, 1, 1, 1, 1}));
}

TEST(FirstOrder, ClippingByNormIsOverAllGroupsTogether) {
    const Tensor gradient = Tensor::from<double>({3, 0, 0, 4}, {4});
    const ParameterLayout layout(
        {{.name = "a", .count = 2}, {.name = "b", .offset = 2, .count = 2, .decay = false}},
        DType::float64);
    const auto after = [&](ClippingConfig clipping) {
        const Tensor x = Tensor::zeros({4}, DType::float64);
        Sgd sgd(layout, {.clipping = clipping});
        EXPECT_EQ(sgd.step(x, 1, fixed(0, gradient)).gradient_norm, 5);
        return x.to_doubles();
    };
    EXPECT_EQ(after({}), (std::vector<double>{-3, 0, 0, -4}));
    EXPECT_EQ(after({.norm = 5.0}), (std::vector<double>{-3, 0, 0, -4}));
    EXPECT_EQ(after({.norm = 2.5}), (std::vector<double>{-1.5, 0, 0, -2}));
    EXPECT_EQ(after({.value = 3.5}), (std::vector<double>{-3, 0, 0, -3.5}));
    EXPECT_EQ(after({.norm = 2.5, .value = 1.75}), (std::vector<double>{-1.5, 0, 0, -1.75}));
}

TEST(FirstOrder, TheNormOfLargeFloat32GradientsDoesNotOverflow) {
    const Tensor gradient = Tensor::full({3}, 1e38);
    EXPECT_NEAR(gradient_norm(gradient), std::sqrt(3.0) * 1e38, 1e31);
    EXPECT_EQ(gradient_norm(Tensor::empty({0})), 0);
}

TEST(FirstOrder, WhatIsNotFiniteChangesNothing) {
    const double infinity = std::numeric_limits<double>::infinity();
    for (const OptimizerConfig& config :
         {OptimizerConfig(SgdConfig{.momentum = 0.9}), OptimizerConfig(AdamConfig{}),
          OptimizerConfig(AdamWConfig{.clipping = {.norm = 1.0, .value = 1.0}}),
          OptimizerConfig(SoapConfig{.precondition_every = 1})}) {
        const auto optimizer =
            make_optimizer(config, ParameterLayout({{.name = "w", .count = 4, .shape = {2, 2}},
                                                    {.name = "b", .offset = 4, .count = 1}},
                                                   DType::float32));
        const Tensor x = Tensor::ones({5});
        optimizer->step(x, 0.1, fixed(1, Tensor::ones({5})));
        const auto before = x.to_doubles();
        std::vector<std::vector<double>> state;
        for (const auto& entry : optimizer->state().tensors)
            state.push_back(entry.second.to_doubles());

        const auto expect_refused = [&](double loss, float component) {
            const StepResult result = optimizer->step(
                x, 0.1, fixed(loss, Tensor::from<float>({1, 2, component, 4, 5}, {5})));
            EXPECT_EQ(result.stop, StopReason::non_finite);
            EXPECT_NE(result.message.find("non-finite"), std::string::npos) << result.message;
            EXPECT_EQ(x.to_doubles(), before);
            for (size_t i = 0; i < state.size(); ++i)
                EXPECT_EQ(optimizer->state().tensors[i].second.to_doubles(), state[i]);
            EXPECT_EQ(scalar_of(optimizer->state(), "steps"), 1);
        };
        expect_refused(std::nan(""), 3);
        expect_refused(infinity, 3);
        expect_refused(1, std::nanf(""));
        expect_refused(1, -std::numeric_limits<float>::infinity());
        // And it goes on from there.
        EXPECT_EQ(optimizer->step(x, 0.1, fixed(1, Tensor::ones({5}))).stop, StopReason::none);
    }
}

TEST(FirstOrder, WrongBuffersAreNamed) {
    Sgd sgd(ParameterLayout::single(4, DType::float32), {});
    const Tensor x = Tensor::zeros({4});
    const auto text = [&](const Tensor& parameters, const Tensor& gradient) {
        return error_of([&] { sgd.step(parameters, 0.1, fixed(1, gradient)); }).text;
    };
    EXPECT_EQ(
        text(Tensor::zeros({5}), x),
        "optimizer step: the parameters must be a contiguous float32 tensor [4] on cpu, not a "
        "float32 tensor [5] on cpu");
    EXPECT_EQ(text(x, Tensor::zeros({4}, DType::float64)),
              "optimizer step: the gradient must be a contiguous float32 tensor [4] on cpu, not a "
              "float64 tensor [4] on cpu");
    EXPECT_NE(text(x, Tensor()).find("undefined"), std::string::npos);
    EXPECT_NE(text(x, Tensor::zeros({8}).strided_view({4}, {2})).find("strided"),
              std::string::npos);
    for (const double rate : {-1.0, std::nan("")})
        EXPECT_THROW(sgd.step(x, rate, fixed(1, x)), Error);
}

TEST(FirstOrder, BadSettingsAreBadConfigs) {
    const OptimizerConfig wrong[] = {
        SgdConfig{.momentum = 1},
        SgdConfig{.momentum = 0.5, .dampening = 2},
        SgdConfig{.weight_decay = -1},
        SgdConfig{.nesterov = true},
        SgdConfig{.momentum = 0.9, .dampening = 0.1, .nesterov = true},
        AdamConfig{.beta1 = 1},
        AdamConfig{.beta2 = -0.1},
        AdamConfig{.epsilon = -1},
        AdamWConfig{.weight_decay = std::nan("")},
        SoapConfig{.beta1 = -0.5},
        SoapConfig{.beta2 = std::nan("")},
        SoapConfig{.epsilon = -1},
        SoapConfig{.weight_decay = -1},
        SoapConfig{.shampoo_beta = 1},
        SoapConfig{.precondition_every = 0},
        SoapConfig{.max_side = 0},
        SoapConfig{.clipping = {.norm = -1.0}},
        AdamConfig{.clipping = {.norm = 0.0}},
        AdamConfig{.clipping = {.value = std::numeric_limits<double>::infinity()}}};
    for (const OptimizerConfig& config : wrong)
        EXPECT_EQ(error_of([&] {
                      make_optimizer(config, ParameterLayout::single(1, DType::float32));
                  }).code,
                  ExitCode::bad_config);
}

TEST(ParameterLayout, ListsEveryFault) {
    const std::string text =
        error_of([] {
            ParameterLayout({{.name = "a", .count = 2},
                             {.name = "gap", .offset = 3, .count = 1},
                             {.name = "overlap", .offset = 3, .count = 2},
                             {.name = "wild",
                              .offset = 5,
                              .count = 1,
                              .decay = true,
                              .learning_rate_scale = -1},
                             {.name = "misshaped", .offset = 6, .count = 6, .shape = {2, 4}}},
                            DType::float32);
        }).text;
    for (const char* name : {"'gap'", "'overlap'", "'wild'", "'misshaped'"})
        EXPECT_NE(text.find(name), std::string::npos) << text;
    EXPECT_THROW(ParameterLayout::single(3, DType::int64), Error);
}

TEST(ParameterLayout, MergesNeighboursThatAreTreatedAlike) {
    const ParameterLayout layout({{.name = "a", .count = 2, .shape = {2, 1}},
                                  {.name = "b", .offset = 2, .count = 3},
                                  {.name = "c", .offset = 5, .count = 1, .decay = false},
                                  {.name = "d", .offset = 6, .count = 1}},
                                 DType::float32);
    ASSERT_EQ(layout.ranges().size(), 3u);
    EXPECT_EQ(layout.ranges()[0].count, 5);
    EXPECT_EQ(layout.ranges()[2].offset, 6);
    EXPECT_TRUE(layout.ranges()[0].shape.empty());
    EXPECT_EQ(layout.groups().size(), 4u);
    EXPECT_EQ(layout.count(), 7);
    const auto ranges =
        layout.ranges_but([](const ParameterGroup& group) { return group.name == "a"; });
    ASSERT_EQ(ranges.size(), 4u);
    EXPECT_EQ(ranges[0].shape, (Shape{2, 1}));
    EXPECT_EQ(ranges[1].count, 3);
}

}  // namespace
}  // namespace ralimp
