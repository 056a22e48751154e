// Learning rate schedules: the factor on the optimizer's learning rate as a pure function of the
// step, so that a resumed run continues the same curve.
#pragma once
#include <cstdint>
#include <optional>
#include <variant>

#include "core/describe.h"

namespace ralimp {

// In every schedule the first `warmup_steps` steps rise linearly, 1/w, 2/w, … 1, and the decay
// begins after them. `steps` counts from the start of training, warm-up included.

struct ConstantSchedule {
    int64_t warmup_steps = 0;

    static constexpr const char* kind = "constant";
    static void describe(auto& config, auto& field) {
        field("warmup_steps", config.warmup_steps, "linear rise over the first steps", at_least(0));
    }
};

// From 1 to final_factor along half a cosine: Loshchilov & Hutter, "SGDR" (2017), eq. 5, without
// restarts.
struct CosineSchedule {
    int64_t warmup_steps = 0;
    std::optional<int64_t> steps = {};
    double final_factor = 0;

    static constexpr const char* kind = "cosine";
    static void describe(auto& config, auto& field) {
        field("warmup_steps", config.warmup_steps, "linear rise over the first steps", at_least(0));
        field("steps", config.steps, "step at which the decay ends; null: the end of training",
              at_least(1));
        field("final_factor", config.final_factor, "share of the learning rate left at the end",
              between(0, 1));
    }
};

// From 1 to final_factor along a straight line.
struct LinearSchedule {
    int64_t warmup_steps = 0;
    std::optional<int64_t> steps = {};
    double final_factor = 0;

    static constexpr const char* kind = "linear";
    static void describe(auto& config, auto& field) {
        field("warmup_steps", config.warmup_steps, "linear rise over the first steps", at_least(0));
        field("steps", config.steps, "step at which the decay ends; null: the end of training",
              at_least(1));
        field("final_factor", config.final_factor, "share of the learning rate left at the end",
              between(0, 1));
    }
};

// final_factor^(t / steps), smoothly; goes on falling after `steps`.
struct ExponentialSchedule {
    int64_t warmup_steps = 0;
    std::optional<int64_t> steps = {};
    double final_factor = 0.1;

    static constexpr const char* kind = "exponential";
    static void describe(auto& config, auto& field) {
        field("warmup_steps", config.warmup_steps, "linear rise over the first steps", at_least(0));
        field("steps", config.steps,
              "step at which final_factor is reached; null: the end of training", at_least(1));
        field("final_factor", config.final_factor, "share of the learning rate left then",
              more_than(0).at_most(1));
    }
};

// Multiplied by `factor` every `every` steps.
struct StepSchedule {
    int64_t warmup_steps = 0;
    int64_t every = 1000;
    double factor = 0.5;

    static constexpr const char* kind = "step";
    static void describe(auto& config, auto& field) {
        field("warmup_steps", config.warmup_steps, "linear rise over the first steps", at_least(0));
        field("every", config.every, "steps between two reductions", at_least(1));
        field("factor", config.factor, "what each reduction multiplies by",
              more_than(0).at_most(1));
    }
};

using ScheduleConfig = std::variant<ConstantSchedule, CosineSchedule, LinearSchedule,
                                    ExponentialSchedule, StepSchedule>;

// The factor for the update made at this step, counted from 0, of a training of total_steps steps.
// Between 0 and 1; defined for any step >= 0, also beyond the end.
double schedule_factor(const ScheduleConfig& schedule, int64_t step, int64_t total_steps);

}  // namespace ralimp
