// Random fills: the values of random_uniform and random_normal in core/random.h, a Philox block per
// thread.
#include "core/random.h"

#include <cstring>

#include "core/cuda/elementwise.h"
#include "core/cuda/kernels.h"

namespace ralimp::gpu {
namespace {

// Element i is the draw number first + i. A Philox block is 16 bytes of draws.
template <bool normal, class T>
__global__ void draw(T* out, int64_t count, RandomKey key, uint64_t first, bool aligned) {
    constexpr int per_block = 16 / sizeof(T);
    const int64_t skip = static_cast<int64_t>(first % per_block);
    const int64_t threads = int64_t{gridDim.x} * blockDim.x;
    for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i * per_block < skip + count;
         i += threads) {
        const PhiloxBlock words = philox(key, first / per_block + static_cast<uint64_t>(i));
        Vector<T, per_block> draws;
        for (int j = 0; j < per_block; ++j) draws.values[j] = uniform_from_words<T>(words, j);
        if constexpr (normal)
            for (int j = 0; j < per_block; j += 2)
                box_muller::normal_pair<T>(draws.values[j], draws.values[j + 1]);
        const int64_t begin = i * per_block - skip;  // of the block in `out`
        if (aligned && begin >= 0 && begin + per_block <= count) {
            Bytes<16> moved;
            memcpy(&moved, &draws, sizeof(moved));
            *reinterpret_cast<Bytes<16>*>(out + begin) = moved;
            continue;
        }
        for (int j = 0; j < per_block; ++j)
            if (begin + j >= 0 && begin + j < count) out[begin + j] = draws.values[j];
    }
}

template <bool normal>
void fill_random(const char* name, const Tensor& out, const RandomKey& key, uint64_t first) {
    const int64_t count = out.elements();
    const Device device = out.device();
    dispatch_floating(name, out.dtype(), [&]<class T>(T) {
        if (count == 0) return;
        // Elements are counted in row-major order.
        const Tensor target =
            out.is_contiguous() ? out : Tensor::empty(out.shape(), out.dtype(), device);
        T* const data = target.data<T>();
        constexpr int per_block = 16 / sizeof(T);
        const bool aligned =
            (reinterpret_cast<uintptr_t>(data) / sizeof(T) + per_block - first % per_block) %
                per_block ==
            0;
        const CurrentDevice current(device);
        launch(name, draw<normal, T>,
               blocks_for(count / per_block + 2, elementwise_threads, device), elementwise_threads,
               0, stream_of(device), data, count, key, first, aligned);
        if (!out.is_contiguous()) copy(out, target);
    });
}

}  // namespace

void random_uniform(const Tensor& out, const RandomKey& key, uint64_t first) {
    fill_random<false>("random_uniform", out, key, first);
}

void random_normal(const Tensor& out, const RandomKey& key, uint64_t first) {
    fill_random<true>("random_normal", out, key, first);
}

}  // namespace ralimp::gpu
