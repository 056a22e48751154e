// Fused activations of derivative channels: a block of points is small enough that the derivatives
// of the activation, computed once, stay in the first-level cache while all channels use them.
#include "core/cpu/loops/activation_loops.h"
#include "core/cpu/loops/pack_functions.h"
#include "core/cpu/loops/parts.h"

namespace ralimp::cpu::SIMD_LEVEL {
namespace {

// Values of one row: a kilobyte.
template <class T>
constexpr int64_t block = 1024 / sizeof(T);

// x[i] -> d[k][i] for k = 0 … Order, each row of d one block long.
template <class Op, int Order, class T>
void derivatives(const T* x, T parameter, T* d, int64_t count) {
    using P = Pack<T>;
    for (int64_t i = 0; i < count; i += P::width) {
        P values[Order + 1];
        activation::derivatives_of<Op, Order>(P::load(x + i), P(parameter), values);
        for (int k = 0; k <= Order; ++k) values[k].store(d + k * block<T> + i);
    }
}

// The same from the values f(x).
template <class Op, int Order, class T>
void derivatives_from_value(const T* y, T, T* d, int64_t count) {
    using P = Pack<T>;
    for (int64_t i = 0; i < count; i += P::width) {
        P values[Order + 1];
        Op::template from_value<Order>(P::load(y + i), values);
        for (int k = 1; k <= Order; ++k) values[k].store(d + k * block<T> + i);
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
    alignas(64) T x[block<T>];
    alignas(64) T d[(activation::max_order + 1) * block<T>];
};

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
        T* row = scratch.d + k * block<T>;
        for (int64_t i = 0; i < count; i += P::width) (P::load(row + i) * power).store(row + i);
    }
}

// One term of the chain rule over a block, coefficient · f⁽ᵒʳᵈᵉʳ⁾ · Π v_factor, set as or added to
// `out`. Term by term the loops are short and know their order; rows stay in the first-level cache.
template <int order, bool add, class T>
void forward_term(const ActivationProgram::Term& term, T* out, const T* in, int64_t stride,
                  const T* derivative, int64_t count) {
    using P = Pack<T>;
    const P coefficient(static_cast<T>(term.coefficient));
    const T* v[order];
    for (int k = 0; k < order; ++k) v[k] = in + term.factors[k] * stride;
    for_packs<T>(count, [&](int64_t i, auto left) {
        P product = coefficient * P::load(derivative + i) * load_pack(v[0] + i, left);
        for (int k = 1; k < order; ++k) product = product * load_pack(v[k] + i, left);
        if constexpr (add) product = load_pack<T>(out + i, left) + product;
        store_pack(product, out + i, left);
    });
}

template <bool add, class T>
void forward_term(const ActivationProgram::Term& term, T* out, const T* in, int64_t stride,
                  const T* d, int64_t count) {
    const T* derivative = d + term.order * block<T>;
    switch (term.order) {
        case 1:
            return forward_term<1, add>(term, out, in, stride, derivative, count);
        case 2:
            return forward_term<2, add>(term, out, in, stride, derivative, count);
        case 3:
            return forward_term<3, add>(term, out, in, stride, derivative, count);
    }
}

// What one term gives back: to each of its factors the product of the others, to the value the
// derivative of f⁽ᵒʳᵈᵉʳ⁾. `set`: the gradient of factor k is set, not added to.
template <int order, class T>
void backward_term(const ActivationProgram::Term& term, T* in_gradient, const T* in,
                   const T* out_gradient, int64_t stride, const T* d, const bool* set,
                   int64_t count) {
    using P = Pack<T>;
    const P coefficient(static_cast<T>(term.coefficient));
    const T *g = out_gradient + term.channel * stride, *derivative = d + order * block<T>;
    const T* v[order];
    T* dv[order];
    for (int k = 0; k < order; ++k) {
        v[k] = in + term.factors[k] * stride;
        dv[k] = in_gradient + term.factors[k] * stride;
    }
    const bool set_first = set[0];
    for_packs<T>(count, [&](int64_t i, auto left) {
        const P weighted = coefficient * load_pack(g + i, left);
        const P value = weighted * P::load(derivative + i);
        const P slope = weighted * P::load(derivative + block<T> + i);
        P factors[order];
        for (int k = 0; k < order; ++k) factors[k] = load_pack(v[k] + i, left);
        P all = factors[0];
        for (int k = 1; k < order; ++k) all = all * factors[k];
        for (int k = 0; k < order; ++k) {
            P part = value;
            for (int other = 0; other < order; ++other)
                if (other != k) part = part * factors[other];
            // Two factors may be one channel: the second sees what the first has stored.
            if (!(k == 0 ? set_first : set[k])) part = load_pack<T>(dv[k] + i, left) + part;
            store_pack(part, dv[k] + i, left);
        }
        store_pack(load_pack<T>(in_gradient + i, left) + slope * all, in_gradient + i, left);
    });
}

}  // namespace

// in and out [channels, stride], of which `count` points from the given pointers on.
template <class T>
void activation_forward(const ActivationProgram& program, T* out, const T* in, int64_t stride,
                        int64_t count) {
    Scratch<T> scratch;
    for (int64_t begin = 0; begin < count; begin += block<T>) {
        const int64_t size = count - begin < block<T> ? count - begin : block<T>;
        const T* from = in + begin;
        T* to = out + begin;
        block_derivatives<T>(program, program.max_order, from, nullptr, size, scratch);
        for_packs<T>(size, [&](int64_t i, auto left) {
            store_pack(Pack<T>::load(scratch.d + i), to + i, left);
        });
        int channel = 0;
        for (int t = 0; t < program.term_count; ++t) {
            const auto& term = program.terms[t];
            T* row = to + term.channel * stride;
            if (term.channel == channel)
                forward_term<true>(term, row, from, stride, scratch.d, size);
            else
                forward_term<false>(term, row, from, stride, scratch.d, size);
            channel = term.channel;
        }
    }
}

template <class T>
void activation_backward(const ActivationProgram& program, T* in_gradient, const T* in,
                         const T* out, const T* out_gradient, int64_t stride, int64_t count) {
    using P = Pack<T>;
    Scratch<T> scratch;
    for (int64_t begin = 0; begin < count; begin += block<T>) {
        const int64_t size = count - begin < block<T> ? count - begin : block<T>;
        const T *from = in + begin, *gradient = out_gradient + begin;
        T* to = in_gradient + begin;
        block_derivatives(program, program.max_order + 1, from, out + begin, size, scratch);
        for_packs<T>(size, [&](int64_t i, auto left) {
            store_pack(load_pack<T>(gradient + i, left) * P::load(scratch.d + block<T> + i), to + i,
                       left);
        });
        bool touched[ActivationProgram::max_channels] = {};
        for (int t = 0; t < program.term_count; ++t) {
            const auto& term = program.terms[t];
            bool set[3];
            for (int k = 0; k < term.order; ++k) {
                set[k] = !touched[term.factors[k]];
                touched[term.factors[k]] = true;
            }
            switch (term.order) {
                case 1:
                    backward_term<1>(term, to, from, gradient, stride, scratch.d, set, size);
                    break;
                case 2:
                    backward_term<2>(term, to, from, gradient, stride, scratch.d, set, size);
                    break;
                case 3:
                    backward_term<3>(term, to, from, gradient, stride, scratch.d, set, size);
                    break;
            }
        }
        for (int c = 1; c < program.channels; ++c)
            if (!touched[c])
                for_packs<T>(size, [&](int64_t i, auto left) {
                    store_pack(P(T(0)), to + c * stride + i, left);
                });
    }
}

template void activation_forward(const ActivationProgram&, float*, const float*, int64_t, int64_t);
template void activation_forward(const ActivationProgram&, double*, const double*, int64_t,
                                 int64_t);
template void activation_backward(const ActivationProgram&, float*, const float*, const float*,
                                  const float*, int64_t, int64_t);
template void activation_backward(const ActivationProgram&, double*, const double*, const double*,
                                  const double*, int64_t, int64_t);

void add_activation(Loops& loops) noexcept {
    loops.float32.activation_forward = activation_forward<float>;
    loops.float32.activation_backward = activation_backward<float>;
    loops.float64.activation_forward = activation_forward<double>;
    loops.float64.activation_backward = activation_backward<double>;
}

}  // namespace ralimp::cpu::SIMD_LEVEL
