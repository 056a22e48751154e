// Networks made of trained ones, layer by layer, and what their distillation learns from.
#include "trainers/conversion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "autograd/operations.h"
#include "layers/parameters.h"
#include "tests/error_of.h"
#include "trainers/run_config.h"

namespace ralimp {
namespace {

RunConfig config_of(const std::string& hidden, const std::string& kind = "pinn") {
    const std::string network =
        "network: {hidden_layers: 4, width: 10, hidden: " + hidden + "}\nprecision: float64\n";
    if (kind == "siren")
        return read_config_text<RunConfig>("kind: siren\ndata: {size: [9, 14]}\n" + network);
    if (kind == "sdf") return read_config_text<RunConfig>("kind: sdf\n" + network);
    return read_config_text<RunConfig>(
        "kind: pinn\nproblem: {kind: burgers}\npoints: {residual: 64}\n"
        "evaluation: {grid: [9, 7]}\n" +
        network);
}

// A dense network as if it were trained, and one of another kind.
struct Pair {
    explicit Pair(const std::string& hidden, const std::string& kind = "pinn")
        : config(config_of(hidden, kind)),
          trained(make_task(config_of("{kind: dense}", kind))),
          converted(make_task(config)),
          conversion(*trained, *converted, network_of(config), 0, log) {
        uint64_t seed = 0;
        for (const auto& [name, tensor] : named_tensors(trained->model()))
            tensor.copy_from(tensor * 1.5 + random_normal(tensor.shape(),
                                                          {++seed, RandomStream::user, 0},
                                                          DType::float64, 0, 0.1));
    }
    RunConfig config;
    Log log{{-1, false, 80}};
    std::unique_ptr<Task> trained, converted;
    Conversion conversion;
};

std::map<std::string, std::vector<double>> values_of(Task& task) {
    std::map<std::string, std::vector<double>> values;
    for (const auto& [name, tensor] : named_tensors(task.model()))
        values[name] = tensor.to_doubles();
    return values;
}

double rms(const Tensor& x) { return std::sqrt(mean(square(x)).item()); }

TEST(FreshInputs, AreDrawnAnewForEachNumber) {
    for (const char* kind : {"pinn", "siren", "sdf"}) {
        const auto task = make_task(config_of("{kind: dense}", kind));
        const Tensor first = task->fresh_inputs(200, 3), again = task->fresh_inputs(200, 3),
                     other = task->fresh_inputs(200, 4);
        EXPECT_EQ(first.shape(), (Shape{200, task->model().inputs()})) << kind;
        EXPECT_EQ(first.to_doubles(), again.to_doubles()) << kind;
        EXPECT_NE(first.to_doubles(), other.to_doubles()) << kind;
        EXPECT_NE(first.to_doubles(), task->calibration_batch().to_doubles()) << kind;
        // t is from 0 to 1.
        EXPECT_LE(max(abs(first)).item(), 1) << kind;
    }
}

// At most a quarter of the points are on the boundary or at the start.
TEST(FreshInputs, OfAPinnHavePointsOfItsConditions) {
    const auto task = make_task(config_of("{kind: dense}"));
    const std::vector<double> points = task->fresh_inputs(400, 1).to_doubles();
    int boundary = 0, start = 0;
    for (std::size_t i = 0; i < points.size(); i += 2) {
        boundary += std::abs(points[i]) == 1;
        start += points[i + 1] == 0;
    }
    EXPECT_GT(boundary, 10);
    EXPECT_GT(start, 10);
    EXPECT_LE(boundary + start, 101);
}

TEST(FreshInputs, OfAnImageAreItsPixels) {
    const auto task = make_task(config_of("{kind: dense}", "siren"));
    const std::vector<double> points = task->fresh_inputs(3000, 1).to_doubles();
    std::set<std::pair<double, double>> pixels;
    for (std::size_t i = 0; i < points.size(); i += 2) pixels.emplace(points[i], points[i + 1]);
    EXPECT_EQ(pixels.size(), 9u * 14u);
}

TEST(Conversion, StartsEveryLayerInThePlaceOfItsOwn) {
    Pair pair("{kind: low_rank, rank: 4}");
    const auto before = values_of(*pair.trained);
    pair.conversion.start();
    EXPECT_EQ(values_of(*pair.trained), before);
    // What is not converted is the same; layer_0 scales, layer_1 is the first dense one.
    const auto now = values_of(*pair.converted);
    for (const char* name : {"layer_1.weight", "layer_1.bias", "layer_5.weight", "layer_5.bias"})
        EXPECT_EQ(now.at(name), before.at(name)) << name;
    // The errors are those of the layers' outputs, each behind the converted ones before it.
    const Tensor x = pair.converted->fresh_inputs(300, 77);
    const Conversion::Errors errors = pair.conversion.errors(x);
    ASSERT_EQ(errors.layers.size(), 3u);
    Tensor wanted = x, own = x;
    for (std::size_t i = 0; i < 5; ++i) {
        wanted = pair.trained->model().parts()[i]->forward(wanted);
        own = pair.converted->model().parts()[i]->forward(own);
        if (i < 2) continue;
        EXPECT_NEAR(errors.layers[i - 2], rms(own - wanted) / rms(wanted), 1e-12);
        EXPECT_LT(errors.layers[i - 2], 0.3);
        EXPECT_GT(errors.layers[i - 2], 1e-6);
    }
    const Tensor u = pair.trained->model().forward(x);
    EXPECT_NEAR(errors.model, rms(pair.converted->model().forward(x) - u) / rms(u), 1e-12);
}

TEST(Conversion, OfTheFullRankIsTheSameNetwork) {
    for (const char* kind : {"pinn", "siren", "sdf"}) {
        Pair pair("{kind: low_rank, rank: 10}", kind);
        pair.conversion.start();
        EXPECT_LT(pair.conversion.errors(pair.converted->fresh_inputs(100, 9)).model, 1e-9) << kind;
    }
}

TEST(Conversion, LearnsLayersAndTheNetwork) {
    for (const char* hidden :
         {"{kind: monarch, blocks: 2}", "{kind: snnk, features: 8, train_projections: true}"}) {
        Pair pair(hidden);
        pair.conversion.start();
        const Tensor x = pair.converted->fresh_inputs(2000, 1 << 20);
        const Conversion::Errors start = pair.conversion.errors(x);
        const auto outer = [&] { return values_of(*pair.converted).at("layer_1.weight"); };
        const std::vector<double> outer_start = outer();
        pair.conversion.distil_layers({.steps = 150, .learning_rate = 3e-3});
        const Conversion::Errors layers = pair.conversion.errors(x);
        for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(layers.layers[i], start.layers[i]) << hidden;
        EXPECT_EQ(outer(), outer_start) << hidden;
        pair.conversion.distil_network({.steps = 150, .learning_rate = 3e-3});
        const Conversion::Errors network = pair.conversion.errors(x);
        EXPECT_LT(network.model, 0.7 * layers.model) << hidden;
        EXPECT_NE(outer(), outer_start) << hidden;
    }
}

// Values alone leave the derivatives to chance.
TEST(Conversion, LearnsDerivatives) {
    const auto error = [](int64_t order) {
        Pair pair("{kind: ralimp, features: 2}");
        pair.conversion.start();
        pair.conversion.distil_network(
            {.steps = 200, .learning_rate = 3e-3, .derivative_order = order});
        const Jet x =
            Jet::input(pair.converted->fresh_inputs(1000, 1 << 20), JetPlan::make({{0, 0}, {1}}));
        const NoGrad pause;
        const Jet u = pair.trained->model().forward(x), v = pair.converted->model().forward(x);
        return rms(v.derivative({0, 0}) - u.derivative({0, 0})) / rms(u.derivative({0, 0}));
    };
    EXPECT_LT(error(2), 0.7 * error(0));
}

// A rate that breaks everything: what was there before stays, unless nothing is finite any more.
TEST(Conversion, KeepsWhatIsBetter) {
    Pair pair("{kind: low_rank, rank: 4}");
    pair.conversion.start();
    const auto before = values_of(*pair.converted);
    pair.conversion.distil_layers({.steps = 3, .learning_rate = 10});
    pair.conversion.distil_network({.steps = 3, .learning_rate = 10});
    const auto after = values_of(*pair.converted);
    for (const auto& [name, values] : before)
        for (std::size_t i = 0; i < values.size(); ++i)
            EXPECT_NEAR(after.at(name)[i], values[i], 1e-12) << name;
    const Thrown thrown =
        error_of([&] { pair.conversion.distil_network({.steps = 3, .learning_rate = 1e308}); });
    EXPECT_EQ(thrown.code, ExitCode::non_finite);
    EXPECT_NE(thrown.text.find("network: step 2 of the distillation: the loss is"),
              std::string::npos)
        << thrown.text;
}

// Layers that come closer to the dense ones may make a worse network: then the start stays.
TEST(Conversion, LayersDoNotMakeTheNetworkWorse) {
    int kept = 0;
    for (const char* hidden : {"{kind: ralimp, features: 1}", "{kind: ralimp, features: 2}",
                               "{kind: eugen, features: 4}", "{kind: snnk, features: 8}",
                               "{kind: tensor_train, rank: 1}"}) {
        Pair pair(hidden);
        pair.conversion.start();
        const auto before = values_of(*pair.converted);
        const Tensor held_out = pair.converted->fresh_inputs(calibration_batch_rows, 1);
        const double error = pair.conversion.errors(held_out).model;
        pair.conversion.distil_layers({.steps = 20, .learning_rate = 3e-3});
        EXPECT_LE(pair.conversion.errors(held_out).model, error) << hidden;
        kept += values_of(*pair.converted) == before;
    }
    EXPECT_GT(kept, 0);
    EXPECT_LT(kept, 5);
}

}  // namespace
}  // namespace ralimp
