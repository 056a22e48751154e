// Cumulative sums and products along one axis.
#include <type_traits>

#include "core/cuda/kernels.h"
#include "core/cuda/lines.h"
#include "core/cuda/warp.h"

namespace ralimp::gpu {
namespace {

constexpr unsigned threads = 256;
constexpr int64_t thread_elements = 8, chunk_elements = threads * thread_elements;

// float32 accumulates in float64, as on the CPU.
template <class T>
using Accumulator = std::conditional_t<std::is_same_v<T, float>, double, T>;

// A thread per line, from its start.
template <class Op, class T>
__global__ void scan_lines(T* out, const T* in, StridedLayout<2> lines, int64_t length,
                           int64_t out_step, int64_t in_step, Accumulator<T> start) {
    const uint32_t all = gridDim.x * blockDim.x;
    for (uint32_t line = blockIdx.x * blockDim.x + threadIdx.x; line < lines.elements;
         line += all) {
        const Offsets<2> offsets = lines.offsets(line);
        Accumulator<T> running = start;
        for (int64_t i = 0; i < length; ++i) {
            running = Op::value(running, static_cast<Accumulator<T>>(in[offsets[1] + i * in_step]));
            out[offsets[0] + i * out_step] = static_cast<T>(running);
        }
    }
}

// A block per chunk of a line, neighbouring elements to a thread. `totals` [lines, chunks] are the
// chunks' sums, which it writes, or else the sums up to their ends, which it goes on from; null
// where a line is one chunk.
template <bool write_totals, class T>
__global__ void sum_chunks(T* out, const T* in, Accumulator<T>* totals, StridedLayout<2> lines,
                           int64_t length, int64_t chunks, int64_t out_step, int64_t in_step) {
    using Sum = Accumulator<T>;
    __shared__ Sum warps[threads / 32];
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t tasks = lines.elements * chunks;
    for (int64_t task = blockIdx.x; task < tasks; task += gridDim.x) {
        const int64_t chunk = task % chunks;
        const Offsets<2> offsets = lines.offsets(static_cast<uint32_t>(task / chunks));
        const int64_t begin = chunk * chunk_elements + threadIdx.x * thread_elements;
        const int64_t end = begin + thread_elements < length ? begin + thread_elements : length;
        Sum own = 0;
        for (int64_t i = begin; i < end; ++i)
            own = static_cast<Sum>(own + static_cast<Sum>(in[offsets[1] + i * in_step]));
        // Up to and including this thread, in its warp.
        Sum sum = own;
        for (unsigned delta = 1; delta < 32; delta *= 2) {
            const Sum other = shuffle_up(sum, delta);
            if (lane >= delta) sum = static_cast<Sum>(other + sum);
        }
        if (lane == 31) warps[warp] = sum;
        const Sum before_in_warp = shuffle_up(sum, 1);
        __syncthreads();
        Sum running = !write_totals && chunk > 0 ? totals[task - 1] : Sum(0);
        const unsigned last = write_totals ? threads / 32 : warp;
        for (unsigned i = 0; i < last; ++i) running = static_cast<Sum>(running + warps[i]);
        __syncthreads();
        if constexpr (write_totals) {
            if (threadIdx.x == 0) totals[task] = running;
        } else {
            if (lane > 0) running = static_cast<Sum>(running + before_in_warp);
            for (int64_t i = begin; i < end; ++i) {
                running =
                    static_cast<Sum>(running + static_cast<Sum>(in[offsets[1] + i * in_step]));
                out[offsets[0] + i * out_step] = static_cast<T>(running);
            }
        }
    }
}

// Lines start at the pointers, which are moved to their ends when reversed.
struct Direction {
    int64_t length, out_first, in_first, out_step, in_step;

    Direction(const Tensor& out, const Tensor& in, int axis, bool reversed)
        : length(in.shape()[axis]),
          out_first(0),
          in_first(0),
          out_step(out.strides()[axis]),
          in_step(in.strides()[axis]) {
        if (!reversed) return;
        out_first = (length - 1) * out_step;
        in_first = (length - 1) * in_step;
        out_step = -out_step;
        in_step = -in_step;
    }
};

template <class Op>
void scan_each_line(const char* name, const Tensor& out, const Tensor& in, int axis, bool reversed,
                    int start) {
    const Device device = out.device();
    const Direction way(out, in, axis, reversed);
    dispatch(name, in.dtype(), [&]<class T>(T) {
        T* const to = out.data<T>() + way.out_first;
        const T* const from = in.data<T>() + way.in_first;
        for_lines<2>(
            {&out, &in}, axis, [&](const StridedLayout<2>& lines, const Offsets<2>& offsets) {
                launch(name, scan_lines<Op, T>, blocks_for(lines.elements, threads, device),
                       threads, 0, stream_of(device), to + offsets[0], from + offsets[1], lines,
                       way.length, way.out_step, way.in_step, static_cast<Accumulator<T>>(start));
            });
    });
}

}  // namespace

void cumulative_sum(const Tensor& out, const Tensor& in, int axis, bool reversed) {
    if (out.elements() == 0) return;
    const Device device = out.device();
    const CurrentDevice current(device);
    const Direction way(out, in, axis, reversed);
    // The order of summation is chosen by the shape alone.
    if (way.length <= 128 || in.elements() / way.length >= 32768)
        return scan_each_line<scalar::Add>("cumulative_sum", out, in, axis, reversed, 0);
    const int64_t chunks = (way.length + chunk_elements - 1) / chunk_elements;
    dispatch("cumulative_sum", in.dtype(), [&]<class T>(T) {
        T* const to = out.data<T>() + way.out_first;
        const T* const from = in.data<T>() + way.in_first;
        for_lines<2>(
            {&out, &in}, axis, [&](const StridedLayout<2>& lines, const Offsets<2>& offsets) {
                const auto run = [&](auto kernel, Accumulator<T>* totals) {
                    launch("cumulative_sum", kernel,
                           blocks_for(lines.elements * chunks * threads, threads, device), threads,
                           0, stream_of(device), to + offsets[0], from + offsets[1], totals, lines,
                           way.length, chunks, way.out_step, way.in_step);
                };
                if (chunks == 1) return run(sum_chunks<false, T>, nullptr);
                const Tensor totals =
                    Tensor::empty({lines.elements, chunks}, dtype_of<Accumulator<T>>(), device);
                run(sum_chunks<true, T>, totals.data<Accumulator<T>>());
                cumulative_sum(totals, totals, 1, false);
                run(sum_chunks<false, T>, totals.data<Accumulator<T>>());
            });
    });
}

// In order along each line: a product of parts could be that of an overflow and an underflow, NaN,
// where neither is met on the way.
void cumulative_product(const Tensor& out, const Tensor& in, int axis) {
    if (out.elements() == 0) return;
    const CurrentDevice current(out.device());
    scan_each_line<scalar::Multiply>("cumulative_product", out, in, axis, false, 1);
}

}  // namespace ralimp::gpu
