// The complex exponential of panels (panels.h) with all derivative channels: cosines and sines in
// an envelope that grows or falls. In every array the real parts of a channel come first and the
// imaginary ones `parts` elements, whole rows, after them. Where there is no envelope real parts of
// z are 0 and not there.
#pragma once
#include "core/activation.h"
#include "core/cpu/loops/loops.h"
#include "core/cpu/loops/pack_functions.h"

namespace ralimp::cpu::SIMD_LEVEL {

template <class T>
struct ComplexPack {
    Pack<T> re, im;
};

// a z, or of conjugates a z̄, for z at the given place; without an envelope Re z is 0.
template <bool envelope, bool conjugate, class T>
inline ComplexPack<T> times(ComplexPack<T> a, const T* z_re, const T* z_im) {
    using P = Pack<T>;
    const P im = conjugate ? -P::load(z_im) : P::load(z_im);
    if constexpr (envelope) {
        const P re = P::load(z_re);
        return {fused_multiply_add(a.re, re, -(a.im * im)),
                fused_multiply_add(a.im, re, a.re * im)};
    } else {
        return {-(a.im * im), a.re * im};
    }
}

// Elements that go through all terms of the chain rule together: a kilobyte, of whole rows.
template <class T>
constexpr int64_t term_block = 4 * chain_block<T>;

// One term of the chain rule, coefficient e^z Π z_factor, set as or added to `out`.
template <bool envelope, int order, bool add, class T>
void oscillation_term(const ActivationProgram::Term& term, T* out, const T* exponential, const T* z,
                      int64_t channel, int64_t parts, int64_t count) {
    using P = Pack<T>;
    const P coefficient(static_cast<T>(term.coefficient));
    const T* factors[order];
    for (int k = 0; k < order; ++k) factors[k] = z + term.factors[k] * channel;
    out += term.channel * channel;
    for (int64_t i = 0; i < count; i += P::width) {
        ComplexPack<T> product{coefficient * P::load(exponential + i),
                               coefficient * P::load(exponential + parts + i)};
        for (int k = 0; k < order; ++k)
            product = times<envelope, false>(product, factors[k] + i, factors[k] + parts + i);
        if constexpr (add) {
            product.re = P::load(out + i) + product.re;
            product.im = P::load(out + parts + i) + product.im;
        }
        product.re.store(out + i);
        product.im.store(out + parts + i);
    }
}

template <bool envelope, bool add, class T>
void oscillation_term(const ActivationProgram::Term& term, T* out, const T* exponential, const T* z,
                      int64_t channel, int64_t parts, int64_t count) {
    switch (term.order) {
        case 1:
            return oscillation_term<envelope, 1, add>(term, out, exponential, z, channel, parts,
                                                      count);
        case 2:
            return oscillation_term<envelope, 2, add>(term, out, exponential, z, channel, parts,
                                                      count);
        case 3:
            return oscillation_term<envelope, 3, add>(term, out, exponential, z, channel, parts,
                                                      count);
    }
}

// e^z with all channels, which are `channel` elements apart.
template <bool envelope, class T>
void oscillations_forward(const ActivationProgram& program, T* values, const T* z, int64_t channel,
                          int64_t parts) {
    using P = Pack<T>;
    for (int64_t begin = 0; begin < parts; begin += term_block<T>) {
        const int64_t count = parts - begin < term_block<T> ? parts - begin : term_block<T>;
        const T* from = z + begin;
        T* to = values + begin;
        for (int64_t i = 0; i < count; i += P::width) {
            const P phase = P::load(from + parts + i);
            P re = cos(phase), im = sin(phase);
            if constexpr (envelope) {
                const P size = exp(P::load(from + i));
                re = size * re;
                im = size * im;
            }
            re.store(to + i);
            im.store(to + parts + i);
        }
        int last = 0;
        for (int t = 0; t < program.term_count; ++t) {
            const auto& term = program.terms[t];
            if (term.channel == last)
                oscillation_term<envelope, true>(term, to, to, from, channel, parts, count);
            else
                oscillation_term<envelope, false>(term, to, to, from, channel, parts, count);
            last = term.channel;
        }
    }
}

// What one term gives back to its factors: with D the gradients of both parts of its channel,
// the conjugate of D̄ coefficient e^z Π z_other. `set`: the gradient of factor k is set, not added
// to.
template <bool envelope, int order, class T>
void oscillation_term_backward(const ActivationProgram::Term& term, T* dz, const T* z,
                               const T* dvalues, const T* values, int64_t channel, int64_t parts,
                               const bool* set, int64_t count) {
    using P = Pack<T>;
    const P coefficient(static_cast<T>(term.coefficient));
    const T* d = dvalues + term.channel * channel;
    const T* v[order];
    T* dv[order];
    for (int k = 0; k < order; ++k) {
        v[k] = z + term.factors[k] * channel;
        dv[k] = dz + term.factors[k] * channel;
    }
    for (int64_t i = 0; i < count; i += P::width) {
        const P d_re = coefficient * P::load(d + i), d_im = coefficient * P::load(d + parts + i);
        const P re = P::load(values + i), im = P::load(values + parts + i);
        const ComplexPack<T> start{fused_multiply_add(d_re, re, d_im * im),
                                   fused_multiply_add(d_im, re, -(d_re * im))};
        for (int k = 0; k < order; ++k) {
            ComplexPack<T> part = start;
            for (int other = 0; other < order; ++other)
                if (other != k)
                    part = times<envelope, true>(part, v[other] + i, v[other] + parts + i);
            // Two factors may be one channel: the second sees what the first has stored.
            if (!set[k]) {
                if constexpr (envelope) part.re = P::load(dv[k] + i) + part.re;
                part.im = P::load(dv[k] + parts + i) + part.im;
            }
            if constexpr (envelope) part.re.store(dv[k] + i);
            part.im.store(dv[k] + parts + i);
        }
    }
}

// dz from dvalues: every derivative of e^z is e^z, so that the values of all channels give the
// gradient of z itself, and nothing is computed of sines and cosines.
template <bool envelope, class T>
void oscillations_backward(const ActivationProgram& program, T* dz, const T* z, const T* values,
                           const T* dvalues, int64_t channel, int64_t parts) {
    using P = Pack<T>;
    for (int64_t begin = 0; begin < parts; begin += term_block<T>) {
        const int64_t count = parts - begin < term_block<T> ? parts - begin : term_block<T>;
        const T *from = z + begin, *v = values + begin, *d = dvalues + begin;
        T* to = dz + begin;
        for (int64_t i = 0; i < count; i += P::width) {
            P sum_re(T(0)), sum_im(T(0));
            for (int c = 0; c < program.channels; ++c) {
                const int64_t at = c * channel + i;
                const P re = P::load(v + at), im = P::load(v + parts + at);
                const P d_re = P::load(d + at), d_im = P::load(d + parts + at);
                if constexpr (envelope)
                    sum_re = fused_multiply_add(d_re, re, fused_multiply_add(d_im, im, sum_re));
                sum_im = fused_multiply_add(d_im, re, sum_im - d_re * im);
            }
            if constexpr (envelope) sum_re.store(to + i);
            sum_im.store(to + parts + i);
        }
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
                    oscillation_term_backward<envelope, 1>(term, to, from, d, v, channel, parts,
                                                           set, count);
                    break;
                case 2:
                    oscillation_term_backward<envelope, 2>(term, to, from, d, v, channel, parts,
                                                           set, count);
                    break;
                case 3:
                    oscillation_term_backward<envelope, 3>(term, to, from, d, v, channel, parts,
                                                           set, count);
                    break;
            }
        }
        for (int c = 1; c < program.channels; ++c)
            if (!touched[c])
                for (int64_t part = envelope ? 0 : parts; part <= parts; part += parts)
                    for (int64_t i = 0; i < count; i += P::width)
                        P(T(0)).store(to + c * channel + part + i);
    }
}

}  // namespace ralimp::cpu::SIMD_LEVEL
