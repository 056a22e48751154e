#include "optim/curvature_pairs.h"

#include "core/kernels.h"

namespace ralimp {
CurvaturePairs::CurvaturePairs(const ParameterLayout& layout, int64_t capacity)
    : capacity_(capacity),
      steps_(Tensor::zeros({capacity, layout.count()}, layout.dtype(), layout.device())),
      changes_(Tensor::zeros({capacity, layout.count()}, layout.dtype(), layout.device())),
      products_(static_cast<size_t>(capacity)) {}

Tensor CurvaturePairs::descent_direction(const Tensor& gradient) const {
    const FlatKernels& flat = kernels(gradient.device()).flat;
    const Tensor direction = steepest_descent(gradient);
    if (count_ == 0) return direction;
    std::vector<double> alpha(static_cast<size_t>(count_));
    for (int64_t age = count_ - 1; age >= 0; --age) {
        double& a = alpha[static_cast<size_t>(age)];
        a = flat.dot(step_of(age), direction) / product_of(age);
        flat.combine(direction, 1, direction, -a, change_of(age));
    }
    flat.combine(direction, scale_, direction, 0, direction);
    for (int64_t age = 0; age < count_; ++age) {
        const double b = flat.dot(change_of(age), direction) / product_of(age);
        flat.combine(direction, 1, direction, alpha[static_cast<size_t>(age)] - b, step_of(age));
    }
    return direction;
}

void CurvaturePairs::add(const AcceptedStep& step) {
    if (!has_positive_curvature(step.step, step.change)) return;
    if (count_ == capacity_)
        oldest_ = row_of(1);
    else
        ++count_;
    step_of(count_ - 1).copy_from(step.step);
    change_of(count_ - 1).copy_from(step.change);
    measure(count_ - 1);
}

void CurvaturePairs::clear() {
    oldest_ = 0;
    count_ = 0;
    scale_ = 1;
    steps_.fill(0);
    changes_.fill(0);
}

OptimizerState CurvaturePairs::state() const {
    return {
        {{"pair_steps", steps_}, {"pair_changes", changes_}},
        {{"oldest_pair", static_cast<double>(oldest_)}, {"pairs", static_cast<double>(count_)}}};
}

void CurvaturePairs::load(const OptimizerState& state) {
    const auto capacity = static_cast<double>(capacity_);
    const int64_t oldest = whole_scalar(state, "oldest_pair", capacity - 1);
    const int64_t count = whole_scalar(state, "pairs", capacity);
    steps_.copy_from(tensor_of(state, "pair_steps"));
    changes_.copy_from(tensor_of(state, "pair_changes"));
    oldest_ = oldest;
    count_ = count;
    scale_ = 1;
    for (int64_t age = 0; age < count; ++age) measure(age);
}

Tensor CurvaturePairs::row(const Tensor& ring, int64_t index) const {
    const int64_t n = ring.size(1);
    return ring.strided_view({n}, {1}, index * n);
}

void CurvaturePairs::measure(int64_t age) {
    const FlatKernels& flat = kernels(steps_.device()).flat;
    const Tensor change = change_of(age);
    const double product = flat.dot(step_of(age), change);
    products_[static_cast<size_t>(row_of(age))] = product;
    if (age == count_ - 1) scale_ = product / flat.dot(change, change);
}

}  // namespace ralimp
