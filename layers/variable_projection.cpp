#include "layers/variable_projection.h"

#include <algorithm>
#include <cmath>

#include "core/interruption.h"

namespace ralimp {

using Eigen::MatrixXd;
using Eigen::VectorXd;

VariableProjection::VariableProjection(MatrixXd matrix, const VectorXd& target) {
    scale_ = matrix.colwise().norm().cwiseMax(1e-300).cwiseInverse().transpose();
    matrix *= scale_.asDiagonal();
    qr_.setThreshold(1e-14);
    qr_.compute(matrix);
    rank_ = qr_.rank();
    r_ = qr_.matrixR().topLeftCorner(rank_, rank_);
    q_ = qr_.householderQ() * MatrixXd::Identity(matrix.rows(), rank_);
    const VectorXd projected = q_.transpose() * target;
    residual_ = target - q_ * projected;
    VectorXd solution = VectorXd::Zero(matrix.cols());
    solution.head(rank_) = r_.triangularView<Eigen::Upper>().solve(projected);
    coefficients_ = scale_.asDiagonal() * (qr_.colsPermutation() * solution);
}

// With the projector P = 1 - A A⁺:  -(P (dA) c + (A⁺)ᵀ (dA)ᵀ residual).
VectorXd VariableProjection::residual_derivative(const std::vector<MovedColumn>& moved) const {
    VectorXd motion = VectorXd::Zero(residual_.size());  // (dA) c
    VectorXd reaction = VectorXd::Zero(scale_.size());   // (dA)ᵀ residual
    for (const MovedColumn& change : moved) {
        motion += coefficients_[change.column] * change.derivative;
        reaction[change.column] = scale_[change.column] * change.derivative.dot(residual_);
    }
    reaction = (qr_.colsPermutation().transpose() * reaction).eval();
    const VectorXd inner =
        r_.transpose().triangularView<Eigen::Lower>().solve(reaction.head(rank_));
    return -(motion - q_ * (q_.transpose() * motion - inner));
}

VectorXd levenberg_marquardt(const NonlinearProblem& problem, VectorXd parameters, int iterations) {
    if (parameters.size() == 0) return parameters;
    double damping = 1e-3, growth = 2, cost = 0;
    MatrixXd normal;
    VectorXd gradient;
    const auto linearize = [&] {
        const Linearization at = problem.linearize(parameters);
        cost = at.residual.squaredNorm();
        normal = at.jacobian.transpose() * at.jacobian;
        gradient = at.jacobian.transpose() * at.residual;
    };
    linearize();
    int idle = 0;
    for (int step = 0; step < iterations && idle < 4 && damping <= 1e12; ++step) {
        throw_if_interrupted();
        const VectorXd diagonal = normal.diagonal().cwiseMax(1e-12 * normal.diagonal().maxCoeff());
        const MatrixXd damped = normal + MatrixXd((damping * diagonal).asDiagonal());
        const VectorXd move = damped.ldlt().solve(-gradient);
        if (!move.allFinite()) break;
        const VectorXd trial = problem.clamp(parameters + move.cwiseMax(-1e3).cwiseMin(1e3));
        const double trial_cost = problem.cost(trial);
        if (trial_cost < cost) {
            const VectorXd moved = trial - parameters;
            const double predicted = -2 * gradient.dot(moved) - moved.dot(normal * moved);
            const double gain = predicted > 0 ? (cost - trial_cost) / predicted : 0.5;
            damping *= std::max(1.0 / 3, 1 - std::pow(2 * gain - 1, 3));
            growth = 2;
            idle = cost - trial_cost < 1e-9 * cost ? idle + 1 : 0;
            parameters = trial;
            linearize();
        } else {
            damping *= growth;
            growth *= 2;
        }
    }
    return parameters;
}

}  // namespace ralimp
