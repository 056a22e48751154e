#include "optim/bfgs.h"

#include <gtest/gtest.h>

#include <random>

#include "core/parallel.h"
#include "optim/lbfgs.h"
#include "tests/error_of.h"
#include "tests/optim/problems.h"

namespace ralimp {
namespace {

using problems::IllConditioned;
using problems::objective;
using problems::Regression;
using problems::Rosenbrock;

constexpr InverseHessianUpdate every_update[] = {InverseHessianUpdate::bfgs,
                                                 InverseHessianUpdate::self_scaled_bfgs,
                                                 InverseHessianUpdate::self_scaled_broyden};

using Vector = std::vector<double>;

// n x n, row by row.
struct Matrix {
    int64_t n;
    Vector values;

    explicit Matrix(int64_t size) : n(size), values(static_cast<size_t>(size * size)) {}
    double& operator()(int64_t i, int64_t j) { return values[static_cast<size_t>(i * n + j)]; }
    double operator()(int64_t i, int64_t j) const { return values[static_cast<size_t>(i * n + j)]; }
};

double dot(const Vector& a, const Vector& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

Vector operator*(const Matrix& m, const Vector& v) {
    Vector result(v.size());
    for (int64_t i = 0; i < m.n; ++i)
        for (int64_t j = 0; j < m.n; ++j)
            result[static_cast<size_t>(i)] += m(i, j) * v[static_cast<size_t>(j)];
    return result;
}

Matrix operator*(const Matrix& a, const Matrix& b) {
    Matrix result(a.n);
    for (int64_t i = 0; i < a.n; ++i)
        for (int64_t j = 0; j < a.n; ++j)
            for (int64_t k = 0; k < a.n; ++k) result(i, j) += a(i, k) * b(k, j);
    return result;
}

// By Gauss and Jordan, without pivots: enough for a positive definite matrix.
Matrix inverse(Matrix m) {
    Matrix result(m.n);
    for (int64_t i = 0; i < m.n; ++i) result(i, i) = 1;
    for (int64_t k = 0; k < m.n; ++k) {
        const double pivot = m(k, k);
        for (int64_t j = 0; j < m.n; ++j) m(k, j) /= pivot, result(k, j) /= pivot;
        for (int64_t i = 0; i < m.n; ++i) {
            if (i == k) continue;
            const double factor = m(i, k);
            for (int64_t j = 0; j < m.n; ++j)
                m(i, j) -= factor * m(k, j), result(i, j) -= factor * result(k, j);
        }
    }
    return result;
}

// The member of Broyden's class in terms of B = H⁻¹, where θ stands for φ:
// B⁺ = τ (B - B s (B s)ᵀ / s·B s + θ w wᵀ) + y yᵀ / y·s,  w = √(s·B s) (y / y·s - B s / s·B s).
Matrix updated(const Matrix& B, const Vector& s, const Vector& y, double theta, double tau) {
    const Vector Bs = B * s;
    const double sBs = dot(s, Bs), ys = dot(y, s);
    Matrix result(B.n);
    for (int64_t i = 0; i < B.n; ++i)
        for (int64_t j = 0; j < B.n; ++j) {
            const auto w = [&](int64_t k) {
                const auto at = static_cast<size_t>(k);
                return std::sqrt(sBs) * (y[at] / ys - Bs[at] / sBs);
            };
            const auto a = static_cast<size_t>(i), b = static_cast<size_t>(j);
            result(i, j) =
                tau * (B(i, j) - Bs[a] * Bs[b] / sBs + theta * w(i) * w(j)) + y[a] * y[b] / ys;
        }
    return result;
}

Matrix matrix_of(const InverseHessian& H) {
    Matrix result(H.matrix().size(0));
    result.values = H.matrix().to_doubles();
    return result;
}

TEST(InverseHessian, StaysTheInverseOfTheHessianUpdatedByItself) {
    for (const InverseHessianUpdate update : every_update)
        for (const int64_t n : {1, 2, 7, 12}) {
            std::mt19937 random(7);
            std::normal_distribution<double> normal;
            InverseHessian H(ParameterLayout::single(n, DType::float64), update);
            Matrix B(n);
            for (int step = 0; step < 6; ++step) {
                SCOPED_TRACE(testing::Message()
                             << static_cast<int>(update) << " " << n << " " << step);
                // A gradient change of positive curvature: y = C s with C > 0.
                const auto draw = [&](int64_t) { return normal(random); };
                const Tensor gradient = problems::filled(n, DType::float64, draw);
                const double length = 0.5 + 0.1 * step;
                const Vector downhill = H.descent_direction(gradient).to_doubles();
                Vector s(downhill), y(downhill);
                for (size_t i = 0; i < s.size(); ++i) {
                    s[i] = length * downhill[i];
                    y[i] = s[i] * (0.3 + static_cast<double>(i * i)) / 2;
                }
                if (step == 0)
                    for (int64_t i = 0; i < n; ++i) B(i, i) = dot(y, y) / dot(s, y);
                const double ys = dot(y, s), sBs = dot(s, B * s), yHy = dot(y, inverse(B) * y);
                const double b = sBs / ys, h = yHy / ys, a = b * h - 1;
                const BroydenMember member = broyden_member(update, b, h, n);
                B = updated(B, s, y, (1 - member.phi) / (1 + a * member.phi), member.tau);
                H.add({Tensor::from(s, {n}), Tensor::from(y, {n}), gradient, length});
                const Matrix product = matrix_of(H) * B;
                for (int64_t i = 0; i < n; ++i)
                    for (int64_t j = 0; j < n; ++j)
                        ASSERT_NEAR(product(i, j), i == j, 1e-9 * (1 + std::abs(a)));
                const Vector secant = matrix_of(H) * y;
                for (size_t i = 0; i < s.size(); ++i)
                    EXPECT_NEAR(secant[i], s[i], 1e-10 * std::sqrt(dot(s, s)));
            }
        }
}

TEST(BroydenMember, AgreesWithItsFormulasByHand) {
    const auto expect = [](BroydenMember member, double phi, double tau) {
        EXPECT_NEAR(member.phi, phi, 1e-12);
        EXPECT_NEAR(member.tau, tau, 1e-12);
    };
    expect(broyden_member(InverseHessianUpdate::bfgs, 3, 2, 5), 1, 1);
    expect(broyden_member(InverseHessianUpdate::self_scaled_bfgs, 4, 2, 5), 1, 0.25);
    expect(broyden_member(InverseHessianUpdate::self_scaled_bfgs, 0.5, 4, 5), 1, 1);
    // a = 1, θ = (1 - b) / b = -1/2, σ = 1/2: τ is σ.
    expect(broyden_member(InverseHessianUpdate::self_scaled_broyden, 2, 1, 5), 3, 0.5);
    // a = 1, (1 - b) / b = 1: DFP, and σ = 2 shrinks τ.
    expect(broyden_member(InverseHessianUpdate::self_scaled_broyden, 0.5, 4, 5), 0,
           std::pow(2, -0.25));
    // a = 3, ρ⁻ = 1 - √(3/4) at h = 1, θ⁻ = -√(3/4)/3 is above (1 - b)/b = -3/4.
    const double theta = -std::sqrt(0.75) / 3, sigma = 1 + 3 * theta;
    expect(broyden_member(InverseHessianUpdate::self_scaled_broyden, 4, 1, 5), (1 - theta) / sigma,
           std::min(0.25 * std::pow(sigma, -0.25), sigma));
    // Parallel s and H y.
    expect(broyden_member(InverseHessianUpdate::self_scaled_broyden, 2, 0.5, 5), 1, 0.5);
}

StepResult run(QuasiNewton& optimizer, const Tensor& parameters, const Objective& evaluate,
               int steps) {
    StepResult result;
    for (int step = 0; step < steps && result.stop == StopReason::none; ++step) {
        const double before = evaluate().loss;
        result = optimizer.step(parameters, 1, evaluate);
        EXPECT_LE(result.loss_after.value(), before);
        EXPECT_EQ(result.loss_after.value(), evaluate().loss);
    }
    return result;
}

TEST(Bfgs, SolvesRosenbrockInBothTypes) {
    for (const InverseHessianUpdate update : every_update)
        for (const DType dtype : {DType::float64, DType::float32})
            for (const int64_t count : {1, 2, 3}) {
                const Tensor x = problems::rosenbrock_start(count, dtype);
                Bfgs bfgs(ParameterLayout::single(count, dtype),
                          {.update = update, .tolerance_gradient = 1e-9});
                const StepResult last = run(bfgs, x, objective<Rosenbrock>(x), 400);
                EXPECT_LT(*last.loss_after, dtype == DType::float64 ? 1e-16 : 1e-8)
                    << static_cast<int>(update) << " " << name_of(dtype) << " " << count;
            }
}

TEST(Bfgs, NeedsFewerIterationsThanLbfgsOnANetwork) {
    for (const InverseHessianUpdate update : every_update) {
        const auto loss_after = [](auto&& make) {
            const Tensor x = problems::regression_start(30);
            const auto optimizer = make(ParameterLayout::single(30, DType::float64));
            return *run(*optimizer, x, objective<Regression>(x), 300).loss_after;
        };
        const double with_matrix = loss_after([&](const ParameterLayout& layout) {
            return std::make_unique<Bfgs>(layout, BfgsConfig{.update = update});
        });
        const double with_pairs = loss_after([&](const ParameterLayout& layout) {
            return std::make_unique<Lbfgs>(layout,
                                           LbfgsConfig{.history_size = 5, .tolerance_change = 0});
        });
        EXPECT_LT(with_matrix, with_pairs / 2) << static_cast<int>(update);
    }
}

TEST(Bfgs, FindsTheHessianOfAQuadratic) {
    const int64_t n = 6;
    const Tensor x = Tensor::zeros({n}, DType::float64);
    Bfgs bfgs(ParameterLayout::single(n, DType::float64), {.update = InverseHessianUpdate::bfgs});
    run(bfgs, x, objective<IllConditioned>(x), 400);
    for (double value : x.to_doubles()) EXPECT_NEAR(value, 1, 1e-9);
    const Vector H = bfgs.inverse_hessian().matrix().to_doubles();
    for (int64_t i = 0; i < n; ++i)
        EXPECT_NEAR(H[static_cast<size_t>(i * n + i)] * std::pow(1e6, static_cast<double>(i) / 5),
                    1, 0.3)
            << i;
}

TEST(Bfgs, KeepsWhatItLearnedWhenTheObjectiveChanges) {
    const Tensor x = problems::regression_start(12);
    Bfgs bfgs(ParameterLayout::single(12, DType::float64), {});
    run(bfgs, x, objective<Regression>(x), 20);
    const Vector before = bfgs.inverse_hessian().matrix().to_doubles();
    bfgs.objective_changed();
    EXPECT_EQ(bfgs.inverse_hessian().matrix().to_doubles(), before);
    int evaluations = 0;
    const Objective counted = [&] {
        ++evaluations;
        return objective<Regression>(x)();
    };
    const StepResult next = bfgs.step(x, 1, counted);
    EXPECT_EQ(next.evaluations, evaluations);
    EXPECT_GE(evaluations, 2) << "the loss at the start of the step must be computed anew";
}

TEST(Bfgs, HasTheSameBitsForAnyNumberOfThreads) {
    const int threads = thread_count();
    std::vector<Vector> results;
    for (const int used : {1, 2, 5}) {
        set_thread_count(used);
        const Tensor x = problems::rosenbrock_start(301);
        Bfgs bfgs(ParameterLayout::single(301, DType::float64), {});
        run(bfgs, x, objective<Rosenbrock>(x), 25);
        results.push_back(x.to_doubles());
    }
    set_thread_count(threads);
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
}

TEST(Bfgs, AMatrixThatIsTooLargeIsRefusedBeforeItIsMade) {
    const Thrown thrown =
        error_of([] { Bfgs(ParameterLayout::single(198401, DType::float32), BfgsConfig{}); });
    EXPECT_EQ(thrown.code, ExitCode::bad_config);
    EXPECT_EQ(thrown.text,
              "bfgs: the inverse Hessian of 198401 parameters takes 293 GiB, more than "
              "max_memory_gib = 4; lbfgs needs no matrix");
}

TEST(Bfgs, AStateWithoutSenseIsRefused) {
    Bfgs bfgs(ParameterLayout::single(4, DType::float64), {});
    for (const double updates : {-1.0, 0.5, std::nan(""), 1e300}) {
        OptimizerState state = bfgs.state();
        for (auto& [name, value] : state.scalars)
            if (name == "updates") value = updates;
        EXPECT_EQ(error_of([&] { bfgs.load(state); }).code, ExitCode::bad_input);
    }
    const Bfgs other(ParameterLayout::single(5, DType::float64), {});
    EXPECT_EQ(error_of([&] { bfgs.load(other.state()); }).code, ExitCode::bad_input);
}

}  // namespace
}  // namespace ralimp
