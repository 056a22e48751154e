// A layer that learns a dense one: inputs of the spectrum that was asked for, targets against plain
// code, figures, the start of every kind, the same bits in pieces, refusals.
#include "trainers/layer_task.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "autograd/operations.h"
#include "core/parallel.h"
#include "data/image.h"
#include "layers/parameters.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"
#include "tests/trainers/training_testing.h"
#include "trainers/config.h"
#include "trainers/config_types.h"
#include "trainers/memory_check.h"
#include "trainers/objective.h"

namespace ralimp {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<LayerTask> task_of(const std::string& yaml, TaskUse use = TaskUse::training) {
    return std::make_unique<LayerTask>(
        std::get<LayerConfig>(read_config_text<RunConfig>("kind: layer\n" + yaml)), use);
}

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
Matrix matrix_of(const Tensor& x) {
    const std::vector<double> values = x.to_doubles();
    return Eigen::Map<const Matrix>(values.data(), x.size(0), x.size(1));
}

double figure(LayerTask& task, const std::string& wanted) {
    for (const auto& [name, value] : task.evaluate())
        if (name == wanted) return value;
    ADD_FAILURE() << "no figure " << wanted;
    return 0;
}

// The eigenvalues of a sample covariance of d dimensions lie within about 2 √(d / rows) of the true
// ones, relative to them (Marchenko and Pastur).
TEST(LayerInputs, HaveTheSpectrumOfTheFormulaInABasisThatIsNotTheAxes) {
    constexpr int64_t width = 9, rows = 30'000;
    for (const double p : {0.0, 1.0, 2.5}) {
        const auto task =
            task_of(fmt::format("precision: float64\ndata: {{spectrum: {}, train: {}, test: "
                                "2}}\nnetwork: {{width: {}}}\n",
                                p, rows, width));
        const Matrix x = matrix_of(task->samples().train.inputs);
        ASSERT_EQ(x.rows(), rows);
        EXPECT_LT(x.colwise().mean().cwiseAbs().maxCoeff(), 5 * 3 / std::sqrt(rows));
        const Matrix covariance = x.transpose() * x / rows;
        const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);
        double sum = 0;
        for (int i = 1; i <= width; ++i) sum += std::pow(i, -p);
        for (int i = 1; i <= width; ++i) {
            const double wanted = std::pow(i, -p) * width / sum;
            EXPECT_NEAR(solver.eigenvalues()[width - i], wanted, 0.05 * wanted) << p << " " << i;
        }
        EXPECT_NEAR(covariance.trace(), width, 0.05 * width);
        // Fresh ones lie in the same basis.
        const Matrix fresh = matrix_of(task->fresh_inputs(rows, 5));
        EXPECT_NE(fresh, x);
        EXPECT_NE(fresh, matrix_of(task->fresh_inputs(rows, 6)));
        EXPECT_LT((fresh.transpose() * fresh / rows - covariance).cwiseAbs().maxCoeff(),
                  0.06 * solver.eigenvalues()[width - 1]);
        const Eigen::MatrixXd mixed =
            covariance - Eigen::MatrixXd(covariance.diagonal().asDiagonal());
        if (p == 0) {
            EXPECT_LT(mixed.cwiseAbs().maxCoeff(), 5 / std::sqrt(rows));
        } else {
            EXPECT_GT(mixed.cwiseAbs().maxCoeff(), 0.3);
        }
    }
}

TEST(LayerInputs, VariancesHaveTheMeanOne) {
    for (const int64_t n : {1, 2, 255})
        for (const double p : {0.0, 0.5, 2.0, 100.0}) {
            const std::vector<double> variances = input_variances(n, p);
            double sum = 0;
            for (const double variance : variances) sum += variance;
            EXPECT_NEAR(sum, static_cast<double>(n), 1e-9 * static_cast<double>(n));
            EXPECT_NEAR(variances.back() / variances[0], std::pow(static_cast<double>(n), -p),
                        1e-12);
        }
}

// W and b are those of the dense model, whatever the kind that learns.
TEST(LayerTargets, AreTheDenseLayersByPlainCode) {
    const auto config = [](const char* hidden) {
        return fmt::format(
            "precision: float64\nseed: 4\ndata: {{spectrum: 1, train: 30, test: 11}}\n"
            "network: {{width: 7, activation: sin, omega: 3, initialization: fan_in, hidden: "
            "{}}}\n",
            hidden);
    };
    const auto dense = task_of(config("{kind: dense}"));
    std::map<std::string, Tensor> tensors;
    for (const auto& [name, tensor] : named_tensors(dense->model())) tensors[name] = tensor;
    ASSERT_EQ(tensors.size(), 2u);
    const Matrix w = matrix_of(tensors.at("layer_0.weight"));
    const std::vector<double> b = tensors.at("layer_0.bias").to_doubles();
    for (const auto* samples : {&dense->samples().train, &dense->samples().test}) {
        const Matrix x = matrix_of(samples->inputs), y = matrix_of(samples->targets);
        double variance = 0;
        for (int out = 0; out < 7; ++out) {
            double total = 0, squares = 0;
            for (int row = 0; row < x.rows(); ++row) {
                double t = b[static_cast<std::size_t>(out)];
                for (int in = 0; in < 7; ++in) t += w(out, in) * x(row, in);
                EXPECT_NEAR(y(row, out), std::sin(3 * t), 1e-13);
                total += y(row, out);
                squares += y(row, out) * y(row, out);
            }
            const auto rows = static_cast<double>(x.rows());
            variance += (squares / rows - total * total / rows / rows) / 7;
        }
        EXPECT_NEAR(samples->variance, variance, 1e-12);
    }
    for (const char* hidden : {"{kind: low_rank, rank: 2}", "{kind: ralimp, features: 3}"}) {
        const auto other = task_of(config(hidden));
        EXPECT_EQ(other->samples().train.targets.to_doubles(),
                  dense->samples().train.targets.to_doubles());
        EXPECT_EQ(other->samples().test.inputs.to_doubles(),
                  dense->samples().test.inputs.to_doubles());
    }
}

TEST(LayerTargets, OfTestsAreOfOtherInputsAndSeedsChangeAll) {
    const auto one = task_of("data: {spectrum: 2, train: 40, test: 40}\nnetwork: {width: 5}\n");
    const auto& [basis, train, test] = one->samples();
    std::set<double> seen;
    for (const double value : train.inputs.to_doubles()) seen.insert(value);
    for (const double value : test.inputs.to_doubles()) EXPECT_FALSE(seen.contains(value));
    EXPECT_EQ(one->calibration_batch().to_doubles(), train.inputs.to_doubles());
    const auto other =
        task_of("seed: 1\ndata: {spectrum: 2, train: 40, test: 40}\nnetwork: {width: 5}\n");
    for (const double value : other->samples().train.inputs.to_doubles())
        EXPECT_FALSE(seen.contains(value));
    // The same inputs tell the weights apart.
    EXPECT_NE(one->model().forward(test.inputs).to_doubles(),
              other->model().forward(test.inputs).to_doubles());
}

TEST(LayerTask, TheDenseLayerReproducesItself) {
    for (const char* precision : {"float32", "float64"})
        for (const int width : {1, 7, 33}) {
            const auto task = task_of(
                fmt::format("precision: {}\ndata: {{train: 50, test: 20}}\n"
                            "network: {{width: {}, activation: silu, initialization: fan_in}}\n",
                            precision, width));
            for (const auto& [name, value] : task->evaluate()) EXPECT_LT(value, 1e-13) << name;
        }
}

// The parts of a step are the mean over all inputs and outputs; figures are divided as they say.
TEST(LayerTask, LossAndFiguresAreThoseOfTheirFormulas) {
    const auto task = task_of(
        "precision: float64\ndata: {train: 3001, test: 500}\n"
        "network: {width: 9, activation: gelu, hidden: {kind: low_rank, rank: 2}}\n");
    ASSERT_GT(task->parts(), 1);
    const auto error_on = [&](const LayerTask::Samples& samples) {
        return (matrix_of(task->model().forward(samples.inputs)) - matrix_of(samples.targets))
            .array()
            .square()
            .mean();
    };
    const auto& [basis, train, test] = task->samples();
    const NamedValues loss = loss_values(*task);
    ASSERT_EQ(loss.size(), 2u);
    EXPECT_EQ(loss[1].first, "mse");
    EXPECT_NEAR(loss[0].second, error_on(train), 1e-14);
    EXPECT_NEAR(figure(*task, "train_mse"), error_on(train), 1e-14);
    EXPECT_NEAR(figure(*task, "test_mse"), error_on(test), 1e-14);
    EXPECT_NEAR(figure(*task, "train_unexplained"), error_on(train) / train.variance, 1e-13);
    EXPECT_NEAR(figure(*task, "test_unexplained"), error_on(test) / test.variance, 1e-13);
    std::vector<std::string> names;
    for (const auto& [name, value] : task->evaluate()) names.push_back(name);
    EXPECT_EQ(names, task->metric_names());
}

// Each starts as a fit of the dense layer on the very inputs of the training, at any width.
TEST(LayerTask, EveryKindStartsFromTheTargetsAndLearns) {
    const NoPrograms no_programs;
    for (const std::string& kind : VariantTraits<HiddenConfig>::kinds()) {
        if (kind == "narrow" || kind == "dense") continue;
        // Where rows are fixed and Ψ is all that learns, the start is the best fit already.
        const bool has_rows = kind == "ralimp" || kind == "snnk" || kind == "eugen";
        const char* more = kind == "low_rank" ? ", rank: 1"
                           : has_rows         ? ", features: 2, train_projections: true"
                                              : "";
        for (const int width : {2, 13}) {
            const std::string text = fmt::format(
                "kind: layer\ndata: {{spectrum: 2, train: 300, test: 100, batch_size: 64}}\n"
                "network: {{width: {0}, hidden: {{kind: {1}{2}}}}}\n"
                "training: {{phases: [{{steps: 200, optimizer: {{kind: adam, learning_rate: "
                "1e-2}}, schedule: {{kind: cosine}}}}]}}\n",
                width, kind, more);
            auto started = std::make_unique<LayerTask>(
                std::get<LayerConfig>(read_config_text<RunConfig>(text)));
            started->model().initialize_from_data(started->calibration_batch());
            const double before = figure(*started, "train_unexplained");
            if (kind != "monarch" && kind != "tensor_train") {  // those start at random
                EXPECT_LT(before, 0.9) << kind << " " << width;
            }
            const TemporaryFolder folder;
            const Trained trained = train_in(fs::path(folder.path()) / "run", text);
            ASSERT_EQ(trained.error, "") << kind;
            ASSERT_EQ(trained.result.metrics[2].first, "train_unexplained");
            EXPECT_LT(trained.result.metrics[2].second, 0.97 * before) << kind << " " << width;
        }
    }
}

TEST(LayerTask, InPiecesAndOnOtherThreadsGivesTheSameBits) {
    const NoPrograms no_programs;
    for (const char* data :
         {"{train: 400, test: 50}", "{spectrum: 1, train: 90, test: 50, batch_size: 20}"}) {
        const auto config = [&](int steps) {
            return fmt::format(
                "kind: layer\ndata: {}\n"
                "network: {{width: 37, hidden: {{kind: ralimp, features: 2, train_projections: "
                "true}}}}\n"
                "training: {{phases: [{{steps: {}, optimizer: {{kind: adam, learning_rate: "
                "1e-2}}}}], log_every: 1, evaluate_every: 4}}\n",
                data, steps);
        };
        const int before = thread_count();
        const TemporaryFolder straight, cut;
        set_thread_count(1);
        const Trained whole = train_in(fs::path(straight.path()) / "run", config(13));
        train_in(fs::path(cut.path()) / "run", config(6));
        set_thread_count(2);
        const Trained pieces = train_in(fs::path(cut.path()) / "run", config(13));
        set_thread_count(before);
        EXPECT_EQ(whole.error, "");
        EXPECT_EQ(whole.parameters, pieces.parameters) << data;
        EXPECT_EQ(whole.result.metrics, pieces.result.metrics) << data;
        EXPECT_EQ(whole.column("loss"), pieces.column("loss")) << data;
        EXPECT_EQ(whole.column("mse").size(), 13u);
    }
}

// A trained model is shown without the training; its figures are the same.
TEST(LayerTask, MakesItsDataWhenATrainedModelIsAskedForFigures) {
    const std::string text =
        "data: {spectrum: 1, train: 30, test: 20}\n"
        "network: {width: 6, hidden: {kind: snnk, features: 4}}\n";
    const auto one = task_of(text), other = task_of(text, TaskUse::trained_model);
    EXPECT_EQ(one->evaluate(), other->evaluate());
}

TEST(LayerTask, DrawsPredictionsAgainstTheTruth) {
    const TemporaryFolder folder;
    for (const int width : {1, 5}) {
        const auto task = task_of(fmt::format(
            "data: {{train: 30, test: 20}}\nnetwork: {{width: {}, hidden: {{kind: snnk}}}}\n",
            width));
        EXPECT_EQ(task->draw(folder.path()), std::vector<std::string>{"predicted.png"});
        const Image picture = read_image(folder / "predicted.png");
        EXPECT_GT(picture.width(), width == 1 ? 300 : 900);
    }
}

TEST(LayerTask, HasNoValuesToPredictAndNoSurface) {
    const auto task = task_of("data: {train: 3, test: 2}\nnetwork: {width: 2}\n");
    EXPECT_EQ(error_of([&] { task->predict({}); }).text,
              "predict: is for pinn runs; this is a layer run, whose values ralimp render draws");
    EXPECT_EQ(error_of([&] { task->export_mesh({}, [](const std::string&) {}); }).text,
              "export: surfaces are those of sdf runs, not layer; --format safetensors, onnx or "
              "hdf5 writes its network");
    EXPECT_EQ(error_of([&] { task->render({}, {{3, 4}, false}); }).code, ExitCode::bad_config);
}

TEST(LayerTask, RefusesWhatMakesNoSense) {
    const auto text = [](const std::string& yaml) {
        const Thrown thrown = error_of([&] { task_of(yaml); });
        EXPECT_EQ(thrown.code, ExitCode::bad_config) << yaml;
        return thrown.text;
    };
    const auto expect = [&](const std::string& yaml, const std::string& part) {
        EXPECT_NE(text(yaml).find(part), std::string::npos) << yaml << text(yaml);
    };
    expect("network: {hidden: {kind: narrow}}\n", "network.hidden: cannot be narrow");
    expect("network: {hidden_layers: 2}\n", "unknown key network.hidden_layers");
    expect("network: {scale_inputs: true}\n", "unknown key network.scale_inputs");
    expect("network: {width: 3, hidden: {kind: low_rank, rank: 4}}\n", "rank must be at most");
    expect("data: {train: 10, batch_size: 11}\n", "data.batch_size: must be at most train");
    expect("data: {train: 1}\n", "data.train");
    expect("data: {spectrum: -1}\n", "data.spectrum");
    // There is none of negative numbers, and so no surrogate either.
    expect("data: {train: 9, test: 9}\nnetwork: {width: 4, activation: log}\n",
           "network.activation: log: the dense layer's outputs are not finite");
    expect("network: {activation: log, hidden: {kind: ralimp}}\n", "network.activation: log");
    // Too small for float32: all of them are 0.
    expect("data: {train: 2, test: 2}\nnetwork: {width: 1, activation: relu, omega: 1e-300}\n",
           "network.activation: relu: the dense layer's outputs are constant");
}

// The parameters that are told before the layer is made are those that it has.
TEST(LayerTask, MemoryIsReckonedBeforeAnythingIsMade) {
    for (const std::string& kind : VariantTraits<HiddenConfig>::kinds()) {
        if (kind == "narrow") continue;
        const auto config = std::get<LayerConfig>(read_config_text<RunConfig>(
            fmt::format("kind: layer\ndata: {{train: 9, test: 9}}\nnetwork: {{width: 24, hidden: "
                        "{{kind: {}}}}}\n",
                        kind)));
        LayerTask task(config);
        const double told = size_of(config.network.hidden, 24, DType::float32, 9).trained;
        const double real = size_of(task.model()).trained;
        EXPECT_LE(told, real) << kind;
        EXPECT_GT(told, 0.98 * real) << kind;
    }
    const auto complaint = [](const std::string& more, double available) {
        const auto config = read_config_text<RunConfig>("kind: layer\n" + more);
        return error_of([&] { check_memory(config, available); }).text;
    };
    // Inputs and targets of 2,000,000 + 4096 in float32, the former in float64 once more; W.
    const double bytes = 2 * 2'004'096.0 * 256 * 4 + 2e6 * 256 * 8 + 256 * 256 * 4;
    EXPECT_EQ(complaint("data: {train: 2000000}\n", 1.001 * bytes), "");
    EXPECT_EQ(complaint("data: {train: 2000000}\n", 0.999 * bytes),
              "data.train: 7.64 GiB of memory are needed (inputs and targets 7.64 GiB), 7.63 GiB "
              "are available: choose fewer inputs or a smaller network.width");
    // A basis besides.
    EXPECT_NE(complaint("data: {train: 2, test: 2, spectrum: 1}\nnetwork: {width: 4000}\n", 4e8),
              "");
    EXPECT_EQ(complaint("data: {train: 2, test: 2}\nnetwork: {width: 4000}\n", 4e8), "");
}

}  // namespace
}  // namespace ralimp
