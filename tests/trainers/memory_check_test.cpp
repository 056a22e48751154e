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

// Whatever the kinds of optimizers are: what they really keep, of parameters that are no matrices.
TEST(MemoryCheck, TheBytesOfAnOptimizerAreThoseOfItsState) {
    std::vector<std::string> optimizers{"kind: sgd, momentum: 0.5", "kind: lbfgs, history_size: 7"};
    for (const std::string& kind : VariantTraits<OptimizerConfig>::kinds())
        optimizers.push_back("kind: " + kind);
    for (const std::string& text : optimizers)
        for (const DType dtype : {DType::float32, DType::float64}) {
            const RunConfig run = config_of("", phase_of(text));
            const OptimizerConfig& config = settings_of(run).training.phases[0].optimizer;
            const auto optimizer = make_optimizer(
                config, ParameterLayout({{"a", 0, 30, true}, {"b", 30, 7, false}}, dtype));
            double bytes = 0;
            for (const auto& [name, tensor] : optimizer->state().tensors)
                bytes += static_cast<double>(tensor.elements()) *
                         static_cast<double>(bytes_of(tensor.dtype()));
            EXPECT_EQ(optimizer_bytes(config, 37, dtype), bytes) << text;
        }
}

TEST(MemoryCheck, WhatFitsPasses) {
    const double gib = 1 << 30;
    const std::string phases = phase_of("kind: adam") + ", " + phase_of("kind: lbfgs");
    EXPECT_EQ(error_of([&] { check_memory(config_of("width: 256", phases), gib); }).text, "");
    EXPECT_EQ(
        error_of([&] { check_memory(settings_of(config_of("", phases)), 200'000, gib); }).text, "");
}

// One dense layer from 1000 to 1000 and the ends: 1,004,001 parameters of 4 bytes.
TEST(MemoryCheck, RefusesWithThePhaseAndTheFigures) {
    const std::string network = "hidden_layers: 2, width: 1000", adam = phase_of("kind: adam");
    const auto complaint = [&](const std::string& phases, double available) {
        const Thrown thrown =
            error_of([&] { check_memory(config_of(network, phases), available); });
        EXPECT_EQ(thrown.code, thrown.text.empty() ? ExitCode::success : ExitCode::bad_config);
        return thrown.text;
    };
    // Parameters and gradient 8 MB, the moments as much again.
    const double megabyte = 1.004001e6;
    EXPECT_NE(complaint(adam, 7.9 * megabyte).find("network: 1e+06 parameters take 0.00748 GiB"),
              std::string::npos)
        << complaint(adam, 7.9 * megabyte);
    EXPECT_NE(complaint(adam, 15.9 * megabyte).find("training.phases[0].optimizer: its state for"),
              std::string::npos);
    EXPECT_EQ(complaint(adam, 16.1 * megabyte), "");
    EXPECT_NE(complaint(adam + ", " + phase_of("kind: lbfgs"), 100 * megabyte)
                  .find("training.phases[1].optimizer: its state for 1.004e+06 parameters takes "
                        "0.378 GiB; 0.0935 GiB of memory are available"),
              std::string::npos)
        << complaint(adam + ", " + phase_of("kind: lbfgs"), 100 * megabyte);
    const std::string bfgs = adam + ", " + phase_of("kind: bfgs");
    EXPECT_EQ(complaint(bfgs, 1e12),
              "training.phases[1].optimizer: the inverse Hessian of 1.004e+06 parameters takes "
              "7.51e+03 GiB, more than max_memory_gib = 4; lbfgs needs no matrix");
    const std::string raised = adam + ", " + phase_of("kind: bfgs, max_memory_gib: 1e9");
    EXPECT_EQ(
        complaint(raised, 1e12),
        "training.phases[1].optimizer: its state for 1.004e+06 parameters takes 7.51e+03 GiB; "
        "931 GiB of memory are available; lbfgs needs no matrix");
    EXPECT_EQ(complaint(raised, 1e13), "");
}

TEST(MemoryCheck, RefusesSizesBeyondEveryMachine) {
    const std::string adam = phase_of("kind: adam");
    for (const char* network :
         {"hidden_layers: 1000, width: 65536", "hidden: {kind: ralimp, features: 1000000000}",
          "hidden: {kind: ralimp, features: 9000000000000000000}",
          "hidden: {kind: ralimp, psi: weights, features: 9000000000000000000}"})
        EXPECT_EQ(error_of([&] { check_memory(config_of(network, adam), 1e13); }).text.substr(0, 9),
                  "network: ")
            << network;
}

TEST(MemoryCheck, ANetworkThatStandsIsNotCountedAgain) {
    const RunConfig run = config_of("", phase_of("kind: bfgs, max_memory_gib: 8"), "float64");
    // 30,000² numbers are 6.7 GiB, with the gradient a little more.
    EXPECT_EQ(error_of([&] { check_memory(settings_of(run), 30'000, 7.2e9 + 6e5); }).text, "");
    EXPECT_NE(error_of([&] { check_memory(settings_of(run), 30'000, 7.2e9); }).text, "");
    EXPECT_NE(error_of([&] {
                  check_memory(settings_of(run), 33'000, 1e12);
              }).text.find("more than max_memory_gib = 8"),
              std::string::npos);
}

}  // namespace
}  // namespace ralimp
