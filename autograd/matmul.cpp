// Matrix products over leading (batch) axes that broadcast.
#include "autograd/apply.h"
#include "autograd/operations.h"

namespace ralimp {
namespace {

Shape with_matrix(Shape leading, int64_t rows, int64_t columns) {
    leading.push_back(rows);
    leading.push_back(columns);
    return leading;
}

void check_sizes(const Tensor& a, const Tensor& b) {
    check_same_type("matmul", a, b);
    check_floating("matmul", a);
    check(a.dims() >= 2 && b.dims() >= 2,
          "matmul: {} x {}: both need two axes or more; unsqueeze the vector", a.shape(),
          b.shape());
    if (a.shape().back() == b.shape()[b.dims() - 2]) return;
    const bool transposed = a.shape().back() == b.shape().back();
    fail("matmul: inner sizes differ: {} x {}{}", a.shape(), b.shape(),
         transposed ? "; transpose the second?" : "");
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
    check_sizes(a, b);
    const Shape &sizes_a = a.shape(), &sizes_b = b.shape();
    const int64_t rows = sizes_a[a.dims() - 2], inner = sizes_a.back(), columns = sizes_b.back();
    const Shape leading_a(sizes_a.begin(), sizes_a.end() - 2);
    // One matrix for every batch: a single product, forward and in the derivative of b, in place of
    // one for each batch and a sum over them.
    if (a.dims() > 2 && b.dims() == 2) {
        const Tensor folded = reshape(a, {leading_a.elements() * rows, inner});
        return reshape(matmul(folded, b), with_matrix(leading_a, rows, columns));
    }
    const Shape leading =
        broadcast_shapes("matmul", leading_a, Shape(sizes_b.begin(), sizes_b.end() - 2));
    Tensor out = Tensor::empty(with_matrix(leading, rows, columns), a.dtype(), a.device());
    if (inner == 0)
        out.fill(0);
    else if (out.elements() > 0)
        kernels(a.device())
            .matmul(out, expanded_view(a, with_matrix(leading, rows, inner)),
                    expanded_view(b, with_matrix(leading, inner, columns)));
    if (!is_recording() || !(a.requires_grad() || b.requires_grad())) return out;
    return record("matmul", out, {kept(a, b.requires_grad()), kept(b, a.requires_grad())},
                  Keep::inputs, [](Context c) {
                      return broadcast_gradients(
                          c, [&] { return matmul(c.gradient, transpose(c.inputs[1])); },
                          [&] { return matmul(transpose(c.inputs[0]), c.gradient); });
                  });
}

}  // namespace ralimp
