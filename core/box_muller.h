// Box and Muller's pair of normal numbers from a pair of uniform ones ("A note on the generation of
// random normal deviates", 1958), from additions, multiplications, a division and a square root
// only: those are exact to the last bit everywhere, so scalars, SIMD packs of any width and other
// processors give the same bits, which the functions of <cmath> do not. Accurate to a few ulp.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/scalar.h"

namespace ralimp::box_muller {

// x = mantissa 2^exponent with a mantissa in [sqrt(1/2), sqrt(2)); x is positive and normal. Packs
// overload this.
HOST_DEVICE inline float split_exponent(float x, float& mantissa) {
    constexpr int32_t sqrt_half = 0x3f3504f3;
    int32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    bits -= sqrt_half;
    const int32_t rest = (bits & 0x7fffff) + sqrt_half;
    memcpy(&mantissa, &rest, sizeof(rest));
    return static_cast<float>(bits >> 23);
}
HOST_DEVICE inline double split_exponent(double x, double& mantissa) {
    constexpr int64_t sqrt_half = 0x3fe6a09e667f3bcd;
    int64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    bits -= sqrt_half;
    const int64_t rest = (bits & 0xfffffffffffff) + sqrt_half;
    memcpy(&mantissa, &rest, sizeof(rest));
    return static_cast<double>(bits >> 52);
}

// Of a polynomial, from the constant one on.
template <class Number, int terms>
struct Series {
    Number coefficients[terms];
};

// Called by its full name: the polynomial of packs uses fused multiply-add.
template <class T, class Number, int terms>
HOST_DEVICE T polynomial(T x, const Series<Number, terms>& series) {
    T sum = T(series.coefficients[terms - 1]);
    for (int i = terms - 2; i >= 0; --i) sum = sum * x + T(series.coefficients[i]);
    return sum;
}

// Minimax polynomials (Chebyshev fits, relative error below a tenth of the rounding):
// log((1 + s) / (1 - s)) = 2 s + s³ logarithm(s²) for |s| up to that of sqrt(2);
// sin(2πr) = r sine(r²) and cos(2πr) = cosine(r²) for |r| up to 1/8.
// Functions, evaluated while compiling: code for a GPU cannot read constants of the host.
template <class Number>
struct Constants;
template <>
struct Constants<float> {
    HOST_DEVICE static constexpr Series<float, 4> logarithm() {
        return {{0.6666666655f, 0.4000012188f, 0.285508166f, 0.2333058194f}};
    }
    HOST_DEVICE static constexpr Series<float, 5> sine() {
        return {{6.283185307f, -41.34170215f, 81.60520471f, -76.69786635f, 41.47283324f}};
    }
    HOST_DEVICE static constexpr Series<float, 5> cosine() {
        return {{1, -19.73920865f, 64.93931614f, -85.44284467f, 59.22016896f}};
    }
    // ln 2 in two parts; the first times any exponent is exact.
    static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
};
template <>
struct Constants<double> {
    HOST_DEVICE static constexpr Series<double, 8> logarithm() {
        return {{0.6666666666666666646, 0.4000000000000087761, 0.2857142857080323001,
                 0.2222222239180046933, 0.181817956308847532, 0.1538624020581347788,
                 0.1326875966856061269, 0.1308676700994817371}};
    }
    HOST_DEVICE static constexpr Series<double, 8> sine() {
        return {{6.283185307179586477, -41.34170224039976014, 81.60524927607493067,
                 -76.70585975299812673, 42.05869392898878344, -15.09464040389154565,
                 3.819788120163211423, -0.7116358090781665996}};
    }
    HOST_DEVICE static constexpr Series<double, 9> cosine() {
        return {{1, -19.73920880217871724, 64.93939402266829122, -85.45681720669354986,
                 60.24464137181810471, -26.4262567725454378, 7.903535194762957938,
                 -1.714316187928527838, 0.2794586714752896229}};
    }
    static constexpr double ln2_high = 0.69314718036912381649, ln2_low = 1.9082149292705877e-10;
};

// Natural logarithm of a positive, normal number.
template <class Number, class T>
HOST_DEVICE T logarithm(T x) {
    using C = Constants<Number>;
    T mantissa;
    const T exponent = split_exponent(x, mantissa);
    const T s = (mantissa - T(1)) / (mantissa + T(1));
    const T s2 = s * s;
    constexpr auto series = C::logarithm();
    const T small =
        T(2) * s + (s * s2 * box_muller::polynomial(s2, series) + exponent * T(C::ln2_low));
    return exponent * T(C::ln2_high) + small;
}

// first, second: in [0, 1) uniform, out normal. Number is the type inside T.
template <class Number, class T>
HOST_DEVICE void normal_pair(T& first, T& second) {
    using C = Constants<Number>;
    using std::sqrt;
    // 1 - first is in (0, 1], so that the logarithm is finite and not positive.
    const T radius = sqrt(T(-2) * logarithm<Number>(T(1) - first));
    // second = quarters / 4 + r with |r| <= 1/8, exactly.
    const auto from1 = second >= T(0.125), from2 = second >= T(0.375);
    const auto from3 = second >= T(0.625), from4 = second >= T(0.875);
    const T zero = T(0);
    const T r = second -
                select(from4, T(1),
                       select(from3, T(0.75), select(from2, T(0.5), select(from1, T(0.25), zero))));
    const T r2 = r * r;
    constexpr auto sines = C::sine();
    constexpr auto cosines = C::cosine();
    const T s = r * box_muller::polynomial(r2, sines), c = box_muller::polynomial(r2, cosines);
    const T sine = select(from4, s, select(from3, -c, select(from2, -s, select(from1, c, s))));
    const T cosine = select(from4, c, select(from3, s, select(from2, -c, select(from1, -s, c))));
    first = radius * cosine;
    second = radius * sine;
}

}  // namespace ralimp::box_muller
