#include "layers/ridge.h"

#include <Eigen/Dense>

namespace ralimp {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace {

RowMajor to_matrix(const Tensor& tensor) {
    const std::vector<double> values = tensor.to_doubles();
    return Eigen::Map<const RowMajor>(values.data(), tensor.size(0), tensor.size(1));
}

Tensor to_tensor(const RowMajor& matrix, const Shape& shape, DType dtype) {
    const Tensor result = Tensor::empty(shape, dtype);
    result.copy_from(Tensor::from(
        std::span<const double>(matrix.data(), static_cast<std::size_t>(matrix.size())), shape));
    return result;
}

}  // namespace

RidgeSolution ridge_regression(const Tensor& features, const Tensor& targets, double penalty) {
    check(features.dims() == 2 && targets.dims() == 2 && features.size(0) == targets.size(0),
          "ridge_regression: features {} and targets {} must be [n, …] with one n",
          features.shape(), targets.shape());
    check(penalty > 0, "ridge_regression: the penalty {} must be positive", penalty);
    RowMajor x = to_matrix(features), y = to_matrix(targets);
    check(x.allFinite() && y.allFinite(),
          "ridge_regression: a feature or target is not finite; scale the inputs down");
    const double n = static_cast<double>(x.rows());
    const Eigen::RowVectorXd x_mean = x.colwise().mean(), y_mean = y.colwise().mean();
    x.rowwise() -= x_mean;
    y.rowwise() -= y_mean;
    RowMajor normal = x.transpose() * x / n;
    normal.diagonal().array() += penalty;
    const RowMajor weight =
        Eigen::LLT<Eigen::MatrixXd>(normal).solve(x.transpose() * y / n).transpose();
    const RowMajor bias = y_mean - x_mean * weight.transpose();
    return {to_tensor(weight, {targets.size(1), features.size(1)}, features.dtype()),
            to_tensor(bias, {targets.size(1)}, features.dtype())};
}

}  // namespace ralimp
