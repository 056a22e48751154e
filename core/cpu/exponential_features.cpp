// Exponential features: splits the points into chunks of fixed size; sums over points are made
// chunk by chunk and then in the order of the chunks.
#include "core/exponential_features.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/cpu/dispatch.h"
#include "core/parallel.h"

namespace ralimp::cpu {
namespace {

// Packs of a scratch row may reach beyond its last feature.
constexpr int64_t padding = 16;

template <class T>
FeatureArguments<T> arguments(const FeatureProgram& program, const Tensor& p, const Tensor& n,
                              const Tensor& blocks, const Tensor& table) {
    FeatureArguments<T> a;
    a.program = &program;
    a.p = p.data<T>();
    a.n = n.defined() ? n.data<T>() : nullptr;
    a.table = table.data<T>();
    a.blocks = reinterpret_cast<const FeatureBlock*>(blocks.data<int32_t>());
    a.block_count = blocks.size(0);
    a.points = p.size(1);
    a.projections = p.size(2);
    a.features = table.size(1);
    a.padded_features = (a.features + padding - 1) / padding * padding;
    return a;
}

int64_t points_per_chunk(const Tensor& table) {
    return std::clamp<int64_t>(65536 / std::max<int64_t>(table.size(1), 1), 16, 1024);
}

}  // namespace

void add_clamp_counts(const Tensor& counts, int64_t clamped, int64_t all) {
    int64_t* to = counts.data<int64_t>();
    if (clamped > 0) std::atomic_ref(to[0]).fetch_add(clamped, std::memory_order_relaxed);
    std::atomic_ref(to[1]).fetch_add(all, std::memory_order_relaxed);
}

void features_forward(const FeatureProgram& program, const Tensor& out, const Tensor& p,
                      const Tensor& n, const Tensor& blocks, const Tensor& table,
                      const Tensor& clamps) {
    dispatch_floating("exponential_features", p.dtype(), [&]<class T>(T) {
        const FeatureArguments<T> a = arguments<T>(program, p, n, blocks, table);
        parallel_for(a.points, points_per_chunk(table), [&](int64_t begin, int64_t end) {
            std::vector<T> scratch(program.composition.channels * a.padded_features);
            const int64_t clamped =
                loops_of<T>().features_forward(a, out.data<T>(), scratch.data(), begin, end);
            if (clamps.defined()) add_clamp_counts(clamps, clamped, (end - begin) * a.features);
        });
    });
}

void features_backward(const FeatureProgram& program, const FeatureGradientTensors& gradients,
                       const Tensor& p, const Tensor& n, const Tensor& blocks,
                       const Tensor& table) {
    dispatch_floating("exponential_features", p.dtype(), [&]<class T>(T) {
        const FeatureArguments<T> a = arguments<T>(program, p, n, blocks, table);
        const int64_t chunk = points_per_chunk(table), chunks = (a.points + chunk - 1) / chunk;
        const int64_t table_size = gradients.table.defined() ? table.elements() : 0;
        std::vector<T> partial(static_cast<std::size_t>(chunks * table_size));
        parallel_for(a.points, chunk, [&](int64_t begin, int64_t end) {
            std::vector<T> scratch(2 * program.composition.channels * a.padded_features);
            FeatureGradients<T> pointers;
            pointers.out = gradients.out.data<T>();
            pointers.p = gradients.p.defined() ? gradients.p.data<T>() : nullptr;
            pointers.n = gradients.n.defined() ? gradients.n.data<T>() : nullptr;
            pointers.table = table_size > 0 ? partial.data() + begin / chunk * table_size : nullptr;
            loops_of<T>().features_backward(a, pointers, scratch.data(), begin, end);
        });
        for (int64_t i = 0; i < table_size; ++i) {
            double total = 0;
            for (int64_t c = 0; c < chunks; ++c) total += partial[c * table_size + i];
            gradients.table.data<T>()[i] = static_cast<T>(total);
        }
    });
}

void count_above(const Tensor& counts, const Tensor& x, double limit) {
    dispatch_floating("count_above", x.dtype(), [&]<class T>(T) {
        const T* values = x.data<T>();
        int64_t above = 0;
        for (int64_t i = 0; i < x.elements(); ++i) above += values[i] > static_cast<T>(limit);
        add_clamp_counts(counts, above, x.elements());
    });
}

}  // namespace ralimp::cpu
