// The features of a RaLiMP layer on panels (panels.h): the step of a chain that follows a product
// with the projection rows; core/layer_chain.h says what they are.
#pragma once
#include "core/cpu/loops/activation_loops.h"
#include "core/cpu/loops/oscillations.h"
#include "core/cpu/loops/panels.h"

namespace ralimp::cpu::SIMD_LEVEL {

// What a block needs of one step with features.
template <class T>
struct FeatureStep {
    const LayerChainProgram* program;
    const LayerChainProgram::Step* step;
    // As in ChainTensors; null where undefined.
    const T *growth, *norm_growth, *rotation, *norm_rotation, *norm_weights;
    const int32_t* projections;  // [exponentials]
    int64_t inputs, products;    // widths of x and p

    int channels() const { return program->composition.channels; }
    bool has_norms() const { return norm_growth || norm_rotation; }
    bool has_envelope() const { return growth || norm_growth; }  // Re z is not 0
    // Elements of one channel that belong to the exponents.
    int64_t exponents() const { return step->exponentials * chain_block<T>; }
    int64_t width() const { return step->width(products); }
    // Elements of one channel.
    int64_t values_channel() const { return width() * chain_block<T>; }
    int64_t products_channel() const { return products * chain_block<T>; }
    // The activation whose derivatives carry the exponentials.
    ActivationProgram exponential() const {
        LayerChainProgram::Step exp;
        exp.activation = Activation::exp;
        return program->program(exp);
    }
};

// out += factor a b, one row each.
template <class T>
inline void add_product(T* out, T factor, const T* a, const T* b) {
    using P = Pack<T>;
    const P scale(factor);
    for (int64_t p = 0; p < chain_block<T>; p += P::width)
        fused_multiply_add(scale * P::load(a + p), P::load(b + p), P::load(out + p)).store(out + p);
}

template <class T>
inline void clear(T* out, int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[i] = T(0);
}

// What norms are made of: Σ_i weight_i y_i², over the inputs or over the projections that the
// exponential features read.
template <class T>
struct Squares {
    const T* weights;
    T weight;  // of every one, where there are no weights
    int64_t count, channel;

    explicit Squares(const FeatureStep<T>& f)
        : weights(f.norm_weights),
          weight(T(1) / static_cast<T>(f.step->exponential_rows)),
          count(weights ? f.inputs : f.step->exponential_rows),
          channel((weights ? f.inputs : f.products) * chain_block<T>) {}
    T operator[](int64_t i) const { return weights ? weights[i] : weight; }
};

// norms[c] = Σ_i weight_i (y_i²)_c, [channels, block]; y are the inputs x or the projections p.
template <class T>
void chain_norms(const FeatureStep<T>& f, T* norms, const T* x, const T* p) {
    const Squares<T> squares(f);
    const T* y = squares.weights ? x : p;
    clear(norms, f.channels() * chain_block<T>);
    for (int t = 0; t < f.program->product_count; ++t) {
        const auto& term = f.program->products[t];
        for (int64_t i = 0; i < squares.count; ++i)
            add_product(norms + term.channel * chain_block<T>,
                        static_cast<T>(term.coefficient) * squares[i],
                        y + term.left * squares.channel + i * chain_block<T>,
                        y + term.right * squares.channel + i * chain_block<T>);
    }
}

// dy of the inputs, or of the projections, from dnorms.
template <class T>
void add_norm_gradient(const FeatureStep<T>& f, T* dy, const T* dnorms, const T* y) {
    const Squares<T> squares(f);
    const int64_t channel = squares.channel;
    for (int t = 0; t < f.program->product_count; ++t) {
        const auto& term = f.program->products[t];
        const T* d = dnorms + term.channel * chain_block<T>;
        for (int64_t i = 0; i < squares.count; ++i) {
            const T factor = static_cast<T>(term.coefficient) * squares[i];
            const int64_t left = term.left * channel + i * chain_block<T>;
            const int64_t right = term.right * channel + i * chain_block<T>;
            add_product(dy + left, factor, d, y + right);
            add_product(dy + right, factor, d, y + left);
        }
    }
}

// Re z or Im z, factor p + norm_factor n: rows of [channels, width, block] from z on. Null is 0,
// but not both.
template <class T>
void fill_exponents(const FeatureStep<T>& f, T* z, const T* factors, const T* norm_factors,
                    const T* p, const T* norms) {
    using P = Pack<T>;
    for (int c = 0; c < f.channels(); ++c) {
        const T* n = norms + c * chain_block<T>;
        for (int64_t i = 0; i < f.step->exponentials; ++i) {
            T* to = z + c * f.values_channel() + i * chain_block<T>;
            const T* from = p + c * f.products_channel() + f.projections[i] * chain_block<T>;
            const P factor(factors ? factors[i] : T(0));
            const P norm_factor(norm_factors ? norm_factors[i] : T(0));
            if (!norm_factors)
                for (int64_t k = 0; k < chain_block<T>; k += P::width)
                    (factor * P::load(from + k)).store(to + k);
            else if (!factors)
                for (int64_t k = 0; k < chain_block<T>; k += P::width)
                    (norm_factor * P::load(n + k)).store(to + k);
            else
                for (int64_t k = 0; k < chain_block<T>; k += P::width)
                    fused_multiply_add(factor, P::load(from + k), norm_factor * P::load(n + k))
                        .store(to + k);
        }
    }
}

// Re z and then Im z, as far as there are any: unclamped.
template <class T>
void chain_exponents(const FeatureStep<T>& f, T* z, const T* p, const T* norms) {
    if (f.has_envelope()) fill_exponents(f, z, f.growth, f.norm_growth, p, norms);
    if (f.step->oscillating)
        fill_exponents(f, z + f.exponents(), f.rotation, f.norm_rotation, p, norms);
}

// Calls found(place) for each pack that has an exponent beyond the limit: where it begins in z.
template <class T, class F>
void for_clamped(const FeatureStep<T>& f, const T* z, F&& found) {
    using P = Pack<T>;
    if (!f.has_envelope()) return;
    const P limit(static_cast<T>(f.step->exponent_limit));
    for (int64_t i = 0; i < f.step->exponentials; ++i)
        for (int64_t k = 0; k < chain_block<T>; k += P::width)
            if (any(P::load(z + i * chain_block<T> + k) > limit)) found(i * chain_block<T> + k);
}

// Beyond the limit the value is the limit and every derivative is 0. Returns how many of the first
// `points` of the block were.
template <class T>
int64_t clamp_exponents(const FeatureStep<T>& f, T* z, int64_t points) {
    using P = Pack<T>;
    int64_t clamped = 0;
    for_clamped(f, z, [&](int64_t at) {
        const T limit = static_cast<T>(f.step->exponent_limit);
        for (int64_t lane = 0; lane < P::width; ++lane) {
            if (!(z[at + lane] > limit)) continue;
            clamped += (at + lane) % chain_block<T> < points;
            z[at + lane] = limit;
            for (int c = 1; c < f.channels(); ++c) z[c * f.values_channel() + at + lane] = T(0);
        }
    });
    return clamped;
}

// Rows of a product of jets, out[c] = Σ coefficient left right, each row by its own.
template <class T>
void multiply_jets(const LayerChainProgram& program, T* out, int64_t out_channel, const T* left,
                   int64_t left_channel, const T* right, int64_t right_channel, int64_t rows) {
    for (int c = 0; c < program.composition.channels; ++c)
        clear(out + c * out_channel, rows * chain_block<T>);
    for (int t = 0; t < program.product_count; ++t) {
        const auto& term = program.products[t];
        for (int64_t r = 0; r < rows * chain_block<T>; r += chain_block<T>)
            add_product(out + term.channel * out_channel + r, static_cast<T>(term.coefficient),
                        left + term.left * left_channel + r,
                        right + term.right * right_channel + r);
    }
}

// values [channels, width, block] of p [channels, products, block] and x. Scratch: norms
// [channels, block], z like values. Returns how many exponents of the first points were clamped.
template <class T>
int64_t chain_features_forward(const FeatureStep<T>& f, T* values, const T* p, const T* x, T* norms,
                               T* z, int64_t points) {
    const auto& step = *f.step;
    const ActivationProgram& composition = f.program->composition;
    if (f.has_norms()) chain_norms(f, norms, x, p);
    chain_exponents(f, z, p, norms);
    const int64_t clamped = clamp_exponents(f, z, points);
    if (!step.oscillating)
        activation_forward(f.exponential(), values, z, f.values_channel(), f.exponents());
    else if (f.has_envelope())
        oscillations_forward<true>(composition, values, z, f.values_channel(), f.exponents());
    else
        oscillations_forward<false>(composition, values, z, f.values_channel(), f.exponents());
    const int64_t rows = step.rows * chain_block<T>;
    for (int k = 1; k <= step.degree; ++k) {
        const T* factor = p + step.polynomial_first * chain_block<T> + (k - 1) * rows;
        T* to = values + step.exponential_features() * chain_block<T> + (k - 1) * rows;
        if (k == 1) {
            for (int c = 0; c < f.channels(); ++c)
                for (int64_t i = 0; i < rows; ++i)
                    to[c * f.values_channel() + i] = factor[c * f.products_channel() + i];
        } else {
            multiply_jets(*f.program, to, f.values_channel(), to - rows, f.values_channel(), factor,
                          f.products_channel(), step.rows);
        }
    }
    return clamped;
}

// One sum for each lane: of a b over the rows of all channels.
template <class T>
inline void add_row_products(T* sums, const T* a, int64_t a_channel, const T* b, int64_t b_channel,
                             int channels) {
    using P = Pack<T>;
    P sum = P::load(sums);
    for (int c = 0; c < channels; ++c)
        for (int64_t k = 0; k < chain_block<T>; k += P::width)
            sum = fused_multiply_add(P::load(a + c * a_channel + k), P::load(b + c * b_channel + k),
                                     sum);
    sum.store(sums);
}

// From d, the gradient of rows made by fill_exponents: what it adds to dp and dnorms, and to the
// sums of the factors and then of the norm factors, a pack for each exponent.
template <class T>
void add_exponent_gradients(const FeatureStep<T>& f, T* dp, T* dnorms, T* sums, const T* d,
                            const T* factors, const T* norm_factors, const T* p, const T* norms) {
    using P = Pack<T>;
    const int channels = f.channels();
    T* norm_sums = sums + f.step->exponentials * P::width;
    for (int64_t i = 0; i < f.step->exponentials; ++i, d += chain_block<T>) {
        const int64_t projection = f.projections[i] * chain_block<T>;
        if (factors)
            add_row_products(sums + i * P::width, d, f.values_channel(), p + projection,
                             f.products_channel(), channels);
        if (norm_factors)
            add_row_products(norm_sums + i * P::width, d, f.values_channel(), norms, chain_block<T>,
                             channels);
        const P factor(factors ? factors[i] : T(0));
        const P norm_factor(norm_factors ? norm_factors[i] : T(0));
        for (int c = 0; c < channels; ++c) {
            const T* from = d + c * f.values_channel();
            T* to = dp + c * f.products_channel() + projection;
            if (factors)
                for (int64_t k = 0; k < chain_block<T>; k += P::width)
                    fused_multiply_add(factor, P::load(from + k), P::load(to + k)).store(to + k);
            if (!norm_factors) continue;
            T* dn = dnorms + c * chain_block<T>;
            for (int64_t k = 0; k < chain_block<T>; k += P::width)
                fused_multiply_add(norm_factor, P::load(from + k), P::load(dn + k)).store(dn + k);
        }
    }
}

// dp and, for the add_norm_gradient of the inputs, dnorms from dvalues, which is used up. The sums
// of growth, norm_growth and, where the features oscillate, rotation and norm_rotation are added
// to, a pack for each exponent. Scratch: norms, z and dz as in the forward pass.
template <class T>
void chain_features_backward(const FeatureStep<T>& f, T* dp, T* dnorms, T* sums, T* dvalues,
                             const T* values, const T* p, const T* x, T* norms, T* z, T* dz) {
    using P = Pack<T>;
    const auto& step = *f.step;
    const ActivationProgram& composition = f.program->composition;
    const int channels = f.channels();
    const int64_t exponentials = step.exponential_features() * chain_block<T>;
    clear(dp, channels * f.products_channel());
    if (f.has_norms()) chain_norms(f, norms, x, p);
    chain_exponents(f, z, p, norms);
    bool clamped = false;
    for_clamped(f, z, [&](int64_t) { clamped = true; });
    if (clamped) clamp_exponents(f, z, chain_block<T>);
    if (!step.oscillating)
        activation_backward(f.exponential(), dz, z, values, dvalues, f.values_channel(),
                            f.exponents());
    else if (f.has_envelope())
        oscillations_backward<true>(composition, dz, z, values, dvalues, f.values_channel(),
                                    f.exponents());
    else
        oscillations_backward<false>(composition, dz, z, values, dvalues, f.values_channel(),
                                     f.exponents());
    if (clamped) {
        const T limit = static_cast<T>(step.exponent_limit);
        for (int64_t i = 0; i < f.exponents(); ++i)
            if (z[i] == limit)
                for (int c = 0; c < channels; ++c) dz[c * f.values_channel() + i] = T(0);
    }
    if (f.has_norms()) clear(dnorms, channels * chain_block<T>);
    if (f.has_envelope())
        add_exponent_gradients(f, dp, dnorms, sums, dz, f.growth, f.norm_growth, p, norms);
    if (step.oscillating)
        add_exponent_gradients(f, dp, dnorms, sums + 2 * step.exponentials * P::width,
                               dz + f.exponents(), f.rotation, f.norm_rotation, p, norms);
    if (f.has_norms() && !f.norm_weights) add_norm_gradient(f, dp, dnorms, p);
    // Each degree gives to the one before it and to its own projections.
    const int64_t rows = step.rows * chain_block<T>;
    for (int k = step.degree; k >= 1; --k) {
        const int64_t at = exponentials + (k - 1) * rows;
        const int64_t projections = step.polynomial_first * chain_block<T> + (k - 1) * rows;
        if (k == 1) {
            for (int c = 0; c < channels; ++c)
                for (int64_t i = 0; i < rows; ++i)
                    dp[c * f.products_channel() + projections + i] +=
                        dvalues[c * f.values_channel() + at + i];
            break;
        }
        for (int t = 0; t < f.program->product_count; ++t) {
            const auto& term = f.program->products[t];
            const T factor = static_cast<T>(term.coefficient);
            for (int64_t r = 0; r < rows; r += chain_block<T>) {
                const T* d = dvalues + term.channel * f.values_channel() + at + r;
                const int64_t before = at - rows + r, own = projections + r;
                add_product(dvalues + term.left * f.values_channel() + before, factor, d,
                            p + term.right * f.products_channel() + own);
                add_product(dp + term.right * f.products_channel() + own, factor, d,
                            values + term.left * f.values_channel() + before);
            }
        }
    }
}

}  // namespace ralimp::cpu::SIMD_LEVEL
