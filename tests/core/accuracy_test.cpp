// The vector functions against references of higher precision, in units of the last place, over the
// whole range of inputs: every exponent, both signs, denormals, infinities, NaN.
#include <bit>
#include <limits>
#include <numbers>

#include "tests/core/kernel_testing.h"

namespace ralimp::testing {
namespace {

class Accuracy : public EachSimdLevel {};
INSTANTIATE_EACH_SIMD_LEVEL(Accuracy);

template <class T>
using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

// Distance in units of the last place of the exact value; denormal results count in units of the
// smallest number. 0 for equal infinities and NaNs.
template <class T>
double distance(T found, Wider<T> exact) {
    if (std::isnan(exact)) return std::isnan(found) ? 0 : INFINITY;
    const T nearest = static_cast<T>(exact);
    if (found == nearest) return 0;
    if (std::isinf(found) || std::isnan(found)) return INFINITY;
    const int exponent = std::max(std::ilogb(exact), std::numeric_limits<T>::min_exponent - 1);
    const Wider<T> unit = std::ldexp(Wider<T>(1), exponent - std::numeric_limits<T>::digits + 1);
    return static_cast<double>(std::abs(Wider<T>(found) - exact) / unit);
}

// Some values of every exponent and sign, dense ones near where functions change, and specials.
template <class T>
std::vector<T> inputs() {
    using Bits = std::conditional_t<std::is_same_v<T, float>, uint32_t, uint64_t>;
    using Limits = std::numeric_limits<T>;
    std::vector<T> values = {T(0),
                             T(-0.0),
                             Limits::infinity(),
                             -Limits::infinity(),
                             Limits::max(),
                             Limits::lowest(),
                             Limits::quiet_NaN(),
                             Limits::min(),
                             Limits::denorm_min(),
                             -Limits::denorm_min(),
                             T(1),
                             T(-1)};
    constexpr int mantissa = Limits::digits - 1;
    // A NaN with a payload.
    values.push_back(std::bit_cast<T>(
        static_cast<Bits>(std::bit_cast<Bits>(Limits::quiet_NaN()) | Bits(0x12345))));
    constexpr Bits exponents = Bits(1) << (sizeof(T) * 8 - 1 - mantissa);
    for (Bits exponent = 0; exponent + 1 < exponents; ++exponent)
        for (uint64_t i = 0; i < (sizeof(T) == 4 ? 400 : 60); ++i) {
            const Bits random = static_cast<Bits>(random_bits({7}, exponent * 1000 + i));
            const Bits bits = (random & ((Bits(1) << mantissa) - 1)) | exponent << mantissa;
            const T value = std::bit_cast<T>(bits);
            values.push_back(i % 2 ? value : -value);
        }
    // Near the zeros of sin and cos.
    for (int i = -40'000; i <= 40'000; ++i) {
        const auto zero = static_cast<T>(i * (std::numbers::pi / 2));
        values.push_back(zero);
        values.push_back(std::nextafter(zero, T(0)));
    }
    for (int i = -20'000; i <= 20'000; ++i) {
        values.push_back(T(i) / T(2000));
        values.push_back(T(i) / T(150));
        values.push_back(T(i) / T(25));
    }
    return values;
}

template <class Op, class T, class F>
void expect_accurate(F&& reference, double ulps = 2) {
    const std::vector<T> x = inputs<T>();
    const auto size = static_cast<int64_t>(x.size());
    const Tensor out = Tensor::empty({size}, dtype_of<T>());
    kernels({}).unary[index_in<Op, scalar::Unary>](out, Tensor::from(x, {size}));
    double worst = 0;
    T at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double error = distance(out.data<T>()[i], reference(Wider<T>(x[i])));
        if (error > worst) {
            worst = error;
            at = x[i];
        }
    }
    EXPECT_LE(worst, ulps) << Op::name << " " << name_of(dtype_of<T>()) << " at " << at;
}

template <class Op, class F>
void expect_both_accurate(F&& reference, double ulps = 2) {
    expect_accurate<Op, float>(reference, ulps);
    expect_accurate<Op, double>(reference, ulps);
}

// x Φ(x). In double the error function cancels for negative x.
TEST_P(Accuracy, Gelu) {
    const auto exact = [](auto x) {
        using T = decltype(x);
        return std::isinf(x) ? std::max(x, T(0)) : x * std::erfc(-x / std::sqrt(T(2))) / 2;
    };
    std::vector<float> x;
    for (int i = -9000; i <= 20'000; ++i) x.push_back(float(i) / 1000);
    x.push_back(INFINITY);
    const auto size = static_cast<int64_t>(x.size());
    const Tensor out = Tensor::empty({size});
    kernels({}).unary[index_in<scalar::Gelu, scalar::Unary>](out, Tensor::from(x, {size}));
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double value = exact(double(x[i])), found = out.data<float>()[i];
        if (x[i] > -1)
            EXPECT_LE(distance(float(found), value), 3) << x[i];
        else  // the baseline cancels, 1e-7 of |x|
            EXPECT_NEAR(found, value,
                        GetParam() == cpu::SimdLevel::baseline ? 1e-7 * -x[i] : 2e-4 * -value)
                << x[i];
    }
}

TEST_P(Accuracy, ElementaryFunctions) {
    expect_both_accurate<scalar::Exp>([](auto x) { return std::exp(x); });
    expect_both_accurate<scalar::Expm1>([](auto x) { return std::expm1(x); });
    expect_both_accurate<scalar::Log>([](auto x) { return std::log(x); });
    expect_both_accurate<scalar::Log1p>([](auto x) { return std::log1p(x); });
    expect_both_accurate<scalar::Sin>([](auto x) { return std::sin(x); });
    expect_both_accurate<scalar::Cos>([](auto x) { return std::cos(x); });
    expect_both_accurate<scalar::Sinh>([](auto x) { return std::sinh(x); });
    expect_both_accurate<scalar::Cosh>([](auto x) { return std::cosh(x); });
    expect_both_accurate<scalar::Tanh>([](auto x) { return std::tanh(x); });
    expect_both_accurate<scalar::Erf>([](auto x) { return std::erf(x); });
    expect_both_accurate<scalar::Sqrt>([](auto x) { return std::sqrt(x); }, 0.5);
    expect_both_accurate<scalar::Reciprocal>([](auto x) { return 1 / x; }, 0.5);
}

template <class T>
void expect_accurate_power() {
    const std::vector<T> values = inputs<T>();
    std::vector<T> a, b;
    for (std::size_t i = 0; i < values.size(); ++i) {
        a.push_back(values[i]);
        b.push_back(values[i * 7919 % values.size()]);  // any two
        // A power whose result is in range: |b log2 a| below the largest exponent.
        const T base = std::abs(values[i]), exponent = static_cast<T>(std::log2(base));
        a.push_back(base);
        b.push_back(T(std::numeric_limits<T>::max_exponent) * (T(i % 200) / T(100) - 1) / exponent);
        // Whole exponents, where the sign of a counts.
        a.push_back(values[i]);
        b.push_back(static_cast<T>(static_cast<int>(i % 21) - 10));
    }
    const auto size = static_cast<int64_t>(a.size());
    const Tensor out = Tensor::empty({size}, dtype_of<T>());
    const auto kernel = kernels({}).binary[index_in<scalar::Power, scalar::Binary>];
    kernel(out, Tensor::from(a, {size}), Tensor::from(b, {size}));
    for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_LE(distance(out.data<T>()[i], std::pow(Wider<T>(a[i]), Wider<T>(b[i]))), 2)
            << a[i] << " to the power " << b[i] << " gives " << out.data<T>()[i];
}

TEST_P(Accuracy, Power) {
    expect_accurate_power<float>();
    expect_accurate_power<double>();
}

}  // namespace
}  // namespace ralimp::testing
