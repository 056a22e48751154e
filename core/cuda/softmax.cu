// Softmax along the last axis: a warp per row, or a block where rows are long.
#include <cmath>

#include "core/cuda/device.h"
#include "core/cuda/kernels.h"
#include "core/cuda/launch.h"
#include "core/cuda/warp.h"

namespace ralimp::gpu {
namespace {

constexpr unsigned threads = 256;

// Combines the values of a group, a warp or the whole block, in a fixed order; every thread of the
// group gets the result.
template <class T, class F>
__device__ T across_group(T value, unsigned group, T* shared, const F& f) {
    for (int lane = 16; lane > 0; lane /= 2) value = f(value, shuffle_xor(value, lane));
    if (group == 32) return value;
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = shared[0];
    for (unsigned warp = 1; warp < threads / 32; ++warp) value = f(value, shared[warp]);
    __syncthreads();
    return value;
}

template <class T>
__global__ void softmax_rows(T* out, const T* in, int64_t rows, int64_t columns, unsigned group) {
    __shared__ T shared_most[threads / 32];
    __shared__ double shared_sum[threads / 32];
    const unsigned in_group = threadIdx.x % group, per_block = threads / group;
    for (int64_t first = int64_t{blockIdx.x} * per_block; first < rows;
         first += int64_t{gridDim.x} * per_block) {
        const int64_t row = first + threadIdx.x / group;
        const int64_t count = row < rows ? columns : 0;
        const T* const from = in + (row < rows ? row * columns : 0);
        T* const to = out + (row < rows ? row * columns : 0);
        // NaN is passed over here: it turns up in the sum.
        T most = -static_cast<T>(INFINITY);
        const auto larger = [](T a, T b) { return b > a ? b : a; };
        for (int64_t i = in_group; i < count; i += group) most = larger(most, from[i]);
        most = across_group(most, group, shared_most, larger);
        // An infinite maximum is not subtracted: ∞ - ∞ would be NaN.
        const T shift = most - most == T(0) ? most : T(0);
        double sum = 0;
        for (int64_t i = in_group; i < count; i += group) {
            const T value = scalar::Exp::value(from[i] - shift);
            to[i] = value;
            sum += static_cast<double>(value);
        }
        sum = across_group(sum, group, shared_sum, [](double a, double b) { return a + b; });
        const T factor = static_cast<T>(1 / sum);
        for (int64_t i = in_group; i < count; i += group) to[i] *= factor;
    }
}

}  // namespace

void softmax(const Tensor& out, const Tensor& in) {
    const Device device = in.device();
    const CurrentDevice current(device);
    dispatch_floating("softmax", in.dtype(), [&]<class T>(T) {
        const int64_t columns = in.dims() > 0 ? in.size(-1) : 1, rows = in.elements() / columns;
        const unsigned group = columns <= 1024 ? 32 : threads;
        launch("softmax", softmax_rows<T>, blocks_for(rows * group, threads, device), threads, 0,
               stream_of(device), out.data<T>(), in.data<T>(), rows, columns, group);
    });
}

}  // namespace ralimp::gpu
