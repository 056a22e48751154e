// The two kinds of loss: their values, alone and in the tasks, and how configs name them.
#include "trainers/loss_kind.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/operations.h"
#include "data/synthetic_picture.h"
#include "tests/temporary_folder.h"
#include "tests/trainers/training_testing.h"
#include "trainers/config.h"
#include "trainers/objective.h"

namespace ralimp {
namespace {

// The task of a config, its network the same number everywhere: all weights and biases are 0 but
// the last bias.
std::unique_ptr<Task> constant_task(const std::string& config, double value) {
    auto task = make_task(read_config_text<RunConfig>(config));
    Tensor last_bias;
    for (auto& [name, tensor] : named_tensors(task->model())) {
        tensor.fill(0);
        if (name.ends_with(".bias")) last_bias = tensor;
    }
    last_bias.fill(value);
    return task;
}

TEST(LossKind, IsTheMeanOfSquaresOrOfAbsoluteValues) {
    const Tensor difference = Tensor::from(std::vector<double>{3, -4, 0, 1}, {2, 2});
    EXPECT_EQ(mean_error(LossKind::mse, difference).item(), 26.0 / 4);
    EXPECT_EQ(mean_error(LossKind::l1, difference).item(), 8.0 / 4);
}

// 1600 pixels are two parts of different sizes: each counts by its pixels.
TEST(LossKind, OfAConstantImageIsItsDistanceFromThePicture) {
    constexpr double value = 0.25;
    double squares = 0, absolutes = 0;
    const std::vector<double> picture = synthetic_picture(40, 40).pixels.to_doubles();
    for (const double pixel : picture) {
        const double difference = value - (2 * pixel - 1);
        squares += difference * difference;
        absolutes += std::abs(difference);
    }
    const auto count = static_cast<double>(picture.size());
    for (const auto& [kind, expected] :
         {std::pair{"mse", squares / count}, {"l1", absolutes / count}}) {
        const auto task = constant_task(
            fmt::format("kind: siren\nprecision: float64\ndata: {{size: [40, 40]}}\n"
                        "network: {{hidden_layers: 2, width: 64}}\nloss: {{kind: {}}}\n",
                        kind),
            value);
        ASSERT_GT(task->parts(), 1);
        const NamedValues loss = loss_values(*task);
        ASSERT_EQ(loss.size(), 2u);
        EXPECT_EQ(loss[0].first, "loss");
        EXPECT_EQ(loss[1].first, kind);
        EXPECT_NEAR(loss[0].second, expected, 1e-13);
        EXPECT_EQ(loss[1].second, loss[0].second);
    }
}

// A constant solves Burgers' equation; its boundary values should be 0.
TEST(LossKind, HoldsForEveryTermOfAPinn) {
    for (const auto& [kind, boundary] : {std::pair{"mse", 0.0625}, {"l1", 0.25}}) {
        const auto task = constant_task(
            fmt::format("kind: pinn\nprecision: float64\nnetwork: {{hidden_layers: 2}}\n"
                        "points: {{residual: 50}}\nloss: {{kind: {}}}\n",
                        kind),
            -0.25);
        const NamedValues loss = loss_values(*task);
        ASSERT_EQ(loss.size(), 4u);
        EXPECT_EQ(loss[1], (std::pair<std::string, double>{"residual", 0.0}));
        EXPECT_EQ(loss[3].first, "boundary");
        EXPECT_NEAR(loss[3].second, boundary, 1e-15);
        EXPECT_NEAR(loss[0].second, loss[2].second + boundary, 1e-14);
    }
}

TEST(LossKind, NamesTheColumnOfASiren) {
    const NoPrograms no_programs;
    for (const std::string kind : {"mse", "l1"}) {
        const TemporaryFolder folder;
        const Trained trained =
            train_in(folder.path() / "run",
                     fmt::format("kind: siren\ndata: {{size: [6, 5]}}\nloss: {{kind: {}}}\n"
                                 "network: {{hidden_layers: 2, width: 8}}\n"
                                 "training: {{phases: [{{steps: 30, optimizer: {{kind: adam, "
                                 "learning_rate: 1e-3}}}}], log_every: 1}}\n",
                                 kind));
        EXPECT_EQ(trained.error, "");
        EXPECT_EQ(trained.columns,
                  (std::vector<std::string>{"step", "loss", kind, "learning_rate", "gradient_norm",
                                            "psnr", "max_error"}));
        const std::vector<double> losses = trained.column(kind);
        EXPECT_EQ(losses, trained.column("loss"));
        EXPECT_LT(losses.back(), 0.8 * losses.front());
    }
}

TEST(LossKind, AnotherNameIsAnErrorOfTheConfig) {
    for (const char* task : {"siren", "pinn"}) {
        try {
            read_config_text<RunConfig>(fmt::format("kind: {}\nloss: {{kind: l2}}\n", task),
                                        "run.yaml");
            ADD_FAILURE() << "accepted for " << task;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::bad_config);
            EXPECT_STREQ(error.what(),
                         "run.yaml:2:14: loss.kind = l2 must be mse | l1; did you mean l1?");
        }
    }
}

}  // namespace
}  // namespace ralimp
