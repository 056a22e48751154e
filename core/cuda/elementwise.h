// out[i] = f(in[i], …) for operands of any strides: two kernels, one for neighbouring elements with
// accesses of 16 bytes, one for everything else. For the .cu files of this folder.
#pragma once
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/cuda/device.h"
#include "core/cuda/launch.h"
#include "core/cuda/strided.h"
#include "core/tensor.h"

namespace ralimp::gpu {

// A tensor whose elements are moved as values of T, which may be any type of their size.
template <class T>
struct Operand {
    const Tensor& tensor;

    T* data() const { return static_cast<T*>(tensor.data()); }
};

namespace {

constexpr unsigned elementwise_threads = 256;

template <class T, int width>
struct Vector {
    T values[width];
};

// The bytes of a vector as what one instruction moves: nvcc moves small elements one by one.
template <std::size_t bytes>
struct alignas(bytes) Bytes {
    uint32_t words[bytes / 4];
};
template <>
struct Bytes<2> {
    uint16_t word;
};
template <>
struct Bytes<1> {
    uint8_t word;
};

template <int width, class T>
__device__ Vector<T, width> load_vector(const T* in, int64_t index, bool repeated) {
    using Moved = Bytes<sizeof(T) * width>;
    Vector<T, width> vector;
    if (repeated) {
        for (int i = 0; i < width; ++i) vector.values[i] = *in;
    } else {
        const Moved moved = reinterpret_cast<const Moved*>(in)[index];
        memcpy(&vector, &moved, sizeof(moved));
    }
    return vector;
}

template <int width, class F, class Out, class... In>
__device__ void store_vector(const F& f, Out* out, int64_t index, const Vector<In, width>&... in) {
    using Moved = Bytes<sizeof(Out) * width>;
    Vector<Out, width> result;
    for (int i = 0; i < width; ++i) result.values[i] = f(in.values[i]...);
    Moved moved;
    memcpy(&moved, &result, sizeof(moved));
    reinterpret_cast<Moved*>(out)[index] = moved;
}

// The i-th bit of `repeated`: the i-th input is one value for all elements.
template <int width, class F, class Out, std::size_t... I, class... In>
__device__ void neighbours(std::index_sequence<I...>, const F& f, int64_t count, unsigned repeated,
                           Out* out, const In*... in) {
    const int64_t threads = int64_t{gridDim.x} * blockDim.x;
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t vectors = count / width;
    for (int64_t i = thread; i < vectors; i += threads)
        store_vector<width>(f, out, i, load_vector<width>(in, i, repeated >> I & 1u)...);
    for (int64_t i = vectors * width + thread; i < count; i += threads)
        out[i] = f(in[repeated >> I & 1u ? 0 : i]...);
}
template <int width, class F, class Out, class... In>
__global__ void neighbours_kernel(F f, int64_t count, unsigned repeated, Out* out,
                                  const In*... in) {
    neighbours<width>(std::index_sequence_for<In...>{}, f, count, repeated, out, in...);
}

template <class F, int operands, class Out, std::size_t... I, class... In>
__device__ void strided(std::index_sequence<I...>, const F& f,
                        const StridedLayout<operands>& layout, Out* out, const In*... in) {
    const uint32_t threads = gridDim.x * blockDim.x;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < layout.elements; i += threads) {
        const Offsets<operands> offsets = layout.offsets(i);
        out[offsets[0]] = f(in[offsets[I + 1]]...);
    }
}
template <class F, class Out, class... In>
__global__ void strided_kernel(F f, StridedLayout<1 + sizeof...(In)> layout, Out* out,
                               const In*... in) {
    strided(std::index_sequence_for<In...>{}, f, layout, out, in...);
}

template <int width, class T>
bool is_aligned(const T* pointer) {
    return reinterpret_cast<uintptr_t>(pointer) % (width * sizeof(T)) == 0;
}

// f: a small struct with `__device__ Out operator()(In...) const`. Shapes and devices are equal;
// out may be the same view as an input.
template <class F, class Out, class... In, std::size_t... I>
void elementwise(std::index_sequence<I...>, const char* name, const F& f, Operand<Out> out,
                 Operand<In>... in) {
    const Device device = out.tensor.device();
    const auto layout = join_axes<1 + sizeof...(In)>(
        out.tensor.shape(), {&out.tensor.strides(), &in.tensor.strides()...}, 0);
    const int64_t count = layout.elements();
    if (count == 0) return;
    const CurrentDevice current(device);
    const cudaStream_t stream = stream_of(device);

    constexpr int width = static_cast<int>(16 / std::max({sizeof(Out), sizeof(In)...}));
    const bool single = layout.dims == 0;  // one element
    [[maybe_unused]] const auto is_repeated = [&](std::size_t operand) {
        return single || layout.strides[operand][0] == 0;
    };
    const auto is_next = [&](std::size_t operand) {
        return single || layout.strides[operand][0] == 1;
    };
    if (layout.dims <= 1 && is_next(0) && ((is_next(I + 1) || is_repeated(I + 1)) && ...) &&
        is_aligned<width>(out.data()) &&
        ((is_repeated(I + 1) || is_aligned<width>(in.data())) && ...)) {
        const unsigned repeated = ((unsigned{is_repeated(I + 1)} << I) | ... | 0u);
        launch(name, neighbours_kernel<width, F, Out, In...>,
               blocks_for((count + width - 1) / width, elementwise_threads, device),
               elementwise_threads, 0, stream, f, count, repeated, out.data(), in.data()...);
        return;
    }
    for_each_part(layout, [&](const StridedLayout<1 + sizeof...(In)>& part,
                              const Offsets<1 + sizeof...(In)>& offsets) {
        launch(name, strided_kernel<F, Out, In...>,
               blocks_for(part.elements, elementwise_threads, device), elementwise_threads, 0,
               stream, f, part, out.data() + offsets[0], in.data() + offsets[I + 1]...);
    });
}

template <class F, class Out, class... In>
void elementwise(const char* name, const F& f, Operand<Out> out, Operand<In>... in) {
    elementwise(std::index_sequence_for<In...>{}, name, f, out, in...);
}

}  // namespace
}  // namespace ralimp::gpu
