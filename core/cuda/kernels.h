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
// reduce.cu: the same bits as on the CPU.
void reduce(Reduction reduction, const Tensor& out, const Tensor& in);
// arg_reduce.cu
void arg_reduce(bool largest, const Tensor& out, const Tensor& in, int axis);
// softmax.cu
void softmax(const Tensor& out, const Tensor& in);
// indexing.cu; these wait for the device, to throw when an index is out of range.
void gather(const Tensor& out, const Tensor& in, const Tensor& index, int axis);
void scatter_add(const Tensor& out, const Tensor& index, const Tensor& source, int axis);
// scan.cu
void cumulative_sum(const Tensor& out, const Tensor& in, int axis, bool reversed);
void cumulative_product(const Tensor& out, const Tensor& in, int axis);
// sort.cu
void argsort(const Tensor& out, const Tensor& in, int axis, bool descending);
void searchsorted(const Tensor& out, const Tensor& sorted, const Tensor& values, bool right);
// random.cu: the same bits as on the CPU.
void random_uniform(const Tensor& out, const RandomKey& key, uint64_t first);
void random_normal(const Tensor& out, const RandomKey& key, uint64_t first);

// The table, and the names of its entries that are missing.
const Kernels& kernels();
const std::vector<std::string>& missing_kernels();

}  // namespace ralimp::gpu
