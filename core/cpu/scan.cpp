// Cumulative sums and products, and the position of the largest or smallest value: sequential along
// one axis, threads share the lines.
#include <type_traits>

#include "core/cpu/dispatch.h"
#include "core/cpu/lines.h"

namespace ralimp::cpu {
namespace {

// float32 accumulates in float64: a running sum would otherwise lose digits with its length.
template <class T>
using Accumulator = std::conditional_t<std::is_same_v<T, float>, double, T>;

template <class T, class Combine>
void scan(const Tensor& out, const Tensor& in, int axis, bool reversed, Accumulator<T> start,
          Combine combine) {
    T* const out_data = out.data<T>();
    const T* const in_data = in.data<T>();
    const int64_t length = in.shape()[axis];
    int64_t out_step = out.strides()[axis], in_step = in.strides()[axis];
    int64_t out_first = 0, in_first = 0;
    if (reversed) {
        out_first = (length - 1) * out_step;
        in_first = (length - 1) * in_step;
        out_step = -out_step;
        in_step = -in_step;
    }
    for_each_line<2>({&out, &in}, axis, length, [&](const int64_t(&offsets)[2]) {
        T* to = out_data + offsets[0] + out_first;
        const T* from = in_data + offsets[1] + in_first;
        Accumulator<T> running = start;
        for (int64_t i = 0; i < length; ++i) {
            running = combine(running, static_cast<Accumulator<T>>(from[i * in_step]));
            to[i * out_step] = static_cast<T>(running);
        }
    });
}

}  // namespace

void cumulative_sum(const Tensor& out, const Tensor& in, int axis, bool reversed) {
    if (out.elements() == 0) return;
    dispatch("cumulative_sum", in.dtype(), [&]<class T>(T) {
        scan<T>(out, in, axis, reversed, 0, [](auto sum, auto x) { return sum + x; });
    });
}

void cumulative_product(const Tensor& out, const Tensor& in, int axis) {
    if (out.elements() == 0) return;
    dispatch("cumulative_product", in.dtype(), [&]<class T>(T) {
        scan<T>(out, in, axis, false, 1, [](auto product, auto x) { return product * x; });
    });
}

namespace {

// The extreme values of pieces by the reducing loop, then the place in the first extreme piece. As
// in a maximum, NaN wins.
template <class T>
int64_t first_extreme(bool largest, const T* line, int64_t length, int64_t step) {
    constexpr int64_t piece_size = 2048;
    const auto reduction = static_cast<int>(largest ? Reduction::maximum : Reduction::minimum);
    const auto loop = loops_of<T>().reduce_columns[reduction];
    int64_t piece = 0;
    T value{};
    for (int64_t i = 0; i < length; i += piece_size) {
        T here;
        loop({1, std::min(piece_size, length - i)}, &here, 1, line + i * step, {0, step});
        if (i == 0 || (largest ? here > value : here < value) || here != here) {
            value = here;
            piece = i;
        }
        if (value != value) break;
    }
    const auto is_extreme = [&](T x) { return x == value || x != x; };
    while (!is_extreme(line[piece * step])) ++piece;
    return piece;
}

}  // namespace

void arg_reduce(bool largest, const Tensor& out, const Tensor& in, int axis) {
    if (out.elements() == 0) return;
    const int64_t length = in.shape()[axis], step = in.strides()[axis];
    check(length > 0, "arg_reduce: axis {} of {} is empty and has no largest value", axis,
          to_string(in.shape()));
    dispatch("arg_reduce", in.dtype(), [&]<class T>(T) {
        int64_t* const out_data = out.data<int64_t>();
        const T* const in_data = in.data<T>();
        for_each_line<2>({&out, &in}, axis, length, [&](const int64_t(&offsets)[2]) {
            out_data[offsets[0]] = first_extreme(largest, in_data + offsets[1], length, step);
        });
    });
}

}  // namespace ralimp::cpu
