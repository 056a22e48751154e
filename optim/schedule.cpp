#include "optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"

namespace ralimp {
namespace {

// How far the decay is at `step` steps after the warm-up: 0 at its start, 1 where it ends, beyond 1
// after. A decay of no length is over at once.
template <class Schedule>
double progress(const Schedule& schedule, int64_t step, int64_t total_steps) {
    const int64_t length = schedule.steps.value_or(total_steps) - schedule.warmup_steps;
    return length > 0 ? static_cast<double>(step) / static_cast<double>(length) : 1;
}

double decay(const ConstantSchedule&, int64_t, int64_t) { return 1; }

double decay(const CosineSchedule& schedule, int64_t step, int64_t total_steps) {
    const double t = std::min(progress(schedule, step, total_steps), 1.0);
    return schedule.final_factor +
           (1 - schedule.final_factor) * 0.5 * (1 + std::cos(std::numbers::pi * t));
}

double decay(const LinearSchedule& schedule, int64_t step, int64_t total_steps) {
    const double t = std::min(progress(schedule, step, total_steps), 1.0);
    return 1 + (schedule.final_factor - 1) * t;
}

double decay(const ExponentialSchedule& schedule, int64_t step, int64_t total_steps) {
    return std::pow(schedule.final_factor, progress(schedule, step, total_steps));
}

double decay(const StepSchedule& schedule, int64_t step, int64_t) {
    return std::pow(schedule.factor, static_cast<double>(step / schedule.every));
}

}  // namespace

double schedule_factor(const ScheduleConfig& schedule, int64_t step, int64_t total_steps) {
    check(step >= 0, "schedule: step {} is negative", step);
    return std::visit(
        [&](const auto& config) {
            if (step < config.warmup_steps)
                return static_cast<double>(step + 1) / static_cast<double>(config.warmup_steps);
            return decay(config, step - config.warmup_steps, total_steps);
        },
        schedule);
}

}  // namespace ralimp
