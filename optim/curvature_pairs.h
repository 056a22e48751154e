// The memory of L-BFGS: the last pairs of step and gradient change, and the product of the inverse
// Hessian they stand for with a gradient.
#pragma once
#include <vector>

#include "optim/parameter_layout.h"

namespace ralimp {

// -g as float64 [n].
Tensor steepest_descent(const Tensor& gradient);

class CurvaturePairs {
public:
    CurvaturePairs(const ParameterLayout& layout, int64_t capacity);

    int64_t count() const { return count_; }
    // -H g as float64 [n]; -g without pairs. Nocedal & Wright, "Numerical optimization" (2nd ed.,
    // 2006), Algorithm 7.4 with the initial scale (7.20).
    Tensor descent_direction(const Tensor& gradient) const;
    // Keeps s = x_{k+1} - x_k and y = g_{k+1} - g_k, dropping the oldest pair when full. A pair
    // without clearly positive curvature would make H indefinite: it is left out.
    void add(const Tensor& step, const Tensor& change);
    void clear();

    // For checkpoints: ring buffers [capacity, n], the row of the oldest pair, and the count.
    const Tensor& steps() const { return steps_; }
    const Tensor& changes() const { return changes_; }
    int64_t oldest() const { return oldest_; }
    void load(const Tensor& steps, const Tensor& changes, int64_t oldest, int64_t count);

private:
    int64_t row_of(int64_t age) const { return (oldest_ + age) % capacity_; }  // age 0: oldest
    Tensor step_of(int64_t age) const { return row(steps_, row_of(age)); }
    Tensor change_of(int64_t age) const { return row(changes_, row_of(age)); }
    double product_of(int64_t age) const { return products_[static_cast<size_t>(row_of(age))]; }
    Tensor row(const Tensor& ring, int64_t index) const;
    void measure(int64_t age);

    int64_t capacity_;
    Tensor steps_;
    Tensor changes_;
    int64_t oldest_ = 0;
    int64_t count_ = 0;
    std::vector<double> products_;  // s·y of each row
    double scale_ = 1;              // s·y / y·y of the newest pair
};

}  // namespace ralimp
