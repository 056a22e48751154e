// The memory of L-BFGS: the last pairs of step and gradient change, and the product of the inverse
// Hessian they stand for with a gradient.
#pragma once
#include <vector>

#include "optim/curvature.h"

namespace ralimp {

class CurvaturePairs final : public Curvature {
public:
    CurvaturePairs(const ParameterLayout& layout, int64_t capacity);

    int64_t count() const { return count_; }
    bool is_empty() const override { return count_ == 0; }
    // Nocedal & Wright, "Numerical optimization" (2nd ed., 2006), Algorithm 7.4 with the initial
    // scale (7.20).
    Tensor descent_direction(const Tensor& gradient) const override;
    // Drops the oldest pair when full.
    void add(const AcceptedStep& step) override;
    void clear() override;
    OptimizerState state() const override;
    void load(const OptimizerState& state) override;

private:
    int64_t row_of(int64_t age) const { return (oldest_ + age) % capacity_; }  // age 0: oldest
    Tensor step_of(int64_t age) const { return row(steps_, row_of(age)); }
    Tensor change_of(int64_t age) const { return row(changes_, row_of(age)); }
    double product_of(int64_t age) const { return products_[static_cast<size_t>(row_of(age))]; }
    Tensor row(const Tensor& ring, int64_t index) const;
    void measure(int64_t age);

    int64_t capacity_;
    Tensor steps_;  // ring buffers [capacity, n]
    Tensor changes_;
    int64_t oldest_ = 0;
    int64_t count_ = 0;
    std::vector<double> products_;  // s·y of each row
    double scale_ = 1;              // s·y / y·y of the newest pair
};

}  // namespace ralimp
