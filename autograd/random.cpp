// Random tensors: pure functions of their key, with no derivative.
#include "core/random.h"

#include "autograd/apply.h"
#include "autograd/operations.h"

namespace ralimp {
namespace {

Tensor scaled(const Tensor& draws, double factor, double shift) {
    const NoGrad pause;
    const Tensor stretched = factor == 1 ? draws : draws * factor;
    return shift == 0 ? stretched : stretched + shift;
}

}  // namespace

Tensor random_uniform(const Shape& shape, const RandomKey& key, DType dtype, double low,
                      double high, Device device) {
    check(low <= high, "random_uniform: the bounds {} and {} are in the wrong order", low, high);
    Tensor out = Tensor::empty(shape, dtype, device);
    check_floating("random_uniform", out);
    if (out.elements() > 0) kernels(out.device()).random_uniform(out, key, 0);
    return scaled(out, high - low, low);
}

Tensor random_normal(const Shape& shape, const RandomKey& key, DType dtype, double mean,
                     double deviation, Device device) {
    check(deviation >= 0, "random_normal: the deviation {} is negative", deviation);
    Tensor out = Tensor::empty(shape, dtype, device);
    check_floating("random_normal", out);
    if (out.elements() > 0) kernels(out.device()).random_normal(out, key, 0);
    return scaled(out, deviation, mean);
}

// The order of 53-bit uniforms; two equal ones, which are as good as never drawn, keep their order.
Tensor random_permutation(int64_t count, const RandomKey& key, Device device) {
    return argsort(random_uniform({count}, key, DType::float64, 0, 1, device), 0);
}

}  // namespace ralimp
