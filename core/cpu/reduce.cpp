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

// count elements of each result, in chunks; out has a leading axis of chunks with chunk_stride.
template <class T>
void reduce_chunks(Reduction reduction, const Run& run, T* out, int64_t chunk_stride, const T* in) {
    const int64_t chunks =
        std::max<int64_t>(1, (run.count + reduction_chunk - 1) / reduction_chunk);
    const int64_t height = std::min(run.count, reduction_chunk);
    const auto kept = joined_layout<2>(run.kept, {&run.out_strides, &run.in_strides});
    const int64_t outer = kept.elements() / std::max<int64_t>(kept.sizes[kept.dims - 1], 1);
    const int64_t inner = kept.sizes[kept.dims - 1];
    const int64_t out_stride = kept.strides[0][kept.dims - 1];
    const int64_t in_stride = kept.strides[1][kept.dims - 1];
    if (kept.elements() == 0) return;

    // Neighbouring elements go into one result, or into neighbouring results.
    const bool along = run.stride == 1 || inner == 1 || in_stride != 1;
    const auto index = static_cast<std::size_t>(reduction);
    const auto loop =
        along ? loops_of<T>().reduce_columns[index] : loops_of<T>().reduce_rows[index];
    const int64_t slice_size =
        std::max<int64_t>(along ? 1 : 64, chunk_elements / std::max<int64_t>(height, 1) / 64 * 64);
    const int64_t slices = (inner + slice_size - 1) / slice_size;
    const auto task = [&](int64_t number) {
        const int64_t first = number % slices * slice_size;
        const int64_t width = std::min(slice_size, inner - first);
        number /= slices;
        const int64_t chunk = number % chunks;
        int64_t block = number / chunks;
        const int64_t count = std::min(reduction_chunk, run.count - chunk * reduction_chunk);
        T* to = out + chunk * chunk_stride + first * out_stride;
        const T* from = in + chunk * reduction_chunk * run.stride + first * in_stride;
        for (int axis = kept.dims - 2; axis >= 0; --axis) {
            to += block % kept.sizes[axis] * kept.strides[0][axis];
            from += block % kept.sizes[axis] * kept.strides[1][axis];
            block /= kept.sizes[axis];
        }
        if (along)
            loop({width, count}, to, out_stride, from, {in_stride, run.stride});
        else
            loop({count, width}, to, out_stride, from, {run.stride, in_stride});
    };
    const int64_t tasks = outer * chunks * slices;
    const int64_t task_elements = std::max<int64_t>(1, std::min(slice_size, inner) * height);
    const bool serial = kept.elements() * run.count <= serial_elements;
    parallel_for(tasks, serial ? tasks : std::max<int64_t>(1, chunk_elements / task_elements),
                 [&](int64_t begin, int64_t end) {
                     for (int64_t number = begin; number < end; ++number) task(number);
                 });
}

template <class T>
void reduce_run(Reduction reduction, const Run& run, T* out, const T* in) {
    if (run.count <= reduction_chunk) return reduce_chunks(reduction, run, out, 0, in);
    const int64_t chunks = (run.count + reduction_chunk - 1) / reduction_chunk;
    Shape shape = run.kept;
    shape.insert(0, chunks);
    const Tensor partial = Tensor::empty(shape, dtype_of<T>());
    Run first = run;
    first.out_strides = row_major_strides(run.kept);
    reduce_chunks(reduction, first, partial.data<T>(), run.kept.elements(), in);
    Run second{chunks, run.kept.elements(), run.kept, run.out_strides, first.out_strides};
    reduce_run<T>(reduction, second, out, partial.data<T>());
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
