// SOAP's own properties; its trajectories are compared in golden_test.cpp.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "optim/make_optimizer.h"
#include "tests/error_of.h"

namespace ralimp {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::MatrixXd;

MatrixXd matrix_of(const Tensor& tensor) {
    const std::vector<double> values = tensor.to_doubles();
    const bool flat = tensor.dims() == 1;
    return Eigen::Map<const Matrix>(values.data(), tensor.size(0), flat ? 1 : tensor.size(1));
}

Tensor flat_of(const Matrix& matrix, DType dtype = DType::float64) {
    const Tensor result = Tensor::empty({matrix.size()}, dtype);
    result.copy_from(Tensor::from(std::span(matrix.data(), static_cast<std::size_t>(matrix.size())),
                                  {matrix.size()}));
    return result;
}

// Numbers without a pattern, in (-1, 1), from the size alone.
MatrixXd generic(Eigen::Index rows, Eigen::Index columns, double seed = 1) {
    MatrixXd result(rows, columns);
    for (Eigen::Index i = 0; i < rows; ++i)
        for (Eigen::Index j = 0; j < columns; ++j)
            result(i, j) = std::sin(seed + 12.9898 * static_cast<double>(i * columns + j + 1) *
                                               static_cast<double>(j + 2));
    return result;
}

MatrixXd orthogonal(Eigen::Index side, double seed) {
    return Eigen::HouseholderQR<MatrixXd>(generic(side, side, seed)).householderQ();
}

ParameterLayout layout_of(int64_t rows, int64_t columns, DType dtype = DType::float64) {
    return ParameterLayout({{.name = "w", .count = rows * columns, .shape = Shape{rows, columns}}},
                           dtype);
}

// ½ tr (W - T)ᵀ A (W - T) B, whose Hessian is the Kronecker product of A and B.
struct KroneckerQuadratic {
    MatrixXd a, b, target;

    Objective over(const Tensor& parameters) const {
        return [*this, parameters] {
            const auto rows = target.rows(), columns = target.cols();
            const std::vector<double> values = parameters.to_doubles();
            const MatrixXd error =
                MatrixXd(Eigen::Map<const Matrix>(values.data(), rows, columns)) - target;
            const MatrixXd gradient = a * error * b;
            return Evaluation{error.cwiseProduct(gradient).sum() / 2,
                              flat_of(gradient, parameters.dtype())};
        };
    }
};

KroneckerQuadratic ill_conditioned(Eigen::Index rows, Eigen::Index columns, double condition) {
    const auto factor = [&](Eigen::Index side, double seed) -> MatrixXd {
        const Eigen::ArrayXd power = Eigen::ArrayXd::LinSpaced(side, 0, 1) * std::log(condition);
        const MatrixXd u = orthogonal(side, seed);
        return u * power.exp().matrix().asDiagonal() * u.transpose();
    };
    return {factor(rows, 0.3), factor(columns, 0.7), generic(rows, columns)};
}

template <class Config>
double loss_after(const Config& config, const KroneckerQuadratic& problem, int steps, DType dtype) {
    const auto rows = problem.target.rows(), columns = problem.target.cols();
    const Tensor x = Tensor::zeros({rows * columns}, dtype);
    const auto optimizer = make_optimizer(OptimizerConfig(config), layout_of(rows, columns, dtype));
    const Objective evaluate = problem.over(x);
    for (int step = 0; step < steps; ++step)
        optimizer->step(x, config.learning_rate * (1 - static_cast<double>(step) / steps),
                        evaluate);
    return evaluate().loss;
}

// A condition number of 1e8, in axes that are not the parameters'. Each at the best of its rates.
TEST(Soap, IsAheadOfAdamWhereTheCurvatureIsAKroneckerProduct) {
    const KroneckerQuadratic problem = ill_conditioned(6, 9, 1e4);
    for (const DType dtype : {DType::float64, DType::float32}) {
        double adam = HUGE_VAL, soap = HUGE_VAL;
        for (const double rate : {1e-2, 3e-2, 1e-1, 3e-1}) {
            adam =
                std::min(adam, loss_after(AdamConfig{.learning_rate = rate}, problem, 300, dtype));
            adam = std::min(
                adam, loss_after(AdamConfig{.learning_rate = rate, .beta1 = 0.95, .beta2 = 0.95},
                                 problem, 300, dtype));
            soap =
                std::min(soap, loss_after(SoapConfig{.learning_rate = rate}, problem, 300, dtype));
        }
        EXPECT_LT(soap, 2e-2 * adam) << name_of(dtype) << " " << soap << " " << adam;
    }
}

// Where the optimizer ends after 25 steps on a quadratic seen in rotated axes, U W Vᵀ, turned back.
// Its target moves: the first basis makes the gradient that it comes from diagonal, and the same
// gradient again would be rounding errors alone beside the diagonal.
MatrixXd end_of_path(Optimizer& optimizer, const MatrixXd& u, const MatrixXd& v, double scale) {
    const Eigen::Index rows = u.rows(), columns = v.rows();
    const KroneckerQuadratic problem = ill_conditioned(rows, columns, 10);
    const Tensor x = Tensor::zeros({rows * columns}, optimizer.layout().dtype());
    const auto turned_back = [&]() -> MatrixXd {
        const std::vector<double> values = x.to_doubles();
        return u.transpose() * Eigen::Map<const Matrix>(values.data(), rows, columns) * v;
    };
    for (int step = 0; step < 25; ++step)
        optimizer.step(x, 1e-2, [&] {
            const MatrixXd error = turned_back() - problem.target - generic(rows, columns, step);
            return Evaluation{
                1, flat_of(scale * u * problem.a * error * problem.b * v.transpose(), x.dtype())};
        });
    return turned_back();
}

// Rotating the rows and the columns of the problem rotates the path: what Adam lacks.
TEST(Soap, FollowsARotationOfTheProblem) {
    const auto change = [](const OptimizerConfig& config) {
        const auto end = [&](const MatrixXd& u, const MatrixXd& v) {
            return end_of_path(*make_optimizer(config, layout_of(4, 5)), u, v, 1);
        };
        return (end(orthogonal(4, 2), orthogonal(5, 3)) -
                end(MatrixXd::Identity(4, 4), MatrixXd::Identity(5, 5)))
            .norm();
    };
    EXPECT_LT(change(SoapConfig{.precondition_every = 4}), 1e-9);
    EXPECT_GT(change(SoapConfig{.precondition_every = 4, .max_side = 4}), 1e-2);
    EXPECT_GT(change(AdamConfig{}), 1e-2);
}

// The squares of squares stay in range, and epsilon 0 leaves no scale.
TEST(Soap, DoesNotMindTheScaleOfTheGradient) {
    const auto end = [](DType dtype, double scale) {
        Soap soap(layout_of(4, 5, dtype), {.epsilon = 0, .precondition_every = 3});
        return end_of_path(soap, MatrixXd::Identity(4, 4), MatrixXd::Identity(5, 5), scale);
    };
    for (const double scale : {1e-60, 1e100})
        EXPECT_LT((end(DType::float64, scale) - end(DType::float64, 1)).norm(), 1e-9) << scale;
    for (const double scale : {1e-12, 1e12})
        EXPECT_LT((end(DType::float32, scale) - end(DType::float32, 1)).norm(), 1e-3) << scale;
}

// Without a side to rotate it is AdamW a step later, bit for bit.
TEST(Soap, IsAdamWWhereNothingIsRotated) {
    const KroneckerQuadratic problem = ill_conditioned(5, 4, 10);
    const ParameterLayout layouts[] = {
        layout_of(5, 4), ParameterLayout::single(20, DType::float64),
        ParameterLayout({{.name = "w", .count = 20, .shape = {5, 2, 2}}}, DType::float64),
        ParameterLayout({{.name = "w", .count = 20, .shape = {20}}}, DType::float64)};
    for (const ParameterLayout& layout : layouts) {
        const Tensor x = Tensor::ones({20}, DType::float64), y = x.clone();
        Adam adam(layout, AdamWConfig{.beta1 = 0.95, .beta2 = 0.95, .weight_decay = 0.1});
        Soap soap(layout, {.weight_decay = 0.1, .precondition_every = 2, .max_side = 3});
        EXPECT_TRUE(soap.step(y, 1e-2, problem.over(y)).moved);
        EXPECT_EQ(y.to_doubles(), x.to_doubles());
        for (int step = 0; step < 9; ++step) {
            adam.step(x, 1e-2, problem.over(x));
            soap.step(y, 1e-2, problem.over(y));
        }
        EXPECT_EQ(x.to_doubles(), y.to_doubles());
        EXPECT_EQ(soap.state().tensors.size(), 2u);
    }
}

TEST(Soap, TheBasisStaysOrthonormalAndBecomesThatOfTheGradients) {
    for (const DType dtype : {DType::float64, DType::float32}) {
        const double tolerance = dtype == DType::float64 ? 1e-13 : 1e-6;
        // One gradient again and again: its singular vectors are what is looked for. At first it is
        // another, so that the power iteration has to find them.
        const MatrixXd u = orthogonal(7, 5), v = orthogonal(3, 6);
        const Eigen::Vector3d singular(4, 2, 0.5);
        const MatrixXd gradient = u.leftCols(3) * singular.asDiagonal() * v.transpose();
        Soap soap(layout_of(7, 3, dtype), {.shampoo_beta = 0.5, .precondition_every = 2});
        const Tensor x = Tensor::zeros({21}, dtype);
        const auto diagonal_of = [&](const std::string& side) -> MatrixXd {
            const MatrixXd q = matrix_of(tensor_of(soap.state(), "w." + side + "_vectors"));
            return q.transpose() *
                   matrix_of(tensor_of(soap.state(), "w." + side + "_preconditioner")) * q;
        };
        for (int step = 0; step < 80; ++step) {
            soap.step(x, 1e-3, [&] {
                return Evaluation{1, flat_of(step == 0 ? generic(7, 3) : gradient, dtype)};
            });
            if (step > 0) continue;
            for (const char* side : {"left", "right"}) {
                const MatrixXd diagonal = diagonal_of(side);
                EXPECT_LT((diagonal - MatrixXd(diagonal.diagonal().asDiagonal())).norm(),
                          100 * tolerance);
                for (Eigen::Index i = 0; i < 2; ++i)
                    EXPECT_GT(diagonal(i, i), diagonal(i + 1, i + 1));
            }
        }
        for (const auto& [side, expected] :
             {std::pair<std::string, MatrixXd>{"left", u}, {"right", v}}) {
            const MatrixXd q = matrix_of(tensor_of(soap.state(), "w." + side + "_vectors"));
            EXPECT_LT((q.transpose() * q - MatrixXd::Identity(q.rows(), q.rows())).norm(),
                      10 * tolerance)
                << side;
            const MatrixXd diagonal = diagonal_of(side);
            for (Eigen::Index i = 0; i < 3; ++i) {
                EXPECT_NEAR(std::abs(q.col(i).dot(expected.col(i))), 1, 100 * tolerance) << side;
                EXPECT_NEAR(diagonal(i, i), singular[i] * singular[i], 1000 * tolerance) << side;
            }
        }
    }
}

TEST(Soap, AZeroGradientKeepsEverythingFinite) {
    const Tensor x = Tensor::ones({12}, DType::float32);
    Soap soap(layout_of(4, 3, DType::float32), {.precondition_every = 2});
    const auto step = [&](double value) {
        const Tensor gradient = Tensor::zeros({12}, DType::float32);
        gradient.strided_view({3}, {5}).fill(value);
        return soap.step(x, 0.1, [&] { return Evaluation{1, gradient}; });
    };
    for (int i = 0; i < 6; ++i) step(0);
    EXPECT_EQ(x.to_doubles(), std::vector<double>(12, 1));
    for (int i = 0; i < 9; ++i) EXPECT_EQ(step(i % 3).stop, StopReason::none);
    for (const auto& [name, tensor] : soap.state().tensors)
        for (const double value : tensor.to_doubles()) EXPECT_TRUE(std::isfinite(value)) << name;
    for (const double value : x.to_doubles()) EXPECT_TRUE(std::isfinite(value));
    EXPECT_LT(x.to_doubles()[0], 1);
}

TEST(Soap, FrozenMatricesStay) {
    const ParameterLayout layout(
        {{.name = "frozen", .count = 6, .learning_rate_scale = 0, .shape = {2, 3}},
         {.name = "free", .offset = 6, .count = 6, .shape = {3, 2}}},
        DType::float64);
    const Tensor x = Tensor::ones({12}, DType::float64);
    Soap soap(layout, {.weight_decay = 0.5});
    for (int step = 0; step < 3; ++step)
        soap.step(x, 0.1, [] { return Evaluation{1, Tensor::ones({12}, DType::float64)}; });
    const std::vector<double> values = x.to_doubles();
    for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(values[i] == 1, i < 6);
}

TEST(Soap, AStateOfOtherShapesIsRefused) {
    const auto refusal = [](const ParameterLayout& layout, const SoapConfig& config) {
        const Soap made(layout_of(3, 2), {});
        Soap soap(layout, config);
        const Thrown thrown = error_of([&] { soap.load(made.state()); });
        EXPECT_EQ(thrown.code, ExitCode::bad_input);
        return thrown.text;
    };
    EXPECT_EQ(refusal(layout_of(2, 3), {}),
              "optimizer soap: the saved state does not fit; w.left_preconditioner is float64 [3, "
              "3], not float64 [2, 2]; w.left_vectors is float64 [3, 3], not float64 [2, 2]; "
              "w.right_preconditioner is float64 [2, 2], not float64 [3, 3]; w.right_vectors is "
              "float64 [2, 2], not float64 [3, 3]");
    EXPECT_EQ(refusal(layout_of(3, 2), {.max_side = 2}),
              "optimizer soap: the saved state does not fit; unexpected w.left_preconditioner; "
              "unexpected w.left_vectors");
    EXPECT_NE(refusal(layout_of(3, 2, DType::float32), {}).find("first_moment is float64"),
              std::string::npos);
}

}  // namespace
}  // namespace ralimp
