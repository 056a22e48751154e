// Kernels over flat contiguous buffers, each one pass over memory: what the optimizers need. Part
// of the table in core/kernels.h. All tensors are contiguous [n], float32 or float64, checked by
// the caller. Scalars are float64; elementwise arithmetic is done in the type of the buffers.
#pragma once
#include <cstdint>
#include <limits>

namespace ralimp {

class Tensor;

// What an update does to the gradient first: multiply by `scale`, then limit every component to
// [-limit, limit].
struct GradientClip {
    double scale = 1;
    double limit = std::numeric_limits<double>::infinity();
};

struct SgdArguments {
    double learning_rate = 0;
    double momentum = 0;
    double dampening = 0;
    double weight_decay = 0;
    bool nesterov = false;
    bool first_step = false;  // the velocity starts as the gradient, undampened
    GradientClip clip;
};

struct AdamArguments {
    double learning_rate = 0;
    double beta1 = 0;
    double beta2 = 0;
    double epsilon = 0;
    double weight_decay = 0;
    bool decoupled = false;  // AdamW: decay the weights, not the gradient
    int64_t step = 1;        // counted from 1, for the bias correction
    GradientClip clip;
};

struct FlatKernels {
    // Updates parameters and velocity in place; the velocity is undefined without momentum.
    void (*sgd)(const Tensor& parameters, const Tensor& velocity, const Tensor& gradient,
                const SgdArguments& arguments);
    // Updates parameters and both moments in place.
    void (*adam)(const Tensor& parameters, const Tensor& first_moment, const Tensor& second_moment,
                 const Tensor& gradient, const AdamArguments& arguments);

    // Σ a_i b_i in float64, in an order fixed by n alone. The types may differ.
    double (*dot)(const Tensor& a, const Tensor& b);
    // Σ |a_i| in float64, in the same fixed order.
    double (*sum_of_magnitudes)(const Tensor& a);
    // max |a_i|; NaN when one is NaN, 0 for n = 0.
    double (*largest_magnitude)(const Tensor& a);
    // out_i = alpha a_i + beta b_i, computed in float64 and rounded once. The types may differ; out
    // may be a or b.
    void (*combine)(const Tensor& out, double alpha, const Tensor& a, double beta, const Tensor& b);
    // M = scale M + xx x xᵀ + xy (x yᵀ + y xᵀ) + yy y yᵀ in place, M [n, n], all float64.
    void (*rank_two)(const Tensor& matrix, double scale, const Tensor& x, const Tensor& y,
                     double xx, double xy, double yy);
};

}  // namespace ralimp
