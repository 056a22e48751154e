// The position of the largest or smallest value along an axis. The best of two candidates does not
// depend on the order in which they meet, so that any division of a line among threads is right.
#include "core/cuda/kernels.h"
#include "core/cuda/lines.h"
#include "core/cuda/warp.h"

namespace ralimp::gpu {
namespace {

constexpr unsigned threads = 256;

// NaN beats every number; of equals the first is better. A position of -1 is no candidate.
template <class T>
__device__ void keep_better(bool largest, T& value, int64_t& position, T other,
                            int64_t other_position) {
    const auto beats = [=](T a, T b) { return b == b && (a != a || (largest ? a > b : a < b)); };
    if (other_position < 0) return;
    if (position >= 0) {
        if (beats(value, other)) return;
        if (!beats(other, value) && position < other_position) return;
    }
    value = other;
    position = other_position;
}

// Lines of `items` candidates: all positions, or for each line those in `candidates`. A group of 1,
// 32 or all threads of a block looks through a part of a line. Where lines have several parts,
// `out` is [lines, parts].
template <class T>
__global__ void find_extremes(int64_t* out, const T* in, const int64_t* candidates,
                              StridedLayout<2> lines, int64_t items, int64_t step, int64_t part,
                              int64_t parts, unsigned group, bool largest) {
    __shared__ T values[threads / 32];
    __shared__ int64_t positions[threads / 32];
    const unsigned in_group = threadIdx.x % group, per_block = threads / group;
    const int64_t tasks = lines.elements * parts;
    for (int64_t first = int64_t{blockIdx.x} * per_block; first < tasks;
         first += int64_t{gridDim.x} * per_block) {
        const int64_t task = first + threadIdx.x / group;
        const bool active = task < tasks;
        const int64_t line = active ? task / parts : 0, begin = task % parts * part;
        const Offsets<2> offsets = lines.offsets(static_cast<uint32_t>(line));
        T value{};
        int64_t position = -1;
        if (active) {
            const int64_t end = begin + part < items ? begin + part : items;
            for (int64_t i = begin + in_group; i < end; i += group) {
                const int64_t candidate = candidates ? candidates[line * items + i] : i;
                keep_better(largest, value, position, in[offsets[1] + candidate * step], candidate);
            }
        }
        if (group > 1)
            for (unsigned delta = 16; delta > 0; delta /= 2) {
                const T other = shuffle_down(value, delta);
                keep_better(largest, value, position, other, shuffle_down(position, delta));
            }
        if (group > 32) {
            if (threadIdx.x % 32 == 0) {
                values[threadIdx.x / 32] = value;
                positions[threadIdx.x / 32] = position;
            }
            __syncthreads();
            if (threadIdx.x == 0)
                for (unsigned warp = 1; warp < threads / 32; ++warp)
                    keep_better(largest, value, position, values[warp], positions[warp]);
            __syncthreads();
        }
        if (active && in_group == 0) out[parts > 1 ? task : offsets[0]] = position;
    }
}

}  // namespace

void arg_reduce(bool largest, const Tensor& out, const Tensor& in, int axis) {
    if (out.elements() == 0) return;
    const Device device = in.device();
    const int64_t length = in.shape()[axis], step = in.strides()[axis];
    check(length > 0, "arg_reduce: axis {} of {} is empty and has no largest value", axis,
          in.shape());
    const CurrentDevice current(device);
    dispatch("arg_reduce", in.dtype(), [&]<class T>(T) {
        int64_t* const out_data = out.data<int64_t>();
        const T* const in_data = in.data<T>();
        for_lines<2>(
            {&out, &in}, axis, [&](const StridedLayout<2>& lines, const Offsets<2>& offsets) {
                const auto find = [&](int64_t* to, const int64_t* candidates, int64_t items,
                                      int64_t part) {
                    const int64_t parts = (items + part - 1) / part, tasks = lines.elements * parts;
                    // Many lines that are not stretches of memory are read side by side.
                    const bool alone = items <= 16 || (step != 1 && lines.elements >= 4096);
                    const unsigned group = alone ? 1 : items <= 1024 ? 32 : threads;
                    launch("arg_reduce", find_extremes<T>,
                           blocks_for(tasks * group, threads, device), threads, 0,
                           stream_of(device), to, in_data + offsets[1], candidates, lines, items,
                           step, part, parts, group, largest);
                };
                // Few long lines are cut into parts.
                constexpr int64_t part = 8192;
                if (length <= 2 * part || lines.elements >= 1024)
                    return find(out_data + offsets[0], nullptr, length, length);
                const int64_t parts = (length + part - 1) / part;
                const Tensor found = Tensor::empty({lines.elements * parts}, DType::int64, device);
                find(found.data<int64_t>(), nullptr, length, part);
                find(out_data + offsets[0], found.data<int64_t>(), parts, parts);
            });
    });
}

}  // namespace ralimp::gpu
