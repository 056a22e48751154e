// Runs of many steps: what a step leaves behind would add up.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/temporary_folder.h"
#include "tests/trainers/training_testing.h"

namespace ralimp {
namespace {

int64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    int64_t pages = 0, resident = 0;
    file >> pages >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

// From the first tenth of the steps to the last. A megabyte is below 12 bytes a step.
void expect_no_growth(const std::string& config, int64_t steps) {
    const NoPrograms no_programs;
    const TemporaryFolder folder;
    int64_t early = 0, late = 0;
    const Trained trained = train_in(folder.path() / "run", config, [&](WatchedTask& task) {
        task.before_step = [&](int64_t step) {
            if (step == steps / 10) early = resident_bytes();
            if (step == steps) late = resident_bytes();
        };
    });
    EXPECT_EQ(trained.error, "");
    EXPECT_EQ(trained.result.steps, steps);
    EXPECT_GT(early, 0);
    EXPECT_LT(late - early, 1 << 20) << early << " bytes at first, " << late << " at the end";
}

const std::string often =
    "training: {phases: [{steps: 100000}], log_every: 50, evaluate_every: 500, "
    "checkpoint_every: 2000}\n";

TEST(SlowLongRun, MemoryOfAPinnDoesNotGrow) {
    expect_no_growth(
        "kind: pinn\nnetwork: {hidden_layers: 1, width: 3, hidden: {kind: ralimp, features: 2}}\n"
        "points: {residual: 4, initial: 2, boundary: 2, resample_every: 3}\n"
        "evaluation: {grid: [3, 3]}\n" +
            often,
        100'000);
}

TEST(SlowLongRun, MemoryOfASirenDoesNotGrow) {
    expect_no_growth(
        "kind: siren\nnetwork: {hidden_layers: 1, width: 4}\n"
        "data: {size: [4, 5], batch_size: 3}\n" +
            often,
        100'000);
}

// Line searches, points and weights that follow the training.
TEST(SlowLongRun, MemoryOfLineSearchesOnRenewedDataDoesNotGrow) {
    expect_no_growth(
        "kind: pinn\nprecision: float64\nnetwork: {hidden_layers: 1, width: 3}\n"
        "points: {residual: 4, initial: 2, boundary: 2, resample_every: 3, adaptive: {candidates: "
        "8}}\nloss: {weights: {kind: gradient_norm, every: 5}, causal: {segments: 2}}\n"
        "evaluation: {grid: [3, 3]}\n"
        "training: {phases: [{steps: 100000, renew_data_every: 4, optimizer: {kind: lbfgs, "
        "max_iterations: 1000000, history_size: 3}}], log_every: 50, evaluate_every: 500, "
        "checkpoint_every: 2000}\n",
        100'000);
}

TEST(SlowLongRun, MemoryOfASignedDistanceDoesNotGrow) {
    expect_no_growth(
        "kind: sdf\nnetwork: {hidden_layers: 1, width: 3}\n"
        "points: {surface: 3, off_surface: 2}\nevaluation: {points: 5}\n" +
            often,
        100'000);
}

}  // namespace
}  // namespace ralimp
