// Reductions over any axes. The order of summation depends on the shapes alone: runs of adjacent
// reduced axes are reduced one after the other from the innermost one; the elements of a run, in
// row-major order, are cut into chunks of reduction_chunk, and the chunks' results are reduced in
// the same way. Threads share chunks and results.
#include "core/cpu/dispatch.h"
#include "core/cpu/iterate.h"

namespace ralimp::cpu {
namespace {

// A run of axes reduced together, and the axes that stay.
struct Run {
    int64_t count = 1, stride = 0;  // elements of the run in row-major order
    Shape kept, out_strides, in_strides;
};

// At most reduction_chunk elements go into each result.
template <class T>
void reduce_chunks(Reduction reduction, const Run& run, T* out, const T* in) {
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

template <class T>
void reduce_run(Reduction reduction, const Run& run, T* out, const T* in) {
    if (run.count <= reduction_chunk) return reduce_chunks(reduction, run, out, in);
    // Chunks are one more axis that stays; the last one may be smaller.
    const int64_t whole = run.count / reduction_chunk, rest = run.count % reduction_chunk;
    const int64_t chunks = whole + (rest > 0), results = run.kept.elements();
    const Tensor partial = Tensor::empty({chunks * results}, dtype_of<T>());
    T* const partial_data = partial.data<T>();
    const Shape packed = row_major_strides(run.kept);

    Run first{reduction_chunk, run.stride, run.kept, packed, run.in_strides};
    first.kept.insert(0, whole);
    first.out_strides.insert(0, results);
    first.in_strides.insert(0, reduction_chunk * run.stride);
    reduce_chunks(reduction, first, partial_data, in);
    if (rest > 0) {
        const Run last{rest, run.stride, run.kept, packed, run.in_strides};
        reduce_chunks(reduction, last, partial_data + whole * results,
                      in + whole * reduction_chunk * run.stride);
    }
    const Run second{chunks, results, run.kept, run.out_strides, packed};
    reduce_run<T>(reduction, second, out, partial_data);
}

}  // namespace

void reduce(Reduction reduction, const Tensor& out, const Tensor& in) {
    // The innermost run of reduced axes; axes of size 1 neither belong to a run nor end it.
    Run run;
    Shape partial_shape = in.shape();
    bool in_run = false, another_run = false, one_stride = true;
    for (int axis = in.dims() - 1, state = 0; axis >= 0; --axis) {
        const int64_t size = in.shape()[axis];
        if (size == 1) continue;
        const bool reduced = out.shape()[axis] == 1;
        if (reduced && state == 2) another_run = true;
        if (!reduced && state == 1) state = 2;
        if (reduced && state == 0) {
            state = 1;
            run.stride = in.strides()[axis];
            run.count = size;
            partial_shape[axis] = 1;
            in_run = true;
        } else if (reduced && state == 1) {
            one_stride = one_stride && in.strides()[axis] == run.stride * run.count;
            run.count *= size;
            partial_shape[axis] = 1;
        }
    }
    if (!in_run) return copy(out, in);
    if (in.elements() > 0 && !one_stride) return reduce(reduction, out, in.contiguous());
    const Tensor target = another_run ? Tensor::empty(partial_shape, in.dtype(), in.device()) : out;
    for (int axis = 0; axis < in.dims(); ++axis) {
        if (partial_shape[axis] == 1) continue;
        run.kept.push_back(in.shape()[axis]);
        run.out_strides.push_back(target.strides()[axis]);
        run.in_strides.push_back(in.strides()[axis]);
    }
    dispatch("reduce", in.dtype(),
             [&]<class T>(T) { reduce_run<T>(reduction, run, target.data<T>(), in.data<T>()); });
    if (another_run) reduce(reduction, out, target);
}

}  // namespace ralimp::cpu
