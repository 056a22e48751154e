// A line search for the strong Wolfe conditions. Works on numbers and knows neither parameters nor
// directions; non-finite values are obstacles to step back from, not errors.
#pragma once
#include <cstdint>
#include <functional>

#include "core/tensor.h"

namespace ralimp {

// A point on the line x + step d.
struct LinePoint {
    double step = 0;
    double loss = 0;
    double slope = 0;  // derivative of the loss along d
    Tensor gradient;   // carried along for the caller

    bool is_finite() const;
};

struct LineSearchLimits {
    double c1 = 1e-4;  // sufficient decrease: loss <= start.loss + c1 step start.slope
    double c2 = 0.9;   // curvature: |slope| <= c2 |start.slope|
    int64_t max_evaluations = 25;
};

enum class LineSearchOutcome {
    strong_wolfe,  // both conditions hold at `best`
    lower,         // the limit was reached; the loss at `best` is lower than at the start
    failed,        // no lower finite loss was seen; `best` is the start
};

struct LineSearchResult {
    LineSearchOutcome outcome = LineSearchOutcome::failed;
    LinePoint best;
    int64_t evaluations = 0;
    int64_t non_finite = 0;  // how many of them were not finite
};

// start.step is 0, start.slope < 0, first_step > 0. Nocedal & Wright, "Numerical optimization"
// (2nd ed., 2006), Algorithms 3.5 and 3.6 with cubic interpolation (3.59), safeguarded as in
// Schmidt's minFunc. A rising or non-finite point is never returned.
LineSearchResult search_line(const LinePoint& start, double first_step,
                             const LineSearchLimits& limits,
                             const std::function<LinePoint(double step)>& evaluate);

}  // namespace ralimp
