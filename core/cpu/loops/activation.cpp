// Fused activations of derivative channels: a block of points is small enough that the derivatives
// of the activation, computed once, stay in the first-level cache while all channels use them.
#include "core/activation.h"

#include "core/cpu/loops/pack_functions.h"
#include "core/cpu/loops/parts.h"

namespace ralimp::cpu::SIMD_LEVEL {
namespace {

constexpr int64_t block = 512;

// x[i] -> d[k][i] for k = 0 … Order, each row of d one block long.
template <class Op, int Order, class T>
void derivatives(const T* x, T parameter, T* d, int64_t count) {
    using P = Pack<T>;
    for (int64_t i = 0; i < count; i += P::width) {
        P values[Order + 1];
        activation::derivatives_of<Op, Order>(P::load(x + i), P(parameter), values);
        for (int k = 0; k <= Order; ++k) values[k].store(d + k * block + i);
    }
}

// The same from the values f(x).
template <class Op, int Order, class T>
void derivatives_from_value(const T* y, T, T* d, int64_t count) {
    using P = Pack<T>;
    for (int64_t i = 0; i < count; i += P::width) {
        P values[Order + 1];
        Op::template from_value<Order>(P::load(y + i), values);
        for (int k = 1; k <= Order; ++k) values[k].store(d + k * block + i);
    }
}

template <class T>
using DerivativesKernel = void (*)(const T* x, T parameter, T* d, int64_t count);

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

template <class Op, class T>
constexpr bool has_from_value = requires(T y, T* d) {
    Op::template from_value<1>(y, d);
};

// Null for an activation whose derivatives need its argument. Only the reverse pass asks, for
// orders from 1 on.
template <class Op, class T>
constexpr DerivativesKernel<T> value_kernel_of(int order) {
    if constexpr (has_from_value<Op, Pack<T>>) {
        switch (order) {
            case 1:
                return derivatives_from_value<Op, 1, T>;
            case 2:
                return derivatives_from_value<Op, 2, T>;
            case 3:
                return derivatives_from_value<Op, 3, T>;
            case 4:
                return derivatives_from_value<Op, 4, T>;
        }
    }
    return nullptr;
}

template <class T, class... Ops>
DerivativesKernel<T> select_value_kernel(List<Ops...>, Activation activation, int order) {
    static constexpr DerivativesKernel<T> table[sizeof...(Ops)][activation::max_order + 1] = {
        {nullptr, value_kernel_of<Ops, T>(1), value_kernel_of<Ops, T>(2),
         value_kernel_of<Ops, T>(3), value_kernel_of<Ops, T>(4)}...};
    return table[static_cast<int>(activation)][order];
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

template <class T>
inline Pack<T> load_pack(const T* from, int64_t count) {
    return count == Pack<T>::width ? Pack<T>::load(from) : Pack<T>::load(from, count);
}
template <class T>
inline void store_pack(Pack<T> value, T* to, int64_t count) {
    count == Pack<T>::width ? value.store(to) : value.store(to, count);
}

// scratch.x = factor · from, filled up with zeros to a whole pack.
template <class T>
void load_block(Scratch<T>& scratch, T factor, const T* from, int64_t count) {
    using P = Pack<T>;
    for (int64_t i = 0; i < count; i += P::width) {
        const int64_t left = count - i < P::width ? count - i : P::width;
        (P(factor) * load_pack(from + i, left)).store(scratch.x + i);
    }
}

// The derivatives of f(scale·v) for count <= block values: scale^k f⁽ᵏ⁾(scale·v). With `value` =
// f(scale·v) given, row 0 may be left out.
template <class T>
void block_derivatives(const ActivationProgram& program, int order, const T* v, const T* value,
                       int64_t count, Scratch<T>& scratch) {
    using P = Pack<T>;
    constexpr activation::Activations all;
    const auto from_value =
        value ? select_value_kernel<T>(all, program.activation, order) : nullptr;
    if (from_value) {
        load_block(scratch, T(1), value, count);
        from_value(scratch.x, T(0), scratch.d, count);
    } else {
        load_block(scratch, static_cast<T>(program.scale), v, count);
        select_kernel<T>(all, program.activation, order)(
            scratch.x, static_cast<T>(program.parameter), scratch.d, count);
    }
    if (program.scale == 1) return;
    const P scale(static_cast<T>(program.scale));
    P power = scale;
    for (int k = 1; k <= order; ++k, power = power * scale) {
        T* row = scratch.d + k * block;
        for (int64_t i = 0; i < count; i += P::width) (P::load(row + i) * power).store(row + i);
    }
}

// A pack of derivatives of the activation: those of one pack of points out of the scratch rows.
template <class T>
inline Pack<T> derivative_at(const Scratch<T>& scratch, int order, int64_t i) {
    return Pack<T>::load(scratch.d + order * block + i);
}

// in and out [channels, stride], of which `count` points from the given pointers on.
template <class T>
void forward(const ActivationProgram& program, T* out, const T* in, int64_t stride, int64_t count) {
    using P = Pack<T>;
    Scratch<T> scratch;
    P v[ActivationProgram::max_channels];
    for (int64_t begin = 0; begin < count; begin += block) {
        const int64_t size = count - begin < block ? count - begin : block;
        block_derivatives<T>(program, program.max_order, in + begin, nullptr, size, scratch);
        for (int64_t i = 0; i < size; i += P::width) {
            const int64_t left = size - i < P::width ? size - i : P::width;
            const T* from = in + begin + i;
            T* to = out + begin + i;
            store_pack(derivative_at(scratch, 0, i), to, left);
            for (int c = 1; c < program.channels; ++c) v[c] = load_pack(from + c * stride, left);
            for (int t = 0; t < program.term_count;) {
                const int channel = program.terms[t].channel;
                P sum(T(0));
                for (; t < program.term_count && program.terms[t].channel == channel; ++t) {
                    const auto& term = program.terms[t];
                    P product = P(static_cast<T>(term.coefficient)) *
                                derivative_at(scratch, term.order, i) * v[term.factors[0]];
                    for (int f = 1; f < term.order; ++f) product = product * v[term.factors[f]];
                    sum = sum + product;
                }
                store_pack(sum, to + channel * stride, left);
            }
        }
    }
}

template <class T>
void backward(const ActivationProgram& program, T* in_gradient, const T* in, const T* out,
              const T* out_gradient, int64_t stride, int64_t count) {
    using P = Pack<T>;
    Scratch<T> scratch;
    P v[ActivationProgram::max_channels], dv[ActivationProgram::max_channels];
    for (int64_t begin = 0; begin < count; begin += block) {
        const int64_t size = count - begin < block ? count - begin : block;
        block_derivatives(program, program.max_order + 1, in + begin, out + begin, size, scratch);
        for (int64_t i = 0; i < size; i += P::width) {
            const int64_t left = size - i < P::width ? size - i : P::width;
            const T* from = in + begin + i;
            const T* gradient = out_gradient + begin + i;
            for (int c = 1; c < program.channels; ++c) {
                v[c] = load_pack(from + c * stride, left);
                dv[c] = P(T(0));
            }
            dv[0] = load_pack(gradient, left) * derivative_at(scratch, 1, i);
            for (int t = 0; t < program.term_count; ++t) {
                const auto& term = program.terms[t];
                const P g = P(static_cast<T>(term.coefficient)) *
                            load_pack(gradient + term.channel * stride, left);
                const P value = g * derivative_at(scratch, term.order, i);
                const P slope = g * derivative_at(scratch, term.order + 1, i);
                const P a = v[term.factors[0]];
                if (term.order == 1) {
                    dv[term.factors[0]] = dv[term.factors[0]] + value;
                    dv[0] = dv[0] + slope * a;
                } else if (term.order == 2) {
                    const P b = v[term.factors[1]];
                    dv[term.factors[0]] = dv[term.factors[0]] + value * b;
                    dv[term.factors[1]] = dv[term.factors[1]] + value * a;
                    dv[0] = dv[0] + slope * (a * b);
                } else {
                    const P b = v[term.factors[1]], c = v[term.factors[2]];
                    dv[term.factors[0]] = dv[term.factors[0]] + value * (b * c);
                    dv[term.factors[1]] = dv[term.factors[1]] + value * (a * c);
                    dv[term.factors[2]] = dv[term.factors[2]] + value * (a * b);
                    dv[0] = dv[0] + slope * (a * b * c);
                }
            }
            for (int c = 0; c < program.channels; ++c)
                store_pack(dv[c], in_gradient + begin + i + c * stride, left);
        }
    }
}

}  // namespace

void add_activation(Loops& loops) noexcept {
    loops.float32.activation_forward = forward<float>;
    loops.float32.activation_backward = backward<float>;
    loops.float64.activation_forward = forward<double>;
    loops.float64.activation_backward = backward<double>;
}

}  // namespace ralimp::cpu::SIMD_LEVEL
