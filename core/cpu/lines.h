// Walking over the lines of tensors along one axis: for kernels whose values along the axis depend
// on each other (scans, sorting, the position of the largest).
#pragma once
#include <vector>

#include "core/cpu/iterate.h"
#include "core/tensor.h"

namespace ralimp::cpu {

// Calls f(offsets) for the first element of every line along the axis; offsets in elements, one per
// tensor. The tensors' sizes agree along all other axes; `length` is the work of a line. Lines
// run on several threads.
template <int operands, class F>
void for_each_line(const Tensor* const (&tensors)[operands], int axis, int64_t length, F&& f) {
    Shape shape = tensors[0]->shape();
    shape.erase(axis);
    Shape strides[operands];
    const Shape* pointers[operands];
    for (int i = 0; i < operands; ++i) {
        strides[i] = tensors[i]->strides();
        strides[i].erase(axis);
        pointers[i] = &strides[i];
    }
    const auto& pointers_fixed = pointers;
    const Layout<operands> layout = joined_layout<operands>(shape, pointers_fixed);
    const int64_t lines = layout.elements();
    const int64_t work = std::max<int64_t>(1, length);
    const int64_t grain = lines * work <= serial_elements
                              ? std::max<int64_t>(1, lines)
                              : std::max<int64_t>(1, chunk_elements / work);
    parallel_for(lines, grain, [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
            int64_t offsets[operands] = {};
            int64_t rest = line;
            for (int i = layout.dims - 1; i >= 0; --i) {
                const int64_t position = rest % layout.sizes[i];
                rest /= layout.sizes[i];
                for (int j = 0; j < operands; ++j) offsets[j] += position * layout.strides[j][i];
            }
            f(offsets);
        }
    });
}

}  // namespace ralimp::cpu
