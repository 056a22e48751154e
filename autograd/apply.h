// How the operations reach the kernels: argument checks with their messages, memory for the result,
// the call. For the files of this folder; no derivative here, and nothing is recorded.
#pragma once
#include "autograd/graph.h"
#include "core/kernels.h"
#include "core/scalar.h"

namespace ralimp {

using Context = const VjpContext&;

void check_floating(const char* operation, const Tensor& x);
void check_same_type(const char* operation, const Tensor& a, const Tensor& b);
// An undefined b is on any device.
void check_same_device(const char* operation, const Tensor& a, const Tensor& b);
void check_index(const char* operation, const Tensor& index, const Tensor& x);

// A constant of x's type and device, shape []. Throws for 0.5 beside whole numbers.
Tensor scalar_like(const char* operation, const Tensor& x, double value);

// Uninitialised. In x's own order when x is dense in memory (a transposed view, say), so that an
// elementwise kernel runs straight through both; row-major otherwise.
Tensor empty_like(const Tensor& x, DType dtype);
inline Tensor empty_like(const Tensor& x) { return empty_like(x, x.dtype()); }

// The view of x, outside the graph, with stride 0 along the axes it is repeated over; the shape
// must be one that x broadcasts to.
Tensor expanded_view(const Tensor& x, const Shape& shape);
// x narrowed to the sizes of `shape`, one of x's number of axes, except along `axis`.
Tensor narrowed_view(const Tensor& x, const Shape& shape, int axis);

// For an input that the derivative reads only if `values`.
inline Tensor kept(const Tensor& x, bool values) { return values ? x : x.without_values(); }

Tensor run_unary(const char* operation, std::size_t kernel, bool whole, const Tensor& x);
Tensor run_binary(const char* operation, std::size_t kernel, bool whole, const Tensor& a,
                  const Tensor& b);
Tensor run_compare(const char* operation, std::size_t kernel, const Tensor& a, const Tensor& b);

template <class Op>
Tensor run_unary(const Tensor& x) {
    return run_unary(Op::name, index_in<Op, scalar::Unary>, is_in<Op, scalar::UnaryWhole>, x);
}
template <class Op>
Tensor run_binary(const Tensor& a, const Tensor& b) {
    return run_binary(Op::name, index_in<Op, scalar::Binary>, is_in<Op, scalar::BinaryWhole>, a, b);
}
template <class Op>
Tensor run_compare(const Tensor& a, const Tensor& b) {
    return run_compare(Op::name, index_in<Op, scalar::Compare>, a, b);
}

// Gradients of two broadcast inputs: each is computed only when it is asked for, then summed down
// to the shape of its input.
Tensor sum_to(const Tensor& x, const Shape& shape);
template <class GradientA, class GradientB>
Tensors broadcast_gradients(Context c, GradientA a, GradientB b) {
    Tensors gradients(2);
    if (c.needs(0)) gradients[0] = sum_to(a(), c.inputs[0].shape());
    if (c.needs(1)) gradients[1] = sum_to(b(), c.inputs[1].shape());
    return gradients;
}

}  // namespace ralimp
