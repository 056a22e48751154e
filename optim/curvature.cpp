#include "optim/curvature.h"

#include <cmath>
#include <limits>

#include "core/kernels.h"

namespace ralimp {

Tensor steepest_descent(const Tensor& gradient) {
    Tensor direction = Tensor::empty(gradient.shape(), DType::float64, gradient.device());
    kernels(gradient.device()).flat.combine(direction, -1, gradient, 0, gradient);
    return direction;
}

bool has_positive_curvature(const Tensor& step, const Tensor& change) {
    const FlatKernels& flat = kernels(step.device()).flat;
    const double epsilon = step.dtype() == DType::float32 ? std::numeric_limits<float>::epsilon()
                                                          : std::numeric_limits<double>::epsilon();
    const double lengths = std::sqrt(flat.dot(step, step)) * std::sqrt(flat.dot(change, change));
    return std::isfinite(lengths) && flat.dot(step, change) > epsilon * lengths;
}

int64_t whole_scalar(const OptimizerState& state, std::string_view name, double high) {
    const double value = scalar_of(state, name);
    if (!(value >= 0 && value <= high && value == std::floor(value)))
        fail_with(ExitCode::bad_input, "optimizer: the saved state has {} = {}", name, value);
    return static_cast<int64_t>(value);
}

}  // namespace ralimp
