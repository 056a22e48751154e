#include "optim/inverse_hessian.h"

#include <algorithm>
#include <cmath>

#include "core/kernels.h"

namespace ralimp {

BroydenMember broyden_member(InverseHessianUpdate update, double b, double h, int64_t parameters) {
    if (update == InverseHessianUpdate::bfgs) return {};
    const double scaling = std::min(1.0, 1 / b);
    const double a = b * h - 1;  // 0 or more by the inequality of Cauchy and Schwarz
    // Where H y and s are parallel, all members of the class agree.
    if (update == InverseHessianUpdate::self_scaled_bfgs || !(a > 0)) return {1, scaling};
    const double c = std::sqrt(a / (a + 1));
    const double smallest = std::min(1.0, h * (1 - c));
    const double theta = std::max((smallest - 1) / a, std::min(1 / smallest, (1 - b) / b));
    const double sigma = 1 + a * theta;
    const double shrink =
        parameters > 1 ? std::pow(sigma, -1 / static_cast<double>(parameters - 1)) : 1;
    const double tau =
        theta > 0 ? scaling * std::min(shrink, 1 / theta) : std::min(scaling * shrink, sigma);
    return {(1 - theta) / sigma, tau};
}

InverseHessian::InverseHessian(const ParameterLayout& layout, InverseHessianUpdate update)
    : update_(update),
      matrix_(Tensor::empty({layout.count(), layout.count()}, DType::float64, layout.device())) {
    set_to_identity(1);
}

void InverseHessian::set_to_identity(double scale) {
    const int64_t n = matrix_.size(0);
    matrix_.fill(0);
    matrix_.strided_view({n}, {n + 1}, 0).fill(scale);
}

Tensor InverseHessian::times(const Tensor& vector) const {
    const int64_t n = matrix_.size(0);
    const Tensor result = Tensor::empty({n, 1}, DType::float64, matrix_.device());
    kernels(matrix_.device()).matmul(result, matrix_, vector.strided_view({n, 1}, {1, 1}, 0));
    return result.strided_view({n}, {1}, 0);
}

Tensor InverseHessian::descent_direction(const Tensor& gradient) const {
    const Tensor downhill = steepest_descent(gradient);
    return is_empty() ? downhill : times(downhill);
}

void InverseHessian::add(const AcceptedStep& step) {
    if (!has_positive_curvature(step.step, step.change)) return;
    const FlatKernels& flat = kernels(matrix_.device()).flat;
    const auto as_float64 = [&](const Tensor& x) {
        const Tensor result = Tensor::empty(x.shape(), DType::float64, x.device());
        flat.combine(result, 1, x, 0, x);
        return result;
    };
    const Tensor s = as_float64(step.step), y = as_float64(step.change);
    const double ys = flat.dot(y, s);
    double sBs = -step.length * flat.dot(s, step.gradient);
    if (is_empty()) {
        const double scale = ys / flat.dot(y, y);
        set_to_identity(scale);
        sBs = flat.dot(s, s) / scale;
    }
    const Tensor Hy = times(y);
    const double yHy = flat.dot(y, Hy), b = sBs / ys, h = yHy / ys;
    if (!(b > 0) || !(h > 0) || !std::isfinite(b * h)) return;
    const auto [phi, tau] = broyden_member(update_, b, h, matrix_.size(0));
    // The member of Broyden's class, sorted by the products of s and H y.
    flat.rank_two(matrix_, 1 / tau, s, Hy, (1 + phi * h / tau) / ys, -phi / (tau * ys),
                  (phi - 1) / (tau * yHy));
    ++updates_;
}

void InverseHessian::clear() {
    updates_ = 0;
    set_to_identity(1);
}

OptimizerState InverseHessian::state() const {
    return {{{"inverse_hessian", matrix_}}, {{"updates", static_cast<double>(updates_)}}};
}

void InverseHessian::load(const OptimizerState& state) {
    const int64_t updates = whole_scalar(state, "updates", 0x1p53);
    matrix_.copy_from(tensor_of(state, "inverse_hessian"));
    updates_ = updates;
}

}  // namespace ralimp
