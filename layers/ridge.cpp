#include "layers/ridge.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "autograd/operations.h"
#include "core/interruption.h"
#include "layers/orthonormal.h"

namespace ralimp {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using View = Eigen::Map<RowMajor, 0, Eigen::OuterStride<>>;

// All work is cut into products of at most so many multiplications, a fraction of a second each,
// between which an interruption is seen; few are too small for BLAS.
constexpr int64_t most_work = int64_t{1} << 31;
constexpr int64_t panel = 128;  // columns that the decomposition treats at a time

// Of a float64 matrix, or a block of one, whose rows are contiguous.
View view_of(const Tensor& x) {
    return {x.data<double>(), x.size(0), x.size(1), Eigen::OuterStride<>(x.strides()[0])};
}

Tensor rows_of(const Tensor& x, int64_t begin, int64_t end) { return slice(x, 0, begin, end); }
Tensor block_of(const Tensor& x, int64_t row, int64_t row_end, int64_t column, int64_t column_end) {
    return slice(slice(x, 0, row, row_end), 1, column, column_end);
}

// A B.
Tensor product(const Tensor& a, const Tensor& b) {
    const int64_t columns = b.size(1);
    const int64_t step = std::max<int64_t>(64, most_work / std::max<int64_t>(1, a.elements()));
    const Tensor result = Tensor::empty({a.size(0), columns}, DType::float64);
    for (int64_t begin = 0; begin < columns; begin += step) {
        throw_if_interrupted();
        const int64_t end = std::min(begin + step, columns);
        slice(result, 1, begin, end).copy_from(matmul(a, slice(b, 1, begin, end)));
    }
    return result;
}

// A Aᵀ / n + penalty I for A [m, k]: only blocks on the diagonal and below are filled.
Tensor normal_matrix(const Tensor& a, double n, double penalty) {
    const int64_t m = a.size(0), side = a.size(1) * 256 * 256 > most_work ? 64 : 256;
    const Tensor result = Tensor::zeros({m, m}, DType::float64);
    for (int64_t row = 0; row < m; row += side)
        for (int64_t column = 0; column <= row; column += side) {
            throw_if_interrupted();
            const int64_t row_end = std::min(row + side, m),
                          column_end = std::min(column + side, m);
            block_of(result, row, row_end, column, column_end)
                .copy_from(
                    matmul(rows_of(a, row, row_end), transpose(rows_of(a, column, column_end))) *
                    (1 / n));
        }
    view_of(result).diagonal().array() += penalty;
    return result;
}

// Replaces the lower triangle of a positive definite matrix by that of its Cholesky factor L.
void decompose(const Tensor& a, double penalty) {
    const int64_t n = a.size(0);
    for (int64_t begin = 0; begin < n; begin += panel) {
        throw_if_interrupted();
        const int64_t end = std::min(begin + panel, n);
        if (begin > 0) {
            const Tensor done = block_of(a, begin, n, 0, begin);
            const Tensor columns = block_of(a, begin, n, begin, end);
            columns.copy_from(columns - matmul(done, transpose(rows_of(done, 0, end - begin))));
        }
        View diagonal = view_of(block_of(a, begin, end, begin, end));
        const Eigen::LLT<RowMajor> factor(diagonal);
        if (factor.info() != Eigen::Success)
            fail_with(ExitCode::bad_config,
                      "ridge_regression: the penalty {} is too small for features that depend on "
                      "each other",
                      penalty);
        diagonal = RowMajor(factor.matrixL());
        if (end == n) break;
        View below = view_of(block_of(a, end, n, begin, end));
        diagonal.transpose().triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(below);
    }
}

// Replaces b [n, columns] by (L Lᵀ)⁻¹ b.
void solve(const Tensor& l, const Tensor& b) {
    const int64_t n = l.size(0), last = (n - 1) / panel * panel;
    const auto reduce = [&](const Tensor& rows, const Tensor& factor, const Tensor& known) {
        rows.copy_from(rows - product(factor, known));
    };
    for (int64_t begin = 0; begin < n; begin += panel) {
        const int64_t end = std::min(begin + panel, n);
        const Tensor rows = rows_of(b, begin, end);
        if (begin > 0) reduce(rows, block_of(l, begin, end, 0, begin), rows_of(b, 0, begin));
        View solution = view_of(rows);
        view_of(block_of(l, begin, end, begin, end))
            .triangularView<Eigen::Lower>()
            .solveInPlace(solution);
    }
    for (int64_t begin = last; begin >= 0; begin -= panel) {
        const int64_t end = std::min(begin + panel, n);
        const Tensor rows = rows_of(b, begin, end);
        if (end < n) reduce(rows, transpose(block_of(l, end, n, begin, end)), rows_of(b, end, n));
        View solution = view_of(rows);
        view_of(block_of(l, begin, end, begin, end))
            .transpose()
            .triangularView<Eigen::Upper>()
            .solveInPlace(solution);
    }
}

// A copy in float64 without the mean over the rows, and that mean [1, columns].
std::pair<Tensor, Tensor> centered(const Tensor& given) {
    const int64_t rows = given.size(0);
    const Tensor x = Tensor::empty(given.shape(), DType::float64);
    const Tensor mean = Tensor::zeros({1, x.size(1)}, DType::float64);
    View view = view_of(x), sum = view_of(mean);
    for (int64_t row = 0; row < rows; ++row) {
        throw_if_interrupted();
        rows_of(x, row, row + 1).copy_from(rows_of(given, row, row + 1));
        if (!view.row(row).allFinite())
            fail_with(ExitCode::bad_config,
                      "least squares: a feature or target is not finite; scale the inputs down");
        sum.row(0) += view.row(row);
    }
    sum /= static_cast<double>(rows);
    for (int64_t row = 0; row < rows; ++row) {
        throw_if_interrupted();
        view.row(row) -= sum.row(0);
    }
    return {x, mean};
}

}  // namespace

// With the centered X [n, F] and Y the weight is Yᵀ X (Xᵀ X + n penalty)⁻¹ / n and as well
// Yᵀ (X Xᵀ + n penalty)⁻¹ X / n: whichever matrix is smaller is decomposed.
RidgeSolution ridge_regression(const Tensor& features, const Tensor& targets, double penalty) {
    check(features.dims() == 2 && targets.dims() == 2 && features.size(0) == targets.size(0),
          "ridge_regression: features {} and targets {} must be [n, …] with one n",
          features.shape(), targets.shape());
    check(penalty > 0, "ridge_regression: the penalty {} must be positive", penalty);
    NoGrad no_grad;
    const auto [x, x_mean] = centered(features);
    const auto [y, y_mean] = centered(targets);
    const double n = static_cast<double>(x.size(0));
    Tensor weight;  // [outputs, features]
    if (x.size(1) <= x.size(0)) {
        const Tensor normal = normal_matrix(transpose(x), n, penalty);
        const Tensor solution = product(transpose(x), y) * (1 / n);
        decompose(normal, penalty);
        solve(normal, solution);
        weight = transpose(solution);
    } else {
        const Tensor normal = normal_matrix(x, n, penalty);
        const Tensor solution = y * (1 / n);
        decompose(normal, penalty);
        solve(normal, solution);
        weight = product(transpose(solution), x);
    }
    const Tensor bias = y_mean - product(x_mean, transpose(weight));
    return {to(weight.clone(), features.dtype()),
            to(reshape(bias, {targets.size(1)}), features.dtype())};
}

namespace {

// Columns of largest variance [m, count] of A Aᵀ for A [m, n].
Tensor principal_columns(const Tensor& a, int64_t count) {
    // The decomposition of a larger matrix would take more than a second without seeing an
    // interruption.
    constexpr int64_t most_side = 512;
    const int64_t m = a.size(0);
    const Tensor result = Tensor::empty({m, count}, DType::float64);
    View columns = view_of(result);
    if (m <= most_side) {
        const Eigen::MatrixXd squares = view_of(normal_matrix(a, 1, 0));
        const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(squares);
        columns = solver.eigenvectors().rightCols(count);
        return result;
    }
    // Subspace iteration, from random columns: what it has not told apart yet has nearly the same
    // variance (Halko, Martinsson & Tropp 2011).
    constexpr int iterations = 8;
    Tensor next = random_normal({m, count}, {0, RandomStream::noise, 0}, DType::float64);
    for (int i = 0; i < iterations; ++i) {
        columns = orthonormal_columns(view_of(next)).q;
        next = product(a, product(transpose(a), result));
    }
    columns = orthonormal_columns(view_of(next)).q;
    return result;
}

}  // namespace

LowRankFactors principal_factors(const Tensor& weight, const Tensor& x, int64_t rank) {
    check(weight.dims() == 2 && rank >= 1 && rank <= weight.size(0),
          "principal_factors: no {} components of a weight {}", rank, weight.shape());
    check(x.dims() == 2 && x.size(1) == weight.size(1),
          "principal_factors: rows {} meet a weight {} ([out, in])", x.shape(), weight.shape());
    NoGrad no_grad;
    const Tensor w = to(weight, DType::float64).contiguous();
    const Tensor outputs = product(w, transpose(centered(x).first));
    const Tensor left = principal_columns(outputs, rank);
    const Tensor right = product(transpose(left), w);
    const auto squares = [](const Tensor& values) { return sum(square(values)).item(); };
    const double ratio = std::pow(squares(right) / squares(left), 0.25);
    const double total = squares(outputs);
    return {to(ratio > 0 ? left * ratio : left, weight.dtype()),
            to(ratio > 0 ? right * (1 / ratio) : right, weight.dtype()),
            total > 0 ? squares(product(transpose(left), outputs)) / total : 1};
}

}  // namespace ralimp
