// Times the training steps of a config: loss, gradient and the optimizer of its first phase, on one
// batch. Prints one line of JSON; tests/bench/peer_step.py does the same work in PyTorch.
//   bench_train_step CONFIG [key.path=value…] --steps N
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "core/allocator.h"
#include "core/denormals.h"
#include "core/parallel.h"
#include "layers/parameters.h"
#include "trainers/config.h"
#include "trainers/objective.h"
#include "trainers/run_config.h"

using namespace ralimp;

int main(int argc, char** argv) {
    flush_denormals();
    constexpr int warmup = 5;
    int steps = 50;
    std::string path;
    std::vector<std::string> overrides;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--steps" && i + 1 < argc)
            steps = std::stoi(argv[++i]);
        else if (argument.find('=') != std::string::npos)
            overrides.push_back(argument);
        else
            path = argument;
    }
    const auto config = read_config<RunConfig>(path, overrides);
    const RunSettings& settings = settings_of(config);
    if (settings.threads > 0) set_thread_count(static_cast<int>(settings.threads));
    const auto task = make_task(config);
    task->model().initialize_from_data(task->calibration_batch());
    task->set_batch(0);
    const Parameters parameters(task->model());
    const PhaseConfig& phase = settings.training.phases.front();
    const auto optimizer = make_optimizer(
        phase.optimizer, ParameterLayout::single(parameters.count(), dtype_of(settings.precision)));
    int64_t evaluations = 0;
    double loss = 0;
    const auto objective = [&] {
        const ObjectiveValues values = evaluate_objective(*task, parameters);
        ++evaluations;
        loss = values.loss[0].second;
        return Evaluation{loss, values.gradient};
    };
    std::vector<double> milliseconds;
    double total = 0;
    int64_t allocations = 0;
    for (int step = 0; step < steps + warmup; ++step) {
        if (step == warmup) {
            evaluations = 0;
            allocations = memory_statistics({}).allocations;
        }
        const auto start = std::chrono::steady_clock::now();
        const StepResult result =
            optimizer->step(parameters.values(), learning_rate_of(phase.optimizer), objective);
        const std::chrono::duration<double, std::milli> elapsed =
            std::chrono::steady_clock::now() - start;
        if (result.stop != StopReason::none) {
            fmt::print(stderr, "bench_train_step: stopped after {} steps: {}\n", step,
                       result.message);
            return 1;
        }
        if (step < warmup) continue;
        milliseconds.push_back(elapsed.count());
        total += elapsed.count();
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    fmt::print(
        "{{\"median_ms\": {:.4f}, \"min_ms\": {:.4f}, \"evaluation_ms\": {:.4f}, \"steps\": {}, "
        "\"evaluations\": {}, \"loss\": {}, \"tensor_bytes\": {}, \"resident_bytes\": {}, "
        "\"allocations_per_step\": {}}}\n",
        milliseconds[milliseconds.size() / 2], milliseconds[0],
        total / static_cast<double>(evaluations), steps, evaluations, loss,
        memory_statistics({}).peak_bytes, usage.ru_maxrss * int64_t{1024},
        static_cast<double>(memory_statistics({}).allocations - allocations) / steps);
}
