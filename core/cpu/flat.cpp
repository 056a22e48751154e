#include "core/cpu/flat.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/cpu/dispatch.h"
#include "core/cpu/loops/flat.h"
#include "core/parallel.h"
#include "core/tensor.h"

namespace ralimp::cpu {

namespace baseline {
extern const FlatLoops flat_loops;
}
#if defined(__x86_64__) && !defined(BASELINE_ONLY)
namespace avx2 {
extern const FlatLoops flat_loops;
}
namespace avx512 {
extern const FlatLoops flat_loops;
}
#endif

namespace {

// Chunks are the unit of the fixed order of summation: this number is part of the results' bits.
constexpr int64_t grain = 16384;

const FlatLoops& flat_loops() {
    switch (simd_level()) {
#if defined(__x86_64__) && !defined(BASELINE_ONLY)
        case SimdLevel::avx512:
            return avx512::flat_loops;
        case SimdLevel::avx2:
            return avx2::flat_loops;
#endif
        default:
            return baseline::flat_loops;
    }
}

FlatType type_of(const Tensor& tensor) {
    return tensor.dtype() == DType::float64 ? flat_float64 : flat_float32;
}

std::byte* at(const Tensor& tensor, int64_t index) {
    return static_cast<std::byte*>(tensor.data()) +
           index * static_cast<int64_t>(bytes_of(tensor.dtype()));
}

void sgd(const Tensor& parameters, const Tensor& velocity, const Tensor& gradient,
         const SgdArguments& arguments) {
    const auto loop = flat_loops().sgd[type_of(parameters)];
    parallel_for(parameters.elements(), grain, [&](int64_t begin, int64_t end) {
        loop(at(parameters, begin), velocity.defined() ? at(velocity, begin) : nullptr,
             at(gradient, begin), end - begin, arguments);
    });
}

void adam(const Tensor& parameters, const Tensor& first_moment, const Tensor& second_moment,
          const Tensor& gradient, const AdamArguments& arguments) {
    const auto loop = flat_loops().adam[type_of(parameters)];
    // 1 - beta^step without cancellation when beta is close to 1.
    const double step = static_cast<double>(arguments.step);
    const double correction1 = -std::expm1(step * std::log(arguments.beta1));
    const double correction2 = -std::expm1(step * std::log(arguments.beta2));
    parallel_for(parameters.elements(), grain, [&](int64_t begin, int64_t end) {
        loop(at(parameters, begin), at(first_moment, begin), at(second_moment, begin),
             at(gradient, begin), end - begin, arguments, correction1, correction2);
    });
}

// Σ over chunks, added in their order.
template <class F>
double sum_of_chunks(int64_t count, F&& chunk_sum) {
    if (count <= grain) return count > 0 ? chunk_sum(0, count) : 0;
    std::vector<double> sums(static_cast<std::size_t>((count + grain - 1) / grain));
    parallel_for(count, grain, [&](int64_t begin, int64_t end) {
        sums[static_cast<std::size_t>(begin / grain)] = chunk_sum(begin, end);
    });
    double total = 0;
    for (double sum : sums) total += sum;
    return total;
}

double dot(const Tensor& a, const Tensor& b) {
    const auto loop = flat_loops().dot[type_of(a)][type_of(b)];
    return sum_of_chunks(a.elements(), [&](int64_t begin, int64_t end) {
        return loop(at(a, begin), at(b, begin), end - begin);
    });
}

double sum_of_magnitudes(const Tensor& a) {
    const auto loop = flat_loops().sum_of_magnitudes[type_of(a)];
    return sum_of_chunks(
        a.elements(), [&](int64_t begin, int64_t end) { return loop(at(a, begin), end - begin); });
}

double largest_magnitude(const Tensor& a) {
    return flat_loops().largest_magnitude[type_of(a)](at(a, 0), a.elements());
}

void combine(const Tensor& out, double alpha, const Tensor& a, double beta, const Tensor& b) {
    const auto loop = flat_loops().combine[type_of(out)][type_of(a)][type_of(b)];
    parallel_for(out.elements(), grain, [&](int64_t begin, int64_t end) {
        loop(at(out, begin), alpha, at(a, begin), beta, at(b, begin), end - begin);
    });
}

void rank_two(const Tensor& matrix, double scale, const Tensor& x, const Tensor& y, double xx,
              double xy, double yy) {
    const auto loop = flat_loops().add_two;
    const int64_t n = x.elements();
    const double *x_values = x.data<double>(), *y_values = y.data<double>();
    parallel_for(
        n, std::max<int64_t>(grain / std::max<int64_t>(n, 1), 1), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i)
                loop(matrix.data<double>() + i * n, scale, xx * x_values[i] + xy * y_values[i],
                     x_values, xy * x_values[i] + yy * y_values[i], y_values, n);
        });
}

}  // namespace

const FlatKernels flat_kernels = {.sgd = sgd,
                                  .adam = adam,
                                  .dot = dot,
                                  .sum_of_magnitudes = sum_of_magnitudes,
                                  .largest_magnitude = largest_magnitude,
                                  .combine = combine,
                                  .rank_two = rank_two};

}  // namespace ralimp::cpu
