#include "trainers/pace.h"

#include <fmt/format.h>

#include <cmath>

namespace ralimp {
namespace {

constexpr double window = 10;     // seconds
constexpr double spacing = 0.05;  // seconds between remembered times: steps can take microseconds

}  // namespace

Pace::Pace(int64_t first_step, int64_t total_steps, Clock clock)
    : clock_(std::move(clock)), start_(clock_()), total_steps_(total_steps) {
    reached_.emplace_back(start_, first_step);
}

void Pace::reached(int64_t step) {
    const double now = clock_();
    // The last entry moves along until it is far enough from the one before it.
    if (reached_.size() >= 2 &&
        reached_.back().first - reached_[reached_.size() - 2].first < spacing)
        reached_.back() = {now, step};
    else
        reached_.emplace_back(now, step);
    while (reached_.size() > 2 && reached_[1].first < now - window) reached_.pop_front();
}

std::optional<double> Pace::steps_per_second() const {
    const auto& [first_time, first_step] = reached_.front();
    const auto& [last_time, last_step] = reached_.back();
    if (last_time <= first_time) return std::nullopt;
    return static_cast<double>(last_step - first_step) / (last_time - first_time);
}

std::optional<double> Pace::seconds_left() const {
    const int64_t steps_left = total_steps_ - reached_.back().second;
    if (steps_left <= 0) return 0;
    const std::optional<double> speed = steps_per_second();
    if (!speed || *speed <= 0) return std::nullopt;
    return static_cast<double>(steps_left) / *speed;
}

std::string format_duration(std::optional<double> seconds) {
    if (!seconds || !(*seconds >= 0) || *seconds > 1e9) return "?";
    const int64_t whole = std::llround(*seconds);
    const int64_t minute = 60, hour = 60 * minute, day = 24 * hour;
    if (whole < minute) return fmt::format("{}s", whole);
    if (whole < hour) return fmt::format("{}m{:02}s", whole / minute, whole % minute);
    if (whole < day) return fmt::format("{}h{:02}m", whole / hour, whole % hour / minute);
    return fmt::format("{}d{:02}h", whole / day, whole % day / hour);
}

}  // namespace ralimp
