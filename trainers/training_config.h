// What every task's config shares: seed, precision, threads and the phases of training.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/describe.h"
#include "core/dtype.h"
#include "optim/make_optimizer.h"
#include "optim/schedule.h"

namespace ralimp {

enum class Precision { float32, float64 };

constexpr auto enum_names(Precision) {
    return std::array{std::pair{Precision::float32, "float32"},
                      std::pair{Precision::float64, "float64"}};
}

inline DType dtype_of(Precision precision) {
    return precision == Precision::float64 ? DType::float64 : DType::float32;
}

// Steps made with one optimizer.
struct PhaseConfig {
    int64_t steps = 1000;
    OptimizerConfig optimizer;
    ScheduleConfig schedule;
    int64_t renew_data_every = 0;

    static void describe(auto& config, auto& field) {
        field("steps", config.steps, "steps (L-BFGS, BFGS: iterations, at most)", at_least(1));
        field("optimizer", config.optimizer, "how the parameters move");
        field("schedule", config.schedule, "factor on the learning rate over the phase's steps");
        field("renew_data_every", config.renew_data_every,
              "L-BFGS and BFGS: steps after which they go on with the data of the present step, or "
              "earlier where they would stop; 0: a phase keeps the data it starts with",
              at_least(0));
        field.check("renew_data_every",
                    config.renew_data_every == 0 || is_line_search(config.optimizer),
                    "other optimizers take the data of every step");
    }
};

struct TrainingConfig {
    std::vector<PhaseConfig> phases{PhaseConfig{}};
    int64_t log_every = 100;
    int64_t evaluate_every = 0;
    int64_t checkpoint_every = 1000;
    int64_t picture_every = 0;
    int64_t keep_checkpoints = 2;

    static void describe(auto& config, auto& field) {
        field("phases", config.phases, "one after the other, such as Adam, then L-BFGS", items(1));
        field("log_every", config.log_every, "steps between two rows of metrics.csv", at_least(1));
        field("evaluate_every", config.evaluate_every,
              "steps between two evaluations; 0: only at the end", at_least(0));
        field("checkpoint_every", config.checkpoint_every,
              "steps between two checkpoints; 0: only at the end", at_least(0));
        field("picture_every", config.picture_every,
              "steps between two pictures; 0: only at the end", at_least(0));
        field("keep_checkpoints", config.keep_checkpoints,
              "latest checkpoints kept, besides the best one", at_least(1));
    }
    int64_t total_steps() const {
        int64_t total = 0;
        for (const PhaseConfig& phase : phases) total += phase.steps;
        return total;
    }
};

struct RunSettings {
    int64_t seed = 0;
    Precision precision = Precision::float32;
    int64_t threads = 0;
    TrainingConfig training;

    // The keys stand at the top of the file, beside the task's own.
    static void describe(auto& config, auto& field) {
        field("seed", config.seed, "seed of every random number", at_least(0));
        field("precision", config.precision, "type of parameters and data");
        field("threads", config.threads, "CPU threads; 0: all cores. Results do not depend on it",
              between(0, 4096));
        field("training", config.training, "optimizers, steps and how often what is written");
    }
};

}  // namespace ralimp
