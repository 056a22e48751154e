// Softmax of rows of neighbouring elements, a part of a row at a time.
#include "core/cpu/loops/pack_functions.h"
#include "core/cpu/loops/parts.h"

namespace ralimp::cpu::SIMD_LEVEL {
namespace {

// The lanes' larger numbers; NaN is passed over: it turns up in the sum.
template <class T>
Pack<T> larger(Pack<T> most, Pack<T> x) {
    return select(x > most, x, most);
}

// Whole packs of in[0 … count), then what is left with `rest` in the lanes beyond.
template <class T, class F>
void for_each_pack(const T* in, int64_t count, Pack<T> rest, F&& f) {
    constexpr int64_t width = Pack<T>::width;
    int64_t i = 0;
    for (; i + width <= count; i += width) f(i, Pack<T>::load(in + i));
    if (i < count) f(i, Pack<T>::load(in + i, count - i, rest));
}

template <class T>
T maximum(const T* in, int64_t count) {
    const Pack<T> nothing(-static_cast<T>(__builtin_inf()));
    Pack<T> most = nothing;
    for_each_pack<T>(in, count, nothing, [&](int64_t, Pack<T> x) { most = larger(most, x); });
    T lanes[Pack<T>::width], result = first(nothing);
    most.store(lanes);
    for (T lane : lanes) result = lane > result ? lane : result;
    return result;
}

// out[i] = e^(in[i] - shift), if out is given; returns Σ of them. Blocks of 16 packs are summed by
// themselves, so that the error does not grow with the length.
template <class T>
double exponentials(T* out, const T* in, int64_t count, T shift) {
    using P = Pack<T>;
    constexpr int64_t width = P::width, block = 16 * width;
    P total(T(0));
    for (int64_t begin = 0; begin < count; begin += block) {
        const int64_t size = count - begin < block ? count - begin : block;
        P sum(T(0));
        for_each_pack<T>(in + begin, size, P(-static_cast<T>(__builtin_inf())),
                         [&](int64_t i, P x) {
                             const P e = exp(x - P(shift));
                             sum = sum + e;
                             if (!out) return;
                             if (size - i < width)
                                 e.store(out + begin + i, size - i);
                             else
                                 e.store(out + begin + i);
                         });
        total = total + sum;
    }
    T lanes[width];
    total.store(lanes);
    double result = 0;
    for (T lane : lanes) result += static_cast<double>(lane);
    return result;
}

template <class T>
void scale(T* out, int64_t count, T factor) {
    for (int64_t i = 0; i < count; ++i) out[i] *= factor;
}

// An infinite maximum is not subtracted: ∞ - ∞ would be NaN.
template <class T>
T shift_of(T most) {
    return most - most == T(0) ? most : T(0);
}

template <class T>
void softmax_rows(T* out, const T* in, int64_t rows, int64_t columns) {
    for (int64_t row = 0; row < rows; ++row, out += columns, in += columns) {
        const double sum = exponentials(out, in, columns, shift_of(maximum(in, columns)));
        scale(out, columns, static_cast<T>(1 / sum));
    }
}

template <class T>
void softmax_sum(const T* in, int64_t count, T* most, double* sum) {
    *most = maximum(in, count);
    *sum = exponentials<T>(nullptr, in, count, shift_of(*most));
}

template <class T>
void softmax_part(T* out, const T* in, int64_t count, T most, double sum) {
    exponentials(out, in, count, shift_of(most));
    scale(out, count, static_cast<T>(1 / sum));
}

template <class T>
void add(TypedLoops<T>& loops) {
    loops.softmax_rows = softmax_rows<T>;
    loops.softmax_sum = softmax_sum<T>;
    loops.softmax_part = softmax_part<T>;
}

}  // namespace

void add_softmax(Loops& loops) noexcept {
    add(loops.float32);
    add(loops.float64);
}

}  // namespace ralimp::cpu::SIMD_LEVEL
