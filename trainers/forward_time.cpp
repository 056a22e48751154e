#include "trainers/forward_time.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "autograd/operations.h"

namespace ralimp {

double fastest_milliseconds(const std::function<void()>& f) {
    using Clock = std::chrono::steady_clock;
    double best = INFINITY, total = 0;
    for (int calls = 0; calls < 5 || total < 100; ++calls) {
        const auto start = Clock::now();
        f();
        const std::chrono::duration<double, std::milli> time = Clock::now() - start;
        best = std::min(best, time.count());
        total += time.count();
    }
    return best;
}

Tensor repeated_rows(const Tensor& x, int64_t rows) {
    Tensors parts;
    for (int64_t left = rows; left > 0; left -= x.size(0))
        parts.push_back(slice(x, 0, 0, std::min(left, x.size(0))));
    return concatenate(parts);
}

}  // namespace ralimp
