#include "optim/eigenbasis.h"

#include <Eigen/Dense>
#include <algorithm>

#include "core/kernels.h"

namespace ralimp {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A copy in Eigen's own memory: the order of its sums depends on the alignment.
Eigen::MatrixXd matrix_of(const Tensor& tensor) {
    const std::vector<double> values = tensor.to_doubles();
    return Eigen::Map<const RowMajor>(values.data(), tensor.size(0), tensor.size(1));
}

void write(const Tensor& tensor, const RowMajor& values) {
    tensor.copy_from(Tensor::from(std::span(values.data(), static_cast<std::size_t>(values.size())),
                                  tensor.shape()));
}

}  // namespace

Tensor transposed(const Tensor& matrix) {
    return matrix.strided_view({matrix.size(1), matrix.size(0)},
                               {matrix.strides()[1], matrix.strides()[0]});
}

Eigenbasis::Eigenbasis(int64_t side, DType dtype, Device device)
    : preconditioner_(Tensor::zeros({side, side}, DType::float64, device)),
      vectors_(Tensor::zeros({side, side}, dtype, device)) {
    vectors_.strided_view({side}, {side + 1}).fill(1);
}

void Eigenbasis::learn(const Tensor& gradient, double beta) {
    const Kernels& table = kernels(preconditioner_.device());
    const Tensor product =
        Tensor::empty(preconditioner_.shape(), DType::float64, preconditioner_.device());
    table.matmul(product, gradient, transposed(gradient));
    const int64_t count = product.elements();
    const Tensor flat = preconditioner_.strided_view({count}, {1});
    table.flat.combine(flat, beta, flat, 1 - beta, product.strided_view({count}, {1}));
}

void Eigenbasis::start() {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix_of(preconditioner_));
    check(solver.info() == Eigen::Success,
          "soap: the eigenvectors of a preconditioner of side {} were not found", vectors_.size(0));
    write(vectors_, solver.eigenvectors().rowwise().reverse());
}

Tensor Eigenbasis::turn() {
    const int64_t side = vectors_.size(0);
    const Device device = vectors_.device();
    Tensor old = vectors_;
    if (old.dtype() != DType::float64) {
        old = Tensor::empty(vectors_.shape(), DType::float64, device);
        old.copy_from(vectors_);
    }
    const Tensor product = Tensor::empty({side, side}, DType::float64, device);
    kernels(device).matmul(product, preconditioner_, old);

    const Eigen::MatrixXd q = matrix_of(old), p = matrix_of(product);
    const Eigen::VectorXd eigenvalues = q.cwiseProduct(p).colwise().sum();
    std::vector<int64_t> order(static_cast<std::size_t>(side));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return eigenvalues[a] > eigenvalues[b]; });
    Eigen::MatrixXd columns(side, side);
    for (int64_t i = 0; i < side; ++i) columns.col(i) = p.col(order[static_cast<std::size_t>(i)]);
    // The decomposition squares its numbers, which are squares of the gradient's already.
    if (const double largest = columns.cwiseAbs().maxCoeff(); largest > 0) columns /= largest;
    write(vectors_, Eigen::HouseholderQR<Eigen::MatrixXd>(columns).householderQ() *
                        Eigen::MatrixXd::Identity(side, side));
    return Tensor::from(order, {side});
}

}  // namespace ralimp
