// Random fills: the values of random_uniform and random_normal in core/random.h, by whole Philox
// blocks.
#include "core/cpu/dispatch.h"
#include "core/cpu/iterate.h"

namespace ralimp::cpu {
namespace {

void uniform_blocks(const PhiloxKey& key, uint64_t block, int64_t blocks, float* out) {
    loops().uniform_float32(key, block, blocks, out);
}
void uniform_blocks(const PhiloxKey& key, uint64_t block, int64_t blocks, double* out) {
    loops().uniform_float64(key, block, blocks, out);
}
void make_normal(float* values, int64_t count) { loops().normal_float32(values, count); }
void make_normal(double* values, int64_t count) { loops().normal_float64(values, count); }

// The draws number index … index + count - 1: a block's part at both ends, whole blocks between.
template <class T>
void draw(const PhiloxKey& key, uint64_t index, int64_t count, bool normal, T* out) {
    constexpr int64_t per_block = 16 / sizeof(T);
    const auto part_of_block = [&](int64_t skip, int64_t some) {
        T values[per_block];
        uniform_blocks(key, index / per_block, 1, values);
        if (normal) make_normal(values, per_block);
        std::copy_n(values + skip, some, out);
        index += static_cast<uint64_t>(some);
        count -= some;
        out += some;
    };
    const auto skip = static_cast<int64_t>(index % per_block);
    if (skip > 0) part_of_block(skip, std::min(per_block - skip, count));
    const int64_t blocks = count / per_block;
    if (blocks > 0) {
        uniform_blocks(key, index / per_block, blocks, out);
        if (normal) make_normal(out, blocks * per_block);
        index += static_cast<uint64_t>(blocks * per_block);
        count -= blocks * per_block;
        out += blocks * per_block;
    }
    if (count > 0) part_of_block(0, count);
}

void fill_random(const char* operation, const Tensor& out, const RandomKey& random_key,
                 uint64_t first, bool normal) {
    const int64_t count = out.elements();
    if (count == 0) return;
    // Elements are counted in row-major order.
    const Tensor target =
        out.is_contiguous() ? out : Tensor::empty(out.shape(), out.dtype(), out.device());
    const PhiloxKey key{random_key.seed, random_key.step, static_cast<uint32_t>(random_key.stream)};
    dispatch_floating(operation, out.dtype(), [&]<class T>(T) {
        T* const data = target.data<T>();
        parallel_for(count, count <= chunk_elements ? count : chunk_elements / 2,
                     [&](int64_t begin, int64_t end) {
                         draw(key, first + static_cast<uint64_t>(begin), end - begin, normal,
                              data + begin);
                     });
    });
    if (!out.is_contiguous()) copy(out, target);
}

}  // namespace

void random_uniform(const Tensor& out, const RandomKey& key, uint64_t first) {
    fill_random("random_uniform", out, key, first, false);
}

void random_normal(const Tensor& out, const RandomKey& key, uint64_t first) {
    fill_random("random_normal", out, key, first, true);
}

}  // namespace ralimp::cpu
