// Low-rank factors: the best ones for a batch, and the start of the layer made of them.
#include "layers/low_rank.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "autograd/operations.h"
#include "layers/ridge.h"

namespace ralimp {
namespace {

Tensor normal(const Shape& shape, uint64_t seed, double deviation = 1) {
    return random_normal(shape, {seed, RandomStream::user, 0}, DType::float64, 0, deviation);
}

Eigen::MatrixXd matrix_of(const Tensor& tensor) {
    const std::vector<double> values = tensor.to_doubles();
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    return Eigen::Map<const RowMajor>(values.data(), tensor.size(0), tensor.size(1));
}

HiddenStart start_of(Activation activation, double scale) {
    HiddenStart start;
    start.activation = activation;
    start.scale = scale;
    start.start = {Initialization::siren, scale, {5, RandomStream::parameters, 3}, {}};
    start.dtype = DType::float64;
    return start;
}

// No other factors of the rank leave less of the outputs of the batch: the error is that of the
// outputs' own singular values.
TEST(PrincipalFactors, OfABatchAreTheBestForItsOutputs) {
    const Tensor w = normal({6, 9}, 1), x = matmul(normal({80, 5}, 2), normal({5, 9}, 3)) + 2.0;
    Eigen::MatrixXd centred = matrix_of(x);
    centred.rowwise() -= centred.colwise().mean().eval();
    const Eigen::MatrixXd outputs = centred * matrix_of(w).transpose();
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(outputs);
    const Eigen::VectorXd squares = svd.singularValues().array().square();
    for (int64_t rank : {1, 3, 5, 6}) {
        const LowRankFactors factors = principal_factors(w, x, rank);
        const Eigen::MatrixXd product = matrix_of(factors.left) * matrix_of(factors.right);
        const double left_over = (outputs - centred * product.transpose()).squaredNorm();
        EXPECT_NEAR(left_over, squares.tail(6 - rank).sum(), 1e-9 * squares.sum()) << rank;
        EXPECT_NEAR(factors.kept, squares.head(rank).sum() / squares.sum(), 1e-9) << rank;
        EXPECT_NEAR(matrix_of(factors.left).norm(), matrix_of(factors.right).norm(), 1e-12);
        // Six components, the batch has five: the sixth is no zero, or it could never be trained.
        EXPECT_GT(matrix_of(factors.left).colwise().norm().minCoeff(), 0.1) << rank;
    }
    EXPECT_THROW(principal_factors(w, x, 7), Error);
    EXPECT_THROW(principal_factors(w, x, 0), Error);
    EXPECT_THROW(principal_factors(w, normal({4, 6}, 1), 2), Error);
}

// More outputs than the decomposition is used for: eight directions and noise around them.
TEST(PrincipalFactors, OfManyOutputsAreFoundByIteration) {
    const Tensor x = normal({100, 20}, 4);
    const Tensor w = matmul(normal({600, 8}, 5), normal({8, 20}, 6)) + normal({600, 20}, 7, 0.1);
    Eigen::MatrixXd centred = matrix_of(x);
    centred.rowwise() -= centred.colwise().mean().eval();
    const Eigen::MatrixXd outputs = centred * matrix_of(w).transpose();
    const Eigen::VectorXd squares =
        Eigen::BDCSVD<Eigen::MatrixXd>(outputs).singularValues().array().square();
    for (int64_t rank : {3, 8, 12}) {
        const LowRankFactors factors = principal_factors(w, x, rank);
        const Eigen::MatrixXd left = matrix_of(factors.left);
        const Eigen::MatrixXd product = left * matrix_of(factors.right);
        const double least = squares.tail(squares.size() - rank).sum();
        const double left_over = (outputs - centred * product.transpose()).squaredNorm();
        EXPECT_GE(left_over, least * (1 - 1e-9)) << rank;
        EXPECT_LE(left_over, least * 1.05) << rank;
        EXPECT_NEAR(factors.kept, 1 - left_over / squares.sum(), 1e-9) << rank;
        Eigen::MatrixXd gram = left.transpose() * left;
        gram /= gram(0, 0);
        EXPECT_LT((gram - Eigen::MatrixXd::Identity(rank, rank)).norm(), 1e-9) << rank;
    }
}

// The factors alone would lose variance in every layer, and with it what a sine does.
TEST(LowRank, KeepsMeanAndVarianceOfThePreActivations) {
    const HiddenStart start = start_of(Activation::sin, 30);
    const Tensor x = sin(normal({500, 32}, 4, 2));
    const Tensor dense = linear(x, start_weight(32, 32, DType::float64, start.start),
                                start_bias(32, 32, DType::float64, start.start));
    for (int64_t rank : {2, 8, 32}) {
        LowRank layer(32, 32, {.rank = rank}, start);
        layer.initialize_from_data(x);
        const Tensor w = start_weight(32, 32, DType::float64, start.start);
        EXPECT_LT(principal_factors(w, x, rank).kept, rank == 2 ? 0.3 : rank == 8 ? 0.8 : 1.01);
        const std::vector<ChainLayer> steps = layer.as_chain();
        const Tensor z =
            linear(linear(x, steps[0].weight, Tensor()), steps[1].weight, steps[1].bias);
        EXPECT_NEAR(sum(variance(z, {0})).item() / sum(variance(dense, {0})).item(), 1, 1e-9)
            << rank;
        EXPECT_LT(max(abs(mean(z, {0}) - mean(dense, {0}))).item(), 1e-12) << rank;
        EXPECT_LT(max(abs(layer.forward(x) - sin(z * 30.0))).item(), 1e-12) << rank;
    }
}

// Reduced-rank regression: the full rank is the ridge regression, a smaller one the best of its
// rank.
TEST(LowRank, LinearOnesStartByReducedRankRegression) {
    const HiddenStart start = start_of(Activation::sin, 10);
    const Tensor x = sin(normal({500, 12}, 4, 2)), dense = dense_outputs(x, 12, start);
    const auto error = [&](const Tensor& y) { return mean(square(y - dense)).item(); };
    const RidgeSolution full = ridge_regression(x, dense, 1e-4);
    const double least = error(linear(x, full.weight, full.bias));
    double before = 1e9;
    for (int64_t rank : {1, 4, 8, 12}) {
        LowRank layer(12, 12, {.rank = rank, .activated = false}, start);
        const double own = error(layer.initialize_from_data(x));
        EXPECT_LT(own, before);
        EXPECT_GE(own, least * (1 - 1e-9));
        before = own;
    }
    EXPECT_NEAR(before, least, 1e-9 * least);
}

TEST(LowRank, CountsByClosedFormulas) {
    const ParameterCount count = LowRank(10, 7, {.rank = 3}, start_of(Activation::tanh, 1)).count();
    for (const int64_t numbers : {count.trained, count.deployed, count.regenerated})
        EXPECT_EQ(numbers, 3 * (10 + 7) + 7);
    EXPECT_THROW(LowRank(10, 7, {.rank = 8}, start_of(Activation::tanh, 1)), Error);
}

}  // namespace
}  // namespace ralimp
