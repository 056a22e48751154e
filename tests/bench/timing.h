// How the benchmarks time: medians of batches, printed as one JSON object of microseconds.
#pragma once
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace ralimp {

template <class F>
double seconds_of(F&& f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Microseconds that one call of f takes: the median of batches that last long enough for the clock,
// 0.3 seconds of them and at least five. peer_operations.py does the same.
template <class F>
double microseconds_of(F&& f) {
    const auto batch = [&](int64_t calls) {
        return seconds_of([&] {
            for (int64_t i = 0; i < calls; ++i) f();
        });
    };
    batch(3);
    int64_t calls = 1;
    while (batch(calls) < 1e-3) calls *= 2;
    std::vector<double> times;
    double total = 0;
    while (total < 0.3 || times.size() < 5) {
        times.push_back(batch(calls));
        total += times.back();
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2] / static_cast<double>(calls) * 1e6;
}

// The cases whose names begin with one of the given words (none: all), timed in turn.
class Timings {
public:
    Timings(int argc, char** argv) : wanted_(argv + 1, argv + argc) {}

    bool wants(const std::string& name) const {
        return wanted_.empty() || std::any_of(wanted_.begin(), wanted_.end(), [&](const auto& w) {
                   return name.starts_with(w) || w.starts_with(name);
               });
    }
    template <class F>
    void time(const std::string& name, F&& f) {
        if (wants(name)) results_.emplace_back(name, microseconds_of(f));
    }
    // A figure that belongs to the timings.
    void note(const std::string& name, double value) { results_.emplace_back(name, value); }
    void print() const {
        std::string text;
        for (const auto& [name, time] : results_)
            text += fmt::format("{}\"{}\": {:.4f}", text.empty() ? "" : ", ", name, time);
        fmt::print("{{{}}}\n", text);
    }

private:
    std::vector<std::string> wanted_;
    std::vector<std::pair<std::string, double>> results_;
};

}  // namespace ralimp
