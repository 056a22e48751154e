// Reductions over any axes as reductions of chunks, the same on every backend, so that the order of
// summation depends on the shapes alone: runs of adjacent reduced axes are reduced one after the
// other from the innermost one; the elements of a run, in row-major order, are cut into chunks, and
// the chunks' results are reduced in the same way.
#pragma once
#include "core/tensor.h"

namespace ralimp {

// A run of axes reduced together, and the axes that stay.
struct ReductionRun {
    int64_t count = 1, stride = 0;  // elements of the run in row-major order
    Shape kept, out_strides, in_strides;
};

template <class T, class Chunks>
void reduce_run(const ReductionRun& run, T* out, const T* in, Device device, int64_t chunk,
                const Chunks& reduce_chunks) {
    if (run.count <= chunk) return reduce_chunks(run, out, in);
    // Chunks are one more axis that stays; the last one may be smaller.
    const int64_t whole = run.count / chunk, rest = run.count % chunk;
    const int64_t chunks = whole + (rest > 0), results = run.kept.elements();
    const Tensor partial = Tensor::empty({chunks * results}, dtype_of<T>(), device);
    T* const partial_data = partial.data<T>();
    const Shape packed = row_major_strides(run.kept);

    ReductionRun first{chunk, run.stride, run.kept, packed, run.in_strides};
    first.kept.insert(0, whole);
    first.out_strides.insert(0, results);
    first.in_strides.insert(0, chunk * run.stride);
    reduce_chunks(first, partial_data, in);
    if (rest > 0) {
        const ReductionRun last{rest, run.stride, run.kept, packed, run.in_strides};
        reduce_chunks(last, partial_data + whole * results, in + whole * chunk * run.stride);
    }
    const ReductionRun second{chunks, results, run.kept, run.out_strides, packed};
    reduce_run<T>(second, out, partial_data, device, chunk, reduce_chunks);
}

// `out` and `in` as the kernel's. copy(out, in) copies, reduce_chunks(run, out, in) reduces at most
// `chunk` elements into each result; its pointers are of the type of the elements.
template <class Copy, class Chunks>
void reduce_by_runs(const Tensor& out, const Tensor& in, int64_t chunk, const Copy& copy,
                    const Chunks& reduce_chunks) {
    // The innermost run of reduced axes; axes of size 1 neither belong to a run nor end it.
    ReductionRun run;
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
    if (in.elements() > 0 && !one_stride)
        return reduce_by_runs(out, in.contiguous(), chunk, copy, reduce_chunks);
    const Tensor target = another_run ? Tensor::empty(partial_shape, in.dtype(), in.device()) : out;
    for (int axis = 0; axis < in.dims(); ++axis) {
        if (partial_shape[axis] == 1) continue;
        run.kept.push_back(in.shape()[axis]);
        run.out_strides.push_back(target.strides()[axis]);
        run.in_strides.push_back(in.strides()[axis]);
    }
    dispatch("reduce", in.dtype(), [&]<class T>(T) {
        reduce_run<T>(run, target.data<T>(), in.data<T>(), in.device(), chunk, reduce_chunks);
    });
    if (another_run) reduce_by_runs(out, target, chunk, copy, reduce_chunks);
}

}  // namespace ralimp
