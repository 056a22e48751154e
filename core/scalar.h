// The formulas, once: functors over one scalar, compiled by g++ for the CPU, by nvcc for the GPU
// and over SIMD packs (core/cpu/loops/pack.h). Nothing else knows a formula. To add an operation,
// write its functor here and put it in its list; each backend expands the lists into its tables.
#pragma once
#include <cmath>
#include <cstddef>
#include <type_traits>

#if defined(__CUDACC__)
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

namespace ralimp {

template <class... Ops>
struct List {
    static constexpr std::size_t size = sizeof...(Ops);
};

template <class Op, class OpList>
struct IndexIn;
template <class Op, class... Rest>
struct IndexIn<Op, List<Op, Rest...>> {
    static constexpr std::size_t value = 0;
};
template <class Op, class First, class... Rest>
struct IndexIn<Op, List<First, Rest...>> {
    static constexpr std::size_t value = 1 + IndexIn<Op, List<Rest...>>::value;
};
template <class Op, class OpList>
constexpr std::size_t index_in = IndexIn<Op, OpList>::value;

template <class Op, class OpList>
constexpr bool is_in = false;
template <class Op, class... Ops>
constexpr bool is_in<Op, List<Ops...>> = (std::is_same_v<Op, Ops> || ...);

// The vocabulary of the functors beside the functions of <cmath>; packs overload the same names.
template <class T>
HOST_DEVICE inline T select(bool condition, T a, T b) {
    return condition ? a : b;
}
HOST_DEVICE inline float fused_multiply_add(float a, float b, float c) { return std::fma(a, b, c); }
HOST_DEVICE inline double fused_multiply_add(double a, double b, double c) {
    return std::fma(a, b, c);
}

namespace scalar {

using std::abs, std::cos, std::cosh, std::erf, std::exp, std::expm1, std::log, std::log1p, std::pow;
using std::sin, std::sinh, std::sqrt, std::tanh;

constexpr double sqrt_half = 0.70710678118654752440;

// clang-format off: one functor a line reads as a table.

// Unary. Floating types; Neg, Abs, Square, Sign and Relu also take whole numbers.
struct Neg {
    static constexpr auto name = "neg";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return -x;
    }
};
struct Abs {
    static constexpr auto name = "abs";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return select(x < T(0), -x, x);
    }
};
struct Sign {
    static constexpr auto name = "sign";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return select(x > T(0), T(1), select(x < T(0), -T(1), x * T(0)));
    }
};
struct Square {
    static constexpr auto name = "square";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return x * x;
    }
};
struct Relu {
    static constexpr auto name = "relu";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return select(x < T(0), T(0), x);
    }
};
struct Exp {
    static constexpr auto name = "exp";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return exp(x);
    }
};
struct Expm1 {
    static constexpr auto name = "expm1";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return expm1(x);
    }
};
struct Log {
    static constexpr auto name = "log";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return log(x);
    }
};
struct Log1p {
    static constexpr auto name = "log1p";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return log1p(x);
    }
};
struct Sqrt {
    static constexpr auto name = "sqrt";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return sqrt(x);
    }
};
struct Rsqrt {
    static constexpr auto name = "rsqrt";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return T(1) / sqrt(x);
    }
};
struct Reciprocal {
    static constexpr auto name = "reciprocal";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return T(1) / x;
    }
};
struct Sin {
    static constexpr auto name = "sin";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return sin(x);
    }
};
struct Cos {
    static constexpr auto name = "cos";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return cos(x);
    }
};
struct Sinh {
    static constexpr auto name = "sinh";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return sinh(x);
    }
};
struct Cosh {
    static constexpr auto name = "cosh";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return cosh(x);
    }
};
struct Tanh {
    static constexpr auto name = "tanh";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return tanh(x);
    }
};
struct Erf {
    static constexpr auto name = "erf";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return erf(x);
    }
};
// 1 / (1 + e^-x); e^-x overflows to infinity for very negative x and the result is then 0, as it
// should be.
struct Sigmoid {
    static constexpr auto name = "sigmoid";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return T(1) / (T(1) + exp(-x));
    }
};
// log(1 + e^x) = max(x, 0) + log1p(e^-|x|)
struct Softplus {
    static constexpr auto name = "softplus";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return Relu::value(x) + log1p(exp(-Abs::value(x)));
    }
};
struct Silu {
    static constexpr auto name = "silu";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return x / (T(1) + exp(-x));
    }
};
template <class T>
HOST_DEVICE T gelu(T x) {
    return T(0.5) * x * (T(1) + erf(x * T(sqrt_half)));
}
struct Gelu {
    static constexpr auto name = "gelu";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return gelu(x);
    }
};
// sqrt(2/pi) (x + 0.044715 x^3): Hendrycks and Gimpel's approximation, the form GPT-2 uses.
struct GeluTanh {
    static constexpr auto name = "gelu_tanh";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return T(0.5) * x *
               (T(1) + tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
    }
};
struct Gaussian {
    static constexpr auto name = "gaussian";
    template <class T>
    HOST_DEVICE static T value(T x) {
        return exp(-(x * x));
    }
};

// clang-format on
using Unary =
    List<Neg, Abs, Sign, Square, Relu, Exp, Expm1, Log, Log1p, Sqrt, Rsqrt, Reciprocal, Sin, Cos,
         Sinh, Cosh, Tanh, Erf, Sigmoid, Softplus, Silu, Gelu, GeluTanh, Gaussian>;
// Those that make sense on whole numbers.
using UnaryWhole = List<Neg, Abs, Sign, Square, Relu>;

// clang-format off
// Binary, all types (Divide and Power: floating types).
struct Add         { static constexpr auto name = "add";         template <class T> HOST_DEVICE static T value(T a, T b) { return a + b; } };
struct Subtract    { static constexpr auto name = "subtract";    template <class T> HOST_DEVICE static T value(T a, T b) { return a - b; } };
struct Multiply    { static constexpr auto name = "multiply";    template <class T> HOST_DEVICE static T value(T a, T b) { return a * b; } };
struct Divide      { static constexpr auto name = "divide";      template <class T> HOST_DEVICE static T value(T a, T b) { return a / b; } };
// A NaN on either side is the result.
struct Maximum     { static constexpr auto name = "maximum";     template <class T> HOST_DEVICE static T value(T a, T b) { return select(a > b, a, select(a == a, b, a)); } };
struct Minimum     { static constexpr auto name = "minimum";     template <class T> HOST_DEVICE static T value(T a, T b) { return select(a < b, a, select(a == a, b, a)); } };
struct Power       { static constexpr auto name = "power";       template <class T> HOST_DEVICE static T value(T a, T b) { return pow(a, b); } };

// clang-format on
using Binary = List<Add, Subtract, Multiply, Divide, Maximum, Minimum, Power>;
using BinaryWhole = List<Add, Subtract, Multiply, Maximum, Minimum>;

// clang-format off
// Comparisons, all types; the result is a bool or, for packs, a mask; the kernels store uint8, 0 or 1.
struct Equal        { static constexpr auto name = "equal";         template <class T> HOST_DEVICE static auto value(T a, T b) { return a == b; } };
struct NotEqual     { static constexpr auto name = "not_equal";     template <class T> HOST_DEVICE static auto value(T a, T b) { return a != b; } };
struct Less         { static constexpr auto name = "less";          template <class T> HOST_DEVICE static auto value(T a, T b) { return a < b; } };
struct LessEqual    { static constexpr auto name = "less_equal";    template <class T> HOST_DEVICE static auto value(T a, T b) { return a <= b; } };
struct Greater      { static constexpr auto name = "greater";       template <class T> HOST_DEVICE static auto value(T a, T b) { return a > b; } };
struct GreaterEqual { static constexpr auto name = "greater_equal"; template <class T> HOST_DEVICE static auto value(T a, T b) { return a >= b; } };

// clang-format on
using Compare = List<Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual>;

}  // namespace scalar
}  // namespace ralimp
