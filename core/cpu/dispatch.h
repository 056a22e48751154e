// Which instruction set the CPU backend uses, and its loops by element type. Internal to core/cpu
// and its tests.
#pragma once
#include <string>
#include <type_traits>
#include <vector>

#include "core/cpu/loops/loops.h"
#include "core/kernels.h"

namespace ralimp::cpu {

enum class SimdLevel { baseline, avx2, avx512 };

std::string_view name_of(SimdLevel level);
// The levels this processor can run, lowest first.
std::vector<SimdLevel> available_simd_levels();
// The level in use: the highest available one, or a lower one named by the environment variable
// RALIMP_SIMD. Setting it is for tests and benchmarks; no kernel may be running.
SimdLevel simd_level();
void set_simd_level(SimdLevel level);

const Loops& loops();

// The CPU's part of core/kernels.h.
const Kernels& kernels();
int64_t kernel_launches();
std::string description();

template <class T>
const TypedLoops<T>& loops_of() {
    if constexpr (std::is_same_v<T, float>)
        return loops().float32;
    else if constexpr (std::is_same_v<T, double>)
        return loops().float64;
    else if constexpr (std::is_same_v<T, int64_t>)
        return loops().int64;
    else if constexpr (std::is_same_v<T, int32_t>)
        return loops().int32;
    else
        return loops().uint8;
}

// The kernels, each in the file of its name.
void unary(std::size_t operation, const Tensor& out, const Tensor& in);
void binary(std::size_t operation, const Tensor& out, const Tensor& a, const Tensor& b);
void compare(std::size_t operation, const Tensor& out, const Tensor& a, const Tensor& b);
void where(const Tensor& out, const Tensor& condition, const Tensor& a, const Tensor& b);
void copy(const Tensor& out, const Tensor& in);
void fill(const Tensor& out, double value);
void reduce(Reduction reduction, const Tensor& out, const Tensor& in);
void arg_reduce(bool largest, const Tensor& out, const Tensor& in, int axis);
void matmul(const Tensor& out, const Tensor& a, const Tensor& b);
void gather(const Tensor& out, const Tensor& in, const Tensor& index, int axis);
void scatter_add(const Tensor& out, const Tensor& index, const Tensor& source, int axis);
void cumulative_sum(const Tensor& out, const Tensor& in, int axis, bool reversed);
void cumulative_product(const Tensor& out, const Tensor& in, int axis);
void softmax(const Tensor& out, const Tensor& in);
void argsort(const Tensor& out, const Tensor& in, int axis, bool descending);
void searchsorted(const Tensor& out, const Tensor& sorted, const Tensor& values, bool right);
void activation_forward(const ActivationProgram& program, const Tensor& out, const Tensor& in);
void activation_backward(const ActivationProgram& program, const Tensor& in_gradient,
                         const Tensor& in, const Tensor& out, const Tensor& out_gradient);
void features_forward(const FeatureProgram& program, const Tensor& out, const Tensor& p,
                      const Tensor& n, const Tensor& blocks, const Tensor& table,
                      const Tensor& clamps);
void features_backward(const FeatureProgram& program, const FeatureGradientTensors& gradients,
                       const Tensor& p, const Tensor& n, const Tensor& blocks, const Tensor& table);
void count_above(const Tensor& counts, const Tensor& x, double limit);
// Adds to counts of clamped exponents how many were, of how many. Whole numbers: the order in which
// threads add does not show.
void add_clamp_counts(const Tensor& counts, int64_t clamped, int64_t all);
int64_t chain_saved_elements(const LayerChainProgram& program, const Tensor& x,
                             std::span<const ChainTensors> steps);
void chain_forward(const LayerChainProgram& program, const Tensor& out, const Tensor& saved,
                   const Tensor& x, std::span<const ChainTensors> steps);
void chain_backward(const LayerChainProgram& program, const ChainGradientTensors& gradients,
                    const Tensor& saved, const Tensor& x, std::span<const ChainTensors> steps);
void packed_chain(const LayerChainProgram& program, const Tensor& out, const Tensor& x,
                  std::span<const ChainTensors> steps);
void random_uniform(const Tensor& out, const RandomKey& key, uint64_t first);
void random_normal(const Tensor& out, const RandomKey& key, uint64_t first);

}  // namespace ralimp::cpu
