// Nonlinear least squares whose linear coefficients are eliminated: the projected residual, its
// derivative, and the Levenberg–Marquardt iteration. Shared by the fits of poles and of nodes.
#pragma once
#include <Eigen/Dense>
#include <functional>
#include <vector>

namespace ralimp {

// min_c |A c - f|² for one matrix A(θ): c, the residual, and how the residual moves when A does.
// Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems
// whose variables separate", 1973.
class VariableProjection {
public:
    // Columns are scaled to unit length; a rank-deficient matrix is solved by its leading pivots.
    VariableProjection(Eigen::MatrixXd matrix, const Eigen::VectorXd& target);

    double cost() const { return residual_.squaredNorm(); }
    const Eigen::VectorXd& residual() const { return residual_; }  // f - A c
    const Eigen::VectorXd& coefficients() const { return coefficients_; }

    struct MovedColumn {
        Eigen::Index column;
        Eigen::VectorXd derivative;  // of that column of A
    };
    // d residual / dθ for a parameter that moves the given columns.
    Eigen::VectorXd residual_derivative(const std::vector<MovedColumn>& moved) const;

private:
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr_;
    Eigen::Index rank_ = 0;
    Eigen::VectorXd scale_;
    Eigen::MatrixXd q_, r_;
    Eigen::VectorXd residual_, coefficients_;
};

struct Linearization {
    Eigen::VectorXd residual;
    Eigen::MatrixXd jacobian;  // d residual / dθ
};

struct NonlinearProblem {
    std::function<double(const Eigen::VectorXd&)> cost;  // |residual|²
    std::function<Linearization(const Eigen::VectorXd&)> linearize;
    std::function<Eigen::VectorXd(Eigen::VectorXd)> clamp;  // into the bounds
};

// Levenberg–Marquardt with Marquardt's diagonal scaling and Nielsen's update of the damping.
// Returns the best parameters seen.
Eigen::VectorXd levenberg_marquardt(const NonlinearProblem& problem, Eigen::VectorXd parameters,
                                    int iterations);

}  // namespace ralimp
