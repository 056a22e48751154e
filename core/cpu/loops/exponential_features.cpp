// Exponential features of points one after the other: the projections of a point are spread to one
// row per feature in the first-level cache, then packs of features are computed with all derivative
// channels in registers.
#include "core/exponential_features.h"

#include "core/cpu/loops/pack_functions.h"
#include "core/cpu/loops/parts.h"

namespace ralimp::cpu::SIMD_LEVEL {
namespace {

using feature_table::cosine, feature_table::growth, feature_table::norm_growth;
using feature_table::norm_rotation, feature_table::rotation, feature_table::shift,
    feature_table::sine;

constexpr int most_channels = ActivationProgram::max_channels;

template <class T>
struct Complex {
    T re, im;
};
template <bool oscillating, class T>
inline Complex<T> product(Complex<T> a, Complex<T> b) {
    if constexpr (oscillating)
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    else
        return {a.re * b.re, a.im};
}

// One row of each channel: spread[c][feature] = p[c][projection of the feature].
template <class T>
void spread_projections(const FeatureArguments<T>& a, const T* p, T* spread) {
    for (int64_t b = 0; b < a.block_count; ++b) {
        const FeatureBlock& block = a.blocks[b];
        for (int c = 0; c < a.program->composition.channels; ++c)
            __builtin_memcpy(spread + c * a.padded_features + block.feature,
                             p + c * a.points * a.projections + block.projection,
                             static_cast<std::size_t>(block.count) * sizeof(T));
    }
}

// z of every channel for one pack of features.
template <bool oscillating, class T>
struct Exponents {
    using P = Pack<T>;
    Complex<P> z[most_channels];
    Complex<P> exponential;  // e^(z of the value)
    Mask<T> beyond;          // the limit: there Re z is clamped
    bool clamped;            // any of them

    Exponents(const FeatureArguments<T>& a, const T* spread, const T* n, int64_t feature,
              int64_t count) {
        const auto row = [&](int r) { return P::load(a.table + r * a.features + feature, count); };
        const P g = row(growth), ng = row(norm_growth);
        P r(T(0)), nr(T(0));
        if constexpr (oscillating) r = row(rotation), nr = row(norm_rotation);
        for (int c = 0; c < a.program->composition.channels; ++c) {
            const P projection = P::load(spread + c * a.padded_features + feature);
            z[c].re = g * projection;
            if constexpr (oscillating) z[c].im = r * projection;
            if (n) {
                const P norm(n[c * a.points]);
                z[c].re = z[c].re + ng * norm;
                if constexpr (oscillating) z[c].im = z[c].im + nr * norm;
            }
        }
        const P limit(static_cast<T>(a.program->exponent_limit));
        beyond = z[0].re > limit;
        clamped = any(beyond);
        if (clamped) [[unlikely]] {
            z[0].re = select(beyond, limit, z[0].re);
            for (int c = 1; c < a.program->composition.channels; ++c) z[c].re = moving(z[c].re);
        }
        const P e = exp(z[0].re);
        exponential.re = e;
        if constexpr (oscillating) {
            exponential.re = e * cos(z[0].im);
            exponential.im = e * sin(z[0].im);
        }
    }

    // 0 where Re z stands at its limit.
    P moving(P value) const { return select(beyond, P(T(0)), value); }

    int64_t clamped_count() const {
        T ones[P::width], count = 0;
        select(beyond, P(T(1)), P(T(0))).store(ones);
        for (T one : ones) count += one;
        return static_cast<int64_t>(count);
    }
};

template <class T>
Pack<T> load_row(const FeatureArguments<T>& a, int row, int64_t feature, int64_t count) {
    return Pack<T>::load(a.table + row * a.features + feature, count);
}

template <bool oscillating, class T>
int64_t forward_points(const FeatureArguments<T>& a, T* out, T* spread, int64_t begin,
                       int64_t end) {
    using P = Pack<T>;
    const ActivationProgram& program = a.program->composition;
    const int64_t out_channel = a.points * a.features;
    int64_t clamped = 0;
    for (int64_t i = begin; i < end; ++i) {
        spread_projections(a, a.p + i * a.projections, spread);
        for (int64_t f = 0; f < a.features; f += P::width) {
            const int64_t count = a.features - f < P::width ? a.features - f : P::width;
            const Exponents<oscillating, T> x(a, spread, a.n ? a.n + i : nullptr, f, count);
            if (x.clamped) [[unlikely]]
                clamped += x.clamped_count();
            Complex<P> weighted;
            const P c = load_row(a, cosine, f, count);
            weighted.re = c * x.exponential.re;
            if constexpr (oscillating) {
                const P s = load_row(a, sine, f, count);
                weighted.re = weighted.re + s * x.exponential.im;
                weighted.im = c * x.exponential.im - s * x.exponential.re;
            }
            T* to = out + i * a.features + f;
            (weighted.re + load_row(a, shift, f, count)).store(to, count);
            for (int t = 0; t < program.term_count;) {
                const int channel = program.terms[t].channel;
                P sum(T(0));
                for (; t < program.term_count && program.terms[t].channel == channel; ++t) {
                    const auto& term = program.terms[t];
                    Complex<P> factor = weighted;
                    for (int k = 0; k < term.order; ++k)
                        factor = product<oscillating>(factor, x.z[term.factors[k]]);
                    sum = sum + P(static_cast<T>(term.coefficient)) * factor.re;
                }
                sum.store(to + channel * out_channel, count);
            }
        }
    }
    return clamped;
}

template <class T>
void add_to(T* to, Pack<T> value, int64_t count) {
    (Pack<T>::load(to, count) + value).store(to, count);
}

// With H = Σ_c g_c e^(z_0) B_c(z), holomorphic in every z_k, the loss is Re[(cosine - i sine) H] +
// g_0 shift, and ∂/∂Re z_k = Re(∂/∂z_k), ∂/∂Im z_k = -Im(∂/∂z_k).
template <bool oscillating, class T>
void backward_points(const FeatureArguments<T>& a, const FeatureGradients<T>& gradients, T* spread,
                     T* spread_gradient, int64_t begin, int64_t end) {
    using P = Pack<T>;
    const ActivationProgram& program = a.program->composition;
    const int64_t out_channel = a.points * a.features;
    for (int64_t i = begin; i < end; ++i) {
        spread_projections(a, a.p + i * a.projections, spread);
        const T* n = a.n ? a.n + i : nullptr;
        P n_sums[most_channels];
        for (int c = 0; c < program.channels; ++c) n_sums[c] = P(T(0));
        for (int64_t f = 0; f < a.features; f += P::width) {
            const int64_t count = a.features - f < P::width ? a.features - f : P::width;
            const Exponents<oscillating, T> x(a, spread, n, f, count);
            const T* from = gradients.out + i * a.features + f;
            const P g0 = P::load(from, count);
            Complex<P> dz[most_channels];
            dz[0] = {g0 * x.exponential.re, g0};
            if constexpr (oscillating) dz[0].im = g0 * x.exponential.im;
            for (int c = 1; c < program.channels; ++c) dz[c] = {P(T(0)), P(T(0))};
            for (int t = 0; t < program.term_count; ++t) {
                const auto& term = program.terms[t];
                const P g = P(static_cast<T>(term.coefficient)) *
                            P::load(from + term.channel * out_channel, count);
                Complex<P> start{g * x.exponential.re, g};
                if constexpr (oscillating) start.im = g * x.exponential.im;
                Complex<P> all = start;
                for (int k = 0; k < term.order; ++k) {
                    all = product<oscillating>(all, x.z[term.factors[k]]);
                    Complex<P> others = start;
                    for (int j = 0; j < term.order; ++j)
                        if (j != k) others = product<oscillating>(others, x.z[term.factors[j]]);
                    Complex<P>& sum = dz[term.factors[k]];
                    sum.re = sum.re + others.re;
                    if constexpr (oscillating) sum.im = sum.im + others.im;
                }
                dz[0].re = dz[0].re + all.re;
                if constexpr (oscillating) dz[0].im = dz[0].im + all.im;
            }
            const P c = load_row(a, cosine, f, count);
            P s(T(0));
            if constexpr (oscillating) s = load_row(a, sine, f, count);
            if (gradients.table) {
                T* table = gradients.table + f;
                add_to(table + cosine * a.features, dz[0].re, count);
                if constexpr (oscillating) add_to(table + sine * a.features, dz[0].im, count);
                add_to(table + shift * a.features, g0, count);
            }
            const P g = load_row(a, growth, f, count), ng = load_row(a, norm_growth, f, count);
            P r(T(0)), nr(T(0));
            if constexpr (oscillating)
                r = load_row(a, rotation, f, count), nr = load_row(a, norm_rotation, f, count);
            P table_sums[4] = {P(T(0)), P(T(0)), P(T(0)), P(T(0))};
            for (int k = 0; k < program.channels; ++k) {
                P re = c * dz[k].re, im(T(0));
                if constexpr (oscillating) {
                    re = re + s * dz[k].im;
                    im = c * dz[k].im - s * dz[k].re;
                }
                if (x.clamped) [[unlikely]]
                    re = x.moving(re);
                P dp = g * re;
                if constexpr (oscillating) dp = dp - r * im;
                dp.store(spread_gradient + k * a.padded_features + f);
                if (n && gradients.n) {
                    n_sums[k] = n_sums[k] + ng * re;
                    if constexpr (oscillating) n_sums[k] = n_sums[k] - nr * im;
                }
                if (gradients.table) {
                    const P p = P::load(spread + k * a.padded_features + f);
                    table_sums[0] = table_sums[0] + re * p;
                    if constexpr (oscillating) table_sums[2] = table_sums[2] - im * p;
                    if (n) {
                        const P norm(n[k * a.points]);
                        table_sums[1] = table_sums[1] + re * norm;
                        if constexpr (oscillating) table_sums[3] = table_sums[3] - im * norm;
                    }
                }
            }
            if (gradients.table)
                for (int row : {growth, norm_growth, rotation, norm_rotation})
                    add_to(gradients.table + row * a.features + f, table_sums[row], count);
        }
        if (gradients.p) {
            for (int c = 0; c < program.channels; ++c) {
                T* to = gradients.p + (c * a.points + i) * a.projections;
                for (int64_t k = 0; k < a.projections; ++k) to[k] = 0;
                for (int64_t b = 0; b < a.block_count; ++b) {
                    const FeatureBlock& block = a.blocks[b];
                    const T* part = spread_gradient + c * a.padded_features + block.feature;
                    for (int32_t k = 0; k < block.count; ++k) to[block.projection + k] += part[k];
                }
            }
        }
        if (n && gradients.n) {
            for (int c = 0; c < program.channels; ++c) {
                T lanes[P::width], total = 0;
                n_sums[c].store(lanes);
                for (T lane : lanes) total += lane;
                gradients.n[c * a.points + i] = total;
            }
        }
    }
}

template <class T>
int64_t forward(const FeatureArguments<T>& a, T* out, T* scratch, int64_t begin, int64_t end) {
    const auto run = a.program->oscillating ? forward_points<true, T> : forward_points<false, T>;
    return run(a, out, scratch, begin, end);
}

template <class T>
void backward(const FeatureArguments<T>& a, const FeatureGradients<T>& gradients, T* scratch,
              int64_t begin, int64_t end) {
    const auto run = a.program->oscillating ? backward_points<true, T> : backward_points<false, T>;
    run(a, gradients, scratch, scratch + a.program->composition.channels * a.padded_features, begin,
        end);
}

}  // namespace

void add_exponential_features(Loops& loops) noexcept {
    loops.float32.features_forward = forward<float>;
    loops.float32.features_backward = backward<float>;
    loops.float64.features_forward = forward<double>;
    loops.float64.features_backward = backward<double>;
}

}  // namespace ralimp::cpu::SIMD_LEVEL
