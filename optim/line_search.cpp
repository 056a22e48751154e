#include "optim/line_search.h"

#include <algorithm>
#include <cmath>

namespace ralimp {
namespace {

// Minimizer of the cubic through two points and their slopes (eq. 3.59), held in [low, high]; the
// middle when there is none.
double cubic_minimizer(const LinePoint& a, const LinePoint& b, double low, double high) {
    const LinePoint& left = a.step <= b.step ? a : b;
    const LinePoint& right = a.step <= b.step ? b : a;
    const double d1 =
        left.slope + right.slope - 3 * (left.loss - right.loss) / (left.step - right.step);
    const double square = d1 * d1 - left.slope * right.slope;
    if (!(square >= 0)) return 0.5 * (low + high);
    const double d2 = std::sqrt(square);
    const double minimizer =
        right.step -
        (right.step - left.step) * ((right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2));
    if (!std::isfinite(minimizer)) return 0.5 * (low + high);
    return std::clamp(minimizer, low, high);
}

class Search {
public:
    Search(const LinePoint& start, const LineSearchLimits& limits,
           const std::function<LinePoint(double)>& evaluate)
        : start_(start),
          limits_(limits),
          evaluate_(evaluate),
          lowest_(start),
          low_(start),
          high_(start) {}

    LineSearchResult run(double first_step) {
        if (!bracket(first_step)) zoom();
        if (result_.outcome != LineSearchOutcome::strong_wolfe) {
            const bool is_lower = lowest_.loss < start_.loss;
            result_.outcome = is_lower ? LineSearchOutcome::lower : LineSearchOutcome::failed;
            result_.best = lowest_;
        }
        return result_;
    }

private:
    bool may_evaluate() const { return result_.evaluations < limits_.max_evaluations; }
    bool decreases(const LinePoint& point) const {
        return point.loss <= start_.loss + limits_.c1 * point.step * start_.slope;
    }
    bool is_flat(const LinePoint& point) const {
        return std::abs(point.slope) <= -limits_.c2 * start_.slope;
    }

    LinePoint evaluate(double step) {
        ++result_.evaluations;
        LinePoint point = evaluate_(step);
        if (!point.is_finite()) ++result_.non_finite;
        if (point.is_finite() && point.loss < lowest_.loss) lowest_ = point;
        return point;
    }

    // low_ is always a point of sufficient decrease, the lowest of them; its slope points to high_.
    bool bracket_between(const LinePoint& low, const LinePoint& high) {
        low_ = low;
        high_ = high;
        return false;
    }

    bool accept(const LinePoint& point) {
        result_.outcome = LineSearchOutcome::strong_wolfe;
        result_.best = point;
        return true;
    }

    // Algorithm 3.5: walks outward until a minimizer lies between low_ and high_. True when the
    // search is over.
    bool bracket(double step) {
        LinePoint previous = start_;
        while (may_evaluate()) {
            LinePoint trial = evaluate(step);
            const bool rises =
                result_.evaluations > 1 && trial.is_finite() && trial.loss >= previous.loss;
            if (!trial.is_finite() || !decreases(trial) || rises)
                return bracket_between(previous, trial);
            if (is_flat(trial)) return accept(trial);
            if (trial.slope >= 0) return bracket_between(trial, previous);
            step = cubic_minimizer(
                previous, trial, trial.step + 0.01 * (trial.step - previous.step), 10 * trial.step);
            previous = std::move(trial);
        }
        return true;
    }

    // Algorithm 3.6.
    void zoom() {
        bool was_near_end = false;
        while (may_evaluate()) {
            const double step = next_step(was_near_end);
            if (step == low_.step || step == high_.step) return;  // no number lies between
            const LinePoint trial = evaluate(step);
            if (!trial.is_finite() || !decreases(trial) || trial.loss >= low_.loss) {
                high_ = trial;
                continue;
            }
            if (is_flat(trial)) {
                accept(trial);
                return;
            }
            if (trial.slope * (high_.step - low_.step) >= 0) high_ = low_;
            low_ = trial;
        }
    }

    // A trial near an end of the bracket is allowed once; the next one moves a tenth inside, so
    // that the bracket shrinks. From a non-finite end the search retreats towards low_.
    double next_step(bool& was_near_end) const {
        if (!high_.is_finite()) return low_.step + 0.2 * (high_.step - low_.step);
        const auto [first, last] = std::minmax(low_.step, high_.step);
        const double step = cubic_minimizer(low_, high_, first, last);
        const double margin = 0.1 * (last - first);
        if (std::min(last - step, step - first) >= margin) {
            was_near_end = false;
            return step;
        }
        if (was_near_end || step >= last || step <= first) {
            was_near_end = false;
            return std::abs(step - last) < std::abs(step - first) ? last - margin : first + margin;
        }
        was_near_end = true;
        return step;
    }

    const LinePoint& start_;
    const LineSearchLimits& limits_;
    const std::function<LinePoint(double)>& evaluate_;
    LinePoint lowest_;  // of all finite points seen
    LinePoint low_, high_;
    LineSearchResult result_;
};

}  // namespace

bool LinePoint::is_finite() const { return std::isfinite(loss) && std::isfinite(slope); }

LineSearchResult search_line(const LinePoint& start, double first_step,
                             const LineSearchLimits& limits,
                             const std::function<LinePoint(double step)>& evaluate) {
    check(start.is_finite() && start.slope < 0 && first_step > 0,
          "line search: the start needs a finite loss, a falling slope and a positive first step, "
          "not {}, {} and {}",
          start.loss, start.slope, first_step);
    return Search(start, limits, evaluate).run(first_step);
}

}  // namespace ralimp
