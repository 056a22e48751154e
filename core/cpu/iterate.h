// Walking over several strided operands of one shape: the two innermost axes of their joined layout
// go to a loop as a block, threads share the rest. For elementwise kernels only: nothing here fixes
// an order of summation.
#pragma once
#include "core/cpu/loops/loops.h"
#include "core/joined_layout.h"
#include "core/parallel.h"

namespace ralimp::cpu {

// Less work than this is not worth waking another thread.
constexpr int64_t serial_elements = 32768;
constexpr int64_t chunk_elements = 16384;

template <int operands>
struct Layout : JoinedLayout<operands> {
    Stride block_stride(int operand) const {
        return {this->strides[operand][this->dims - 2], this->strides[operand][this->dims - 1]};
    }
};

// At least two axes, ordered by falling stride of the first operand.
template <int operands>
Layout<operands> joined_layout(const Shape& shape, const Shape* const (&strides)[operands]) {
    return {join_axes(shape, strides, 2)};
}

// Calls f(extent, offsets) for blocks that cover the layout, on several threads when it is large.
template <int operands, class F>
void for_each_block(const Layout<operands>& layout, F&& f) {
    const int inner = layout.dims - 2;
    const int64_t rows = layout.sizes[inner], columns = layout.sizes[inner + 1];
    int64_t outer = 1;
    for (int axis = 0; axis < inner; ++axis) outer *= layout.sizes[axis];
    if (outer * rows * columns == 0) return;

    // Rows begin … end-1 of all outer × rows, columns first … first + width - 1.
    const auto run = [&](int64_t begin, int64_t end, int64_t first, int64_t width) {
        while (begin < end) {
            int64_t block = begin / rows;
            const int64_t row = begin % rows;
            const int64_t height = std::min(rows - row, end - begin);
            int64_t offsets[operands];
            for (int i = 0; i < operands; ++i)
                offsets[i] = row * layout.strides[i][inner] + first * layout.strides[i][inner + 1];
            for (int axis = inner - 1; axis >= 0; --axis) {
                const int64_t position = block % layout.sizes[axis];
                block /= layout.sizes[axis];
                for (int i = 0; i < operands; ++i) offsets[i] += position * layout.strides[i][axis];
            }
            f(Extent{height, width}, offsets);
            begin += height;
        }
    };
    const int64_t all_rows = outer * rows;
    if (all_rows * columns <= serial_elements) {
        run(0, all_rows, 0, columns);
    } else if (columns <= chunk_elements) {
        parallel_for(all_rows, std::max<int64_t>(1, chunk_elements / columns),
                     [&](int64_t begin, int64_t end) { run(begin, end, 0, columns); });
    } else {
        const int64_t pieces = (columns + chunk_elements - 1) / chunk_elements;
        parallel_for(all_rows * pieces, 1, [&](int64_t piece, int64_t) {
            const int64_t row = piece / pieces, first = piece % pieces * chunk_elements;
            run(row, row + 1, first, std::min(chunk_elements, columns - first));
        });
    }
}

}  // namespace ralimp::cpu
