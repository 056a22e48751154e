// Strided operands inside a kernel: which element of each operand belongs to the index of a thread.
// Of elementwise kernels and of any other that walks over views.
#pragma once
#include <cuda_runtime.h>

#include <bit>
#include <cstdint>

#include "core/joined_layout.h"

namespace ralimp::gpu {

// Divides whole numbers below 2^31 by a divisor up to 2^31 that the host knows, with a product and
// a shift (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994).
struct Divider {
    uint32_t divisor, factor, shift;

    static Divider by(uint32_t divisor) {
        const uint32_t shift = divisor > 1 ? static_cast<uint32_t>(std::bit_width(divisor - 1)) : 0;
        const uint64_t power = uint64_t{1} << shift;
        return {divisor, static_cast<uint32_t>(((power - divisor) << 32) / divisor + 1), shift};
    }
    __host__ __device__ uint32_t quotient(uint32_t x) const {
        return (static_cast<uint32_t>(uint64_t{x} * factor >> 32) + x) >> shift;
    }
};

// For each operand, in elements.
template <int operands>
struct Offsets {
    int64_t values[operands];

    __host__ __device__ int64_t& operator[](int operand) { return values[operand]; }
    __host__ __device__ int64_t operator[](int operand) const { return values[operand]; }
};

// The axes of several operands, innermost last, and less than 2^31 elements.
template <int operands>
struct StridedLayout {
    int dims;
    uint32_t elements;
    Divider sizes[JoinedLayout<operands>::max_dims];
    int64_t strides[operands][JoinedLayout<operands>::max_dims];  // in elements

    // Of the element `index` in row-major order.
    __device__ Offsets<operands> offsets(uint32_t index) const {
        Offsets<operands> result{};
        for (int axis = dims - 1; axis >= 0; --axis) {
            const uint32_t rest = axis > 0 ? sizes[axis].quotient(index) : 0;
            const int64_t position = index - rest * sizes[axis].divisor;
            for (int operand = 0; operand < operands; ++operand)
                result[operand] += position * strides[operand][axis];
            index = rest;
        }
        return result;
    }
};

// Calls f(StridedLayout, offsets) for parts that cover the layout, the offsets to be added to the
// pointers: one part, unless there are 2^31 elements or more.
template <int operands, class F>
void for_each_part(const JoinedLayout<operands>& layout, F&& f,
                   const Offsets<operands>& offsets = {}) {
    const int64_t elements = layout.elements();
    if (elements == 0) return;
    if (elements > INT32_MAX) {
        int longest = 0;
        for (int axis = 1; axis < layout.dims; ++axis)
            if (layout.sizes[axis] > layout.sizes[longest]) longest = axis;
        const int64_t half = layout.sizes[longest] / 2;
        JoinedLayout<operands> first = layout, second = layout;
        first.sizes[longest] = half;
        second.sizes[longest] -= half;
        Offsets<operands> behind = offsets;
        for (int operand = 0; operand < operands; ++operand)
            behind[operand] += half * layout.strides[operand][longest];
        for_each_part(first, f, offsets);
        for_each_part(second, f, behind);
        return;
    }
    StridedLayout<operands> part{};
    part.dims = layout.dims;
    part.elements = static_cast<uint32_t>(elements);
    for (int axis = 0; axis < layout.dims; ++axis) {
        part.sizes[axis] = Divider::by(static_cast<uint32_t>(layout.sizes[axis]));
        for (int operand = 0; operand < operands; ++operand)
            part.strides[operand][axis] = layout.strides[operand][axis];
    }
    f(part, offsets);
}

}  // namespace ralimp::gpu
