// The fused activations for other loops of the same instruction set; core/activation.h says what
// they compute. Channels are `stride` elements apart, of each `count` points are taken.
#pragma once
#include "core/activation.h"

namespace ralimp::cpu::SIMD_LEVEL {

template <class T>
void activation_forward(const ActivationProgram& program, T* out, const T* in, int64_t stride,
                        int64_t count);
template <class T>
void activation_backward(const ActivationProgram& program, T* in_gradient, const T* in,
                         const T* out, const T* out_gradient, int64_t stride, int64_t count);

}  // namespace ralimp::cpu::SIMD_LEVEL
