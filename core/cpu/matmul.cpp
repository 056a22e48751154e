// Matrix products by OpenBLAS. A product is cut into tasks by its shape alone and each task is one
// single-threaded BLAS call, so the bits do not depend on the number of threads.
#include <cblas.h>
#include <omp.h>

#include <climits>

#include "core/cpu/dispatch.h"
#include "core/cpu/iterate.h"

namespace ralimp::cpu {
namespace {

// One matrix of a batch as BLAS sees it: unit stride in one axis, `leading` in the other.
struct Matrix {
    int64_t rows, columns;
    int64_t row_stride, column_stride;

    bool row_major() const { return column_stride == 1 && row_stride >= columns; }
    bool column_major() const { return row_stride == 1 && column_stride >= rows; }
    CBLAS_TRANSPOSE transpose() const { return row_major() ? CblasNoTrans : CblasTrans; }
    blasint leading() const {
        return static_cast<blasint>(std::max<int64_t>(1, row_major() ? row_stride : column_stride));
    }
};

// The stride along an axis of size 1 means nothing; the packed one suits BLAS.
Matrix matrix_of(const Tensor& x) {
    const int axis = x.dims() - 2;
    Matrix matrix{x.shape()[axis], x.shape()[axis + 1], x.strides()[axis], x.strides()[axis + 1]};
    if (matrix.columns == 1)
        matrix.column_stride = 1;
    else if (matrix.rows == 1)
        matrix.row_stride = matrix.column_stride == 1 ? matrix.columns : 1;
    return matrix;
}

bool fits_blas(const Matrix& matrix) { return matrix.row_major() || matrix.column_major(); }

// One thread per BLAS call. openblas_set_num_threads, called at start, is enough for builds of
// OpenBLAS on pthreads; those on OpenMP ask OpenMP in each thread anew.
void keep_blas_single_threaded() {
    thread_local const bool done = (omp_set_num_threads(1), true);
    (void)done;
}

void blas_product(CBLAS_TRANSPOSE a_form, CBLAS_TRANSPOSE b_form, blasint m, blasint n, blasint k,
                  const float* a, blasint a_leading, const float* b, blasint b_leading, float* out,
                  blasint out_leading) {
    cblas_sgemm(CblasRowMajor, a_form, b_form, m, n, k, 1.0f, a, a_leading, b, b_leading, 0.0f, out,
                out_leading);
}
void blas_product(CBLAS_TRANSPOSE a_form, CBLAS_TRANSPOSE b_form, blasint m, blasint n, blasint k,
                  const double* a, blasint a_leading, const double* b, blasint b_leading,
                  double* out, blasint out_leading) {
    cblas_dgemm(CblasRowMajor, a_form, b_form, m, n, k, 1.0, a, a_leading, b, b_leading, 0.0, out,
                out_leading);
}
// out = a x for a row-major [m, k].
void blas_product(blasint m, blasint k, const float* a, blasint a_leading, const float* x,
                  blasint x_step, float* out, blasint out_step) {
    cblas_sgemv(CblasRowMajor, CblasNoTrans, m, k, 1.0f, a, a_leading, x, x_step, 0.0f, out,
                out_step);
}
void blas_product(blasint m, blasint k, const double* a, blasint a_leading, const double* x,
                  blasint x_step, double* out, blasint out_step) {
    cblas_dgemv(CblasRowMajor, CblasNoTrans, m, k, 1.0, a, a_leading, x, x_step, 0.0, out,
                out_step);
}

template <class T>
void multiply(int64_t m, int64_t n, int64_t k, const T* a, const Matrix& a_layout, const T* b,
              const Matrix& b_layout, T* out, int64_t out_leading) {
    const auto rows = static_cast<blasint>(m), columns = static_cast<blasint>(n);
    const auto inner = static_cast<blasint>(k), leading = static_cast<blasint>(out_leading);
    if (b_layout.columns == 1 && a_layout.row_major())
        blas_product(rows, inner, a, a_layout.leading(), b, b_layout.leading(), out, leading);
    else
        blas_product(a_layout.transpose(), b_layout.transpose(), rows, columns, inner, a,
                     a_layout.leading(), b, b_layout.leading(), out, leading);
}

// Sizes of the parts a product is cut into. Each is worth a BLAS call and, beside others, a thread.
struct Parts {
    int64_t rows, columns, inner;
};

Parts parts_of(int64_t m, int64_t n, int64_t k) {
    constexpr int64_t most_parts = 16;
    constexpr int64_t smallest_work = 1 << 19;  // multiplications of a part
    constexpr int64_t multiple = 64;
    Parts parts{m, n, k};
    // OpenBLAS multiplies narrow matrices without packing them first, twice as fast, up to this
    // much work in a call.
    constexpr int64_t narrow = 64, unpacked_work = 1'000'000;
    if (n <= narrow && k <= narrow && m * n * k > unpacked_work) {
        parts.rows = std::max(multiple, unpacked_work / (n * k) / multiple * multiple);
        return parts;
    }
    const int64_t count = std::min(most_parts, m * n * k / smallest_work);
    if (count < 2) return parts;
    const auto cut = [&](int64_t size, int64_t pieces) {
        const int64_t part = (size + pieces - 1) / pieces;
        return (part + multiple - 1) / multiple * multiple;
    };
    if (k >= 16 * m && k >= 16 * n) {
        parts.inner = std::max<int64_t>(1024, cut(k, count));
        return parts;
    }
    // Halve the longer side until there is work for eight threads in tiles of 512 x 512: each tile
    // copies its rows of a and columns of b, so that nearly square ones cost least.
    const auto tiles = [&] {
        return ((m + parts.rows - 1) / parts.rows) * ((n + parts.columns - 1) / parts.columns);
    };
    while ((tiles() < 8 || parts.rows * parts.columns > 512 * 512) &&
           parts.rows * parts.columns * k >= 2 * smallest_work &&
           std::max(parts.rows, parts.columns) > multiple)
        (parts.rows >= parts.columns ? parts.rows : parts.columns) =
            cut(std::max(parts.rows, parts.columns), 2);
    return parts;
}

int64_t parts_in(int64_t size, int64_t part) { return part ? (size + part - 1) / part : 1; }

// The product of a whole batch; every matrix fits BLAS and out is row-major in its last two axes.
template <class T>
void multiply_batch(const Layout<3>& batch, T* out, const Matrix& out_layout, const T* a,
                    const Matrix& a_layout, const T* b, const Matrix& b_layout) {
    const int64_t m = out_layout.rows, n = out_layout.columns, k = a_layout.columns;
    const Parts parts = parts_of(m, n, k);
    const int64_t row_parts = parts_in(m, parts.rows);
    const int64_t column_parts = parts_in(n, parts.columns);
    const int64_t inner_parts = parts_in(k, parts.inner);
    const int64_t batches = batch.elements();

    // A sum cut into parts: the partial products stand behind each other and are added in order.
    Tensor partial;
    if (inner_parts > 1) partial = Tensor::empty({batches, inner_parts, m, n}, dtype_of<T>());

    const auto task = [&](int64_t number) {
        keep_blas_single_threaded();
        const int64_t inner = number % inner_parts * parts.inner;
        const int64_t column = number / inner_parts % column_parts * parts.columns;
        const int64_t row = number / inner_parts / column_parts % row_parts * parts.rows;
        const int64_t index = number / inner_parts / column_parts / row_parts;
        int64_t block = index;
        int64_t offsets[3] = {};
        for (int axis = batch.dims - 1; axis >= 0; --axis) {
            for (int i = 0; i < 3; ++i)
                offsets[i] += block % batch.sizes[axis] * batch.strides[i][axis];
            block /= batch.sizes[axis];
        }
        T* to = out + offsets[0] + row * out_layout.row_stride + column;
        int64_t out_leading = out_layout.leading();
        if (inner_parts > 1) {
            to = partial.data<T>() + (index * inner_parts + inner / parts.inner) * m * n;
            out_leading = n;
        }
        multiply(std::min(parts.rows, m - row), std::min(parts.columns, n - column),
                 std::min(parts.inner, k - inner),
                 a + offsets[1] + row * a_layout.row_stride + inner * a_layout.column_stride,
                 a_layout,
                 b + offsets[2] + inner * b_layout.row_stride + column * b_layout.column_stride,
                 b_layout, to, out_leading);
    };
    const int64_t tasks = batches * row_parts * column_parts * inner_parts;
    const int64_t work = parts.rows * parts.columns * parts.inner;
    constexpr int64_t smallest_work = 1 << 18;
    parallel_for(tasks, std::max<int64_t>(1, smallest_work / std::max<int64_t>(1, work)),
                 [&](int64_t begin, int64_t end) {
                     for (int64_t number = begin; number < end; ++number) task(number);
                 });
    if (inner_parts == 1) return;
    const int64_t grain = std::max<int64_t>(1, serial_elements / (inner_parts * n));
    parallel_for(batches * m, grain, [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
            const int64_t row = line % m;
            T* to = out + row * out_layout.row_stride;
            int64_t block = line / m;
            for (int axis = batch.dims - 1; axis >= 0; --axis) {
                to += block % batch.sizes[axis] * batch.strides[0][axis];
                block /= batch.sizes[axis];
            }
            loops_of<T>().reduce_rows[static_cast<int>(Reduction::sum)](
                {inner_parts, n}, to, 1, partial.data<T>() + (line / m * inner_parts * m + row) * n,
                {m * n, 1});
        }
    });
}

// A row-major copy of each matrix; axes along which one matrix is repeated stay repeated.
Tensor packed(const Tensor& x) {
    Shape shape = x.shape();
    for (int axis = 0; axis < x.dims() - 2; ++axis)
        if (x.strides()[axis] == 0) shape[axis] = 1;
    const Tensor copy = x.strided_view(shape, x.strides()).clone();
    Shape strides = copy.strides();
    for (int axis = 0; axis < x.dims() - 2; ++axis)
        if (shape[axis] != x.shape()[axis]) strides[axis] = 0;
    return copy.strided_view(x.shape(), strides);
}

}  // namespace

void matmul(const Tensor& out, const Tensor& a, const Tensor& b) {
    if (out.elements() == 0) return;
    Matrix out_layout = matrix_of(out), a_layout = matrix_of(a), b_layout = matrix_of(b);
    if (a_layout.columns == 0) return fill(out, 0);
    if (!fits_blas(a_layout)) return matmul(out, packed(a), b);
    if (!fits_blas(b_layout)) return matmul(out, a, packed(b));
    if (!out_layout.row_major()) {
        const Tensor result = Tensor::empty(out.shape(), out.dtype(), out.device());
        matmul(result, a, b);
        return copy(out, result);
    }
    const auto batch_of = [](const Tensor& x) {
        return std::pair(Shape(x.shape().begin(), x.shape().end() - 2),
                         Shape(x.strides().begin(), x.strides().end() - 2));
    };
    const auto [shape, out_strides] = batch_of(out);
    const auto [a_shape, a_strides] = batch_of(a);
    const auto [b_shape, b_strides] = batch_of(b);
    auto batch = joined_layout<3>(shape, {&out_strides, &a_strides, &b_strides});
    // One matrix b for the whole batch: its rows may be one tall matrix.
    const int last = batch.dims - 1;
    const int64_t m = out_layout.rows;
    if (m == 1 && batch.sizes[last] > 1 && batch.strides[1][last] >= a_layout.columns &&
        a_layout.row_major() && batch.strides[0][last] >= out_layout.columns) {
        a_layout.row_stride = batch.strides[1][last];
        out_layout.row_stride = batch.strides[0][last];
    }
    if (batch.sizes[last] > 1 && batch.strides[2][last] == 0 && a_layout.row_major() &&
        batch.strides[1][last] == m * a_layout.row_stride &&
        batch.strides[0][last] == m * out_layout.row_stride) {
        out_layout.rows = a_layout.rows = m * batch.sizes[last];
        batch.sizes[last] = 1;
    }
    for (int64_t size :
         {out_layout.rows, out_layout.columns, a_layout.columns, out_layout.row_stride,
          a_layout.row_stride, a_layout.column_stride, b_layout.row_stride, b_layout.column_stride})
        check(size <= INT_MAX, "matmul: {} x {} is too large: BLAS takes sizes up to {}", a.shape(),
              b.shape(), INT_MAX);
    dispatch_floating("matmul", out.dtype(), [&]<class T>(T) {
        multiply_batch<T>(batch, out.data<T>(), out_layout, a.data<T>(), a_layout, b.data<T>(),
                          b_layout);
    });
}

}  // namespace ralimp::cpu
