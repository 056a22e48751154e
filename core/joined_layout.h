// Several strided operands of one shape as few axes: those of size 1 are left out, the others
// ordered by falling stride of the first operand, and neighbours that are one stretch of memory in
// every operand are joined. For elementwise kernels of all backends.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "core/shape.h"

namespace ralimp {

template <int operands>
struct JoinedLayout {
    static constexpr int max_dims = Shape::max_dims + 2;

    int dims = 0;
    int64_t sizes[max_dims];
    int64_t strides[operands][max_dims];  // in elements

    int64_t elements() const {
        int64_t product = 1;
        for (int axis = 0; axis < dims; ++axis) product *= sizes[axis];
        return product;
    }
};

// With at least `min_dims` axes (at most 2), in front of the others and of size 1.
template <int operands>
JoinedLayout<operands> join_axes(const Shape& shape, const Shape* const (&strides)[operands],
                                 int min_dims) {
    // Collected from the innermost axis outwards into the end of the arrays.
    struct Axis {
        int64_t size;
        int64_t strides[operands];
    };
    Axis axes[Shape::max_dims];
    int count = 0;
    for (int axis = shape.dims() - 1; axis >= 0; --axis) {
        if (shape[axis] == 1) continue;
        Axis& next = axes[count++];
        next.size = shape[axis];
        for (int i = 0; i < operands; ++i) next.strides[i] = (*strides[i])[axis];
        // Insertion by stride of the first operand; row-major results are in order already.
        for (int i = count - 1;
             i > 0 && std::abs(axes[i].strides[0]) < std::abs(axes[i - 1].strides[0]); --i)
            std::swap(axes[i], axes[i - 1]);
    }
    int joined = 0;
    for (int i = 1; i < count; ++i) {
        bool fits = true;
        for (int j = 0; j < operands; ++j)
            fits = fits && axes[i].strides[j] == axes[joined].strides[j] * axes[joined].size;
        if (fits)
            axes[joined].size *= axes[i].size;
        else
            axes[++joined] = axes[i];
    }
    if (count > 0) count = joined + 1;

    JoinedLayout<operands> layout;
    for (; layout.dims < min_dims - count; ++layout.dims) {
        layout.sizes[layout.dims] = 1;
        for (int j = 0; j < operands; ++j) layout.strides[j][layout.dims] = 0;
    }
    if (count == 0 && min_dims > 0)  // one element: any column stride is right, 1 is fast
        for (int j = 0; j < operands; ++j) layout.strides[j][min_dims - 1] = 1;
    for (int i = count - 1; i >= 0; --i, ++layout.dims) {
        layout.sizes[layout.dims] = axes[i].size;
        for (int j = 0; j < operands; ++j) layout.strides[j][layout.dims] = axes[i].strides[j];
    }
    return layout;
}

}  // namespace ralimp
