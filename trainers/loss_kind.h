// How a loss measures differences: the same choice for every task.
#pragma once
#include <array>
#include <utility>

#include "core/tensor.h"

namespace ralimp {

enum class LossKind { mse, l1 };

constexpr auto enum_names(LossKind) {
    return std::array{std::pair{LossKind::mse, "mse"}, std::pair{LossKind::l1, "l1"}};
}

// The squares of the elements or their absolute values, differentiable.
Tensor error_of(LossKind kind, const Tensor& difference);
// Their mean over all elements: a scalar of shape [].
Tensor mean_error(LossKind kind, const Tensor& difference);

}  // namespace ralimp
