// Random fills: a Philox block is computed once for all elements that read it. The values are those
// of random_uniform and random_normal in core/random.h.
#include "core/cpu/dispatch.h"
#include "core/cpu/iterate.h"
#include "core/parallel.h"

namespace ralimp::cpu {
namespace {

// Elements that share one Philox block.
template <class T>
constexpr int64_t group = sizeof(T) == 4 ? 4 : 2;

template <class T>
void uniform_group(const RandomKey& key, uint64_t block, T* values) {
    const PhiloxBlock random = philox(key, block);
    for (int i = 0; i < group<T>; ++i) values[i] = uniform_from_words<T>(random, i);
}
template <class T>
void normal_group(const RandomKey& key, uint64_t block, T* values) {
    uniform_group(key, block, values);
    for (int i = 0; i < group<T>; i += 2) normal_pair(values[i], values[i + 1]);
}

// group_of(key, block, values) writes the group<T> elements of a block.
template <class T, class GroupOf>
void fill_random(const Tensor& out, const RandomKey& key, uint64_t first, GroupOf group_of) {
    const int64_t count = out.elements();
    T* const data = out.data<T>();
    parallel_for(count, count <= serial_elements / 8 ? std::max<int64_t>(1, count) : 4096,
                 [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end;) {
                         const uint64_t index = first + static_cast<uint64_t>(i);
                         const auto skip = static_cast<int64_t>(index % group<T>);
                         const int64_t some = std::min(group<T> - skip, end - i);
                         if (some == group<T>) {
                             group_of(key, index / group<T>, data + i);
                         } else {
                             T values[group<T>];
                             group_of(key, index / group<T>, values);
                             std::copy_n(values + skip, some, data + i);
                         }
                         i += some;
                     }
                 });
}

// Elements are counted in row-major order.
template <class F>
void row_major(const char* operation, const Tensor& out, F&& f) {
    if (out.elements() == 0) return;
    const Tensor target =
        out.is_contiguous() ? out : Tensor::empty(out.shape(), out.dtype(), out.device());
    dispatch_floating(operation, out.dtype(), [&]<class T>(T zero) { f(target, zero); });
    if (!out.is_contiguous()) copy(out, target);
}

}  // namespace

void random_uniform(const Tensor& out, const RandomKey& key, uint64_t first) {
    row_major("random_uniform", out, [&]<class T>(const Tensor& target, T) {
        fill_random<T>(target, key, first, uniform_group<T>);
    });
}

void random_normal(const Tensor& out, const RandomKey& key, uint64_t first) {
    row_major("random_normal", out, [&]<class T>(const Tensor& target, T) {
        fill_random<T>(target, key, first, normal_group<T>);
    });
}

}  // namespace ralimp::cpu
