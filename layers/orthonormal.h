// Orthonormal columns that span those of a matrix.
#pragma once
#include <Eigen/Dense>

namespace ralimp {

struct OrthonormalColumns {
    Eigen::MatrixXd q;
    Eigen::VectorXd signs;  // 1 or -1: of the diagonal of R
};

// The Q of Householder's QR decomposition of a matrix [dimension, count <= dimension]. By panels of
// columns, so that an interruption is seen between them.
OrthonormalColumns orthonormal_columns(Eigen::MatrixXd matrix);

}  // namespace ralimp
