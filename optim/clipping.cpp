#include "optim/clipping.h"

#include <cmath>

#include "core/kernels.h"

namespace ralimp {

void check_config(const ClippingConfig& config) {
    for (const auto& [name, limit] : {std::pair{"norm", config.norm}, {"value", config.value}})
        if (limit && !(std::isfinite(*limit) && *limit > 0))
            fail_with(ExitCode::bad_config,
                      "clipping: {} = {} must be positive and finite, or null for no limit", name,
                      *limit);
}

double gradient_norm(const Tensor& gradient) {
    return std::sqrt(kernels(gradient.device()).flat.dot(gradient, gradient));
}

GradientClip clip_for(const ClippingConfig& config, double norm) {
    check(std::isfinite(norm), "clipping: the gradient norm is {}", norm);
    GradientClip clip;
    if (config.norm && norm > *config.norm) clip.scale = *config.norm / norm;
    if (config.value) clip.limit = *config.value;
    return clip;
}

}  // namespace ralimp
