// The optimizers against trajectories of PyTorch; see tests/golden/make_optimizer_golden.py.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "optim/make_optimizer.h"
#include "tests/optim/problems.h"

namespace ralimp {
namespace {

using Trajectory = std::map<int64_t, std::vector<double>>;

Trajectory golden(const std::string& name) {
    std::ifstream file(SOURCE_DIR "/tests/golden/optimizers.csv");
    Trajectory trajectory;
    for (std::string line; std::getline(file, line);) {
        std::istringstream cells(line);
        std::string cell;
        std::getline(cells, cell, ',');
        if (cell != name) continue;
        std::getline(cells, cell, ',');
        std::vector<double>& values = trajectory[std::stoll(cell)];
        while (std::getline(cells, cell, ',')) values.push_back(std::stod(cell));
    }
    return trajectory;
}

void expect_trajectory(const std::string& name, Optimizer& optimizer, double learning_rate,
                       const Tensor& parameters, const Objective& objective, double tolerance) {
    const Trajectory expected = golden(name);
    ASSERT_GE(expected.size(), 5u) << name;
    for (int64_t step = 0; step <= expected.rbegin()->first; ++step) {
        if (const auto row = expected.find(step); row != expected.end()) {
            const std::vector<double> values = parameters.to_doubles();
            ASSERT_EQ(values.size(), row->second.size()) << name;
            for (size_t i = 0; i < values.size(); ++i)
                ASSERT_NEAR(values[i], row->second[i], tolerance)
                    << name << " step " << step << " parameter " << i;
        }
        const StepResult result = optimizer.step(parameters, learning_rate, objective);
        ASSERT_EQ(result.stop, StopReason::none) << result.message;
    }
}

struct Case {
    const char* name;
    OptimizerConfig config;
};

class Golden : public testing::TestWithParam<Case> {};

TEST_P(Golden, FollowsPyTorch) {
    for (const DType dtype : {DType::float64, DType::float32}) {
        const Tensor parameters = problems::rosenbrock_start(7, dtype);
        const bool is_adamw = std::holds_alternative<AdamWConfig>(GetParam().config);
        const ParameterLayout layout({{.name = "a", .count = 3},
                                      {.name = "b",
                                       .offset = 3,
                                       .count = 4,
                                       .decay = !is_adamw,
                                       .learning_rate_scale = is_adamw ? 0.5 : 1}},
                                     dtype);
        const auto optimizer = make_optimizer(GetParam().config, layout);
        expect_trajectory(GetParam().name + std::string(dtype == DType::float64 ? "64" : "32"),
                          *optimizer, learning_rate_of(GetParam().config), parameters,
                          problems::objective<problems::Rosenbrock>(parameters),
                          dtype == DType::float64 ? 1e-11 : 3e-6);
    }
}

INSTANTIATE_TEST_SUITE_P(
    FirstOrder, Golden,
    testing::Values(
        Case{"sgd", SgdConfig{.learning_rate = 1e-4}},
        Case{"sgd_momentum",
             SgdConfig{
                 .learning_rate = 1e-4, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.1}},
        Case{"sgd_nesterov", SgdConfig{.learning_rate = 1e-4, .momentum = 0.9, .nesterov = true}},
        Case{"adam", AdamConfig{.learning_rate = 2e-2,
                                .beta1 = 0.8,
                                .beta2 = 0.95,
                                .epsilon = 1e-6,
                                .weight_decay = 0.05}},
        Case{"adamw", AdamWConfig{.learning_rate = 2e-2, .weight_decay = 0.3}},
        Case{"clip_norm", SgdConfig{.learning_rate = 1e-3, .clipping = {.norm = 20.0}}},
        Case{"clip_value", SgdConfig{.learning_rate = 1e-3, .clipping = {.value = 5.0}}}),
    [](const auto& test) { return test.param.name; });

TEST(GoldenSoap, FollowsThePaperWrittenInPyTorch) {
    const std::pair<const char*, SoapConfig> cases[] = {
        {"soap", {.learning_rate = 3e-2, .beta1 = 0.9, .precondition_every = 3, .max_side = 8}},
        {"soap_settings",
         {.learning_rate = 2e-2,
          .beta1 = 0.8,
          .beta2 = 0.99,
          .epsilon = 1e-4,
          .weight_decay = 0.3,
          .shampoo_beta = 0.7,
          .precondition_every = 4,
          .max_side = 4,
          .clipping = {.norm = 6.0, .value = 1.1}}}};
    for (const auto& [name, config] : cases) {
        std::vector<ParameterGroup> groups;
        int64_t offset = 0;
        for (const Shape& shape :
             std::vector<Shape>{{5, 4}, {7}, {3, 4}, {2, 9}, {1, 1}, {4, 4}, {2, 2, 2}}) {
            groups.push_back({.name = fmt::format("group{}", groups.size()),
                              .offset = offset,
                              .count = shape.elements(),
                              .decay = shape.dims() == 2,
                              .shape = shape});
            offset += shape.elements();
        }
        const Tensor x = Tensor::zeros({offset}, DType::float64);
        const Tensor gradient = Tensor::empty({offset}, DType::float64);
        const Objective objective = [&, evaluations = 0.0]() mutable {
            ++evaluations;
            for (int64_t i = 0; i < x.elements(); ++i) {
                const double target = static_cast<double>(5 * i % 13 - 6) / 4 +
                                      std::sin(evaluations * static_cast<double>(i + 1));
                gradient.data<double>()[i] =
                    (0.5 + static_cast<double>(7 * i % 11) / 5) * (x.data<double>()[i] - target);
            }
            return Evaluation{1, gradient};
        };
        Soap soap(ParameterLayout(groups, DType::float64), config);
        expect_trajectory(name, soap, config.learning_rate, x, objective, 1e-9);
    }
}

TEST(GoldenLbfgs, FollowsPyTorchOnRosenbrock) {
    const Tensor x = problems::rosenbrock_start(7);
    Lbfgs lbfgs(ParameterLayout::single(7, DType::float64),
                {.history_size = 5, .tolerance_gradient = 0, .tolerance_change = 0});
    expect_trajectory("lbfgs_rosenbrock", lbfgs, 1, x, problems::objective<problems::Rosenbrock>(x),
                      1e-7);
}

TEST(GoldenLbfgs, FollowsPyTorchOnANetwork) {
    const Tensor x = problems::regression_start(15);
    Lbfgs lbfgs(ParameterLayout::single(15, DType::float64),
                {.history_size = 10, .tolerance_gradient = 0, .tolerance_change = 0});
    expect_trajectory("lbfgs_regression", lbfgs, 1, x, problems::objective<problems::Regression>(x),
                      1e-7);
}

}  // namespace
}  // namespace ralimp
