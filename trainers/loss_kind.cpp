#include "trainers/loss_kind.h"

#include "autograd/operations.h"

namespace ralimp {

Tensor error_of(LossKind kind, const Tensor& difference) {
    return kind == LossKind::mse ? square(difference) : abs(difference);
}

Tensor mean_error(LossKind kind, const Tensor& difference) {
    return mean(error_of(kind, difference));
}

}  // namespace ralimp
