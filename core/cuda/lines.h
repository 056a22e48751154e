// The lines of tensors along one axis: for kernels whose values along the axis depend on each
// other. For the .cu files of this folder.
#pragma once
#include "core/cuda/device.h"
#include "core/cuda/launch.h"
#include "core/cuda/strided.h"
#include "core/tensor.h"

namespace ralimp::gpu {
namespace {

// Calls f(StridedLayout, offsets) as for_each_part does; the elements of the layout are the first
// ones of the lines. The tensors' sizes agree along all other axes.
template <int operands, class F>
void for_lines(const Tensor* const (&tensors)[operands], int axis, F&& f) {
    Shape shape = tensors[0]->shape(), strides[operands];
    shape.erase(axis);
    const Shape* pointers[operands];
    for (int i = 0; i < operands; ++i) {
        strides[i] = tensors[i]->strides();
        strides[i].erase(axis);
        pointers[i] = &strides[i];
    }
    const auto& fixed_pointers = pointers;
    for_each_part(join_axes<operands>(shape, fixed_pointers, 0), f);
}

}  // namespace
}  // namespace ralimp::gpu
