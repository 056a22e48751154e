// The training loop: what it trains, writes and refuses; what it does when a loss, an evaluation, a
// picture or the disk fails. Going on from a checkpoint is in training_resume_test.cpp.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <limits>
#include <map>
#include <new>
#include <set>
#include <sstream>

#include "autograd/operations.h"
#include "core/file.h"
#include "core/parallel.h"
#include "tests/temporary_folder.h"
#include "tests/trainers/training_testing.h"
#include "trainers/config.h"
#include "trainers/config_types.h"
#include "trainers/objective.h"
#include "trainers/signals.h"

namespace ralimp {
namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
const std::string adam = "{steps: 12, optimizer: {kind: adam, learning_rate: 1e-2}}";
const std::string lbfgs = "{steps: 12, optimizer: {kind: lbfgs}}";

std::vector<uint8_t> bytes_of_file(const std::filesystem::path& path) {
    return read_file(path.string());
}

std::string text_of(const std::filesystem::path& path) {
    const std::vector<uint8_t> bytes = read_file(path.string());
    return {bytes.begin(), bytes.end()};
}

// Makes a term of the loss, and with it the loss, not a number.
void spoil(Loss& loss, std::size_t term) {
    loss.terms[term].second = loss.terms[term].second * nan_value;
    loss.total = loss.total + loss.terms[term].second;
}

TEST(Training, SeedsChooseWeightsAndPoints) {
    const NoPrograms no_programs;
    const auto trained = [](int seed) {
        const TemporaryFolder folder;
        return train_in(folder.path() / "run",
                        small_pinn("{steps: 3}", "float64", fmt::format("seed: {}\n", seed)));
    };
    const Trained one = trained(1), again = trained(1), other = trained(2);
    expect_same(one, again, "the same seed");
    EXPECT_NE(one.parameters, other.parameters);
    // The points differ too, not only the weights.
    const auto points_of = [](int seed) {
        PinnTask task(std::get<PinnConfig>(read_config_text<RunConfig>(
            small_pinn("{steps: 1}", "float64", fmt::format("seed: {}\n", seed)))));
        return task.calibration_batch().to_vector<double>();
    };
    EXPECT_EQ(points_of(1), points_of(1));
    EXPECT_NE(points_of(1), points_of(2));
}

// deepxde#2086: another seed changed nothing. It changes weights, fixed projections and data alike,
// in every task and for every kind of layer; the same one changes none.
TEST(Training, SeedsChooseEverythingInEveryTask) {
    for (const char* task : {"kind: pinn\npoints: {residual: 20}\n",
                             "kind: siren\ndata: {size: [6, 7], batch_size: 5}\n",
                             "kind: siren\ndata: {kind: audio, seconds: 0.01, batch_size: 5}\n",
                             "kind: sdf\npoints: {surface: 9, off_surface: 8}\n"})
        for (const char* hidden :
             {"{kind: dense}", "{kind: ralimp, features: 2}", "{kind: low_rank, rank: 2}",
              "{kind: snnk, form: urf}", "{kind: eugen}", "{kind: narrow, width: 4}",
              "{kind: monarch}", "{kind: tensor_train}"}) {
            const auto started = [&](int seed) {
                const auto made = make_task(read_config_text<RunConfig>(
                    fmt::format("{}seed: {}\nnetwork: {{hidden_layers: 2, width: 5, hidden: {}}}\n",
                                task, seed, hidden)));
                std::map<std::string, std::vector<double>> tensors;
                for (const auto& [name, tensor] : named_tensors(made->model()))
                    tensors[name] = tensor.to_doubles();
                // The same network on the data of other seeds shows that these differ.
                for (const auto& [name, tensor] : named_tensors(made->model())) tensor.fill(0.1);
                made->set_batch(1);
                return std::pair{tensors, loss_values(*made)};
            };
            const auto one = started(1), again = started(1), other = started(2);
            EXPECT_EQ(one, again) << task << hidden;
            EXPECT_NE(one.second, other.second) << task << hidden;
            int64_t equal = 0, matrices = 0;
            for (const auto& [name, values] : one.first) {
                if (!name.ends_with("weight") && !name.ends_with("projections")) continue;
                ++matrices;
                equal += values == other.first.at(name);
            }
            EXPECT_EQ(equal, 0) << task << hidden;
            EXPECT_GE(matrices, 2) << task << hidden;
        }
}

TEST(Training, TheLayoutKnowsTheShapesOfTheParameters) {
    const auto task = make_task(read_config_text<RunConfig>(small_pinn("{steps: 1}", "float64")));
    const Parameters parameters(task->model());
    const ParameterLayout layout = layout_of(parameters);
    ASSERT_EQ(layout.groups().size(), parameters.entries().size());
    std::size_t matrices = 0;
    for (std::size_t i = 0; i < layout.groups().size(); ++i) {
        EXPECT_EQ(layout.groups()[i].name, parameters.entries()[i].name);
        EXPECT_EQ(layout.groups()[i].shape, parameters.entries()[i].shape);
        matrices += layout.groups()[i].shape.dims() == 2;
    }
    EXPECT_GE(matrices, 2u);
}

// Of a network of width 9: three blocks of three inputs, then three of three times the rank.
TEST(Training, TheLayoutScalesTheLearningRatesOfTensorTrains) {
    const auto task = make_task(read_config_text<RunConfig>(
        "kind: siren\ndata: {size: [4, 4]}\n"
        "network: {hidden_layers: 2, width: 9, hidden: {kind: tensor_train, rank: 2}}\n"));
    const Parameters parameters(task->model());
    const ParameterLayout layout = layout_of(parameters);
    int cores = 0;
    for (const ParameterGroup& group : layout.groups()) {
        const bool first = group.name.find("first") != std::string::npos;
        const bool second = group.name.find("second") != std::string::npos;
        cores += first || second;
        EXPECT_EQ(group.learning_rate_scale, first    ? 9 / 3 / 2.0
                                             : second ? 9 / 6.0 / 2
                                                      : 1)
            << group.name;
    }
    EXPECT_EQ(cores, 6);
}

TEST(Training, DataGoOnFromPhaseToPhaseAndRestDuringALineSearch) {
    const NoPrograms no_programs;
    const TemporaryFolder folder;
    std::vector<int64_t> batches;
    train_in(folder.path() / "run",
             small_pinn("{steps: 3}, {steps: 3, optimizer: {kind: lbfgs}}, {steps: 2}"),
             [&](WatchedTask& task) {
                 task.on_batch = [&](int64_t batch) { batches.push_back(batch); };
             });
    EXPECT_EQ(batches, (std::vector<int64_t>{0, 1, 2, 3, 3, 3, 6, 7}));
}

// A grid has fewer points than were asked for, here just as many as one part of the loss takes.
TEST(Training, EveryPartOfTheLossHasPoints) {
    for (const int points : {1023, 1024, 1030, 1100, 2047, 2048, 2120}) {
        PinnTask task(std::get<PinnConfig>(read_config_text<RunConfig>(
            fmt::format("kind: pinn\nnetwork: {{hidden_layers: 2, width: 40}}\n"
                        "points: {{residual: {}, sampler: grid}}\n",
                        points))));
        const NamedValues loss = loss_values(task);
        ASSERT_EQ(loss.size(), 4u);
        for (const auto& [name, value] : loss)
            EXPECT_TRUE(std::isfinite(value) && value > 0) << points << " points: " << name;
    }
}

TEST(Training, APinnTakesItsPointsFromEverySampler) {
    std::set<double> residuals;
    for (const char* sampler : {"latin_hypercube", "uniform", "grid", "sobol"}) {
        PinnTask task(std::get<PinnConfig>(read_config_text<RunConfig>(
            fmt::format("kind: pinn\nnetwork: {{hidden_layers: 2, width: 8}}\n"
                        "points: {{residual: 100, initial: 9, boundary: 8, sampler: {}}}\n",
                        sampler))));
        EXPECT_EQ(task.calibration_batch().shape(), Shape({117, 2})) << sampler;
        residuals.insert(loss_values(task).front().second);
    }
    EXPECT_EQ(residuals.size(), 4u);
}

// The lines of a log that tell of clamped exponents.
std::vector<std::string> clamp_warnings(const std::filesystem::path& run) {
    std::vector<std::string> warnings;
    std::istringstream text(text_of(run / "log.txt"));
    for (std::string line; std::getline(text, line);)
        if (line.starts_with("warning: exponents beyond exponent_limit")) warnings.push_back(line);
    return warnings;
}

// Three parts in each loss. Far below 20, so that many exponents are clamped.
std::string clamping_pinn(const std::string& optimizer, double limit, int threads) {
    return fmt::format(
        "kind: pinn\nprecision: float64\nthreads: {}\n"
        "network: {{hidden_layers: 3, width: 4, hidden: {{kind: ralimp, features: 2, "
        "exponent_limit: {}}}}}\n"
        "points: {{residual: 2100, initial: 8, boundary: 8}}\nevaluation: {{grid: [8, 5]}}\n"
        "training: {{phases: [{{steps: 5, optimizer: {{kind: {}}}}}], log_every: 2, "
        "evaluate_every: 3, checkpoint_every: 4}}\n",
        threads, limit, optimizer);
}

TEST(Training, ClampedExponentsAreToldOnceAndAlikeForAnyThreadsAndPieces) {
    const NoPrograms no_programs;
    const int before = thread_count();
    for (const char* optimizer : {"adam", "lbfgs"}) {
        int64_t clamped = 0;
        std::vector<std::string> warnings;
        for (const int threads : {1, 2}) {
            set_thread_count(threads);
            const TemporaryFolder folder;
            const Trained trained =
                train_in(folder.path() / "run", clamping_pinn(optimizer, 0.1, threads));
            EXPECT_EQ(trained.error, "");
            const std::vector<std::string> lines = clamp_warnings(folder.path() / "run");
            ASSERT_EQ(lines.size(), 3u);  // with the lines of steps 2, 4 and 5
            for (const std::string& line : lines) {
                EXPECT_NE(line.find("layer_2 "), std::string::npos) << line;
                EXPECT_NE(line.find(", layer_3 "), std::string::npos) << line;
                EXPECT_EQ(line.find("layer_1"), std::string::npos) << line;
            }
            if (threads == 1) {
                clamped = trained.result.clamped_exponents;
                warnings = lines;
            }
            EXPECT_EQ(trained.result.clamped_exponents, clamped);
            EXPECT_EQ(lines, warnings);
        }
        // What the lines tell adds up to the whole.
        int64_t told = 0;
        for (const std::string& line : warnings)
            for (std::size_t at = 0; (at = line.find(" layer_", at)) != std::string::npos; ++at) {
                long long count = 0, all = 0;  // " layer_2 303 of 25392"
                ASSERT_EQ(std::sscanf(line.c_str() + at, " layer_%*d %lld of %lld", &count, &all),
                          2)
                    << line;
                told += count;
                EXPECT_LT(count, all) << line;
            }
        EXPECT_GT(clamped, 0);
        EXPECT_EQ(told, clamped);

        const TemporaryFolder cut;
        {
            const StopSignals signals;
            train_in(cut.path() / "run", clamping_pinn(optimizer, 0.1, 1), [](WatchedTask& task) {
                task.before_step = [](int64_t step) {
                    if (step == 3) raise(SIGTERM);
                };
            });
        }
        const Trained rest = train_in(cut.path() / "run", clamping_pinn(optimizer, 0.1, 1));
        EXPECT_EQ(rest.result.clamped_exponents, clamped);
        EXPECT_EQ(clamp_warnings(cut.path() / "run"), warnings);

        const TemporaryFolder tame;
        const Trained quiet = train_in(tame.path() / "run", clamping_pinn(optimizer, 20, 1));
        EXPECT_EQ(quiet.result.clamped_exponents, 0);
        EXPECT_TRUE(clamp_warnings(tame.path() / "run").empty());
    }
    set_thread_count(before);
}

TEST(Training, ALossThatIsNotANumberStopsBeforeTheUpdate) {
    const NoPrograms no_programs;
    for (const std::string& phase : {adam, lbfgs}) {
        const TemporaryFolder folder;
        const std::filesystem::path run = folder.path() / "run";
        // The same run to the step before the bad one.
        const TemporaryFolder reference;
        Trained good;
        {
            const StopSignals signals;
            good = train_in(reference.path() / "run", small_pinn(phase), [](WatchedTask& task) {
                task.before_step = [](int64_t step) {
                    if (step == 9) raise(SIGTERM);
                };
            });
        }
        std::vector<uint8_t> checkpoint;
        int64_t step = 0;
        const Trained bad = train_in(run, small_pinn(phase), [&](WatchedTask& task) {
            task.before_step = [&](int64_t number) {
                step = number;
                if (number == 10) checkpoint = bytes_of_file(run / "checkpoints/step-00000008.h5");
            };
            task.after_loss = [&](int64_t, Loss& loss) {
                if (step >= 10) spoil(loss, 1);
            };
        });
        EXPECT_EQ(bad.code, ExitCode::non_finite) << bad.error;
        EXPECT_NE(bad.error.find("step 10: the loss term initial is nan"), std::string::npos)
            << bad.error;
        EXPECT_NE(bad.error.find("step-00000008.h5"), std::string::npos) << bad.error;
        EXPECT_EQ(bad.parameters, good.parameters);
        EXPECT_EQ(bytes_of_file(run / "checkpoints/step-00000008.h5"), checkpoint);
        EXPECT_FALSE(std::filesystem::exists(run / "checkpoints/step-00000009.h5"));
        EXPECT_EQ(bad.rows.back()[0], 8);
        // Without the spoilt loss the run goes on from there and ends as if nothing had been.
        const TemporaryFolder straight;
        expect_same(train_in(straight.path() / "run", small_pinn(phase)),
                    train_in(run, small_pinn(phase)), phase);
    }
}

// SA-PINNs#9, PIXEL#3: a loss became NaN and the run went on. Whatever the optimizer, and whether
// the loss or only its gradient is not finite.
TEST(Training, NoOptimizerGoesOnWithoutAFiniteLossAndGradient) {
    const NoPrograms no_programs;
    for (const std::string& kind : VariantTraits<OptimizerConfig>::kinds())
        for (const bool gradient_alone : {false, true}) {
            const TemporaryFolder folder;
            std::vector<double> before;
            const Trained bad = train_in(
                folder.path() / "run",
                small_pinn(fmt::format("{{steps: 12, optimizer: {{kind: {}}}}}", kind)),
                [&](WatchedTask& task) {
                    task.before_step = [&](int64_t number) {
                        if (number != 6) return;
                        for (const auto& [name, tensor] : named_tensors(task.model()))
                            for (const double x : tensor.to_doubles()) before.push_back(x);
                        task.after_loss = [gradient_alone](int64_t, Loss& loss) {
                            // The root of 0 has an infinite slope.
                            loss.total = gradient_alone ? loss.total + sqrt(loss.total * 0.0)
                                                        : loss.total * INFINITY;
                        };
                    };
                });
            const std::string what = kind + (gradient_alone ? ", gradient" : "");
            EXPECT_EQ(bad.code, ExitCode::non_finite) << what << bad.error;
            EXPECT_NE(bad.error.find(gradient_alone ? "step 6: the gradient has the norm"
                                                    : "step 6: the loss is inf"),
                      std::string::npos)
                << what << ": " << bad.error;
            EXPECT_EQ(bad.parameters, before) << what;
            EXPECT_NE(bad.error.find("step-00000004.h5"), std::string::npos) << bad.error;
        }
}

TEST(Training, ANonFiniteLossOfTheFirstStepHasNoCheckpointToName) {
    const NoPrograms no_programs;
    const TemporaryFolder folder;
    const Trained bad = train_in(folder.path() / "run", small_pinn(adam), [](WatchedTask& task) {
        task.after_loss = [](int64_t, Loss& loss) { loss.total = loss.total * INFINITY; };
    });
    EXPECT_EQ(bad.code, ExitCode::non_finite);
    EXPECT_EQ(bad.error,
              "step 1: the loss is inf; the parameters were not changed, no checkpoint had been "
              "written yet");
}

// Every kind of hidden layer carries the derivatives of an equation and is trained by it.
TEST(Training, TheLossOfAPinnFallsWithEveryKindOfLayer) {
    const NoPrograms no_programs;
    for (const char* hidden :
         {"{kind: dense}", "{kind: ralimp, features: 4}", "{kind: narrow, width: 8}",
          "{kind: low_rank, rank: 4}", "{kind: low_rank, rank: 4, activated: false}",
          "{kind: snnk, features: 16}", "{kind: snnk, features: 16, form: urf}",
          "{kind: eugen, features: 8}", "{kind: monarch}", "{kind: tensor_train}"}) {
        const TemporaryFolder folder;
        const Trained trained = train_in(
            folder.path() / "run",
            fmt::format("kind: pinn\nnetwork: {{hidden_layers: 3, width: 10, hidden: {}}}\n"
                        "points: {{residual: 200, initial: 40, boundary: 40}}\n"
                        "evaluation: {{grid: [8, 5]}}\n"
                        "training: {{phases: [{{steps: 60, optimizer: {{kind: adam, "
                        "learning_rate: 3e-3, clipping: {{norm: 1}}}}}}], log_every: 1}}\n",
                        hidden));
        EXPECT_EQ(trained.error, "") << hidden;
        const std::vector<double> losses = trained.column("loss");
        ASSERT_EQ(losses.size(), 60u) << hidden;
        EXPECT_LT(losses.back(), 0.5 * losses.front()) << hidden;
    }
}

TEST(Training, LbfgsWalksAroundPointsThatAreNotFinite) {
    const NoPrograms no_programs;
    const TemporaryFolder folder;
    int64_t spoilt = 0;
    const Trained trained =
        train_in(folder.path() / "run", small_pinn("{steps: 40, optimizer: {kind: lbfgs}}"),
                 [&](WatchedTask& task) {
                     // Never the first one: there is nothing to go back to.
                     task.after_loss = [&](int64_t number, Loss& loss) {
                         if (number % 5 == 3) {
                             spoil(loss, 0);
                             ++spoilt;
                         }
                     };
                 });
    EXPECT_EQ(trained.error, "");
    EXPECT_EQ(trained.result.steps, 40);
    EXPECT_GT(spoilt, 5);
    const std::vector<double> losses = trained.column("loss");
    for (std::size_t i = 1; i < losses.size(); ++i) EXPECT_LE(losses[i], losses[i - 1]);
    for (const double parameter : trained.parameters) EXPECT_TRUE(std::isfinite(parameter));
}

// deepxde#1208: in float32 L-BFGS after Adam ended in NaN.
TEST(Training, LineSearchesAfterAdamStayFiniteAndNeverRiseInFloat32) {
    const NoPrograms no_programs;
    for (const auto& [seed, kind] :
         {std::pair{0, "lbfgs"}, {1, "lbfgs"}, {2, "lbfgs"}, {0, "bfgs"}}) {
        const TemporaryFolder folder;
        const Trained trained = train_in(
            folder.path() / "run",
            fmt::format("kind: pinn\nprecision: float32\nseed: {}\n"
                        "network: {{hidden_layers: 3, width: 12}}\n"
                        "points: {{residual: 200, initial: 30, boundary: 30}}\n"
                        "evaluation: {{grid: [16, 10]}}\n"
                        "training: {{phases: [{{steps: 50, optimizer: {{kind: adam, "
                        "learning_rate: 5e-3}}}}, {{steps: 300, optimizer: {{kind: {}}}}}], "
                        "log_every: 1}}\n",
                        seed, kind));
        EXPECT_EQ(trained.error, "");
        const std::vector<double> losses = trained.column("loss"), steps = trained.column("step");
        ASSERT_GT(losses.size(), 60u) << trained.result.stopped_by;
        for (std::size_t i = 51; i < losses.size(); ++i) {
            ASSERT_TRUE(std::isfinite(losses[i]));
            ASSERT_LE(losses[i], losses[i - 1]) << kind << " seed " << seed << " step " << steps[i];
        }
        EXPECT_LT(losses.back(), 0.5 * losses[49]);
    }
}

// deepxde#69: the figures of the reloaded model were others. What a layer took from data before its
// training has to come back too, without the data.
TEST(Training, AReloadedModelHasTheFiguresOfTheEnd) {
    const NoPrograms no_programs;
    for (const char* task : {"kind: pinn\npoints: {residual: 40, initial: 8, boundary: "
                             "8}\nevaluation: {grid: [8, 5]}\n",
                             "kind: siren\ndata: {size: [9, 7]}\n",
                             "kind: sdf\npoints: {surface: 30, off_surface: 20}\nevaluation: "
                             "{points: 60}\n"})
        for (const char* hidden :
             {"{kind: dense}", "{kind: ralimp, split: real_input, psi: free}",
              "{kind: ralimp, split: phase_input, psi: free, train_projections: true}",
              "{kind: ralimp, split: symmetric, psi: weights, balance: diagonal}",
              "{kind: low_rank, rank: 2}", "{kind: snnk, train_projections: true}",
              "{kind: snnk, form: urf, features: 8}", "{kind: eugen, features: 3}",
              "{kind: monarch}", "{kind: tensor_train}"})
            for (const char* phases : {"{steps: 12, optimizer: {kind: adam, learning_rate: 1e-2}}",
                                       "{steps: 5}, {steps: 7, optimizer: {kind: lbfgs}}",
                                       "{steps: 5}, {steps: 7, optimizer: {kind: bfgs}}"}) {
                const TemporaryFolder folder;
                const Trained trained =
                    train_in(folder.path() / "run",
                             fmt::format("{}network: {{hidden_layers: 3, width: 6, hidden: {}}}\n"
                                         "training: {{phases: [{}], log_every: 1}}\n",
                                         task, hidden, phases));
                const std::string what =
                    fmt::format("{}{} {}: {}", task, hidden, phases, trained.error);
                ASSERT_EQ(trained.result.steps, 12) << what;
                const Checkpoint checkpoint =
                    read_checkpoint((folder.path() / "run/checkpoints/step-00000012.h5").string());
                const auto again = make_task(read_config_text<RunConfig>(checkpoint.config));
                load_into(named_tensors(again->model()), checkpoint, "model");
                EXPECT_EQ(again->evaluate(), trained.result.metrics) << what;
                EXPECT_EQ(trained.result.metrics.size(), again->metric_names().size());
                for (const auto& [name, value] : trained.result.metrics)
                    EXPECT_TRUE(std::isfinite(value)) << what << name;
                // A line search reports the loss of the parameters it leaves behind.
                if (std::string(phases).find("bfgs") == std::string::npos) continue;
                again->set_batch(5);
                EXPECT_EQ(loss_values(*again)[0].second, trained.column("loss").back()) << what;
            }
}

TEST(Training, APictureThatFailsIsAWarning) {
    const TemporaryFolder folder;
    const NoPrograms no_programs;
    const Trained trained = train_in(folder.path() / "run", small_pinn("{steps: 4}"));
    EXPECT_EQ(trained.result.stopped_by, "completed");
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "run/checkpoints/step-00000004.h5"));
    EXPECT_NE(text_of(folder.path() / "run/log.txt")
                  .find("warning: no picture: plot: gnuplot was "
                        "not found"),
              std::string::npos);
}

// DSNeRF#37, #72: a picture during the training that ran out of memory ended it.
TEST(Training, PicturesThatFailOnTheWayChangeNothing) {
    const NoPrograms no_programs;
    const TemporaryFolder folder, straight;
    int64_t drawn = 0;
    std::string text = small_pinn(adam);
    text.replace(text.find("log_every"), 0, "picture_every: 3, ");
    const Trained failing = train_in(folder.path() / "run", text, [&](WatchedTask& task) {
        task.before_drawing = [&] {
            ++drawn;
            throw std::bad_alloc();
        };
    });
    EXPECT_EQ(drawn, 4);  // after steps 3, 6, 9 and 12
    const std::string log = text_of(folder.path() / "run/log.txt");
    int64_t warnings = 0;
    for (std::size_t at = 0; (at = log.find("warning: no picture: ", at)) != std::string::npos;
         ++at)
        ++warnings;
    EXPECT_EQ(warnings, 4) << log;
    expect_same(train_in(straight.path() / "run", text), failing, "failing pictures");
}

// deepxde#1977: an optimizer that had stopped by itself did not say why, nor that it had.
TEST(Training, EveryStopOfAnOptimizerIsInTheLog) {
    const NoPrograms no_programs;
    for (const char* kind : {"lbfgs", "bfgs"}) {
        const TemporaryFolder folder;
        train_in(
            folder.path() / "run",
            small_pinn(fmt::format(
                "{{steps: 3}}, {{steps: 9, optimizer: {{kind: {0}, tolerance_gradient: 1e9}}}}, "
                "{{steps: 4}}, {{steps: 9, optimizer: {{kind: {0}, max_iterations: 2}}}}",
                kind)));
        const std::string log = text_of(folder.path() / "run/log.txt");
        EXPECT_NE(log.find(fmt::format("\n{0} stopped at step 3: {0}: gradient tolerance", kind)),
                  std::string::npos)
            << log;
        EXPECT_NE(log.find(fmt::format("\n{0} stopped at step 9: {0}: maximum iterations", kind)),
                  std::string::npos)
            << log;
    }
}

TEST(Training, ASignalWhileAPictureIsDrawnLosesNothing) {
    const NoPrograms no_programs;
    const TemporaryFolder folder, straight;
    const StopSignals signals;
    const Trained cut = train_in(folder.path() / "run", small_pinn(adam), [](WatchedTask& task) {
        task.before_drawing = [] { raise(SIGINT); };
    });
    EXPECT_EQ(cut.result.code, ExitCode::interrupted) << cut.error;
    EXPECT_EQ(cut.result.steps, 12);
    EXPECT_EQ(cut.result.metrics.size(), 2u);
}

TEST(Training, AnErrorOfAnEvaluationKeepsTheState) {
    const NoPrograms no_programs;
    const TemporaryFolder folder, straight;
    const Trained bad = train_in(folder.path() / "run", small_pinn(adam), [](WatchedTask& task) {
        task.before_evaluation = [](int64_t number) {
            if (number == 2) fail("the evaluation is broken");
        };
    });
    EXPECT_EQ(bad.error, "the evaluation is broken");
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "run/checkpoints/step-00000010.h5"));
    expect_same(train_in(straight.path() / "run", small_pinn(adam)),
                train_in(folder.path() / "run", small_pinn(adam)), "after an error");
}

TEST(Training, TheBestModelIsKeptBetweenCheckpoints) {
    const NoPrograms no_programs;
    const TemporaryFolder folder;
    const std::string config = small_pinn(
        "{steps: 40, optimizer: {kind: adam, learning_rate: 0.3}}");  // so wild that the best one
    const Trained trained = train_in(folder.path() / "run", config);  // is not the last
    const std::vector<double> errors = trained.column("relative_l2");
    double best = INFINITY, best_step = 0;
    for (std::size_t i = 0; i < errors.size(); ++i)
        if (errors[i] >= 0 && errors[i] < best) {
            best = errors[i];
            best_step = trained.rows[i][0];
        }
    ASSERT_NE(best_step, 40);
    const Checkpoint checkpoint =
        read_checkpoint((folder.path() / "run/checkpoints/best.h5").string());
    EXPECT_EQ(checkpoint.whole_number("step"), best_step);
    EXPECT_EQ(checkpoint.number("best_metric"), best);
    const auto task = make_task(read_config_text<RunConfig>(checkpoint.config));
    load_into(named_tensors(task->model()), checkpoint, "model");
    EXPECT_EQ(task->evaluate()[0].second, best);
}

TEST(Training, StepsThatAnOptimizerLeavesOutAreNotCounted) {
    const NoPrograms no_programs;
    const TemporaryFolder folder;
    // The second phase finds at once that it has nothing to do, the third goes on.
    const Trained trained = train_in(
        folder.path() / "run",
        small_pinn("{steps: 3}, {steps: 9, optimizer: {kind: lbfgs, tolerance_gradient: 1e9}}, "
                   "{steps: 4}, {steps: 9, optimizer: {kind: lbfgs, max_iterations: 2}}"));
    EXPECT_EQ(trained.error, "");
    EXPECT_EQ(trained.result.steps, 9);
    EXPECT_EQ(trained.result.stopped_by, "maximum iterations");
    EXPECT_EQ(trained.rows.back()[0], 9);
    EXPECT_GT(trained.rows.back().back(), 0);  // with its evaluation
}

TEST(Training, CheckpointsOfOtherRunsAreRefused) {
    const NoPrograms no_programs;
    const TemporaryFolder folder;
    train_in(folder.path() / "run", small_pinn("{steps: 4}"));
    const Checkpoint checkpoint =
        read_checkpoint((folder.path() / "run/checkpoints/step-00000004.h5").string());
    const auto refusal = [&](const std::string& text) {
        const auto config = read_config_text<RunConfig>(text);
        const auto task = make_task(config);
        Log log({-1, false, 80});
        Training training(*task, settings_of(config), log, text);
        try {
            training.restore(checkpoint);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::bad_input);
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(refusal(small_pinn("{steps: 4}")), "");
    EXPECT_EQ(refusal("kind: siren\ndata: {size: [4, 4]}\n"),
              "the checkpoint is of a pinn run; the config's kind is siren");
    EXPECT_EQ(refusal(small_pinn(lbfgs)),
              "the checkpoint was made with the optimizer adam; phase 1 of the config has lbfgs");
    EXPECT_NE(refusal(small_pinn("{steps: 4}", "float32"))
                  .find("is float32, in the checkpoint "
                        "float64"),
              std::string::npos);
}

TEST(Training, AScheduleThatFallsToZeroIsRefusedForLineSearches) {
    const auto config = read_config_text<RunConfig>(
        small_pinn("{steps: 9, optimizer: {kind: lbfgs}, schedule: {kind: cosine, final_factor: 0, "
                   "steps: 5}}"));
    const auto task = make_task(config);
    Log log({-1, false, 80});
    EXPECT_THROW(Training(*task, settings_of(config), log, ""), Error);
}

}  // namespace
}  // namespace ralimp
