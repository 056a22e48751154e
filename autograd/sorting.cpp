// Sorting along an axis and searching in what is sorted.
#include "autograd/apply.h"
#include "autograd/operations.h"

namespace ralimp {

Tensor argsort(const Tensor& x, int64_t axis, bool descending) {
    const int at = normalize_axis("argsort", axis, x.dims());
    Tensor out = Tensor::empty(x.shape(), DType::int64, x.device());
    if (out.elements() > 0) kernels(x.device()).argsort(out, x, at, descending);
    return out;
}

Tensor sort(const Tensor& x, int64_t axis, bool descending) {
    const int at = normalize_axis("sort", axis, x.dims());
    return gather(x, at, argsort(x, at, descending));
}

Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right) {
    check_same_type("searchsorted", sorted, values);
    check(sorted.dims() >= 1 && values.dims() >= 1,
          "searchsorted: {} in {}: both need an axis; unsqueeze the single value", values.shape(),
          sorted.shape());
    Shape leading =
        broadcast_shapes("searchsorted", Shape(sorted.shape().begin(), sorted.shape().end() - 1),
                         Shape(values.shape().begin(), values.shape().end() - 1));
    Shape sorted_shape = leading, values_shape = leading;
    sorted_shape.push_back(sorted.shape().back());
    values_shape.push_back(values.shape().back());
    Tensor out = Tensor::zeros(values_shape, DType::int64, values.device());
    if (out.elements() > 0 && sorted.shape().back() > 0)
        kernels(values.device())
            .searchsorted(out, expanded_view(sorted, sorted_shape),
                          expanded_view(values, values_shape), right);
    return out;
}

}  // namespace ralimp
