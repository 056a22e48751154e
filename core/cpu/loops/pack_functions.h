// The functions of <cmath> over packs, so that the functors of core/scalar.h run on them: from
// SLEEF (at most 1 ulp; Shibata and Petrogalli, "SLEEF: a portable vectorized library of C standard
// mathematical functions", 2020), at the baseline from <cmath>.
#pragma once
#include "core/cpu/loops/pack.h"
#if defined(__AVX2__)
#include <sleef.h>
#endif

namespace ralimp::cpu::SIMD_LEVEL {

#if defined(__AVX512F__)
// The form with a full mask: the plain one makes g++ 12 warn of its own header (PR 105593).
inline Pack<float> sqrt(Pack<float> x) {
    return Pack<float>::of(_mm512_maskz_sqrt_ps(0xFFFF, x.values));
}
inline Pack<double> sqrt(Pack<double> x) {
    return Pack<double>::of(_mm512_maskz_sqrt_pd(0xFF, x.values));
}
inline Pack<float> fused_multiply_add(Pack<float> a, Pack<float> b, Pack<float> c) {
    return Pack<float>::of(_mm512_fmadd_ps(a.values, b.values, c.values));
}
inline Pack<double> fused_multiply_add(Pack<double> a, Pack<double> b, Pack<double> c) {
    return Pack<double>::of(_mm512_fmadd_pd(a.values, b.values, c.values));
}
#elif defined(__AVX2__)
inline Pack<float> sqrt(Pack<float> x) { return Pack<float>::of(_mm256_sqrt_ps(x.values)); }
inline Pack<double> sqrt(Pack<double> x) { return Pack<double>::of(_mm256_sqrt_pd(x.values)); }
inline Pack<float> fused_multiply_add(Pack<float> a, Pack<float> b, Pack<float> c) {
    return Pack<float>::of(_mm256_fmadd_ps(a.values, b.values, c.values));
}
inline Pack<double> fused_multiply_add(Pack<double> a, Pack<double> b, Pack<double> c) {
    return Pack<double>::of(_mm256_fmadd_pd(a.values, b.values, c.values));
}
#else
template <class T>
Pack<T> sqrt(Pack<T> x) {
    return Pack<T>(std::sqrt(x.values));
}
template <class T>
Pack<T> fused_multiply_add(Pack<T> a, Pack<T> b, Pack<T> c) {
    return Pack<T>(std::fma(a.values, b.values, c.values));
}
#endif

#if defined(__AVX512F__)
#define RALIMP_SLEEF_FLOAT(name) Sleef_##name##f16_u10avx512f
#define RALIMP_SLEEF_DOUBLE(name) Sleef_##name##d8_u10avx512f
#elif defined(__AVX2__)
#define RALIMP_SLEEF_FLOAT(name) Sleef_##name##f8_u10avx2
#define RALIMP_SLEEF_DOUBLE(name) Sleef_##name##d4_u10avx2
#else
#define RALIMP_SLEEF_FLOAT(name) std::name
#define RALIMP_SLEEF_DOUBLE(name) std::name
#endif
#define RALIMP_PACK_FUNCTION(name)                                    \
    inline Pack<float> name(Pack<float> x) {                          \
        return Pack<float>::of(RALIMP_SLEEF_FLOAT(name)(x.values));   \
    }                                                                 \
    inline Pack<double> name(Pack<double> x) {                        \
        return Pack<double>::of(RALIMP_SLEEF_DOUBLE(name)(x.values)); \
    }
RALIMP_PACK_FUNCTION(expm1)
RALIMP_PACK_FUNCTION(log)

namespace sleef {
RALIMP_PACK_FUNCTION(exp)
RALIMP_PACK_FUNCTION(sin)
RALIMP_PACK_FUNCTION(cos)
RALIMP_PACK_FUNCTION(log1p)
RALIMP_PACK_FUNCTION(sinh)
RALIMP_PACK_FUNCTION(cosh)
RALIMP_PACK_FUNCTION(tanh)
RALIMP_PACK_FUNCTION(erf)
}  // namespace sleef
#undef RALIMP_PACK_FUNCTION

inline Pack<double> exp(Pack<double> x) { return sleef::exp(x); }
inline Pack<double> sin(Pack<double> x) { return sleef::sin(x); }
inline Pack<double> cos(Pack<double> x) { return sleef::cos(x); }

// e^x of floats without a call, at most 1 ulp off: 2^n e^r with |r| <= ln(2)/2. The polynomial is a
// minimax fit, below 0.1 ulp by itself.
#if defined(__AVX2__)
struct ReducedExp {
    Pack<float> power;    // e^r
    Pack<float> shifted;  // n + 1.5·2^23: n stands in the lowest bits
    Pack<float> n;
};
inline ReducedExp reduced_exp(Pack<float> x) {
    using P = Pack<float>;
    // Adding 1.5·2^23 rounds to a whole number.
    const P shifted = fused_multiply_add(x, P(1.44269504f), P(12582912.0f));
    const P n = shifted - P(12582912.0f);
    P r = fused_multiply_add(n, P(-0.693359375f), x);
    r = fused_multiply_add(n, P(2.12194440e-4f), r);
    P e(0.0013814610429108143f);
    e = fused_multiply_add(e, r, P(0.008368710055947304f));
    e = fused_multiply_add(e, r, P(0.04166838899254799f));
    e = fused_multiply_add(e, r, P(0.1666652113199234f));
    e = fused_multiply_add(e, r, P(0.4999999403953552f));
    return {fused_multiply_add(e * r, r, r) + P(1.0f), shifted, n};
}
// For |x| < 87 only: every result is a normal number. Of NaN it makes anything.
inline Pack<float> exp_of_moderate(Pack<float> x) {
    using Bits = typename RegisterOf<int32_t, pack_bytes>::Values;
    const ReducedExp e = reduced_exp(x);
    return Pack<float>::of(reinterpret_cast<Pack<float>::Values>(
        reinterpret_cast<Bits>(e.power.values) + (reinterpret_cast<Bits>(e.shifted.values) << 23)));
}
#endif
inline Pack<float> exp(Pack<float> x) {
#if defined(__AVX2__)
    using P = Pack<float>;
    // From these on it is 0 and infinity; NaN stays.
    constexpr float low = -104, high = 89;
    const ReducedExp e = reduced_exp(select(x < P(low), P(low), select(x > P(high), P(high), x)));
#if defined(__AVX512F__)
    return P::of(_mm512_maskz_scalef_ps(0xFFFF, e.power.values, e.n.values));
#else
    // 2^n in two factors, of which the first leaves a normal number.
    using Bits = typename RegisterOf<int32_t, pack_bytes>::Values;
    const Bits n = reinterpret_cast<Bits>(e.shifted.values) - 0x4B400000;
    const Bits half = n >> 1;
    const auto power = [](Bits exponent) {
        return P::of(reinterpret_cast<P::Values>((exponent + 127) << 23));
    };
    return e.power * power(half) * power(n - half);
#endif
#else
    return sleef::exp(x);
#endif
}

// sin and cos of floats up to 1e5 in a third of SLEEF's time, at most 1.9 ulp off. x = n π + r with
// |r| <= π/2, n whole for sin and half of an odd number for cos; then both are ± sin(r) by the
// lowest bit of n. π stands in three parts: x minus n times the first is exact. The polynomial is a
// minimax fit whose first two coefficients were chosen for the least error after rounding.
#if defined(__AVX2__)
struct HalfTurns {
    Pack<float> sine;  // of r
    Pack<float> sign;  // has the lowest bit of the whole part of n as its sign; otherwise 0
};
inline HalfTurns half_turns(Pack<float> x, float fraction) {
    using P = Pack<float>;
    using Bits = typename RegisterOf<int32_t, pack_bytes>::Values;
    // Adding 1.5·2^23 rounds to a whole number, which then stands in the lowest bits.
    const P shifted = fused_multiply_add(x, P(0.318309886f), P(-fraction)) + P(12582912.0f);
    const P n = shifted - P(12582912.0f) + P(fraction);
    P r = fused_multiply_add(n, P(-3.14159274f), x);
    r = fused_multiply_add(n, P(8.74227766e-08f), r);
    r = fused_multiply_add(n, P(3.43024902e-15f), r);
    const P z = r * r;
    P sum(2.60608181e-06f);
    sum = fused_multiply_add(sum, z, P(-0.000198097739f));
    sum = fused_multiply_add(sum, z, P(0.00833306182f));
    sum = fused_multiply_add(sum, z, P(-0.166666582f));
    return {fused_multiply_add(sum, z * r, r),
            P::of(reinterpret_cast<P::Values>(reinterpret_cast<Bits>(shifted.values) << 31))};
}
inline Pack<float> with_sign(Pack<float> x, Pack<float> sign) {
    using Bits = typename RegisterOf<int32_t, pack_bytes>::Values;
    return Pack<float>::of(reinterpret_cast<Pack<float>::Values>(
        reinterpret_cast<Bits>(x.values) ^ reinterpret_cast<Bits>(sign.values)));
}
inline bool is_far(Pack<float> x) {
    return any(select(x < Pack<float>(0.0f), -x, x) > Pack<float>(1e5f));
}
#endif
inline Pack<float> sin(Pack<float> x) {
#if defined(__AVX2__)
    if (is_far(x)) [[unlikely]]
        return sleef::sin(x);
    const HalfTurns turns = half_turns(x, 0);
    return select(x == Pack<float>(0.0f), x, with_sign(turns.sine, turns.sign));  // -0 stays
#else
    return sleef::sin(x);
#endif
}
inline Pack<float> cos(Pack<float> x) {
#if defined(__AVX2__)
    if (is_far(x)) [[unlikely]]
        return sleef::cos(x);
    const HalfTurns turns = half_turns(x, 0.5f);
    return -with_sign(turns.sine, turns.sign);
#else
    return sleef::cos(x);
#endif
}

// SLEEF gives infinity for log1p near the largest numbers, where log(1 + x) is log(x) anyway.
template <class T>
Pack<T> log1p(Pack<T> x) {
    const Pack<T> result = sleef::log1p(x);
    const Mask<T> large = x > Pack<T>(T(1e36));
    if (any(large)) [[unlikely]]
        return select(large, log(x), result);
    return result;
}

// And for sinh and cosh soon after e^x overflows, although half of it does not: there they are
// e^(|x| - c) times e^c / 2, where |x| - c is exact.
struct BeforeOverflow {
    double start, c, half_exp;
};
template <class T>
constexpr BeforeOverflow before_overflow = sizeof(T) == 4
                                               ? BeforeOverflow{88, 64, 3.1175745404058084e27}
                                               : BeforeOverflow{709, 512, 1.1422067932698784e222};
template <class T>
Pack<T> half_exp_near_overflow(Pack<T> magnitude) {
    constexpr BeforeOverflow range = before_overflow<T>;
    return exp(magnitude - Pack<T>(T(range.c))) * Pack<T>(T(range.half_exp));
}
template <class T>
Pack<T> sinh(Pack<T> x) {
    const Pack<T> magnitude = select(x < Pack<T>(T(0)), -x, x);
    const Mask<T> large = magnitude > Pack<T>(T(before_overflow<T>.start));
    const Pack<T> result = sleef::sinh(x);
    if (!any(large)) [[likely]]
        return result;
    const Pack<T> value = half_exp_near_overflow(magnitude);
    return select(large, select(x < Pack<T>(T(0)), -value, value), result);
}
template <class T>
Pack<T> cosh(Pack<T> x) {
    const Pack<T> magnitude = select(x < Pack<T>(T(0)), -x, x);
    const Mask<T> large = magnitude > Pack<T>(T(before_overflow<T>.start));
    const Pack<T> result = sleef::cosh(x);
    if (!any(large)) [[likely]]
        return result;
    return select(large, half_exp_near_overflow(magnitude), result);
}
inline Pack<float> pow(Pack<float> a, Pack<float> b) {
    return Pack<float>::of(RALIMP_SLEEF_FLOAT(pow)(a.values, b.values));
}
inline Pack<double> pow(Pack<double> a, Pack<double> b) {
    return Pack<double>::of(RALIMP_SLEEF_DOUBLE(pow)(a.values, b.values));
}
#undef RALIMP_SLEEF_FLOAT
#undef RALIMP_SLEEF_DOUBLE

// Horner's scheme; the constant first.
template <class T, int terms>
Pack<T> polynomial(Pack<T> x, const T (&coefficients)[terms]) {
    Pack<T> sum(coefficients[terms - 1]);
    for (int i = terms - 2; i >= 0; --i) sum = fused_multiply_add(sum, x, Pack<T>(coefficients[i]));
    return sum;
}

// Our own tanh and erf take half the time of SLEEF's. Minimax polynomials (Chebyshev fits): in
// double tanh(x) = x + x³ tanh_small(x²) up to 0.625, above it tanh(x) = 1 - 2 / (e^2x + 1); erf(x)
// = x + x erf_small(x²) up to 1, above it 1 - erfc(x), where log(erfc(x)) = x erf_large(x) in
// float, and in double erfc(x) = e^-x² erf_large((x - 2.5) / (x + 2.5)).
template <class T>
struct Minimax;
template <>
struct Minimax<float> {
    static constexpr float erf_small[] = {0.1283791658f,   -0.3761262667f,  0.1128359472f,
                                          -0.02685421201f, 0.005189087423f, -0.0008016864287f,
                                          7.875875063e-5f};
    static constexpr float erf_large[] = {-1.128957243f,    -0.6339714476f,   -0.1080919126f,
                                          0.02530860119f,   -0.004373922625f, 0.0005157455638f,
                                          -3.659301182e-5f, 1.1660325e-6f};
    static constexpr float erf_end = 4;  // erf is 1 in float from here on
};
template <>
struct Minimax<double> {
    static constexpr double tanh_small[] = {
        -0.3333333333333333332,    0.1333333333333332076,      -0.05396825396823590134,
        0.02186948853513322201,    -0.008863235499801992569,   0.003592127507599252229,
        -0.001455828399830324586,  0.0005899818158388232071,   -0.000238889446367511739,
        0.00009604109157026265988, -0.00003708106921544233385, 0.00001220992179016278166,
        -2.438831631472087804e-6};
    static constexpr double erf_small[] = {
        0.1283791670955125739,    -0.3761263890318375238,     0.1128379167095512024,
        -0.02686617064512984081,  0.005223977625423298309,    -0.0008548327021934829596,
        0.0001205533290288873541, -0.00001492564756751933213, 1.646204544146841894e-6,
        -1.63646421581676153e-7,  1.4792401209404813e-8,      -1.216456005728345008e-9,
        8.70904512905310669e-11,  -4.230945824295337817e-12};
    static constexpr double erf_large[] = {
        0.2108063640611435714,     -0.3717367339489732381,     0.2517131932174560064,
        -0.1250330523788555302,    0.03992253907478379786,     -0.003993701164146986793,
        -0.002642365927759657896,  0.0008759154019168855626,   0.0002283795589660541375,
        -0.0001288764961531719862, -0.00003417222927355303399, 0.00001860971231461746444,
        7.484801178526280333e-6,   -2.284217309434134546e-6,   -1.562525850774315928e-6,
        8.13438070922963423e-8};
    static constexpr double erf_end = 6;
};

inline Pack<double> tanh(Pack<double> x) {
    if constexpr (pack_bytes == 0) return sleef::tanh(x);
    using P = Pack<double>;
    const Mask<double> negative = x < P(0.0);
    const P magnitude = select(negative, -x, x);
    const P square = x * x;
    const P small =
        fused_multiply_add(x * square, polynomial(square, Minimax<double>::tanh_small), x);
    const P large = P(1.0) - P(2.0) / (exp(magnitude + magnitude) + P(1.0));
    return select(magnitude < P(0.625), small, select(negative, -large, large));
}

inline Pack<float> erfc_from_1(Pack<float> x) {
    const Pack<float> logarithm = x * polynomial(x, Minimax<float>::erf_large);
#if defined(__AVX2__)
    return exp_of_moderate(logarithm);
#else
    return exp(logarithm);
#endif
}
inline Pack<double> erfc_from_1(Pack<double> x) {
    const Pack<double> u = (x - Pack<double>(2.5)) / (x + Pack<double>(2.5));
    return exp(-(x * x)) * polynomial(u, Minimax<double>::erf_large);
}
template <class T>
Pack<T> erf(Pack<T> x) {
    if constexpr (pack_bytes == 0) return sleef::erf(x);
    const Mask<T> negative = x < Pack<T>(T(0));
    const Pack<T> magnitude = select(negative, -x, x);
    const Pack<T> end{T(Minimax<T>::erf_end)};
    const Pack<T> small = fused_multiply_add(x, polynomial(x * x, Minimax<T>::erf_small), x);
    const Pack<T> large = Pack<T>(T(1)) - erfc_from_1(select(magnitude > end, end, magnitude));
    // NaN takes the last branch, where it stays.
    return select(magnitude >= Pack<T>(T(1)), select(negative, -large, large), small);
}

// tanh of floats in under half of SLEEF's time, at most 1.4 ulp off: below 0.625 x + x³ P(x²),
// above it 1 - 2 / (e^2|x| + 1). The polynomial is a weighted minimax fit, below 0.1 ulp by itself.
inline Pack<float> tanh(Pack<float> x) {
#if defined(__AVX2__)
    using P = Pack<float>;
    const P magnitude = select(x < P(0.0f), -x, x);
    const P z = x * x;
    P small(-0.005704978480935097f);
    small = fused_multiply_add(small, z, P(0.020639078691601753f));
    small = fused_multiply_add(small, z, P(-0.05373971164226532f));
    small = fused_multiply_add(small, z, P(0.13331441581249237f));
    small = fused_multiply_add(small, z, P(-0.3333328068256378f));
    small = fused_multiply_add(small * z, x, x);

    // tanh is 1 in float from 9.02 on.
    const P y = select(magnitude < P(10.0f), magnitude + magnitude, P(20.0f));
    const P large = P(1.0f) - P(2.0f) / (exp_of_moderate(y) + P(1.0f));
    const P result = select(magnitude < P(0.625f), small, select(x < P(0.0f), -large, large));
    // Zeros keep their sign, NaN stays NaN.
    return select(z > P(0.0f), result, x);
#else
    return sleef::tanh(x);
#endif
}

// relu(x) - |x| Φ(-|x|), where log(2 Φ(-a)) = a P(a) up to 9 (a weighted minimax fit): x Φ(x)
// without cancellation, to 3 ulp from -1 on and 4 digits at -9; below, it stays at the value there,
// -1e-18.
inline Pack<float> gelu(Pack<float> x) {
#if defined(__AVX2__)
    using P = Pack<float>;
    static constexpr float log_tail[] = {
        -0.797884762f,    -0.318307996f,    -0.0363398716f,   0.00478210812f,  5.01934628e-05f,
        -0.000235387124f, 7.34958594e-05f,  -1.38773603e-05f, 1.79575898e-06f, -1.6030873e-07f,
        9.45793577e-09f,  -3.32016969e-10f, 5.24879966e-12f};
    const P magnitude = select(x < P(0.0f), -x, x);
    const P a = select(magnitude > P(9.0f), P(9.0f), magnitude);
    const P tail = P(0.5f) * a * exp_of_moderate(a * polynomial(a, log_tail));
    return select(x < P(0.0f), P(0.0f), x) - tail;
#else
    return scalar::gelu(x);
#endif
}

}  // namespace ralimp::cpu::SIMD_LEVEL
