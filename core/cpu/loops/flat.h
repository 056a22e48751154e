// Inner loops behind FlatKernels, on plain pointers: one chunk, one thread. Compiled once for each
// instruction set; no inline function of another header may be used there, because the linker keeps
// only one copy of it.
#pragma once
#include <cstdint>

#include "core/flat_kernels.h"

namespace ralimp::cpu {

// Indices of the type arrays below.
enum FlatType { flat_float32 = 0, flat_float64 = 1 };

struct FlatLoops {
    void (*sgd[2])(void* parameters, void* velocity, const void* gradient, int64_t count,
                   const SgdArguments& arguments);
    // correction1 = 1 - beta1^step and correction2 = 1 - beta2^step.
    void (*adam[2])(void* parameters, void* first_moment, void* second_moment, const void* gradient,
                    int64_t count, const AdamArguments& arguments, double correction1,
                    double correction2);
    double (*dot[2][2])(const void* a, const void* b, int64_t count);
    double (*sum_of_magnitudes[2])(const void* a, int64_t count);
    double (*largest_magnitude[2])(const void* a, int64_t count);
    // [out][a][b]
    void (*combine[2][2][2])(void* out, double alpha, const void* a, double beta, const void* b,
                             int64_t count);
    // out_i = alpha out_i + beta a_i + gamma b_i
    void (*add_two)(double* out, double alpha, double beta, const double* a, double gamma,
                    const double* b, int64_t count);
};

}  // namespace ralimp::cpu
