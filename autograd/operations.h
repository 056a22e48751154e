// The public differentiable operations. Each takes any strides and returns a fresh tensor or a
// view; each throws Error for shapes, types or devices that do not fit. Unless said otherwise the
// types of all tensor arguments are equal and shapes broadcast. Derivatives of every order exist.
#pragma once
#include <cstdint>
#include <vector>

#include "autograd/graph.h"
#include "core/random.h"
#include "core/tensor.h"

namespace ralimp {

using Axes = std::vector<int64_t>;  // negative axes count from the end; {} means all

// Unary, elementwise, on floating types (neg, abs, sign, square and relu also on int32 and int64).
Tensor neg(const Tensor& x);
Tensor abs(const Tensor& x);   // derivative 0 at 0
Tensor sign(const Tensor& x);  // derivative 0 everywhere: the result leaves the graph
Tensor square(const Tensor& x);
Tensor relu(const Tensor& x);  // derivative 0 at 0
Tensor exp(const Tensor& x);
Tensor expm1(const Tensor& x);
Tensor log(const Tensor& x);
Tensor log1p(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor reciprocal(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor sinh(const Tensor& x);
Tensor cosh(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor erf(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor softplus(const Tensor& x);
Tensor silu(const Tensor& x);
Tensor gelu(const Tensor& x);                            // exact: x Φ(x)
Tensor gelu_tanh(const Tensor& x);                       // the tanh form of GPT-2
Tensor gaussian(const Tensor& x);                        // e^(-x²)
Tensor clamp(const Tensor& x, double low, double high);  // derivative 1 on [low, high]
Tensor pow(const Tensor& x, double exponent);            // whole exponents also for x < 0

// Binary, broadcasting; all but divide and pow also on whole numbers. A double stands for a
// constant of the tensor's type; one that is no value of it (0.5 beside int64) is an Error.
Tensor add(const Tensor& a, const Tensor& b);
Tensor subtract(const Tensor& a, const Tensor& b);
Tensor multiply(const Tensor& a, const Tensor& b);
Tensor divide(const Tensor& a, const Tensor& b);
Tensor maximum(const Tensor& a, const Tensor& b);  // at a tie the gradient goes to a; NaN wins
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor pow(const Tensor& a, const Tensor& exponent);
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return subtract(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return multiply(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return divide(a, b); }
inline Tensor operator-(const Tensor& a) { return neg(a); }
Tensor operator+(const Tensor& a, double b);
Tensor operator+(double a, const Tensor& b);
Tensor operator-(const Tensor& a, double b);
Tensor operator-(double a, const Tensor& b);
Tensor operator*(const Tensor& a, double b);
Tensor operator*(double a, const Tensor& b);
Tensor operator/(const Tensor& a, double b);
Tensor operator/(double a, const Tensor& b);

// Comparisons: uint8, 0 or 1; no derivative.
Tensor equal(const Tensor& a, const Tensor& b);
Tensor not_equal(const Tensor& a, const Tensor& b);
Tensor less(const Tensor& a, const Tensor& b);
Tensor less_equal(const Tensor& a, const Tensor& b);
Tensor greater(const Tensor& a, const Tensor& b);
Tensor greater_equal(const Tensor& a, const Tensor& b);
// a where the uint8 condition is not 0, else b; all three broadcast.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

// Type conversion; differentiable between floating types. The same type returns the tensor itself.
Tensor to(const Tensor& x, DType dtype);

// Views: no memory is copied, except that reshape copies when no view exists.
Tensor reshape(const Tensor& x, const Shape& shape);  // one size may be -1
Tensor expand(const Tensor& x, const Shape& shape);   // to a shape that x broadcasts to
Tensor permute(const Tensor& x, const Axes& order);
Tensor transpose(const Tensor& x, int64_t axis_a = -2, int64_t axis_b = -1);
// Elements start, start+step, … before end along the axis; step > 0; negative start and end count
// from the end, both are clamped to the axis.
Tensor slice(const Tensor& x, int64_t axis, int64_t start, int64_t end, int64_t step = 1);
// The inverse of slice: zeros of the given shape, with x at start, start+step, … along the axis.
Tensor pad_slice(const Tensor& x, const Shape& shape, int64_t axis, int64_t start,
                 int64_t step = 1);
Tensor select(const Tensor& x, int64_t axis, int64_t index);  // removes the axis
Tensor unsqueeze(const Tensor& x, int64_t axis);              // inserts an axis of size 1
Tensor squeeze(const Tensor& x, int64_t axis);                // removes an axis of size 1

// Reductions over the axes ({}: all). keep_dims leaves axes of size 1. sum keeps the type and
// refuses uint8, which would overflow; mean, logsumexp, variance and softmax take floating types.
// An empty sum is 0, an empty logsumexp -∞; the mean and the variance of nothing are Errors.
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
// The gradient of max and min is shared equally among ties. Of an empty axis: Error.
Tensor max(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor min(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor argmax(const Tensor& x, int64_t axis, bool keep_dims = false);  // int64, first of ties
Tensor argmin(const Tensor& x, int64_t axis, bool keep_dims = false);
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
// Divides by n - correction.
Tensor variance(const Tensor& x, const Axes& axes = {}, bool keep_dims = false, int correction = 0);
Tensor softmax(const Tensor& x, int64_t axis = -1);
Tensor log_softmax(const Tensor& x, int64_t axis = -1);
// The inverse of expand: sums x down to a shape that broadcasts to x's shape.
Tensor sum_to(const Tensor& x, const Shape& shape);

// a [..., m, k] times b [..., k, n]: [..., m, n]; leading axes broadcast. Transposed views cost
// nothing.
Tensor matmul(const Tensor& a, const Tensor& b);

// Concatenate along an existing axis; stack along a new one.
Tensor concatenate(const Tensors& parts, int64_t axis = 0);
Tensor stack(const Tensors& parts, int64_t axis = 0);
// Parts of the given sizes, whose sum is the axis's size.
Tensors split(const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis = 0);

// Indexing with int64 tensors; an index out of range is an Error.
// out[i] = x[i, but index[i] along the axis]; index has x's number of axes and is not larger
// elsewhere.
Tensor gather(const Tensor& x, int64_t axis, const Tensor& index);
// x with source[i] added at [i, but index[i] along the axis]; repeated indices add up, in a fixed
// order.
Tensor scatter_add(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& source);
// Whole slices: index [n]; the axis gets size n.
Tensor index_select(const Tensor& x, int64_t axis, const Tensor& index);
// x with the slices of source added at the positions index [n]; repeated indices add up.
Tensor index_add(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& source);

Tensor cumulative_sum(const Tensor& x, int64_t axis, bool reversed = false);
Tensor cumulative_product(const Tensor& x, int64_t axis);

// Stable; NaN last. argsort: int64 positions.
Tensor argsort(const Tensor& x, int64_t axis = -1, bool descending = false);
Tensor sort(const Tensor& x, int64_t axis = -1, bool descending = false);
// For each value the number of entries of the sorted last axis below it (right: not above it);
// int64.
Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right = false);

// Random numbers: pure functions of the key. float32 or float64. Uniform ones are in [low, high),
// up to rounding.
Tensor random_uniform(const Shape& shape, const RandomKey& key, DType dtype = DType::float32,
                      double low = 0, double high = 1, Device device = {});
Tensor random_normal(const Shape& shape, const RandomKey& key, DType dtype = DType::float32,
                     double mean = 0, double deviation = 1, Device device = {});
// int64 [count]
Tensor random_permutation(int64_t count, const RandomKey& key, Device device = {});

}  // namespace ralimp
