// Times one training step (loss, gradient, Adam) of the Burgers network 2-20x8-1 on 10,000 residual
// points and 100 initial and boundary points. Prints one line of JSON, as burgers_step.py does for
// PyTorch.
//   burgers_step [--threads N] [--steps N] [--points N] [--precision float32|float64] [--hidden
//   dense|ralimp]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/allocator.h"
#include "core/parallel.h"
#include "layers/parameters.h"
#include "optim/adam.h"
#include "trainers/objective.h"
#include "trainers/pinn.h"

using namespace ralimp;

int main(int argc, char** argv) {
    int threads = 2, steps = 50;
    PinnConfig config;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string key = argv[i], value = argv[i + 1];
        if (key == "--threads") threads = std::stoi(value);
        if (key == "--steps") steps = std::stoi(value);
        if (key == "--points") config.points.residual = std::stoi(value);
        if (key == "--precision")
            config.run.precision = value == "float64" ? Precision::float64 : Precision::float32;
    }
    set_thread_count(threads);
    PinnTask task(config);
    const Parameters parameters(task.model());
    Adam adam(ParameterLayout::single(parameters.count(), parameters.values().dtype()),
              AdamConfig{});
    std::vector<double> milliseconds;
    const auto objective = [&] {
        const ObjectiveValues values = evaluate_objective(task, parameters);
        return Evaluation{values.loss[0].second, values.gradient};
    };
    for (int step = 0; step < steps + 5; ++step) {
        const auto start = std::chrono::steady_clock::now();
        adam.step(parameters.values(), 1e-3, objective);
        const std::chrono::duration<double, std::milli> elapsed =
            std::chrono::steady_clock::now() - start;
        if (step >= 5) milliseconds.push_back(elapsed.count());
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    std::printf(
        "{\"median_ms\": %.4f, \"min_ms\": %.4f, \"steps\": %d, \"peak_memory_bytes\": %lld}\n",
        milliseconds[milliseconds.size() / 2], milliseconds[0], steps,
        static_cast<long long>(memory_statistics({}).peak_bytes));
}
