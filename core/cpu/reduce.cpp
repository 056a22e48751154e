// Reductions of chunks of at most reduction_chunk elements (core/reduction_runs.h); threads share
// them.
#include "core/cpu/dispatch.h"
#include "core/cpu/iterate.h"
#include "core/reduction_runs.h"

namespace ralimp::cpu {
namespace {

// At most reduction_chunk elements go into each result.
template <class T>
void reduce_chunks(Reduction reduction, const ReductionRun& run, T* out, const T* in) {
    const auto kept = joined_layout<2>(run.kept, {&run.out_strides, &run.in_strides});
    if (kept.elements() == 0) return;
    const int last = kept.dims - 1;
    const int64_t inner = kept.sizes[last], outer = kept.elements() / inner;
    const int64_t out_stride = kept.strides[0][last], in_stride = kept.strides[1][last];

    // Neighbouring elements go into one result, or into neighbouring results.
    const bool along = run.stride == 1 || inner == 1 || in_stride != 1;
    const auto index = static_cast<std::size_t>(reduction);
    const auto loop =
        along ? loops_of<T>().reduce_columns[index] : loops_of<T>().reduce_rows[index];
    const bool serial = kept.elements() * run.count <= serial_elements;
    const int64_t height = std::max<int64_t>(run.count, 1);
    int64_t slice_size = serial ? inner : std::max<int64_t>(1, chunk_elements / height);
    if (!along) slice_size = (slice_size + 63) / 64 * 64;
    const int64_t slices = (inner + slice_size - 1) / slice_size;
    const int64_t task_elements = std::min(slice_size, inner) * height;
    const int64_t grain =
        serial ? outer * slices : std::max<int64_t>(1, chunk_elements / task_elements);
    parallel_for(outer * slices, grain, [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
            const int64_t first = task % slices * slice_size;
            const int64_t width = std::min(slice_size, inner - first);
            T* to = out + first * out_stride;
            const T* from = in + first * in_stride;
            int64_t block = task / slices;
            for (int axis = last - 1; axis >= 0; --axis) {
                to += block % kept.sizes[axis] * kept.strides[0][axis];
                from += block % kept.sizes[axis] * kept.strides[1][axis];
                block /= kept.sizes[axis];
            }
            if (along)
                loop({width, run.count}, to, out_stride, from, {in_stride, run.stride});
            else
                loop({run.count, width}, to, out_stride, from, {run.stride, in_stride});
        }
    });
}

}  // namespace

void reduce(Reduction reduction, const Tensor& out, const Tensor& in) {
    reduce_by_runs(out, in, reduction_chunk, copy,
                   [reduction]<class T>(const ReductionRun& run, T* to, const T* from) {
                       reduce_chunks(reduction, run, to, from);
                   });
}

}  // namespace ralimp::cpu
