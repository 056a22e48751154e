// Sum, maximum and minimum over any axes, in the order of the CPU's loops
// (core/cpu/loops/reduce.cpp), so that both give the same bits: element i of a chunk belongs to
// lane i mod 16; each block of 256 elements is combined lane by lane from its start, the blocks'
// lanes pairwise (a balanced tree), and at the end the upper half of the lanes with the lower half
// until one is left. Which threads take which part is all that differs between the kernels below.
#include <limits>

#include "core/cuda/elementwise.h"
#include "core/cuda/kernels.h"
#include "core/cuda/warp.h"
#include "core/reduction_runs.h"

namespace ralimp::gpu {
namespace {

constexpr int lanes = 16, lane_elements = 16, block_elements = lanes * lane_elements;
constexpr int tree_levels = 5;
constexpr int64_t chunk_elements = block_elements << (tree_levels - 1);

// One lane of the block of elements that starts at `begin`. `nothing` changes no result.
template <class Op, class T>
__device__ T lane_of_block(const T* in, int64_t stride, int begin, int count, int lane, T nothing) {
    T value = nothing;
    for (int row = 0; row < lane_elements; ++row) {
        const int i = begin + row * lanes + lane;
        if (i < count) value = Op::value(value, in[i * stride]);
    }
    return value;
}

// Results of few elements, each a lane: a thread per result.
template <class Op, class T>
__global__ void reduce_few(T* out, const T* in, StridedLayout<2> kept, int count, int64_t stride,
                           T nothing) {
    const uint32_t threads = gridDim.x * blockDim.x;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < kept.elements; i += threads) {
        const Offsets<2> offsets = kept.offsets(i);
        T values[lanes];
        for (int lane = 0; lane < lanes; ++lane)
            values[lane] =
                lane < count ? Op::value(nothing, in[offsets[1] + lane * stride]) : nothing;
        for (int half = lanes / 2; half > 0; half /= 2)
            for (int lane = 0; lane < half; ++lane)
                values[lane] = Op::value(values[lane], values[lane + half]);
        out[offsets[0]] = values[0];
    }
}

// Elements of a result stand side by side: a group of threads per result, each with one lane of one
// block of elements. Groups are of 16, 32 … 256 threads.
template <class Op, class T>
__global__ void reduce_along(T* out, const T* in, StridedLayout<2> kept, int count, int64_t stride,
                             unsigned group, T nothing) {
    T* const partial = dynamic_shared<T>();  // [warps, lanes]
    const unsigned warp = threadIdx.x / 32, in_group = threadIdx.x % group;
    const unsigned lane = threadIdx.x % lanes, results = blockDim.x / group;
    for (uint32_t first = blockIdx.x * results; first < kept.elements;
         first += gridDim.x * results) {
        const uint32_t result = first + threadIdx.x / group;
        const bool active = result < kept.elements;
        const Offsets<2> offsets = kept.offsets(active ? result : 0);
        T value = nothing;
        if (active)
            value = lane_of_block<Op>(in + offsets[1], stride,
                                      static_cast<int>(in_group / lanes) * block_elements, count,
                                      static_cast<int>(lane), nothing);
        // Blocks of elements: two in a warp, the others through shared memory.
        if (group > lanes) value = Op::value(value, shuffle_down(value, lanes));
        if (group > 32) {
            const unsigned warps = group / 32;
            T* const own = partial + warp * lanes + lane;
            if (threadIdx.x % 32 < lanes) *own = value;
            __syncthreads();
            if (in_group < lanes) {
                for (unsigned step = 1; step < warps; step *= 2)
                    for (unsigned i = 0; i < warps; i += 2 * step)
                        own[i * lanes] = Op::value(own[i * lanes], own[(i + step) * lanes]);
                value = *own;
            }
            __syncthreads();
        }
        for (unsigned half = lanes / 2; half > 0; half /= 2)
            value = Op::value(value, shuffle_down(value, half, lanes));
        if (active && in_group == 0) out[offsets[0]] = value;
    }
}

// One lane of all blocks of elements. Its tree is a binary counter: where two results of equally
// many blocks meet they become one.
template <class Op, class T>
__device__ T lane_of_chunk(const T* in, int64_t stride, int count, int lane, T nothing) {
    T levels[tree_levels] = {};
    int blocks = 0;
    for (int begin = 0; begin < count; begin += block_elements, ++blocks) {
        T value = lane_of_block<Op>(in, stride, begin, count, lane, nothing);
        bool placed = false;
        for (int level = 0; level < tree_levels; ++level) {
            if (placed) continue;
            if (blocks >> level & 1) {
                value = Op::value(levels[level], value);
            } else {
                levels[level] = value;
                placed = true;
            }
        }
    }
    T total = nothing;
    for (int level = 0; level < tree_levels; ++level)
        if (blocks >> level & 1) total = Op::value(levels[level], total);
    return total;
}

// Results stand side by side: a block of threads has 32 of them, a warp for each lane.
template <class Op, class T>
__global__ void reduce_down(T* out, const T* in, StridedLayout<2> kept, int count, int64_t stride,
                            T nothing) {
    T* const partial = dynamic_shared<T>();  // [lanes, 32]
    const unsigned column = threadIdx.x, lane = threadIdx.y;
    T* const own = partial + lane * 32 + column;
    for (uint32_t first = blockIdx.x * 32; first < kept.elements; first += gridDim.x * 32) {
        const uint32_t result = first + column;
        const bool active = result < kept.elements;
        const Offsets<2> offsets = kept.offsets(active ? result : 0);
        *own = active ? lane_of_chunk<Op>(in + offsets[1], stride, count, static_cast<int>(lane),
                                          nothing)
                      : nothing;
        for (unsigned half = lanes / 2; half > 0; half /= 2) {
            __syncthreads();
            if (lane < half) *own = Op::value(*own, own[half * 32]);
        }
        if (active && lane == 0) out[offsets[0]] = *own;
        __syncthreads();
    }
}

template <class Op, class T>
void reduce_chunks(const ReductionRun& run, T* out, const T* in, Device device, T nothing) {
    const auto layout = join_axes<2>(run.kept, {&run.out_strides, &run.in_strides}, 0);
    const int count = static_cast<int>(run.count), last = layout.dims - 1;
    const bool along = run.stride == 1 || layout.dims == 0 || layout.sizes[last] < 16 ||
                       layout.strides[1][last] != 1;
    unsigned group = lanes;
    while (group / lanes * block_elements < run.count) group *= 2;
    const cudaStream_t stream = stream_of(device);
    constexpr unsigned threads = 256;
    for_each_part(layout, [&](const StridedLayout<2>& kept, const Offsets<2>& offsets) {
        T* const to = out + offsets[0];
        const T* const from = in + offsets[1];
        if (count <= lanes)
            launch("reduce", reduce_few<Op, T>, blocks_for(kept.elements, threads, device), threads,
                   0, stream, to, from, kept, count, run.stride, nothing);
        else if (along)
            launch("reduce", reduce_along<Op, T>,
                   blocks_for(int64_t{kept.elements} * group, threads, device), threads,
                   threads / 32 * lanes * sizeof(T), stream, to, from, kept, count, run.stride,
                   group, nothing);
        else
            launch("reduce", reduce_down<Op, T>, blocks_for(kept.elements, 32, device),
                   dim3(32, lanes), 32 * lanes * sizeof(T), stream, to, from, kept, count,
                   run.stride, nothing);
    });
}

}  // namespace

void reduce(Reduction reduction, const Tensor& out, const Tensor& in) {
    const Device device = out.device();
    const CurrentDevice current(device);
    reduce_by_runs(
        out, in, chunk_elements, copy, [&]<class T>(const ReductionRun& run, T* to, const T* from) {
            using Limits = std::numeric_limits<T>;
            constexpr T most = Limits::has_infinity ? Limits::infinity() : Limits::max();
            constexpr T least = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
            switch (reduction) {
                case Reduction::sum:
                    return reduce_chunks<scalar::Add, T>(run, to, from, device, T(0));
                case Reduction::maximum:
                    return reduce_chunks<scalar::Maximum, T>(run, to, from, device, least);
                case Reduction::minimum:
                    return reduce_chunks<scalar::Minimum, T>(run, to, from, device, most);
            }
        });
}

}  // namespace ralimp::gpu
