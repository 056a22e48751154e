#include "trainers/loss_kind.h"

#include "autograd/operations.h"

namespace ralimp {

Tensor mean_error(LossKind kind, const Tensor& difference) {
    return mean(kind == LossKind::mse ? square(difference) : abs(difference));
}

}  // namespace ralimp
