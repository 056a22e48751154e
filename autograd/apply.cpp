#include "autograd/apply.h"

#include <array>
#include <cmath>
#include <limits>

namespace ralimp {

void check_floating(const char* operation, const Tensor& x) {
    check(is_floating(x.dtype()), "{}: {} values are not supported; convert with to() first",
          operation, name_of(x.dtype()));
}

void check_same_device(const char* operation, const Tensor& a, const Tensor& b) {
    if (!b.defined() || a.device() == b.device()) return;
    fail("{}: the tensors are on {} and {}; create both on one device", operation,
         to_string(a.device()), to_string(b.device()));
}

void check_same_type(const char* operation, const Tensor& a, const Tensor& b) {
    check(a.dtype() == b.dtype(), "{}: the types {} and {} differ; convert one with to()",
          operation, name_of(a.dtype()), name_of(b.dtype()));
    check_same_device(operation, a, b);
}

void check_index(const char* operation, const Tensor& index, const Tensor& x) {
    check(index.dtype() == DType::int64,
          "{}: the index holds {}, it must hold int64; convert with to()", operation,
          name_of(index.dtype()));
    check_same_device(operation, x, index);
}

Tensor scalar_like(const char* operation, const Tensor& x, double value) {
    if (!is_floating(x.dtype())) {
        // The bounds as doubles: the largest int64 is not one, the power of two after it is.
        const auto [low, end] = dispatch(operation, x.dtype(), [](auto zero) {
            using T = decltype(zero);
            return std::pair(static_cast<double>(std::numeric_limits<T>::lowest()),
                             2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1));
        });
        check(std::trunc(value) == value && value >= low && value < end,
              "{}: the constant {} is not a value of the tensor's type {}; convert the tensor with "
              "to() first",
              operation, value, name_of(x.dtype()));
    }
    return Tensor::scalar(value, x.dtype(), x.device());
}

namespace {

// Whether the elements fill a stretch of memory, in whatever order of the axes.
bool is_dense(const Tensor& x) {
    std::array<bool, Shape::max_dims> taken{};
    int64_t expected = 1;
    for (int count = 0; count < x.dims(); ++count) {
        int next = -1;  // the axis that continues the stretch; one of size 1 always does
        for (int axis = 0; axis < x.dims() && next < 0; ++axis)
            if (!taken[axis] && (x.shape()[axis] == 1 || x.strides()[axis] == expected))
                next = axis;
        if (next < 0) return false;
        taken[next] = true;
        expected *= x.shape()[next];
    }
    return true;
}

}  // namespace

Tensor empty_like(const Tensor& x, DType dtype) {
    if (x.is_contiguous() || !is_dense(x)) return Tensor::empty(x.shape(), dtype, x.device());
    return Tensor::empty({x.elements()}, dtype, x.device()).strided_view(x.shape(), x.strides());
}

Tensor expanded_view(const Tensor& x, const Shape& shape) {
    Shape strides = Shape::filled(shape.dims(), 0);
    for (int back = 1; back <= x.dims(); ++back)
        if (x.shape()[x.dims() - back] == shape[shape.dims() - back])
            strides[shape.dims() - back] = x.strides()[x.dims() - back];
    return x.strided_view(shape, strides);
}

Tensor narrowed_view(const Tensor& x, const Shape& shape, int axis) {
    Shape sizes = shape;
    sizes[axis] = x.shape()[axis];
    return x.strided_view(sizes, x.strides());
}

Tensor run_unary(const char* operation, std::size_t kernel, bool whole, const Tensor& x) {
    if (!is_floating(x.dtype()))
        check(whole && x.dtype() != DType::uint8,
              "{}: {} values are not supported; convert with to() first", operation,
              name_of(x.dtype()));
    Tensor out = empty_like(x);
    if (out.elements() > 0) kernels(x.device()).unary[kernel](out, x);
    return out;
}

namespace {

using BinaryKernel = Kernels::BinaryKernel;

Tensor run(const char* operation, BinaryKernel kernel, DType dtype, const Tensor& a,
           const Tensor& b) {
    if (a.shape() == b.shape()) {
        Tensor out = empty_like(a, dtype);
        if (out.elements() > 0) kernel(out, a, b);
        return out;
    }
    const Shape shape = broadcast_shapes(operation, a.shape(), b.shape());
    Tensor out = a.shape() == shape   ? empty_like(a, dtype)
                 : b.shape() == shape ? empty_like(b, dtype)
                                      : Tensor::empty(shape, dtype, a.device());
    if (out.elements() == 0) return out;
    if (a.shape() == shape)
        kernel(out, a, expanded_view(b, shape));
    else
        kernel(out, expanded_view(a, shape), b.shape() == shape ? b : expanded_view(b, shape));
    return out;
}

}  // namespace

Tensor run_binary(const char* operation, std::size_t kernel, bool whole, const Tensor& a,
                  const Tensor& b) {
    check_same_type(operation, a, b);
    if (!whole) check_floating(operation, a);
    return run(operation, kernels(a.device()).binary[kernel], a.dtype(), a, b);
}

Tensor run_compare(const char* operation, std::size_t kernel, const Tensor& a, const Tensor& b) {
    check_same_type(operation, a, b);
    return run(operation, kernels(a.device()).compare[kernel], DType::uint8, a, b);
}

}  // namespace ralimp
