#include "core/cpu/loops/flat.h"

// SIMD_LEVEL is the instruction set this file is being compiled for. The loops are left to the
// compiler; without contraction to fma every level computes the same bits.
namespace ralimp::cpu::SIMD_LEVEL {
namespace {

template <class T>
T clipped(T gradient, T scale, T limit) {
    gradient *= scale;
    gradient = gradient > limit ? limit : gradient;
    return gradient < -limit ? -limit : gradient;
}

// Sutskever et al., "On the importance of initialization and momentum in deep learning" (2013), in
// the form v = momentum v + (1 - dampening) g, x -= learning_rate v.
template <class T, bool momentum, bool nesterov>
void sgd_loop(T* __restrict parameters, T* __restrict velocity, const T* __restrict gradient,
              int64_t count, const SgdArguments& arguments) {
    const T scale = static_cast<T>(arguments.clip.scale);
    const T limit = static_cast<T>(arguments.clip.limit);
    const T decay = static_cast<T>(arguments.weight_decay);
    const T rate = static_cast<T>(arguments.learning_rate);
    const T factor = static_cast<T>(arguments.momentum);
    const T keep = static_cast<T>(arguments.first_step ? 0 : arguments.momentum);
    const T add = static_cast<T>(arguments.first_step ? 1 : 1 - arguments.dampening);
    for (int64_t i = 0; i < count; ++i) {
        T g = clipped(gradient[i], scale, limit) + decay * parameters[i];
        if constexpr (momentum) {
            const T v = keep * velocity[i] + add * g;
            velocity[i] = v;
            g = nesterov ? g + factor * v : v;
        }
        parameters[i] -= rate * g;
    }
}

template <class T>
void sgd(void* parameters, void* velocity, const void* gradient, int64_t count,
         const SgdArguments& arguments) {
    T* x = static_cast<T*>(parameters);
    T* v = static_cast<T*>(velocity);
    const T* g = static_cast<const T*>(gradient);
    if (!v)
        sgd_loop<T, false, false>(x, v, g, count, arguments);
    else if (arguments.nesterov)
        sgd_loop<T, true, true>(x, v, g, count, arguments);
    else
        sgd_loop<T, true, false>(x, v, g, count, arguments);
}

inline float square_root(float x) { return __builtin_sqrtf(x); }
inline double square_root(double x) { return __builtin_sqrt(x); }

// Kingma & Ba, "Adam" (2015), Algorithm 1; Loshchilov & Hutter, "Decoupled weight decay
// regularization" (2019), Algorithm 2.
template <class T>
void adam_loop(T* __restrict parameters, T* __restrict first_moment, T* __restrict second_moment,
               const T* __restrict gradient, int64_t count, const AdamArguments& arguments,
               double correction1, double correction2) {
    const T scale = static_cast<T>(arguments.clip.scale);
    const T limit = static_cast<T>(arguments.clip.limit);
    const T add1 = static_cast<T>(1 - arguments.beta1);
    const T keep2 = static_cast<T>(arguments.beta2);
    const T add2 = static_cast<T>(1 - arguments.beta2);
    const T rate = static_cast<T>(arguments.learning_rate / correction1);
    // The only division of an element is the last one: it costs as much as ten products.
    const T inverse_root = T(1) / square_root(static_cast<T>(correction2));
    const T epsilon = static_cast<T>(arguments.epsilon);
    const double decay = arguments.weight_decay;
    const T gradient_decay = static_cast<T>(arguments.decoupled ? 0 : decay);
    const T keep = static_cast<T>(arguments.decoupled ? 1 - arguments.learning_rate * decay : 1);
    for (int64_t i = 0; i < count; ++i) {
        const T g = clipped(gradient[i], scale, limit) + gradient_decay * parameters[i];
        const T m = first_moment[i] + add1 * (g - first_moment[i]);
        const T v = keep2 * second_moment[i] + add2 * g * g;
        first_moment[i] = m;
        second_moment[i] = v;
        const T denominator = square_root(v) * inverse_root + epsilon;
        parameters[i] = keep * parameters[i] - rate * (m / denominator);
    }
}

template <class T>
void adam(void* parameters, void* first_moment, void* second_moment, const void* gradient,
          int64_t count, const AdamArguments& arguments, double correction1, double correction2) {
    adam_loop(static_cast<T*>(parameters), static_cast<T*>(first_moment),
              static_cast<T*>(second_moment), static_cast<const T*>(gradient), count, arguments,
              correction1, correction2);
}

// Sums run in `lanes` interleaved partial sums whatever the instruction set, so that the bits do
// not depend on it.
constexpr int lanes = 16;

double sum_of_lanes(double* partial) {
    for (int width = lanes / 2; width > 0; width /= 2)
        for (int lane = 0; lane < width; ++lane) partial[lane] += partial[lane + width];
    return partial[0];
}

// sum + a b. The product of two floats is exact in double: fused or not, the bits are the same.
template <class A, class B>
inline double add_product(double sum, A a, B b) {
#if defined(__FMA__)
    if constexpr (sizeof(A) == 4 && sizeof(B) == 4)
        return __builtin_fma(static_cast<double>(a), static_cast<double>(b), sum);
#endif
    return sum + static_cast<double>(a) * static_cast<double>(b);
}

template <class A, class B>
double dot_loop(const A* a, const B* b, int64_t count) {
    double partial[lanes] = {};
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (int lane = 0; lane < lanes; ++lane)
            partial[lane] = add_product(partial[lane], a[i + lane], b[i + lane]);
    for (int lane = 0; i + lane < count; ++lane)
        partial[lane] = add_product(partial[lane], a[i + lane], b[i + lane]);
    return sum_of_lanes(partial);
}

template <class A, class B>
double dot(const void* a_values, const void* b_values, int64_t count) {
    const A* a = static_cast<const A*>(a_values);
    if constexpr (sizeof(A) == sizeof(B))
        if (a_values == b_values) return dot_loop(a, a, count);  // read once
    return dot_loop(a, static_cast<const B*>(b_values), count);
}

template <class A>
double sum_of_magnitudes(const void* values, int64_t count) {
    const A* a = static_cast<const A*>(values);
    double partial[lanes] = {};
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (int lane = 0; lane < lanes; ++lane)
            partial[lane] += __builtin_fabs(static_cast<double>(a[i + lane]));
    for (int lane = 0; i + lane < count; ++lane)
        partial[lane] += __builtin_fabs(static_cast<double>(a[i + lane]));
    return sum_of_lanes(partial);
}

template <class A>
double largest_magnitude(const void* values, int64_t count) {
    const A* a = static_cast<const A*>(values);
    double largest = 0;
    for (int64_t i = 0; i < count; ++i) {
        const double magnitude = __builtin_fabs(static_cast<double>(a[i]));
        // A NaN fails every comparison: it is taken, and then kept.
        if (!(magnitude <= largest) && largest == largest) largest = magnitude;
    }
    return largest;
}

template <class Out, class A, class B>
void combine(void* out_values, double alpha, const void* a_values, double beta,
             const void* b_values, int64_t count) {
    Out* out = static_cast<Out*>(out_values);
    const A* a = static_cast<const A*>(a_values);
    const B* b = static_cast<const B*>(b_values);
    for (int64_t i = 0; i < count; ++i)
        out[i] =
            static_cast<Out>(alpha * static_cast<double>(a[i]) + beta * static_cast<double>(b[i]));
}

void add_two(double* out, double alpha, double beta, const double* a, double gamma, const double* b,
             int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[i] = alpha * out[i] + (beta * a[i] + gamma * b[i]);
}

}  // namespace

extern const FlatLoops flat_loops;
const FlatLoops flat_loops = {
    .sgd = {sgd<float>, sgd<double>},
    .adam = {adam<float>, adam<double>},
    .dot = {{dot<float, float>, dot<float, double>}, {dot<double, float>, dot<double, double>}},
    .sum_of_magnitudes = {sum_of_magnitudes<float>, sum_of_magnitudes<double>},
    .largest_magnitude = {largest_magnitude<float>, largest_magnitude<double>},
    .combine = {{{combine<float, float, float>, combine<float, float, double>},
                 {combine<float, double, float>, combine<float, double, double>}},
                {{combine<double, float, float>, combine<double, float, double>},
                 {combine<double, double, float>, combine<double, double, double>}}},
    .add_two = add_two,
};

}  // namespace ralimp::cpu::SIMD_LEVEL
