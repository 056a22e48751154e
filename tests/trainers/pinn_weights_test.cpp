// Weights that follow the training, against the same quantities from plain operations on all points
// at once; what they do to a training; what is refused.
#include "trainers/pinn_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "autograd/operations.h"
#include "core/parallel.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"
#include "tests/trainers/training_testing.h"
#include "trainers/config.h"
#include "trainers/objective.h"
#include "trainers/pinn.h"

namespace ralimp {
namespace {

PinnConfig config_of(const std::string& text) {
    return std::get<PinnConfig>(read_config_text<RunConfig>("kind: pinn\n" + text));
}

double value(const NamedValues& values, const std::string& name) {
    for (const auto& [known, number] : values)
        if (known == name) return number;
    ADD_FAILURE() << "no " << name;
    return NAN;
}

// Burgers with few points, and the same terms written down without the task's help.
struct Burgers {
    explicit Burgers(const std::string& loss, int64_t residual_points = 7, int64_t width = 5,
                     const std::string& more = "")
        : residual_count(residual_points),
          task(
              config_of(fmt::format("precision: float64\nnetwork: {{hidden_layers: 2, width: {}}}\n"
                                    "points: {{residual: {}, initial: 3, boundary: 4{}}}\n"
                                    "loss: {}\n",
                                    width, residual_points, more, loss))),
          parameters(task.model()) {}

    // What should be 0, [rows, 1] each.
    std::vector<Tensor> differences() {
        const Tensor all = task.calibration_batch();
        const Tensor inside = slice(all, 0, 0, residual_count);
        const Tensor start = slice(all, 0, residual_count, residual_count + 3);
        const auto plan = JetPlan::make({{0}, {1}, {0, 0}});
        const Jet u = task.model().forward(Jet::input(inside, plan));
        const auto channel = [&](std::vector<int> axes) {
            return select(u.channels(), 0, plan->channel(std::move(axes)));
        };
        const Tensor value = select(u.channels(), 0, 0);
        const Tensor residual =
            channel({1}) + value * channel({0}) - channel({0, 0}) * (0.01 / std::numbers::pi);
        const Tensor initial =
            task.model().forward(start) + sin(slice(start, 1, 0, 1) * std::numbers::pi);
        const Tensor boundary =
            task.model().forward(slice(all, 0, residual_count + 3, all.size(0)));
        return {residual, initial, boundary};
    }
    std::vector<double> times() {
        return slice(slice(task.calibration_batch(), 0, 0, residual_count), 1, 1, 2).to_doubles();
    }
    double squared_norm(const Tensor& scalar) const {
        return sum(square(parameters.gradient(scalar))).item();
    }
    double weight(const std::string& term) const { return value(task.loss_weights(), term); }

    int64_t residual_count;
    PinnTask task;
    Parameters parameters;
};

const std::vector<std::string> burgers_weights{"weight_residual", "weight_initial",
                                               "weight_boundary"};

TEST(PinnWeights, PartsGiveTheLossAndGradientOfOnePiece) {
    Burgers burgers("{initial_weight: 3}", 3001, 24);
    ASSERT_GT(burgers.task.parts(), 1);
    const auto all = burgers.differences();
    const Tensor loss = mean(square(all[0])) + mean(square(all[1])) * 3 + mean(square(all[2]));
    const ObjectiveValues parts = evaluate_objective(burgers.task, burgers.parameters);
    EXPECT_NEAR(parts.loss[0].second, loss.item(), 1e-13 * loss.item());
    const Tensor gradient = burgers.parameters.gradient(loss);
    const double off = max(abs(gradient - parts.gradient)).item();
    EXPECT_LT(off, 1e-12 * max(abs(gradient)).item());
}

TEST(PinnWeights, BalanceFormula) {
    std::vector<double> weights{1, 1, 1};
    balance_weights(weights, {1, 2, 6}, 0, 1e6);
    EXPECT_EQ(weights, (std::vector<double>{3, 1.5, 0.5}));
    balance_weights(weights, {2, 2, 2}, 0.75, 1e6);
    EXPECT_EQ(weights, (std::vector<double>{2.5, 1.375, 0.625}));
    balance_weights(weights, {1, 1e9, 1}, 0, 100);
    EXPECT_EQ(weights[0], 100);
    // Terms without a gradient keep their weights.
    weights = {5, 7, 1, 1};
    balance_weights(weights, {0, NAN, 1, 3}, 0, 1e6);
    EXPECT_EQ(weights, (std::vector<double>{5, 7, 2, 2.0 / 3}));
    weights = {2, 3};
    balance_weights(weights, {0, INFINITY}, 0, 1e6);
    EXPECT_EQ(weights, (std::vector<double>{2, 3}));
    // Equal terms stay as they are.
    weights = {1, 1, 1, 1, 1};
    for (int i = 0; i < 3; ++i) balance_weights(weights, {0.3, 0.3, 0.3, 0.3, 0.3}, 0.9, 1e6);
    for (const double weight : weights) EXPECT_NEAR(weight, 1, 1e-15);
}

TEST(PinnWeights, MasksHaveTheirSlopes) {
    for (const auto& [mask, at_half] : {std::pair{WeightMask::linear, 0.5},
                                        {WeightMask::square, 0.25},
                                        {WeightMask::quartic, 0.0625}}) {
        EXPECT_EQ(mask_of(mask, 1), 1);
        EXPECT_EQ(mask_of(mask, 0.5), at_half);
        EXPECT_NEAR(mask_slope(mask, 1.3),
                    (mask_of(mask, 1.3 + 1e-5) - mask_of(mask, 1.3 - 1e-5)) / 2e-5, 1e-8);
    }
}

TEST(PinnWeights, GradientNormsAreThoseOfTheTerms) {
    Burgers burgers("{initial_weight: 5, weights: {kind: gradient_norm, momentum: 0.25}}", 2500);
    ASSERT_GT(burgers.task.parts(), 1);
    burgers.task.set_batch(0);
    std::vector<double> norms;
    for (const Tensor& difference : burgers.differences())
        norms.push_back(std::sqrt(burgers.squared_norm(mean(square(difference)))));
    const double typical = (norms[0] + norms[1] + norms[2]) / 3;
    for (std::size_t i = 0; i < 3; ++i) {
        const double expected = (i == 1 ? 5 : 1) * (0.25 + 0.75 * typical / norms[i]);
        EXPECT_NEAR(burgers.weight(burgers_weights[i]), expected, 1e-12 * expected);
    }
    // The loss is the sum of the terms with these weights, and the terms stay without.
    const NamedValues loss = loss_values(burgers.task);
    double total = 0;
    for (std::size_t i = 0; i < 3; ++i)
        total += loss[i + 1].second * burgers.weight(burgers_weights[i]);
    EXPECT_NEAR(loss[0].second, total, 1e-13 * total);
    EXPECT_NEAR(loss[1].second, mean(square(burgers.differences()[0])).item(), 1e-13);
}

TEST(PinnWeights, ChangeOnlyWhenDueAndNeverTwiceForAStep) {
    Burgers burgers("{weights: {kind: gradient_norm, every: 10}}");
    const double start = burgers.weight("weight_residual");
    EXPECT_EQ(start, 1);
    burgers.task.set_batch(0);
    const double first = burgers.weight("weight_residual");
    EXPECT_NE(first, 1);
    for (const int64_t step : {0, 1, 9, 9}) {
        burgers.task.set_batch(step);
        EXPECT_EQ(burgers.weight("weight_residual"), first) << step;
    }
    burgers.task.set_batch(13);
    const double second = burgers.weight("weight_residual");
    EXPECT_NE(second, first);
    burgers.task.set_batch(13);
    EXPECT_EQ(burgers.weight("weight_residual"), second);
}

TEST(PinnWeights, WatchedTermsHaveNoPart) {
    Burgers burgers("{initial_weight: 0, weights: {kind: gradient_norm, momentum: 0}}");
    burgers.task.set_batch(0);
    const auto all = burgers.differences();
    const double residual = std::sqrt(burgers.squared_norm(mean(square(all[0]))));
    const double boundary = std::sqrt(burgers.squared_norm(mean(square(all[2]))));
    EXPECT_EQ(burgers.weight("weight_initial"), 0);
    EXPECT_NEAR(burgers.weight("weight_residual"), (residual + boundary) / 2 / residual, 1e-12);
}

// The trace of a term's kernel by the gradient of each of its differences.
double exact_trace(const Burgers& burgers, const Tensor& difference) {
    double trace = 0;
    for (int64_t row = 0; row < difference.size(0); ++row)
        trace += burgers.squared_norm(select(select(difference, 0, row), 0, 0));
    return trace / static_cast<double>(difference.size(0));
}

TEST(PinnWeights, TracesOfKernelsAreEstimatedWithoutBias) {
    Burgers burgers("{weights: {kind: ntk, momentum: 0, probes: 1000}}");
    burgers.task.set_batch(0);
    std::vector<double> traces;
    for (const Tensor& difference : burgers.differences())
        traces.push_back(exact_trace(burgers, difference));
    const double typical = (traces[0] + traces[1] + traces[2]) / 3;
    // The standard deviation of a trace is at most sqrt(2 / 1000) of it.
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(burgers.weight(burgers_weights[i]) / (typical / traces[i]), 1, 0.15) << i;
    // The signs follow from seed and step.
    Burgers other("{weights: {kind: ntk, momentum: 0, probes: 1000}}");
    other.task.set_batch(0);
    EXPECT_EQ(other.weight("weight_initial"), burgers.weight("weight_initial"));
    Burgers again("{weights: {kind: ntk, momentum: 0, probes: 1000}}");
    again.task.set_batch(1);
    EXPECT_NE(again.weight("weight_initial"), burgers.weight("weight_initial"));
}

TEST(PinnWeights, TheTraceOfOnePointIsExact) {
    PinnTask task(
        config_of("problem: {kind: custom, geometry: {kind: interval}, equations: [100*(u_x - 1)], "
                  "conditions: [{kind: pin, at: [0], values: ['0']}]}\nprecision: float64\n"
                  "network: {hidden_layers: 1, width: 4}\npoints: {residual: 1}\n"
                  "loss: {weights: {kind: ntk, momentum: 0, probes: 1}}\n"));
    const Parameters parameters(task.model());
    task.set_batch(0);
    const auto trace = [&](const Tensor& scalar) {
        return sum(square(parameters.gradient(scalar))).item();
    };
    const Tensor at = task.calibration_batch();
    const auto plan = JetPlan::make({{0}});
    const Jet u = task.model().forward(Jet::input(slice(at, 0, 0, 1), plan));
    const double residual = trace(sum(select(u.channels(), 0, 1)) * 100);
    const double pin = trace(sum(task.model().forward(slice(at, 0, 1, 2))));
    const double typical = (residual + pin) / 2;
    EXPECT_NEAR(value(task.loss_weights(), "weight_residual") * residual, typical, 1e-12 * typical);
    EXPECT_NEAR(value(task.loss_weights(), "weight_pin") * pin, typical, 1e-12 * typical);
}

TEST(PinnWeights, CausalWeightsByHand) {
    const std::vector<double> weights = causal_weights({2, 0, 3, 5}, 0.5);
    ASSERT_EQ(weights.size(), 4u);
    for (const auto& [i, power] : {std::pair{0, 0.0}, {1, -1.0}, {2, -1.0}, {3, -2.5}})
        EXPECT_NEAR(weights[static_cast<std::size_t>(i)], std::exp(power), 1e-15);
}

struct Segments {
    std::vector<double> losses, counts;
};

Segments quarters(Burgers& burgers) {
    Segments segments{std::vector<double>(4), std::vector<double>(4)};
    const std::vector<double> times = burgers.times(),
                              errors = square(burgers.differences()[0]).to_doubles();
    for (std::size_t i = 0; i < times.size(); ++i) {
        const auto k = static_cast<std::size_t>(times[i] * 4);
        segments.losses[k] += errors[i];
        segments.counts[k] += 1;
    }
    for (std::size_t k = 0; k < 4; ++k) segments.losses[k] /= segments.counts[k];
    return segments;
}

TEST(PinnWeights, CausalWeightsAreThoseOfTheResidualBefore) {
    Burgers burgers("{kind: mse, causal: {segments: 4, epsilons: [2, 20]}}", 2100);
    burgers.task.set_batch(0);
    const auto [losses, counts] = quarters(burgers);
    double before = 0, expected = 0;
    for (std::size_t k = 0; k < 4; ++k) {
        expected += std::exp(-2 * before) * losses[k] * counts[k] / 2100;
        before += losses[k];
    }
    EXPECT_EQ(value(burgers.task.loss_weights(), "causal_epsilon"), 2);
    EXPECT_NEAR(value(burgers.task.loss_weights(), "causal_smallest_weight"),
                std::exp(-2 * (before - losses[3])), 1e-12);
    EXPECT_EQ(burgers.task.loss_weights().size(), 2u);
    const NamedValues loss = loss_values(burgers.task);
    EXPECT_NEAR(loss[0].second, expected + loss[2].second + loss[3].second, 1e-12);
    EXPECT_NEAR(loss[1].second, mean(square(burgers.differences()[0])).item(), 1e-12);
    // The weights count as constants: the gradient is that of the loss with them.
    std::vector<double> weights;
    double sum_before = 0;
    for (std::size_t k = 0; k < 4; ++k) {
        weights.push_back(std::exp(-2 * sum_before));
        sum_before += losses[k];
    }
    std::vector<double> at_points;
    for (const double time : burgers.times())
        at_points.push_back(weights[static_cast<std::size_t>(time * 4)]);
    const auto all = burgers.differences();
    const Tensor by_hand = mean(square(all[0]) * Tensor::from(at_points, {2100, 1})) +
                           mean(square(all[1])) + mean(square(all[2]));
    const Tensor gradient = burgers.parameters.gradient(by_hand);
    const Tensor found = evaluate_objective(burgers.task, burgers.parameters).gradient;
    EXPECT_LT(max(abs(gradient - found)).item(), 1e-12 * max(abs(gradient)).item());
}

TEST(PinnWeights, EpsilonRisesOneByOneWhenAllMomentsWeigh) {
    Burgers burgers("{causal: {segments: 4, epsilons: [1e-9, 1e-8, 50, 100]}}", 200);
    std::vector<double> epsilons;
    for (int64_t step = 0; step < 4; ++step) {
        burgers.task.set_batch(step);
        epsilons.push_back(value(burgers.task.loss_weights(), "causal_epsilon"));
    }
    EXPECT_EQ(epsilons, (std::vector<double>{1e-8, 50, 50, 50}));
    // As seen after the rise.
    const Segments segments = quarters(burgers);
    EXPECT_NEAR(value(burgers.task.loss_weights(), "causal_smallest_weight"),
                std::exp(-50 * (segments.losses[0] + segments.losses[1] + segments.losses[2])),
                1e-12);
}

TEST(PinnWeights, TermsAreWeighedWithTheirMoments) {
    Burgers burgers(
        "{causal: {segments: 4, epsilons: [2]}, weights: {kind: gradient_norm, momentum: 0}}", 300);
    burgers.task.set_batch(0);
    const auto all = burgers.differences();
    const auto [losses, counts] = quarters(burgers);
    const std::vector<double> weights = causal_weights(losses, 2);
    std::vector<double> at_points;
    for (const double time : burgers.times())
        at_points.push_back(weights[static_cast<std::size_t>(time * 4)]);
    const double residual =
        std::sqrt(burgers.squared_norm(mean(square(all[0]) * Tensor::from(at_points, {300, 1}))));
    const double initial = std::sqrt(burgers.squared_norm(mean(square(all[1])))),
                 boundary = std::sqrt(burgers.squared_norm(mean(square(all[2]))));
    EXPECT_NEAR(burgers.weight("weight_residual"), (residual + initial + boundary) / 3 / residual,
                1e-12);
}

TEST(PinnWeights, PointsClimbTheirErrors) {
    Burgers burgers(
        "{boundary_weight: 2, weights: {kind: self_adaptive, learning_rate: 0.3, mask: square}}",
        2100);
    ASSERT_GT(burgers.task.parts(), 1);
    std::vector<std::vector<double>> lambdas;
    for (const Tensor& difference : burgers.differences())
        lambdas.emplace_back(static_cast<std::size_t>(difference.size(0)), 1);
    for (int64_t step = 0; step < 2; ++step) {
        burgers.task.set_batch(step);
        const auto all = burgers.differences();
        double expected = 0;
        for (std::size_t term = 0; term < 3; ++term) {
            const std::vector<double> errors = square(all[term]).to_doubles();
            double total = 0, weight = 0;
            for (std::size_t i = 0; i < errors.size(); ++i) {
                double& lambda = lambdas[term][i];
                lambda += 0.3 * 2 * lambda * errors[i];
                total += lambda * lambda * errors[i];
                weight += lambda * lambda;
            }
            const double factor = term == 2 ? 2 : 1;
            const auto count = static_cast<double>(errors.size());
            expected += factor * total / count;
            EXPECT_NEAR(burgers.weight(burgers_weights[term]), factor * weight / count, 1e-11);
        }
        const NamedValues loss = loss_values(burgers.task);
        EXPECT_NEAR(loss[0].second, expected, 1e-11 * expected);
        EXPECT_NEAR(loss[1].second, mean(square(all[0])).item(), 1e-12);
        // Another model for the second step.
        burgers.parameters.values().copy_from(burgers.parameters.values() * 1.1);
    }
}

TEST(PinnWeights, TermsClimbTheirErrorsAlsoWithNewPoints) {
    Burgers burgers(
        "{kind: l1, weights: {kind: self_adaptive, per: term, mask: quartic, learning_rate: 0.01}}",
        50, 5, ", resample_every: 1");
    std::vector<double> lambdas(3, 1);
    for (int64_t step = 0; step < 2; ++step) {
        burgers.task.set_batch(step);
        const auto all = burgers.differences();
        for (std::size_t term = 0; term < 3; ++term) {
            double& lambda = lambdas[term];
            lambda += 0.01 * 4 * std::pow(lambda, 3) * mean(abs(all[term])).item();
            EXPECT_NEAR(burgers.weight(burgers_weights[term]), std::pow(lambda, 4), 1e-12);
        }
    }
}

TEST(PinnWeights, EqualTermsStayEqual) {
    for (const char* kind : {"gradient_norm", "ntk"}) {
        PinnTask task(config_of(fmt::format(
            "problem: {{kind: custom, geometry: {{kind: interval}}, equations: [u_x - 1, u_x - 1], "
            "conditions: []}}\nprecision: float64\nnetwork: {{hidden_layers: 1, width: 4}}\n"
            "points: {{residual: 1}}\nloss: {{weights: {{kind: {}, every: 1}}}}\n",
            kind)));
        const Parameters parameters(task.model());
        for (int64_t step = 0; step < 5; ++step) {
            task.set_batch(step);
            EXPECT_NEAR(value(task.loss_weights(), "weight_residual_1"), 1, 1e-14) << kind;
            EXPECT_NEAR(value(task.loss_weights(), "weight_residual_2"), 1, 1e-14) << kind;
        }
    }
}

// The equation is written 100 times as large as its condition, so its term 1e4 times.
TEST(PinnWeights, ABadlyScaledProblemTrainsBetter) {
    const NoPrograms no_programs;
    const auto error_with = [](const std::string& weights) {
        const TemporaryFolder folder;
        const Trained trained = train_in(
            folder / "run",
            fmt::format(
                "kind: pinn\nproblem: {{kind: custom, geometry: {{kind: interval}}, equations: "
                "[100*(u_xx + pi^2*sin(pi*x))], conditions: [{{kind: dirichlet, values: [x]}}], "
                "exact: [sin(pi*x) + x]}}\nprecision: float64\n"
                "network: {{hidden_layers: 2, width: 12}}\npoints: {{residual: 50}}\n"
                "evaluation: {{grid: [51]}}\nloss: {{weights: {}}}\n"
                "training: {{phases: [{{steps: 400, optimizer: {{kind: adam, learning_rate: "
                "5e-3}}}}]}}\n",
                weights));
        EXPECT_EQ(trained.error, "");
        return trained.result.metrics[0].second;
    };
    const double fixed = error_with("{kind: fixed}");
    EXPECT_LT(error_with("{kind: gradient_norm, every: 10}"), 0.5 * fixed);
    EXPECT_LT(error_with("{kind: ntk, every: 10}"), 0.5 * fixed);
}

TEST(PinnWeights, LineSearchesKeepThemUntilDataAreRenewed) {
    const NoPrograms no_programs;
    for (const char* weights : {"weights: {kind: gradient_norm, every: 1}", "causal: {segments: 4}",
                                "weights: {kind: self_adaptive}"}) {
        const TemporaryFolder folder;
        const Trained trained = train_in(
            folder / "run",
            fmt::format("kind: pinn\nprecision: float64\nnetwork: {{hidden_layers: 1, width: 5}}\n"
                        "points: {{residual: 40}}\nevaluation: {{grid: [4, 4]}}\nloss: {{{}}}\n"
                        "training: {{phases: [{{steps: 9, renew_data_every: 3, optimizer: {{kind: "
                        "bfgs}}}}], log_every: 1}}\n",
                        weights));
        ASSERT_EQ(trained.error, "");
        const std::vector<double> seen =
            trained.column(weights[0] == 'w' ? "weight_residual" : "causal_smallest_weight");
        ASSERT_EQ(seen.size(), 9u);
        for (std::size_t i = 1; i < 9; ++i)
            EXPECT_EQ(seen[i] == seen[i - 1], i % 3 != 0) << weights << " step " << i + 1;
    }
}

TEST(PinnWeights, DoNotDependOnThreads) {
    const int before = thread_count();
    for (const char* loss :
         {"{weights: {kind: gradient_norm}}", "{weights: {kind: ntk, probes: 3}}",
          "{weights: {kind: self_adaptive, per: term}, causal: {segments: 5}}"}) {
        std::vector<NamedValues> values;
        for (const int threads : {1, 2, 3}) {
            set_thread_count(threads);
            Burgers burgers(loss, 4100);
            burgers.task.set_batch(0);
            burgers.task.set_batch(1);
            values.push_back(burgers.task.loss_weights());
            values.push_back(loss_values(burgers.task));
        }
        EXPECT_EQ(values[0], values[2]) << loss;
        EXPECT_EQ(values[0], values[4]) << loss;
        EXPECT_EQ(values[1], values[5]) << loss;
    }
    set_thread_count(before);
}

TEST(PinnWeights, FixedWeightsLeaveNothingBehind) {
    Burgers burgers("{initial_weight: 4}");
    burgers.task.set_batch(3);
    EXPECT_TRUE(burgers.task.loss_weights().empty());
    EXPECT_TRUE(burgers.task.saved_state().empty());
}

TEST(PinnWeights, WhatCannotBeIsRefusedByItsKey) {
    const auto message = [](const std::string& text) {
        const Thrown thrown = error_of([&] { PinnTask(config_of(text)); });
        EXPECT_EQ(thrown.code, ExitCode::bad_config) << text;
        return thrown.text;
    };
    const auto expect = [&](const std::string& text, const std::string& part) {
        EXPECT_NE(message(text).find(part), std::string::npos) << message(text);
    };
    expect("loss: {kind: l1, weights: {kind: ntk}}\n", "loss.weights");
    expect("loss: {kind: l1, weights: {kind: ntk}}\n", "ntk needs loss.kind mse");
    expect("problem: {kind: poisson}\nloss: {causal: {segments: 4}}\n",
           "loss.causal.segments: the problem has no time");
    expect("points: {resample_every: 3}\nloss: {weights: {kind: self_adaptive}}\n",
           "loss.weights.per: points with weights of their own must stay");
    expect("loss: {weights: {kind: ntc}}\n", "loss.weights.kind");
    expect("loss: {weights: {kind: gradient_norm, momentum: 1}}\n", "loss.weights.momentum");
    expect("loss: {weights: {kind: ntk, probes: 0}}\n", "loss.weights.probes");
    expect("loss: {weights: {kind: fixed, every: 3}}\n", "loss.weights.every");
    expect("loss: {causal: {segments: 1}}\n", "loss.causal.segments");
    expect("loss: {causal: {segments: 3, epsilons: []}}\n", "loss.causal.epsilons");
    expect("loss: {causal: {segments: 3, threshold: 1}}\n", "loss.causal.threshold");
    expect(
        "problem: {kind: custom, geometry: {kind: interval}, equations: [u_x], conditions: "
        "[{kind: pin, at: [0], values: ['0'], name: weight_x}]}\n",
        "is what a column of metrics.csv is called already");
}

TEST(PinnWeights, ACheckpointOfOtherTermsIsRefused) {
    const auto refused = [](const std::string& loss, const NamedTensors& state) {
        Burgers burgers(loss);
        return error_of([&] { burgers.task.restore_state(state); }).code == ExitCode::bad_input;
    };
    const Tensor four = Tensor::zeros({4}, DType::float64);
    EXPECT_TRUE(refused("{weights: {kind: gradient_norm}}", {{"gradient_norm_weights", four}}));
    EXPECT_TRUE(refused("{weights: {kind: gradient_norm}}",
                        {{"gradient_norm_weights", Tensor::zeros({3})}}));
    EXPECT_TRUE(
        refused("{weights: {kind: self_adaptive}}", {{"self_adaptive_weights_residual", four}}));
    EXPECT_TRUE(refused("{causal: {segments: 5}}", {{"causal_weights", four}}));
    // What the config has no use for is passed over.
    EXPECT_FALSE(refused("{weights: {kind: ntk}}", {{"gradient_norm_weights", four}}));
    EXPECT_FALSE(refused("{}", {{"causal_weights", four}}));
}

}  // namespace
}  // namespace ralimp
