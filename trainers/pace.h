// How fast a run goes and how long it will take, from the steps it reported.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace ralimp {

class Pace {
public:
    using Clock = std::function<double()>;  // seconds, never backwards

    static double steady_seconds() {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }

    // The run begins (or goes on) at first_step and ends at total_steps.
    Pace(int64_t first_step, int64_t total_steps, Clock clock = steady_seconds);

    void reached(int64_t step);
    double seconds() const { return clock_() - start_; }  // since the beginning
    // Over the last ten seconds; nothing before there is a measurable time.
    std::optional<double> steps_per_second() const;
    std::optional<double> seconds_left() const;

private:
    Clock clock_;
    double start_;
    int64_t total_steps_;
    std::deque<std::pair<double, int64_t>> reached_;  // (time, step), the oldest first
};

// "12s", "3m05s", "2h07m", "4d03h"; "?" when it is not known or absurd.
std::string format_duration(std::optional<double> seconds);

}  // namespace ralimp
