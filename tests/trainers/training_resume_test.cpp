// A run in pieces is the same run: every optimizer, both precisions, wherever it was cut.
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "core/parallel.h"
#include "tests/temporary_folder.h"
#include "tests/trainers/training_testing.h"
#include "trainers/config.h"
#include "trainers/signals.h"

namespace ralimp {
namespace {

struct Case {
    std::string name, phases;
    int64_t steps;
};

const std::vector<Case> cases{
    {"adam", "{steps: 13, optimizer: {kind: adam, learning_rate: 1e-2}}", 13},
    {"adamw",
     "{steps: 13, optimizer: {kind: adamw, learning_rate: 1e-2, weight_decay: 0.1}, "
     "schedule: {kind: cosine, warmup_steps: 3}}",
     13},
    {"sgd", "{steps: 13, optimizer: {kind: sgd, momentum: 0.9, nesterov: true}}", 13},
    {"lbfgs", "{steps: 13, optimizer: {kind: lbfgs, history_size: 4}}", 13},
    {"bfgs", "{steps: 13, optimizer: {kind: bfgs}}", 13},
    {"adam, lbfgs",
     "{steps: 6, optimizer: {kind: adam, learning_rate: 1e-2}, schedule: {kind: exponential}}, "
     "{steps: 7, optimizer: {kind: lbfgs, history_size: 3}}",
     13},
    {"soap", "{steps: 13, optimizer: {kind: soap, precondition_every: 3, weight_decay: 0.1}}", 13},
};

// Stops by SIGTERM in that step of this process, which is still made.
auto stopped_in_step(int64_t step) {
    return [step](WatchedTask& task) {
        task.before_step = [step](int64_t number) {
            if (number == step) raise(SIGTERM);
        };
    };
}

auto stopped_in_evaluation(int64_t evaluation) {
    return [evaluation](WatchedTask& task) {
        task.before_evaluation = [evaluation](int64_t number) {
            if (number == evaluation) raise(SIGINT);
        };
    };
}

// One piece, as a process of its own would make it.
Trained piece(const TemporaryFolder& folder, const std::string& config,
              const std::function<void(WatchedTask&)>& watch = {}) {
    const StopSignals signals;
    return train_in(folder.path() / "run", config, watch);
}

TEST(TrainingResume, EveryOptimizerGoesOnBitForBit) {
    const NoPrograms no_programs;
    for (const Case& test : cases)
        for (const char* precision : {"float32", "float64"}) {
            const std::string config = small_pinn(test.phases, precision);
            const TemporaryFolder straight;
            const Trained whole = piece(straight, config);
            EXPECT_EQ(whole.result.stopped_by, "completed") << test.name << whole.error;
            EXPECT_EQ(whole.result.steps, test.steps);
            for (const auto& [first, second] : {std::pair{3, 3}, {10, 1}}) {
                const TemporaryFolder cut;
                const Trained one = piece(cut, config, stopped_in_step(first));
                EXPECT_EQ(one.result.code, ExitCode::interrupted);
                EXPECT_EQ(one.result.steps, first);
                const Trained two = piece(cut, config, stopped_in_step(second));
                EXPECT_EQ(two.result.steps, first + second);
                expect_same(whole, piece(cut, config),
                            fmt::format("{} {} cut after {} and {} steps", test.name, precision,
                                        first, first + second));
            }
        }
}

// Every kind that a config can name, those of the future too, with its own settings: in a PINN
// whose points are drawn anew and in a SIREN with mini-batches.
TEST(TrainingResume, EveryKindGoesOnTwiceInEveryTask) {
    const NoPrograms no_programs;
    for (const std::string& kind : VariantTraits<OptimizerConfig>::kinds()) {
        const std::string training = fmt::format(
            "training: {{phases: [{{steps: 3, optimizer: {{kind: adam}}}}, "
            "{{steps: 11, optimizer: {{kind: {0}}}, schedule: {{kind: cosine, final_factor: "
            "0.1}}}}, "
            "{{steps: 3, optimizer: {{kind: {0}}}}}], log_every: 1, checkpoint_every: 5}}\n",
            kind);
        for (const char* precision : {"float32", "float64"})
            for (const std::string& task :
                 {std::string("kind: pinn\nnetwork: {hidden_layers: 2, width: 6}\n"
                              "points: {residual: 40, initial: 8, boundary: 8, resample_every: 2}\n"
                              "evaluation: {grid: [8, 5]}\n"),
                  std::string("kind: siren\nnetwork: {hidden_layers: 1, width: 8}\n"
                              "data: {size: [8, 9], batch_size: 10}\n")}) {
                const std::string config =
                    fmt::format("{}precision: {}\n{}", task, precision, training);
                const TemporaryFolder straight;
                const Trained whole = piece(straight, config);
                ASSERT_EQ(whole.error, "") << config;
                // In the middle of a phase twice; at the end of one, then in the last.
                for (const auto& [first, second] : {std::pair{5, 4}, {14, 1}}) {
                    const TemporaryFolder cut;
                    piece(cut, config, stopped_in_step(first));
                    piece(cut, config, stopped_in_step(second));
                    expect_same(
                        whole, piece(cut, config),
                        fmt::format("cut after {} and {} more steps:\n{}", first, second, config));
                }
            }
    }
}

TEST(TrainingResume, AnEvaluationThatWasCutShortIsMadeAfterwards) {
    const NoPrograms no_programs;
    for (const Case& test : {cases[0], cases[4]}) {
        const std::string config = small_pinn(test.phases);
        const TemporaryFolder straight;
        const Trained whole = piece(straight, config);
        ASSERT_EQ(whole.column("relative_l2").back(), whole.result.metrics[0].second);
        for (const int64_t evaluation : {1, 2, 3}) {  // after steps 5, 10 and 13
            const TemporaryFolder cut;
            const Trained one = piece(cut, config, stopped_in_evaluation(evaluation));
            EXPECT_EQ(one.result.code, ExitCode::interrupted) << one.error;
            EXPECT_EQ(one.result.steps, evaluation == 3 ? 13 : 5 * evaluation);
            // Twice: the second process is stopped in the very same evaluation.
            const Trained two = piece(cut, config, stopped_in_evaluation(1));
            EXPECT_EQ(two.result.steps, one.result.steps);
            expect_same(whole, piece(cut, config),
                        fmt::format("{} cut in evaluation {}", test.name, evaluation));
        }
    }
}

TEST(TrainingResume, AKilledRunGoesOnFromItsLastCheckpoint) {
    const NoPrograms no_programs;
    struct Killed {};
    for (const Case& test : {cases[0], cases[4]}) {
        const std::string config = small_pinn(test.phases);
        const TemporaryFolder straight, cut;
        const Trained whole = piece(straight, config);
        EXPECT_THROW(piece(cut, config,
                           [](WatchedTask& task) {
                               task.before_step = [](int64_t number) {
                                   if (number == 11) throw Killed();
                               };
                           }),
                     Killed);
        // Unlike a kill, a strange exception saves; what a kill leaves is the checkpoint before.
        std::filesystem::remove(cut.path() / "run/checkpoints/step-00000010.h5");
        ASSERT_TRUE(std::filesystem::exists(cut.path() / "run/checkpoints/step-00000008.h5"));
        expect_same(whole, piece(cut, config), test.name + " killed");
    }
}

TEST(TrainingResume, NewPointsComeAsInAStraightRun) {
    const NoPrograms no_programs;
    const std::string config =
        "kind: pinn\nnetwork: {hidden_layers: 1, width: 5}\n"
        "points: {residual: 30, initial: 6, boundary: 6, resample_every: 3}\n"
        "evaluation: {grid: [4, 4]}\n"
        "training: {phases: [{steps: 7}, {steps: 4, optimizer: {kind: lbfgs}}, {steps: 6}], "
        "log_every: 1}\n";
    const TemporaryFolder straight;
    const Trained whole = piece(straight, config);
    for (const int64_t step : {2, 3, 8, 10, 13}) {
        const TemporaryFolder cut;
        piece(cut, config, stopped_in_step(step));
        expect_same(whole, piece(cut, config), fmt::format("cut after {} steps", step));
    }
}

// Every third step of a line search starts with other points, and points follow the residual.
TEST(TrainingResume, RenewedPointsThatFollowTheResidualComeAsInAStraightRun) {
    const NoPrograms no_programs;
    for (const char* kind : {"lbfgs", "bfgs"}) {
        const std::string config = fmt::format(
            "kind: pinn\nnetwork: {{hidden_layers: 1, width: 5}}\n"
            "points: {{residual: 30, initial: 6, boundary: 6, resample_every: 2, "
            "adaptive: {{candidates: 90}}}}\nevaluation: {{grid: [4, 4]}}\n"
            "training: {{phases: [{{steps: 5}}, {{steps: 9, renew_data_every: 3, "
            "optimizer: {{kind: {}}}}}, {{steps: 4}}], log_every: 1}}\n",
            kind);
        const TemporaryFolder straight;
        std::vector<int64_t> numbers;
        const Trained whole = piece(straight, config, [&](WatchedTask& task) {
            task.on_batch = [&](int64_t number) { numbers.push_back(number); };
        });
        EXPECT_EQ(whole.error, "");
        const std::vector<int64_t> expected{0, 1, 2,  3,  4,  5,  5,  5,  8,
                                            8, 8, 11, 11, 11, 14, 15, 16, 17};
        ASSERT_GE(numbers.size(), expected.size());
        EXPECT_TRUE(std::equal(expected.rbegin(), expected.rend(), numbers.rbegin()));
        for (const auto& [first, second] : {std::pair{3, 1}, {2, 5}, {6, 1}, {9, 3}, {13, 2}}) {
            const TemporaryFolder cut;
            piece(cut, config, stopped_in_step(first));
            piece(cut, config, stopped_in_step(second));
            expect_same(whole, piece(cut, config),
                        fmt::format("{} cut after {} and {} steps", kind, first, second));
        }
    }
}

TEST(TrainingResume, WeightsThatFollowTheTrainingComeAsInAStraightRun) {
    const NoPrograms no_programs;
    for (const char* loss :
         {"weights: {kind: gradient_norm, every: 3}", "weights: {kind: ntk, every: 2, probes: 2}",
          "weights: {kind: self_adaptive}",
          "weights: {kind: self_adaptive, per: term, mask: linear, every: 2}",
          "causal: {segments: 4, epsilons: [1e-3, 1e-2, 1, 9], every: 2}",
          "weights: {kind: gradient_norm, every: 2}, causal: {segments: 3}"})
        for (const char* precision : {"float32", "float64"}) {
            const std::string phases =
                "{steps: 5, optimizer: {kind: adam, learning_rate: 1e-2}}, "
                "{steps: 8, renew_data_every: 3, optimizer: {kind: bfgs}}, {steps: 3}";
            const std::string config =
                small_pinn(phases, precision, fmt::format("loss: {{{}}}\n", loss));
            const TemporaryFolder straight;
            const Trained whole = piece(straight, config);
            for (const auto& [first, second] : {std::pair{3, 1}, {6, 1}, {9, 5}}) {
                const TemporaryFolder cut;
                piece(cut, config, stopped_in_step(first));
                piece(cut, config, stopped_in_step(second));
                expect_same(
                    whole, piece(cut, config),
                    fmt::format("{} {} cut after {} and {} steps", loss, precision, first, second));
            }
        }
}

TEST(TrainingResume, MiniBatchesGoOnInTheMiddleOfAnEpoch) {
    const NoPrograms no_programs;
    for (const char* precision : {"float32", "float64"}) {
        const std::string config = fmt::format(
            "kind: siren\nprecision: {}\nnetwork: {{hidden_layers: 2, width: 8}}\n"
            "data: {{size: [8, 9], batch_size: 10}}\n"  // 7 batches an epoch
            "training: {{phases: [{{steps: 20}}], log_every: 1, checkpoint_every: 0}}\n",
            precision);
        const TemporaryFolder straight;
        const Trained whole = piece(straight, config);
        for (const auto& [first, second] : {std::pair{3, 6}, {7, 7}, {11, 1}}) {
            const TemporaryFolder cut;
            piece(cut, config, stopped_in_step(first));
            piece(cut, config, stopped_in_step(second));
            expect_same(whole, piece(cut, config), fmt::format("cut after {}", first));
        }
    }
}

TEST(TrainingResume, TheLearningRateGoesOnWithoutAJump) {
    const NoPrograms no_programs;
    const std::string config =
        "kind: siren\nnetwork: {hidden_layers: 1, width: 4}\ndata: {size: [4, 4]}\n"
        "training: {phases: [{steps: 10, optimizer: {kind: adam, learning_rate: 0.01}, "
        "schedule: {kind: cosine, final_factor: 0, warmup_steps: 2}}], log_every: 1}\n";
    const TemporaryFolder folder;
    piece(folder, config, stopped_in_step(4));
    const std::vector<double> rates = piece(folder, config).column("learning_rate");
    ASSERT_EQ(rates.size(), 10u);
    for (int step = 0; step < 10; ++step) {
        const double factor =
            step < 2 ? (step + 1) / 2.0 : 0.5 * (1 + std::cos(M_PI * (step - 2) / 8.0));
        EXPECT_NEAR(rates[step], 0.01 * factor, 1e-15) << step;
    }
}

TEST(TrainingResume, MoreStepsContinueAFinishedRun) {
    const NoPrograms no_programs;
    const auto config = [](int64_t steps) {
        return small_pinn(
            fmt::format("{{steps: 5}}, {{steps: {}, optimizer: {{kind: lbfgs}}}}", steps));
    };
    const TemporaryFolder straight, longer;
    const Trained whole = piece(straight, config(9));
    EXPECT_EQ(piece(longer, config(5)).result.steps, 10);
    const Trained more = piece(longer, config(9));
    EXPECT_EQ(more.result.steps, 14);
    EXPECT_EQ(more.parameters, whole.parameters);
    EXPECT_EQ(more.result.metrics, whole.result.metrics);
    // And once more, with nothing left to do.
    const Trained same = piece(longer, config(9));
    expect_same(more, same, "nothing to do");
}

TEST(TrainingResume, FewerStepsThanWereMadeAreRefused) {
    const NoPrograms no_programs;
    const auto config = [](int64_t first, int64_t second) {
        return small_pinn(
            fmt::format("{{steps: {}}}, {{steps: {}, optimizer: {{kind: sgd}}}}", first, second));
    };
    const TemporaryFolder folder;
    EXPECT_EQ(piece(folder, config(5, 4)).result.steps, 9);
    try {
        piece(folder, config(5, 3));
        FAIL() << "3 of 4 steps";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::bad_config);
        EXPECT_STREQ(error.what(),
                     "the checkpoint has made 4 steps of phase 2; training.phases[1].steps = 3 is "
                     "fewer: give at least 4, or start from an earlier checkpoint");
    }
}

// Whichever phase is over, whichever way its steps are changed, nothing is done and nothing is
// lost.
TEST(TrainingResume, OtherStepsOfAPhaseThatIsOverAreRefused) {
    const NoPrograms no_programs;
    const auto config = [](int64_t first, int64_t second, int64_t third) {
        return small_pinn(
            fmt::format("{{steps: {}}}, {{steps: {}, optimizer: {{kind: lbfgs}}}}, "
                        "{{steps: {}, optimizer: {{kind: sgd}}}}",
                        first, second, third));
    };
    const auto refusal = [&](const TemporaryFolder& folder, const std::string& text) {
        try {
            piece(folder, text);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::bad_config);
            return std::string(error.what());
        }
        return std::string();
    };
    const TemporaryFolder folder;
    const Trained whole = piece(folder, config(5, 4, 3));
    EXPECT_EQ(whole.result.steps, 12);
    EXPECT_EQ(
        refusal(folder, config(6, 4, 3)),
        "the checkpoint stands in phase 3; training.phases[0].steps = 6, was 5: phase 1 is over "
        "and keeps its steps; change those of the last phase, or start from a checkpoint of "
        "phase 1");
    EXPECT_NE(refusal(folder, config(5, 5, 3)).find("phases[1].steps = 5, was 4"),
              std::string::npos);
    EXPECT_NE(refusal(folder, config(5, 10, 9)).find("phases[1].steps = 10, was 4"),
              std::string::npos);
    // Fewer, alone or made up for by more of the last phase.
    EXPECT_NE(refusal(folder, config(2, 4, 3)).find("phases[0].steps = 2, was 5: phase 1 is over"),
              std::string::npos);
    EXPECT_NE(refusal(folder, config(5, 1, 9)).find("phases[1].steps = 1, was 4: phase 2 is over"),
              std::string::npos);
    expect_same(whole, piece(folder, config(5, 4, 3)), "after the refusals");
    // One that was interrupted as well; of the phase it stands in more can be made.
    const TemporaryFolder cut;
    piece(cut, config(5, 4, 3), stopped_in_step(7));
    for (const int64_t first : {4, 9})
        EXPECT_NE(refusal(cut, config(first, 4, 3)).find("stands in phase 2"), std::string::npos);
    EXPECT_EQ(piece(cut, config(5, 6, 3)).result.steps, 14);
}

TEST(TrainingResume, TheSpeedIsThatOfAllPieces) {
    const NoPrograms no_programs;
    const std::string config = small_pinn(cases[0].phases);
    const TemporaryFolder folder;
    piece(folder, config, stopped_in_step(9));
    for (int again = 0; again < 2; ++again) {  // four more steps, then none
        const TrainingResult result = piece(folder, config).result;
        EXPECT_EQ(result.steps, 13);
        EXPECT_NEAR(result.steps_per_second, 13 / result.seconds, 1e-9 * 13 / result.seconds);
    }
}

TEST(TrainingResume, ACheckpointStartsARunInANewFolder) {
    const NoPrograms no_programs;
    const std::string config = small_pinn(cases[4].phases);
    const TemporaryFolder straight, other;
    const Trained whole = piece(straight, config);
    const std::filesystem::path start = straight.path() / "run/checkpoints/step-00000012.h5";
    const StopSignals signals;
    // Stopped at once: its one step is saved in the new folder.
    const Trained one = train_in(other.path() / "run", config, stopped_in_step(1), start);
    EXPECT_EQ(one.result.steps, 13);
    EXPECT_TRUE(std::filesystem::exists(other.path() / "run/checkpoints/step-00000013.h5"));
    EXPECT_EQ(one.parameters, whole.parameters);
}

TEST(TrainingResume, ThreadsDoNotChangeABit) {
    const NoPrograms no_programs;
    const std::string config =
        "kind: pinn\nprecision: float32\nnetwork: {hidden_layers: 2, width: 24}\n"
        "points: {residual: 3001, initial: 100, boundary: 100}\nevaluation: {grid: [64, 50]}\n"
        "training: {phases: [{steps: 3}, {steps: 3, optimizer: {kind: lbfgs}}], log_every: 1}\n";
    const int before = thread_count();
    std::vector<Trained> runs;
    for (const int threads : {1, 2, 2}) {
        const TemporaryFolder folder;
        set_thread_count(threads);
        runs.push_back(piece(folder, config));
    }
    set_thread_count(before);
    expect_same(runs[0], runs[1], "1 and 2 threads");
    expect_same(runs[1], runs[2], "2 threads twice");
}

// A run that has made no step goes on as one that was just begun.
TEST(TrainingResume, GoesOnFromAStartWithoutSteps) {
    const NoPrograms no_programs;
    for (const char* optimizer : {"{kind: adam, learning_rate: 1e-2}", "{kind: lbfgs}"}) {
        const std::string text = small_pinn(fmt::format("{{steps: 6, optimizer: {}}}", optimizer));
        const TemporaryFolder straight, two;
        const Trained whole = train_in(straight.path() / "run", text);
        {
            const auto config = read_config_text<RunConfig>(text);
            const RunFolder folder = RunFolder::create(two.path() / "run");
            folder.write_config(write_config(config));
            const auto task = make_task(config);
            task->model().initialize_from_data(task->calibration_batch());
            Log log({-1, false, 80});
            Training training(*task, settings_of(config), log, write_config(config));
            const TrainingResult start = training.write_start(folder, "converted");
            EXPECT_EQ(start.steps, 0);
            EXPECT_EQ(start.stopped_by, "converted");
            EXPECT_EQ(start.metrics, task->evaluate());
            const MetricsTable table = read_metrics(folder.metrics().string());
            EXPECT_EQ(table.steps, std::vector<int64_t>{0});
            EXPECT_TRUE(std::filesystem::exists(folder.checkpoints() / "best.h5"));
            EXPECT_FALSE(folder.finished());
        }
        const Trained pieces = train_in(two.path() / "run", text);
        EXPECT_EQ(pieces.error, "");
        EXPECT_EQ(pieces.parameters, whole.parameters) << optimizer;
        EXPECT_EQ(pieces.result.steps, 6);
        EXPECT_EQ(pieces.rows, whole.rows) << optimizer;
    }
}

}  // namespace
}  // namespace ralimp
