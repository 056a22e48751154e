#include "optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"

namespace ralimp {
namespace {

TEST(Schedule, ConstantIsOne) {
    for (int64_t step : {0, 1, 1000000})
        EXPECT_EQ(schedule_factor(ConstantSchedule{}, step, 10), 1);
}

TEST(Schedule, WarmUpRisesLinearlyToOneInEveryKind) {
    const ScheduleConfig schedules[] = {
        ConstantSchedule{.warmup_steps = 4}, CosineSchedule{.warmup_steps = 4},
        LinearSchedule{.warmup_steps = 4}, ExponentialSchedule{.warmup_steps = 4},
        StepSchedule{.warmup_steps = 4}};
    for (const ScheduleConfig& schedule : schedules) {
        for (int64_t step = 0; step < 4; ++step)
            EXPECT_EQ(schedule_factor(schedule, step, 20), 0.25 * static_cast<double>(step + 1));
        EXPECT_EQ(schedule_factor(schedule, 4, 20), 1) << schedule.index();
        EXPECT_LE(schedule_factor(schedule, 5, 20), 1) << schedule.index();
    }
}

TEST(Schedule, CosineFallsToItsEndAndStays) {
    const CosineSchedule schedule{.warmup_steps = 10, .steps = 110, .final_factor = 0.1};
    EXPECT_DOUBLE_EQ(schedule_factor(schedule, 10, 9999), 1);
    EXPECT_DOUBLE_EQ(schedule_factor(schedule, 35, 9999), 0.1 + 0.9 * 0.5 * (1 + std::sqrt(0.5)));
    EXPECT_DOUBLE_EQ(schedule_factor(schedule, 60, 9999), 0.55);
    EXPECT_DOUBLE_EQ(schedule_factor(schedule, 110, 9999), 0.1);
    EXPECT_DOUBLE_EQ(schedule_factor(schedule, 5000, 9999), 0.1);
}

TEST(Schedule, WithoutStepsTheDecayEndsWithTheTraining) {
    EXPECT_DOUBLE_EQ(schedule_factor(CosineSchedule{}, 50, 100), 0.5);
    EXPECT_DOUBLE_EQ(schedule_factor(LinearSchedule{}, 25, 100), 0.75);
    EXPECT_DOUBLE_EQ(schedule_factor(ExponentialSchedule{}, 100, 100), 0.1);
    EXPECT_NEAR(schedule_factor(CosineSchedule{}, 100, 100), 0, 1e-16);
}

TEST(Schedule, LinearAndExponentialAndStepFollowTheirFormulas) {
    const LinearSchedule linear{.steps = 200, .final_factor = 0.2};
    EXPECT_DOUBLE_EQ(schedule_factor(linear, 50, 1), 0.8);
    EXPECT_DOUBLE_EQ(schedule_factor(linear, 300, 1), 0.2);
    // NeRF's: a tenth over 500,000 steps, and falling on.
    const ExponentialSchedule exponential{.steps = 500000, .final_factor = 0.1};
    EXPECT_DOUBLE_EQ(schedule_factor(exponential, 250000, 1), std::sqrt(0.1));
    EXPECT_DOUBLE_EQ(schedule_factor(exponential, 1000000, 1), 0.01);
    const StepSchedule step{.every = 30, .factor = 0.5};
    EXPECT_EQ(schedule_factor(step, 29, 1), 1);
    EXPECT_EQ(schedule_factor(step, 30, 1), 0.5);
    EXPECT_EQ(schedule_factor(step, 90, 1), 0.125);
}

TEST(Schedule, ADecayOfNoLengthIsOverAtOnce) {
    const CosineSchedule all_warmup{.warmup_steps = 100, .final_factor = 0.3};
    EXPECT_EQ(schedule_factor(all_warmup, 99, 100), 1);
    EXPECT_DOUBLE_EQ(schedule_factor(all_warmup, 100, 100), 0.3);
    EXPECT_DOUBLE_EQ(schedule_factor(LinearSchedule{.steps = {}, .final_factor = 0.3}, 0, 0), 0.3);
}

TEST(Schedule, ANegativeStepIsAnError) {
    EXPECT_THROW(schedule_factor(ConstantSchedule{}, -1, 10), Error);
}

}  // namespace
}  // namespace ralimp
