// Fused activations of derivative channels: a block of points is small enough that the derivatives
// of the activation, computed once, stay in the first-level cache while all channels use them.
#include "core/activation.h"

#include "core/cpu/loops/pack.h"
#include "core/cpu/loops/parts.h"

namespace ralimp::cpu::SIMD_LEVEL {
namespace {

constexpr int64_t block = 512;

// x[i] -> d[k][i] for k = 0 … Order, each row of d one block long.
template <class Op, int Order, class T>
void derivatives(const T* x, T* d, int64_t count) {
    using P = Pack<T>;
    for (int64_t i = 0; i < count; i += P::width) {
        P values[Order + 1];
        Op::template derivatives<Order>(P::load(x + i), values);
        for (int k = 0; k <= Order; ++k) values[k].store(d + k * block + i);
    }
}

template <class T>
using DerivativesKernel = void (*)(const T* x, T* d, int64_t count);

template <class Op, class T>
constexpr DerivativesKernel<T> kernel_of(int order) {
    switch (order) {
        case 0:
            return derivatives<Op, 0, T>;
        case 1:
            return derivatives<Op, 1, T>;
        case 2:
            return derivatives<Op, 2, T>;
        case 3:
            return derivatives<Op, 3, T>;
        default:
            return derivatives<Op, 4, T>;
    }
}

template <class T, class... Ops>
DerivativesKernel<T> select_kernel(List<Ops...>, Activation activation, int order) {
    static constexpr DerivativesKernel<T> table[sizeof...(Ops)][activation::max_order + 1] = {
        {kernel_of<Ops, T>(0), kernel_of<Ops, T>(1), kernel_of<Ops, T>(2), kernel_of<Ops, T>(3),
         kernel_of<Ops, T>(4)}...};
    return table[static_cast<int>(activation)][order];
}

// Rows of one block: whole packs; the last pack of a partial block holds unused values.
template <class T>
struct Scratch {
    alignas(64) T x[block];
    alignas(64) T d[(activation::max_order + 1) * block];
};

// The derivatives of f(scale·v) for count <= block values.
template <class T>
void block_derivatives(const ActivationProgram& program, int order, const T* v, int64_t count,
                       Scratch<T>& scratch) {
    using P = Pack<T>;
    const P scale(static_cast<T>(program.scale));
    for (int64_t i = 0; i < count; i += P::width) {
        const int64_t left = count - i;
        const P value = left >= P::width ? P::load(v + i) : P::load(v + i, left);
        (value * scale).store(scratch.x + i);
    }
    select_kernel<T>(activation::Activations{}, program.activation, order)(scratch.x, scratch.d,
                                                                           count);
    if (program.scale == 1) return;
    P power = scale;
    for (int k = 1; k <= order; ++k, power = power * scale) {
        T* row = scratch.d + k * block;
        for (int64_t i = 0; i < count; i += P::width) (P::load(row + i) * power).store(row + i);
    }
}

// to[i] (+)= coefficient · a[i] · Π factors[i]; a may lie in padded scratch memory, the factors and
// `to` may not.
template <int factors, bool accumulate, class T>
void multiply_into(T* to, T coefficient, const T* a, const T* const* factor, int64_t count) {
    using P = Pack<T>;
    const P c(coefficient);
    int64_t i = 0;
    for (; i + P::width <= count; i += P::width) {
        P product = c * P::load(a + i);
        for (int f = 0; f < factors; ++f) product = product * P::load(factor[f] + i);
        if constexpr (accumulate) product = product + P::load(to + i);
        product.store(to + i);
    }
    if (const int64_t left = count - i; left > 0) {
        P product = c * P::load(a + i, left);
        for (int f = 0; f < factors; ++f) product = product * P::load(factor[f] + i, left);
        if constexpr (accumulate) product = product + P::load(to + i, left);
        product.store(to + i, left);
    }
}

template <class T>
void multiply_into(bool accumulate, T* to, T coefficient, const T* a, const T* const* factor,
                   int factors, int64_t count) {
    using Kernel = void (*)(T*, T, const T*, const T* const*, int64_t);
    static constexpr Kernel table[2][5] = {
        {multiply_into<0, false, T>, multiply_into<1, false, T>, multiply_into<2, false, T>,
         multiply_into<3, false, T>, multiply_into<4, false, T>},
        {multiply_into<0, true, T>, multiply_into<1, true, T>, multiply_into<2, true, T>,
         multiply_into<3, true, T>, multiply_into<4, true, T>}};
    table[accumulate][factors](to, coefficient, a, factor, count);
}

// in and out [channels, stride], of which `count` points from the given pointers on.
template <class T>
void forward(const ActivationProgram& program, T* out, const T* in, int64_t stride, int64_t count) {
    Scratch<T> scratch;
    for (int64_t begin = 0; begin < count; begin += block) {
        const int64_t size = count - begin < block ? count - begin : block;
        block_derivatives(program, program.max_order, in + begin, size, scratch);
        multiply_into<T>(false, out + begin, T(1), scratch.d, nullptr, 0, size);
        for (int t = 0; t < program.term_count; ++t) {
            const auto& term = program.terms[t];
            const bool first = t == 0 || program.terms[t - 1].channel != term.channel;
            const T* factors[3];
            for (int f = 0; f < term.order; ++f) factors[f] = in + term.factors[f] * stride + begin;
            multiply_into(!first, out + term.channel * stride + begin,
                          static_cast<T>(term.coefficient), scratch.d + term.order * block, factors,
                          term.order, size);
        }
    }
}

template <class T>
void backward(const ActivationProgram& program, T* in_gradient, const T* in, const T* out_gradient,
              int64_t stride, int64_t count) {
    Scratch<T> scratch;
    for (int64_t begin = 0; begin < count; begin += block) {
        const int64_t size = count - begin < block ? count - begin : block;
        block_derivatives(program, program.max_order + 1, in + begin, size, scratch);
        const T* factors[4] = {out_gradient + begin};
        multiply_into(false, in_gradient + begin, T(1), scratch.d + block, factors, 1, size);
        bool started[ActivationProgram::max_channels] = {true};
        for (int t = 0; t < program.term_count; ++t) {
            const auto& term = program.terms[t];
            const T coefficient = static_cast<T>(term.coefficient);
            const T* derivative = scratch.d + term.order * block;
            factors[0] = out_gradient + term.channel * stride + begin;
            for (int f = 0; f < term.order; ++f)
                factors[1 + f] = in + term.factors[f] * stride + begin;
            multiply_into(true, in_gradient + begin, coefficient, derivative + block, factors,
                          1 + term.order, size);
            for (int f = 0; f < term.order; ++f) {
                const T* others[3] = {factors[0]};
                for (int other = 0, count_others = 1; other < term.order; ++other)
                    if (other != f) others[count_others++] = factors[1 + other];
                const int channel = term.factors[f];
                multiply_into(started[channel], in_gradient + channel * stride + begin, coefficient,
                              derivative, others, term.order, size);
                started[channel] = true;
            }
        }
    }
}

}  // namespace

void add_activation(Loops& loops) {
    loops.float32.activation_forward = forward<float>;
    loops.float32.activation_backward = backward<float>;
    loops.float64.activation_forward = forward<double>;
    loops.float64.activation_backward = backward<double>;
}

}  // namespace ralimp::cpu::SIMD_LEVEL
