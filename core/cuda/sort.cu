// Sorting and searching along an axis. NaN is greater than every number.
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/cuda/elementwise.h"
#include "core/cuda/kernels.h"
#include "core/cuda/lines.h"

namespace ralimp::gpu {
namespace {

constexpr unsigned most_tile = 1024;  // elements that a block of threads sorts in shared memory

template <class T>
using Key = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

// Keys are in the order that is asked for, NaN the last of them; 0 and -0 are equal.
template <class T>
__device__ Key<T> key_of(T x, bool descending) {
    using K = Key<T>;
    constexpr K sign = K(1) << (8 * sizeof(K) - 1);
    K key;
    if constexpr (std::is_floating_point_v<T>) {
        if (x != x) return ~K(0);
        if (x == T(0)) x = 0;
        memcpy(&key, &x, sizeof(K));
        key = key & sign ? ~key : key | sign;
    } else {
        key = static_cast<K>(x);
        if constexpr (std::is_signed_v<T>) key ^= sign;
    }
    return descending ? ~key : key;
}

// Equal keys are in the order of their positions, so that there is one right order: every way to
// sort is stable.
template <class K>
__device__ bool is_before(K a, int64_t a_position, K b, int64_t b_position) {
    return a < b || (a == b && a_position < b_position);
}

// Sorts tiles of each line by Batcher's bitonic network, half as many threads as elements in a
// tile, a power of two. Writes the keys and positions of the lines, or the positions alone to the
// strided `out` when a line is one tile and `keys` is null.
template <class T>
__global__ void sort_tiles(int64_t* out, const T* in, Key<T>* keys, int64_t* positions,
                           StridedLayout<2> lines, int64_t length, int64_t out_step,
                           int64_t in_step, bool descending) {
    using K = Key<T>;
    __shared__ K tile_keys[most_tile];
    __shared__ int64_t tile_positions[most_tile];
    const unsigned tile = 2 * blockDim.x;
    const int64_t tiles = (length + tile - 1) / tile, tasks = lines.elements * tiles;
    for (int64_t task = blockIdx.x; task < tasks; task += gridDim.x) {
        const int64_t line = task / tiles, begin = task % tiles * tile;
        const Offsets<2> offsets = lines.offsets(static_cast<uint32_t>(line));
        for (unsigned i = threadIdx.x; i < tile; i += blockDim.x) {
            const int64_t position = begin + i;
            const bool inside = position < length;
            tile_keys[i] = inside ? key_of(in[offsets[1] + position * in_step], descending) : ~K(0);
            tile_positions[i] = position;  // beyond the end: behind all others
        }
        for (unsigned run = 2; run <= tile; run *= 2)
            for (unsigned distance = run / 2; distance > 0; distance /= 2) {
                __syncthreads();
                const unsigned a = 2 * threadIdx.x - threadIdx.x % distance, b = a + distance;
                const bool swapped =
                    is_before(tile_keys[b], tile_positions[b], tile_keys[a], tile_positions[a]);
                if (swapped == ((a & run) == 0)) {
                    const K key = tile_keys[a];
                    const int64_t position = tile_positions[a];
                    tile_keys[a] = tile_keys[b];
                    tile_positions[a] = tile_positions[b];
                    tile_keys[b] = key;
                    tile_positions[b] = position;
                }
            }
        __syncthreads();
        for (unsigned i = threadIdx.x; i < tile && begin + i < length; i += blockDim.x) {
            if (keys) {
                keys[line * length + begin + i] = tile_keys[i];
                positions[line * length + begin + i] = tile_positions[i];
            } else {
                out[offsets[0] + (begin + i) * out_step] = tile_positions[i];
            }
        }
        __syncthreads();
    }
}

// Merges pairs of neighbouring sorted runs of `width`: an element goes behind those of its own run
// before it and those of the other run that are before it. The last merge writes to the strided
// `out`.
template <class K>
__global__ void merge_runs(int64_t* out, K* merged_keys, int64_t* merged_positions, const K* keys,
                           const int64_t* positions, StridedLayout<2> lines, int64_t length,
                           int64_t width, int64_t out_step) {
    const int64_t threads = int64_t{gridDim.x} * blockDim.x, items = lines.elements * length;
    for (int64_t item = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; item < items;
         item += threads) {
        const int64_t line = item / length, i = item % length;
        const K* const line_keys = keys + line * length;
        const int64_t* const line_positions = positions + line * length;
        const int64_t pair = i / (2 * width) * (2 * width), middle = pair + width;
        const bool first = i < middle;
        const K key = line_keys[i];
        const int64_t position = line_positions[i];
        const int64_t begin = first ? middle : pair;
        int64_t low = begin, high = first ? middle + width : middle;
        if (low > length) low = length;
        if (high > length) high = length;
        const int64_t other = low;
        while (low < high) {
            const int64_t half = low + (high - low) / 2;
            if (is_before(line_keys[half], line_positions[half], key, position))
                low = half + 1;
            else
                high = half;
        }
        const int64_t target = pair + (i - (first ? pair : middle)) + (low - other);
        if (2 * width >= length) {
            const int64_t start = lines.offsets(static_cast<uint32_t>(line))[0];
            out[start + target * out_step] = position;
        } else {
            merged_keys[line * length + target] = key;
            merged_positions[line * length + target] = position;
        }
    }
}

template <class T>
__device__ bool below(T a, T b) {
    return a < b || (b != b && a == a);
}

// Operands of the layout: out, the first element of the sorted line, values.
template <class T>
__global__ void count_below(int64_t* out, const T* sorted, const T* values, StridedLayout<3> layout,
                            int64_t length, int64_t step, bool right) {
    const uint32_t threads = gridDim.x * blockDim.x;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < layout.elements; i += threads) {
        const Offsets<3> offsets = layout.offsets(i);
        const T value = values[offsets[2]];
        int64_t low = 0, high = length;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            const T entry = sorted[offsets[1] + middle * step];
            if (right ? !below(value, entry) : below(entry, value))
                low = middle + 1;
            else
                high = middle;
        }
        out[offsets[0]] = low;
    }
}

}  // namespace

void argsort(const Tensor& out, const Tensor& in, int axis, bool descending) {
    if (out.elements() == 0) return;
    const Device device = out.device();
    const CurrentDevice current(device);
    const cudaStream_t stream = stream_of(device);
    const int64_t length = in.shape()[axis];
    const int64_t out_step = out.strides()[axis], in_step = in.strides()[axis];
    unsigned tile = 64;  // at least a warp of threads
    while (tile < most_tile && tile < length) tile *= 2;
    dispatch("argsort", in.dtype(), [&]<class T>(T) {
        using K = Key<T>;
        // The type of a tensor that holds keys; they are nobody's numbers.
        constexpr DType key_type = sizeof(K) == 8 ? DType::int64 : DType::int32;
        const auto keys_in = [](const Tensor& x) {
            return x.defined() ? static_cast<K*>(x.data()) : nullptr;
        };
        const auto positions_in = [](const Tensor& x) {
            return x.defined() ? x.data<int64_t>() : nullptr;
        };
        for_lines<2>(
            {&out, &in}, axis, [&](const StridedLayout<2>& lines, const Offsets<2>& offsets) {
                int64_t* const to = out.data<int64_t>() + offsets[0];
                const int64_t items = lines.elements * length, tiles = (length + tile - 1) / tile;
                Tensor keys, positions, merged_keys, merged_positions;
                if (tiles > 1) {
                    keys = Tensor::empty({items}, key_type, device);
                    positions = Tensor::empty({items}, DType::int64, device);
                }
                if (tiles > 2) {
                    merged_keys = Tensor::empty({items}, key_type, device);
                    merged_positions = Tensor::empty({items}, DType::int64, device);
                }
                launch("argsort", sort_tiles<T>,
                       blocks_for(lines.elements * tiles * (tile / 2), tile / 2, device), tile / 2,
                       0, stream, to, in.data<T>() + offsets[1], keys_in(keys),
                       positions_in(positions), lines, length, out_step, in_step, descending);
                for (int64_t width = tile; width < length; width *= 2) {
                    launch("argsort", merge_runs<K>, blocks_for(items, elementwise_threads, device),
                           elementwise_threads, 0, stream, to, keys_in(merged_keys),
                           positions_in(merged_positions), keys_in(keys), positions_in(positions),
                           lines, length, width, out_step);
                    std::swap(keys, merged_keys);
                    std::swap(positions, merged_positions);
                }
            });
    });
}

void searchsorted(const Tensor& out, const Tensor& sorted, const Tensor& values, bool right) {
    if (out.elements() == 0) return;
    const Device device = out.device();
    const CurrentDevice current(device);
    const int axis = out.dims() - 1;
    const int64_t length = sorted.shape()[axis], step = sorted.strides()[axis];
    Shape sorted_strides = sorted.strides();
    sorted_strides[axis] = 0;
    const auto layout =
        join_axes<3>(out.shape(), {&out.strides(), &sorted_strides, &values.strides()}, 0);
    dispatch("searchsorted", sorted.dtype(), [&]<class T>(T) {
        for_each_part(layout, [&](const StridedLayout<3>& part, const Offsets<3>& offsets) {
            launch("searchsorted", count_below<T>,
                   blocks_for(part.elements, elementwise_threads, device), elementwise_threads, 0,
                   stream_of(device), out.data<int64_t>() + offsets[0],
                   sorted.data<T>() + offsets[1], values.data<T>() + offsets[2], part, length, step,
                   right);
        });
    });
}

}  // namespace ralimp::gpu
