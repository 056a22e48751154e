// Functions of a whole warp, for every type of number. For the .cu files of this folder.
#pragma once
#include <cuda_runtime.h>

namespace ralimp::gpu {
namespace {

constexpr unsigned whole_warp = 0xFFFFFFFFu;

// CUDA exchanges numbers of 4 and 8 bytes.
template <class T, class Exchange>
__device__ T exchanged(T value, const Exchange& exchange) {
    if constexpr (sizeof(T) < sizeof(int))
        return static_cast<T>(exchange(static_cast<int>(value)));
    else
        return exchange(value);
}

// The value of the lane `delta` further up in each segment of `width` lanes; beyond, the own.
template <class T>
__device__ T shuffle_down(T value, unsigned delta, int width = 32) {
    return exchanged(value, [=](auto x) { return __shfl_down_sync(whole_warp, x, delta, width); });
}
// Of the lane `delta` further down.
template <class T>
__device__ T shuffle_up(T value, unsigned delta) {
    return exchanged(value, [=](auto x) { return __shfl_up_sync(whole_warp, x, delta); });
}
template <class T>
__device__ T shuffle_xor(T value, int lanes) {
    return exchanged(value, [=](auto x) { return __shfl_xor_sync(whole_warp, x, lanes); });
}

}  // namespace
}  // namespace ralimp::gpu
