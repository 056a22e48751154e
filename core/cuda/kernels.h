// The kernels of the CUDA backend, each in the file of its name: what core/kernels.h says of their
// arguments holds. Host functions; one that does not stand here is "not on cuda yet".
#pragma once
#include "core/kernels.h"

namespace ralimp::gpu {

// unary.cu, binary.cu, compare.cu: in the order of their lists in core/scalar.h.
std::array<Kernels::UnaryKernel, scalar::Unary::size> unary_kernels();
std::array<Kernels::BinaryKernel, scalar::Binary::size> binary_kernels();
std::array<Kernels::BinaryKernel, scalar::Compare::size> compare_kernels();
// compare.cu
void where(const Tensor& out, const Tensor& condition, const Tensor& a, const Tensor& b);
// copy.cu; float16 and bfloat16 convert to and from float32.
void copy(const Tensor& out, const Tensor& in);
void fill(const Tensor& out, double value);

// The table, and the names of its entries that are missing.
const Kernels& kernels();
const std::vector<std::string>& missing_kernels();

}  // namespace ralimp::gpu
