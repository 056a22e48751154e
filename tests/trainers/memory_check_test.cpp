// What is refused because no memory is there for it, before it is asked for.
#include "trainers/memory_check.h"

#include <gtest/gtest.h>

#include "tests/error_of.h"
#include "trainers/training.h"

namespace ralimp {
namespace {

RunConfig config_of(const std::string& network, const std::string& phases,
                    const std::string& precision = "float32") {
    return read_config_text<RunConfig>(
        fmt::format("kind: siren\nprecision: {}\nnetwork: {{{}}}\ntraining: {{phases: [{}]}}\n",
                    precision, network, phases));
}

std::string phase_of(const std::string& optimizer) {
    return fmt::format("{{steps: 3, optimizer: {{{}}}}}", optimizer);
}

// Whatever the kinds of optimizers are: what they really keep, of parameters of every shape, sides
// that SOAP rotates and sides that it does not.
TEST(MemoryCheck, TheBytesOfAnOptimizerAreThoseOfItsState) {
    std::vector<std::string> optimizers{"kind: sgd, momentum: 0.5", "kind: lbfgs, history_size: 7",
                                        "kind: soap, max_side: 7", "kind: soap, max_side: 1"};
    for (const std::string& kind : VariantTraits<OptimizerConfig>::kinds())
        optimizers.push_back("kind: " + kind);
    const std::vector<Shape> shapes{{30}, {7, 8}, {1, 9}, {5, 1}, {8, 8}, {2, 3, 4}};
    std::vector<ParameterGroup> groups;
    NetworkSize size;
    for (const Shape& shape : shapes) {
        groups.push_back({.name = fmt::format("p{}", groups.size()),
                          .offset = static_cast<int64_t>(size.trained),
                          .count = shape.elements(),
                          .shape = shape});
        size.trained += static_cast<double>(shape.elements());
        if (shape.dims() == 2)
            size.matrices.push_back({static_cast<double>(shape[0]), static_cast<double>(shape[1])});
    }
    for (const std::string& text : optimizers)
        for (const DType dtype : {DType::float32, DType::float64}) {
            const RunConfig run = config_of("", phase_of(text));
            const OptimizerConfig& config = settings_of(run).training.phases[0].optimizer;
            const auto optimizer = make_optimizer(config, ParameterLayout(groups, dtype));
            double bytes = 0;
            for (const auto& [name, tensor] : optimizer->state().tensors)
                bytes += static_cast<double>(tensor.elements()) *
                         static_cast<double>(bytes_of(tensor.dtype()));
            EXPECT_EQ(optimizer_bytes(config, size, dtype), bytes) << text;
        }
}

// What is told before a network is made, and what its real layout needs.
TEST(MemoryCheck, TheEigenbasesAreReckonedBeforeTheNetworkStands) {
    for (const char* hidden :
         {"kind: dense", "kind: ralimp, features: 6", "kind: ralimp, train_projections: true",
          "kind: ralimp, psi: weights, train_projections: true, share_projections: false"}) {
        const RunConfig run =
            config_of(fmt::format("hidden_layers: 3, width: 24, hidden: {{{}}}", hidden),
                      phase_of("kind: soap"));
        const OptimizerConfig& config = settings_of(run).training.phases[0].optimizer;
        const auto task = make_task(run);
        const NetworkConfig& network = std::get<SirenConfig>(run).network;
        const double told =
            optimizer_bytes(config, size_of(network, 2, 3, DType::float32, 100), DType::float32);
        const double exact = optimizer_bytes(config, size_of(task->model()), DType::float32);
        const auto optimizer = make_optimizer(config, layout_of(Parameters(task->model())));
        double real = 0;
        for (const auto& [name, tensor] : optimizer->state().tensors)
            real += static_cast<double>(tensor.elements() * bytes_of(tensor.dtype()));
        EXPECT_EQ(exact, real) << hidden;
        EXPECT_LE(told, real) << hidden;
        EXPECT_GT(told, 0.98 * real) << hidden;
    }
}

TEST(MemoryCheck, WhatFitsPasses) {
    const double gib = 1 << 30;
    const std::string phases = phase_of("kind: adam") + ", " + phase_of("kind: lbfgs");
    EXPECT_EQ(error_of([&] { check_memory(config_of("width: 256", phases), gib); }).text, "");
    const RunConfig small = config_of("width: 256", phases);
    EXPECT_EQ(error_of([&] { check_memory(small, *make_task(small), 4096, gib); }).text, "");
}

std::string complaint_about(const std::string& network, const std::string& phases,
                            double available) {
    const Thrown thrown = error_of([&] { check_memory(config_of(network, phases), available); });
    EXPECT_EQ(thrown.code, thrown.text.empty() ? ExitCode::success : ExitCode::bad_config);
    return thrown.text;
}

// One dense layer from 1000 to 1000 and the ends: 1,004,001 parameters of 4 bytes.
TEST(MemoryCheck, RefusesWithTheKeyAndEveryShare) {
    const std::string adam = phase_of("kind: adam");
    const auto complaint = [&](const std::string& phases, double available) {
        return complaint_about("hidden_layers: 2, width: 1000", phases, available);
    };
    // Parameters and gradient 8 MB, the moments as much again.
    const double megabyte = 1.004001e6;
    EXPECT_EQ(
        complaint(adam, 7.9 * megabyte),
        "network.width: 0.00748 GiB of memory are needed (the network of 1.004e+06 trained "
        "parameters 0.00374 GiB, its gradient 0.00374 GiB), 0.00739 GiB are available: choose "
        "a smaller width or fewer hidden_layers");
    EXPECT_EQ(complaint(adam, 15.9 * megabyte),
              "training.phases[0].optimizer: 0.015 GiB of memory are needed (the network of "
              "1.004e+06 trained parameters 0.00374 GiB, its gradient 0.00374 GiB, the state of "
              "adam 0.00748 GiB), 0.0149 GiB are available: choose another optimizer or a smaller "
              "network");
    EXPECT_EQ(complaint(adam, 16.1 * megabyte), "");
    const std::string lbfgs = complaint(adam + ", " + phase_of("kind: lbfgs"), 100 * megabyte);
    EXPECT_NE(lbfgs.find("training.phases[1].optimizer: 0.385 GiB"), std::string::npos) << lbfgs;
    EXPECT_NE(lbfgs.find("the state of lbfgs 0.378 GiB), 0.0935 GiB are"), std::string::npos)
        << lbfgs;
    const std::string bfgs = adam + ", " + phase_of("kind: bfgs");
    EXPECT_EQ(complaint(bfgs, 1e12),
              "training.phases[1].optimizer: the inverse Hessian of 1.004e+06 parameters takes "
              "7.51e+03 GiB, more than max_memory_gib = 4; lbfgs needs no matrix");
    const std::string raised = adam + ", " + phase_of("kind: bfgs, max_memory_gib: 1e9");
    EXPECT_NE(complaint(raised, 1e12)
                  .find("the state of bfgs 7.51e+03 GiB), 931 GiB are "
                        "available: lbfgs needs no matrix"),
              std::string::npos)
        << complaint(raised, 1e12);
    EXPECT_EQ(complaint(raised, 1e13), "");
    // Four sides of 1000, the first and the last layer's and two in the middle, each with 8 bytes a
    // number for the preconditioner and 4 for the vectors.
    const std::string soap = phase_of("kind: soap");
    const double needed = 16 * megabyte + 4 * 12e6;
    EXPECT_NE(complaint(soap, 0.99 * needed).find("the state of soap 0.0522 GiB"),
              std::string::npos)
        << complaint(soap, 0.99 * needed);
    EXPECT_EQ(complaint(soap, 1.01 * needed), "");
    EXPECT_EQ(complaint(phase_of("kind: soap, max_side: 999"), 16.1 * megabyte), "");
}

TEST(MemoryCheck, RefusesSizesBeyondEveryMachine) {
    const std::string adam = phase_of("kind: adam");
    EXPECT_EQ(complaint_about("hidden_layers: 1000, width: 65536", adam, 1e13).substr(0, 15),
              "network.width: ");
    for (const char* hidden :
         {"ralimp, features: 1000000000", "ralimp, features: 1000000000, psi: weights",
          "ralimp, features: 9000000000000000000",
          "ralimp, psi: weights, features: 9000000000000000000",
          "snnk, features: 9000000000000000000", "eugen, features: 9000000000000000000"})
        EXPECT_EQ(
            complaint_about(fmt::format("hidden: {{kind: {}}}", hidden), adam, 1e13).substr(0, 25),
            "network.hidden.features: ")
            << hidden;
    for (const char* hidden : {"narrow, width: 65536", "tensor_train, rank: 9000000000000000000"})
        EXPECT_EQ(complaint_about(fmt::format("hidden_layers: 1000, hidden: {{kind: {}}}", hidden),
                                  adam, 1e13)
                      .substr(0, 15),
                  "network.width: ")
            << hidden;
}

// Everything that a RaLiMP layer is made with and that is not its parameters.
TEST(MemoryCheck, FeaturesAreReckonedWithWhatTheyAreMadeAndStartedWith) {
    const std::string sgd = phase_of("kind: sgd"), ends = "hidden_layers: 2, width: 20, hidden: ";
    const std::string paper =
        "kind: ralimp, features: 4000, degree: 2, share_polynomial: false, norm: exact, "
        "train_projections: false";
    // 4000 random features, three frequencies with two channels and degree 2: 32,000 features from
    // 12,000 rows.
    const auto complaint = [&](const std::string& more, double available) {
        return complaint_about(fmt::format("{}{{{}, {}}}", ends, paper, more), sgd, available);
    };
    // Rows in float64 and all of them joined: 2 * 12,000 * 20 * 8 bytes.
    const std::string drawing = complaint("psi: weights", 3e6);
    EXPECT_NE(drawing.find("the drawing of projections 0.00358 GiB), 0.00279 GiB are available: "
                           "choose fewer features or a smaller width"),
              std::string::npos)
        << drawing;
    EXPECT_EQ(complaint("psi: weights", 1e7), "");
    // The rows it starts from, as far as the config knows them.
    for (const char* task : {"kind: pinn\npoints: {residual: 5000}\n",
                             "kind: siren\ndata: {size: [90, 90]}\n", "kind: sdf\n"}) {
        const RunConfig config = read_config_text<RunConfig>(fmt::format(
            "{}network: {{{}{{{}}}}}\ntraining: {{phases: [{}]}}\n", task, ends, paper, sgd));
        EXPECT_NE(error_of([&] {
                      check_memory(config, 1.6e9);
                  }).text.find("the start of a layer 1.59 GiB"),
                  std::string::npos)
            << task << error_of([&] { check_memory(config, 1.6e9); }).text;
        EXPECT_EQ(error_of([&] { check_memory(config, 2e9); }).text, "");
    }
    // Once it stands: 4096 rows of the features in float32 and again in float64 for least squares,
    // with its matrix; Ψ of 20 x 32,000 that follow from weights, and 9 rows of features in a step.
    const auto expect_limit = [&](const std::string& more, double needed, const char* shares) {
        const RunConfig config = read_config_text<RunConfig>(
            fmt::format("kind: siren\ndata: {{size: [3, 3]}}\nnetwork: {{{}{{{}, {}}}}}\n"
                        "training: {{phases: [{}]}}\n",
                        ends, paper, more, sgd));
        const auto task = make_task(config);
        const auto text = [&](double available) {
            return error_of([&] { check_memory(config, *task, 4096, available); }).text;
        };
        EXPECT_EQ(text(1.001 * needed), "") << more;
        EXPECT_NE(text(0.999 * needed).find(shares), std::string::npos) << text(0.999 * needed);
    };
    expect_limit("psi: free", 4096 * 32e3 * 12 + 4096.0 * 4096 * 8,
                 "network.hidden.features: 1.59 GiB of memory are needed (the start of a layer "
                 "1.59 GiB), 1.59 GiB are");
    expect_limit("psi: weights", (20 + 9) * 32e3 * 4 + 550 * 4,
                 "network.hidden.features: 0.00346 GiB of memory are needed (its gradient 2.05e-06 "
                 "GiB, features and weights of a step 0.00346 GiB), 0.00346 GiB are");
}

TEST(MemoryCheck, ANetworkThatStandsIsNotCountedAgain) {
    // 3 x 23,000 parameters or so: their matrix is 38 GB, with the gradient a little more.
    const RunConfig run = config_of("hidden_layers: 2, width: 200",
                                    phase_of("kind: bfgs, max_memory_gib: 16"), "float64");
    const auto task = make_task(run);
    const auto count = static_cast<double>(task->model().count().trained);
    const double needed = 8 * count * count + 2 * 8 * count;
    EXPECT_EQ(error_of([&] { check_memory(run, *task, 4096, 1.0001 * needed); }).text, "");
    EXPECT_NE(error_of([&] { check_memory(run, *task, 4096, 0.9999 * needed); }).text, "");
    const RunConfig less = config_of("hidden_layers: 2, width: 200",
                                     phase_of("kind: bfgs, max_memory_gib: 12"), "float64");
    EXPECT_NE(error_of([&] {
                  check_memory(less, *task, 4096, 1e12);
              }).text.find("more than max_memory_gib = 12"),
              std::string::npos);
}

}  // namespace
}  // namespace ralimp
