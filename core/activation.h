// Activations with their derivatives, and the program that carries derivatives through them (Taylor
// mode). A new activation is one functor here, one entry of the list, and its name follows
// everywhere.
#pragma once
#include <array>
#include <cstdint>
#include <utility>

#include "core/scalar.h"

namespace ralimp {

namespace activation {

// derivatives<Order>(x, d) fills d[0 … Order] with f(x), f'(x), … ; Order is at most 4: third
// derivatives of the input and one more for the reverse pass. A functor whose shape depends on a
// number takes it second: derivatives<Order>(x, parameter, d), and says in parameter(scale,
// envelope) what it is for f(scale·x).
constexpr int max_order = 4;

using scalar::cos, scalar::cosh, scalar::erf, scalar::exp, scalar::log, scalar::log1p, scalar::sin;
using scalar::sinh, scalar::sqrt, scalar::tanh;

struct Identity {
    static constexpr auto name = "identity";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        d[0] = x;
        if constexpr (Order >= 1) d[1] = T(1);
        for (int k = 2; k <= Order; ++k) d[k] = T(0);
    }
};

// With y = tanh x and s = 1 - y²: y' = s, y'' = -2ys, y''' = s(6y² - 2), y'''' = ys(16 - 24y²).
// 1 - y² loses digits where y is near 1, but s itself is tiny there beside every other term.
struct Tanh {
    static constexpr auto name = "tanh";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        from_value<Order>(tanh(x), d);
    }
    template <int Order, class T>
    HOST_DEVICE static void from_value(T y, T* d) {
        const T s = T(1) - y * y;
        d[0] = y;
        if constexpr (Order >= 1) d[1] = s;
        if constexpr (Order >= 2) d[2] = T(-2) * y * s;
        if constexpr (Order >= 3) d[3] = s * (T(6) * y * y - T(2));
        if constexpr (Order >= 4) d[4] = y * s * (T(16) - T(24) * y * y);
    }
};

struct Sin {
    static constexpr auto name = "sin";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        const T s = sin(x);
        d[0] = s;
        if constexpr (Order >= 1) d[1] = cos(x);
        if constexpr (Order >= 2) d[2] = -s;
        if constexpr (Order >= 3) d[3] = -d[1];
        if constexpr (Order >= 4) d[4] = s;
    }
};

struct Cos {
    static constexpr auto name = "cos";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        const T c = cos(x);
        d[0] = c;
        if constexpr (Order >= 1) d[1] = -sin(x);
        if constexpr (Order >= 2) d[2] = -c;
        if constexpr (Order >= 3) d[3] = -d[1];
        if constexpr (Order >= 4) d[4] = c;
    }
};

struct Sinh {
    static constexpr auto name = "sinh";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        d[0] = sinh(x);
        if constexpr (Order >= 1) d[1] = cosh(x);
        for (int k = 2; k <= Order; ++k) d[k] = d[k - 2];
    }
};

struct Cosh {
    static constexpr auto name = "cosh";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        d[0] = cosh(x);
        if constexpr (Order >= 1) d[1] = sinh(x);
        for (int k = 2; k <= Order; ++k) d[k] = d[k - 2];
    }
};

struct Exp {
    static constexpr auto name = "exp";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        from_value<Order>(exp(x), d);
    }
    template <int Order, class T>
    HOST_DEVICE static void from_value(T y, T* d) {
        for (int k = 0; k <= Order; ++k) d[k] = y;
    }
};

// y = σ(x), s = y(1-y): y' = s, y'' = s(1-2y), y''' = s(1-6s), y'''' = s(1-2y)(1-12s).
struct Sigmoid {
    static constexpr auto name = "sigmoid";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        from_value<Order>(scalar::Sigmoid::value(x), d);
    }
    template <int Order, class T>
    HOST_DEVICE static void from_value(T y, T* d) {
        const T s = y * (T(1) - y);
        d[0] = y;
        if constexpr (Order >= 1) d[1] = s;
        if constexpr (Order >= 2) d[2] = s * (T(1) - T(2) * y);
        if constexpr (Order >= 3) d[3] = s * (T(1) - T(6) * s);
        if constexpr (Order >= 4) d[4] = s * (T(1) - T(2) * y) * (T(1) - T(12) * s);
    }
};

struct Softplus {
    static constexpr auto name = "softplus";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        d[0] = scalar::Softplus::value(x);
        if constexpr (Order >= 1) Sigmoid::derivatives<Order - 1>(x, d + 1);
    }
};

// x g(x) has the k-th derivative x g⁽ᵏ⁾ + k g⁽ᵏ⁻¹⁾.
template <int Order, class T>
HOST_DEVICE inline void times_x(T x, const T* g, T* d) {
    d[0] = x * g[0];
    for (int k = 1; k <= Order; ++k) d[k] = x * g[k] + T(k) * g[k - 1];
}

struct Silu {
    static constexpr auto name = "silu";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        T g[Order + 1];
        Sigmoid::derivatives<Order>(x, g);
        times_x<Order>(x, g, d);
    }
};

// x Φ(x); Φ' = φ, φ' = -xφ, φ'' = (x²-1)φ, φ''' = (3x-x³)φ.
struct Gelu {
    static constexpr auto name = "gelu";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        T g[Order + 1];
        g[0] = T(0.5) * (T(1) + erf(x * T(scalar::sqrt_half)));
        if constexpr (Order >= 1) {
            const T density = T(0.39894228040143267794) * exp(T(-0.5) * x * x);
            g[1] = density;
            if constexpr (Order >= 2) g[2] = -x * density;
            if constexpr (Order >= 3) g[3] = (x * x - T(1)) * density;
            if constexpr (Order >= 4) g[4] = x * (T(3) - x * x) * density;
        }
        times_x<Order>(x, g, d);
    }
};

// x (1 + tanh u)/2 with u = c(x + 0.044715 x³), by Faà di Bruno's formula for tanh∘u.
struct GeluTanh {
    static constexpr auto name = "gelu_tanh";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        constexpr double c = 0.79788456080286535588, a = 0.044715;
        const T u1 = T(c) * (T(1) + T(3 * a) * x * x), u2 = T(6 * a * c) * x, u3 = T(6 * a * c);
        T t[Order + 1], g[Order + 1];
        Tanh::derivatives<Order>(T(c) * (x + T(a) * x * x * x), t);
        g[0] = T(0.5) + T(0.5) * t[0];
        if constexpr (Order >= 1) g[1] = T(0.5) * (t[1] * u1);
        if constexpr (Order >= 2) g[2] = T(0.5) * (t[2] * u1 * u1 + t[1] * u2);
        if constexpr (Order >= 3)
            g[3] = T(0.5) * (t[3] * u1 * u1 * u1 + T(3) * t[2] * u1 * u2 + t[1] * u3);
        if constexpr (Order >= 4)
            g[4] = T(0.5) * (t[4] * u1 * u1 * u1 * u1 + T(6) * t[3] * u1 * u1 * u2 +
                             t[2] * (T(3) * u2 * u2 + T(4) * u1 * u3));
        times_x<Order>(x, g, d);
    }
};

struct Relu {
    static constexpr auto name = "relu";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        d[0] = scalar::Relu::value(x);
        if constexpr (Order >= 1) d[1] = select(x > T(0), T(1), T(0));
        for (int k = 2; k <= Order; ++k) d[k] = T(0);
    }
};

// e^(-x²); the derivatives are Hermite polynomials times it.
struct Gaussian {
    static constexpr auto name = "gaussian";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        const T y = exp(-(x * x)), x2 = x * x;
        d[0] = y;
        if constexpr (Order >= 1) d[1] = T(-2) * x * y;
        if constexpr (Order >= 2) d[2] = (T(4) * x2 - T(2)) * y;
        if constexpr (Order >= 3) d[3] = x * (T(12) - T(8) * x2) * y;
        if constexpr (Order >= 4) d[4] = ((T(16) * x2 - T(48)) * x2 + T(12)) * y;
    }
};

struct Reciprocal {
    static constexpr auto name = "reciprocal";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        d[0] = T(1) / x;
        for (int k = 1; k <= Order; ++k) d[k] = T(-k) * d[k - 1] * d[0];
    }
};

struct Sqrt {
    static constexpr auto name = "sqrt";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        d[0] = sqrt(x);
        const T inverse = T(1) / x;
        for (int k = 1; k <= Order; ++k) d[k] = (T(1.5) - T(k)) * d[k - 1] * inverse;
    }
};

struct Log {
    static constexpr auto name = "log";
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T* d) {
        d[0] = log(x);
        if constexpr (Order >= 1) Reciprocal::derivatives<Order - 1>(x, d + 1);
    }
};

// The k-th derivative of a product is Σ binomial(k, i) a⁽ⁱ⁾ b⁽ᵏ⁻ⁱ⁾.
template <int Order, class T>
HOST_DEVICE inline void product(const T* a, const T* b, T* d) {
    for (int k = 0; k <= Order; ++k) {
        d[k] = a[0] * b[k];
        int binomial = 1;
        for (int i = 1; i <= k; ++i) {
            binomial = binomial * (k - i + 1) / i;
            d[k] = d[k] + T(binomial) * a[i] * b[k - i];
        }
    }
}

// The real Gabor wavelet of WIRE (Saragadam et al., CVPR 2023): with x = ω z and r = s / ω,
// cos(ω z) e^(-(s z)²) is cos(x) e^(-(r x)²).
struct Wire {
    static constexpr auto name = "wire";
    static double parameter(double scale, double envelope) { return envelope / scale; }
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T r, T* d) {
        T wave[Order + 1], bell[Order + 1];
        Cos::derivatives<Order>(x, wave);
        Gaussian::derivatives<Order>(r * x, bell);
        T power = r;
        for (int k = 1; k <= Order; ++k, power = power * r) bell[k] = bell[k] * power;
        product<Order>(wave, bell, d);
    }
};

// FINER (Liu et al., CVPR 2024): with x = ω z and p = 1 / ω, sin(ω (|z| + 1) z) is sin(u) with
// u = x + p x |x|. At x = 0 the second derivative of u jumps from -2p to 2p; it is 0 there, as that
// of |x| is.
struct Finer {
    static constexpr auto name = "finer";
    static double parameter(double scale, double) { return 1 / scale; }
    template <int Order, class T>
    HOST_DEVICE static void derivatives(T x, T p, T* d) {
        const T size = scalar::Abs::value(x);
        const T u1 = T(1) + T(2) * p * size, u2 = T(2) * p * scalar::Sign::value(x);
        T s[Order + 1];
        Sin::derivatives<Order>(x + p * x * size, s);
        d[0] = s[0];
        if constexpr (Order >= 1) d[1] = s[1] * u1;
        if constexpr (Order >= 2) d[2] = s[2] * u1 * u1 + s[1] * u2;
        if constexpr (Order >= 3) d[3] = s[3] * u1 * u1 * u1 + T(3) * s[2] * u1 * u2;
        if constexpr (Order >= 4)
            d[4] = s[4] * u1 * u1 * u1 * u1 + T(6) * s[3] * u1 * u1 * u2 + T(3) * s[2] * u2 * u2;
    }
};

// Of any functor, with or without a parameter.
template <class Op, int Order, class T>
HOST_DEVICE inline void derivatives_of(T x, T parameter, T* d) {
    if constexpr (requires { Op::template derivatives<Order>(x, parameter, d); })
        Op::template derivatives<Order>(x, parameter, d);
    else
        Op::template derivatives<Order>(x, d);
}

// The parameter of f(scale·x); 0 for a functor without one.
template <class Op>
double parameter_of(double scale, double envelope) {
    if constexpr (requires { Op::parameter(scale, envelope); })
        return Op::parameter(scale, envelope);
    else
        return 0;
}

using Activations = List<Identity, Tanh, Sin, Cos, Sinh, Cosh, Exp, Sigmoid, Softplus, Silu, Gelu,
                         GeluTanh, Relu, Gaussian, Reciprocal, Sqrt, Log, Wire, Finer>;

}  // namespace activation

// The entries of activation::Activations, in their order.
enum class Activation : uint8_t {
    identity,
    tanh,
    sin,
    cos,
    sinh,
    cosh,
    exp,
    sigmoid,
    softplus,
    silu,
    gelu,
    gelu_tanh,
    relu,
    gaussian,
    reciprocal,
    sqrt,
    log,
    wire,
    finer,
};

namespace activation {
template <class... Ops>
constexpr auto names(List<Ops...>) {
    return std::array{Ops::name...};
}
template <class... Ops>
double parameter(List<Ops...>, Activation activation, double scale, double envelope) {
    constexpr double (*table[])(double, double) = {parameter_of<Ops>...};
    return table[static_cast<int>(activation)](scale, envelope);
}
}  // namespace activation

// (activation, name) pairs, for configs and messages.
constexpr auto enum_names(Activation) {
    constexpr auto names = activation::names(activation::Activations{});
    std::array<std::pair<Activation, const char*>, names.size()> pairs{};
    for (std::size_t i = 0; i < names.size(); ++i)
        pairs[i] = {static_cast<Activation>(i), names[i]};
    return pairs;
}

// How f(scale·v) carries derivatives: channel 0 of a stack holds the value v, the others
// derivatives of v, and
//   out_c = Σ terms of c: coefficient · scale^order · f⁽ᵒʳᵈᵉʳ⁾(scale·v_0) · Π v_factor   (Faà di
//   Bruno)
// Channel 0 has the single term f. A plain struct: it is kept in graph
// nodes and passed to kernels by value.
struct ActivationProgram {
    static constexpr int max_terms = 60;
    static constexpr int max_channels = 24;
    struct Term {
        uint8_t channel = 0;  // of the output
        uint8_t order = 0;    // derivative of f; equals the number of factors
        uint8_t factors[3] = {};
        float coefficient = 1;  // small whole numbers: exact
    };
    Activation activation = Activation::identity;
    uint8_t channels = 1;
    uint8_t term_count = 0;  // of the channels from 1 on, in their order
    uint8_t max_order = 0;   // highest order among the terms
    double scale = 1;
    double parameter = 0;  // of the activations that have one
    Term terms[max_terms];
};

}  // namespace ralimp
