// The lid-driven cavity: its equations and conditions on fields that fulfil them, and a training
// against a finite-difference solution whose error is known from its grids.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "autograd/operations.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"
#include "tests/trainers/training_testing.h"
#include "trainers/config.h"
#include "trainers/pinn.h"

namespace ralimp {
namespace {

// Steady flow by streamfunction ψ and vorticity ω on n x n cells: u = ψ_y, v = -ψ_x, ∇²ψ = -ω,
// u ω_x + v ω_y = ∇²ω/Re; central differences, Thom's formula on the walls, relaxed point by point.
class FiniteDifferences {
public:
    FiniteDifferences(int n, double reynolds, bool regularized)
        : n_(n), h_(1.0 / n), psi_((n + 1) * (n + 1)), omega_(psi_.size()), lid_(n + 1) {
        for (int i = 0; i <= n; ++i) {
            const double x = i * h_;
            lid_[i] = regularized ? 16 * x * x * (1 - x) * (1 - x) : 1;
        }
        for (int sweep = 0; sweep < 100000; ++sweep)
            if (relax(reynolds) < 1e-10) return;
        ADD_FAILURE() << "the finite differences do not converge on " << n << " cells";
    }

    double psi(int i, int j) const { return psi_[j * (n_ + 1) + i]; }
    // At the inner point (i, j) of the grid.
    double u(int i, int j) const { return (psi(i, j + 1) - psi(i, j - 1)) / (2 * h_); }
    double v(int i, int j) const { return -(psi(i + 1, j) - psi(i - 1, j)) / (2 * h_); }
    double smallest_psi() const { return *std::min_element(psi_.begin(), psi_.end()); }

private:
    double& at(std::vector<double>& field, int i, int j) const { return field[j * (n_ + 1) + i]; }

    double relax(double reynolds) {
        const double h2 = h_ * h_;
        for (int i = 1; i < n_; ++i) {
            at(omega_, i, 0) = -2 * psi(i, 1) / h2;
            at(omega_, i, n_) = -2 * psi(i, n_ - 1) / h2 - 2 * lid_[i] / h_;
            at(omega_, 0, i) = -2 * psi(1, i) / h2;
            at(omega_, n_, i) = -2 * psi(n_ - 1, i) / h2;
        }
        double largest = 0;
        for (int j = 1; j < n_; ++j)
            for (int i = 1; i < n_; ++i) {
                const double cx = reynolds * h_ * u(i, j) / 2, cy = reynolds * h_ * v(i, j) / 2;
                const double east = at(omega_, i + 1, j), west = at(omega_, i - 1, j);
                const double north = at(omega_, i, j + 1), south = at(omega_, i, j - 1);
                const double next =
                    ((1 - cx) * east + (1 + cx) * west + (1 - cy) * north + (1 + cy) * south) / 4;
                double& omega = at(omega_, i, j);
                omega += 0.7 * (next - omega);
                double& stream = at(psi_, i, j);
                const double change =
                    (psi(i + 1, j) + psi(i - 1, j) + psi(i, j + 1) + psi(i, j - 1) + h2 * omega) /
                        4 -
                    stream;
                stream += 1.2 * change;
                largest = std::max(largest, std::abs(change));
            }
        return largest;
    }

    int n_;
    double h_;
    std::vector<double> psi_, omega_, lid_;
};

// Ghia, Ghia & Shin, J. Comput. Phys. 48 (1982): at Re = 100 the smallest ψ is -0.103423, u at the
// centre -0.20581.
TEST(Cavity, FiniteDifferencesAgreeWithThePublishedFlow) {
    const FiniteDifferences fine(64, 100, false);
    EXPECT_NEAR(fine.smallest_psi(), -0.103423, 1.5e-3);
    EXPECT_NEAR(fine.u(32, 32), -0.20581, 4e-3);
}

// The error falls as h²: (f_16 - f_32)/(f_32 - f_64) is 4.
TEST(Cavity, FiniteDifferencesConvergeWithTheGrid) {
    const FiniteDifferences coarse(16, 20, true), middle(32, 20, true), fine(64, 20, true);
    const double ratio = (coarse.u(8, 8) - middle.u(16, 16)) / (middle.u(16, 16) - fine.u(32, 32));
    EXPECT_GT(ratio, 3);
    EXPECT_LT(ratio, 5);
}

PinnConfig config_of(const std::string& text) {
    return std::get<PinnConfig>(
        read_config_text<RunConfig>("kind: pinn\nprecision: float64\n" + text));
}

using Field = std::function<Tensor(const Tensor& x, const Tensor& y)>;

// u, v and p with the derivatives that the plan carries, by nested reverse mode.
Jet jet_of(const std::vector<Field>& fields, const Tensor& at,
           const std::shared_ptr<const JetPlan>& plan) {
    const Tensor points = requires_grad(at);
    Tensors channels;
    for (int channel = 0; channel < plan->channels(); ++channel) {
        Tensors columns;
        for (const Field& field : fields) {
            Tensor value = field(slice(points, 1, 0, 1), slice(points, 1, 1, 2));
            for (int axis : plan->axes(channel))
                value = slice(grad(sum(value), points, true), 1, axis, axis + 1);
            columns.push_back(value);
        }
        channels.push_back(concatenate(columns, 1));
    }
    return Jet(stack(channels), plan);
}

const RandomKey key{1, RandomStream::points, 0};

std::vector<double> residuals(const PinnProblem& problem, const std::vector<Field>& fields) {
    const Tensor at = problem.residual_points(key, 50);
    const Jet u = jet_of(fields, at, JetPlan::make({{0, 0}, {1, 1}}));
    std::vector<double> largest;
    for (const PinnEquation& equation : problem.equations())
        largest.push_back(max(abs(equation.formula.evaluate({&u, at, {}, {}}))).item());
    return largest;
}

double violation(const PinnCondition& condition, const std::vector<Field>& fields) {
    const ConditionPoints at = condition.draw(key);
    const Jet u = jet_of(fields, at.points, JetPlan::value_only());
    double largest = 0;
    for (const Formula& formula : condition.formulas)
        largest =
            std::max(largest, max(abs(formula.evaluate({&u, at.points, at.normals, {}}))).item());
    return largest;
}

// Kovasznay's exact solution of the steady equations (Proc. Camb. Phil. Soc. 44, 1948).
TEST(Cavity, KovasznayFlowSolvesItsEquations) {
    const double reynolds = 37, pi = std::numbers::pi;
    const double rate = reynolds / 2 - std::sqrt(reynolds * reynolds / 4 + 4 * pi * pi);
    const auto flow = [&](double pressure) {
        return std::vector<Field>{
            [=](const Tensor& x, const Tensor& y) {
                return 1.0 - exp(x * rate) * cos(y * (2 * pi));
            },
            [=](const Tensor& x, const Tensor& y) {
                return exp(x * rate) * sin(y * (2 * pi)) * (rate / (2 * pi));
            },
            [=](const Tensor& x, const Tensor&) { return exp(x * (2 * rate)) * -pressure; }};
    };
    const auto problem = make_problem(config_of("problem: {kind: cavity, reynolds: 37}\n").problem,
                                      {.residual = 50, .adaptive = {}});
    ASSERT_EQ(problem->equations().size(), 3u);
    for (double residual : residuals(*problem, flow(0.5))) EXPECT_LT(residual, 1e-12);
    EXPECT_GT(residuals(*problem, flow(0.6))[0], 1e-2);
    const auto other = make_problem(config_of("problem: {kind: cavity}\n").problem,
                                    {.residual = 50, .adaptive = {}});
    EXPECT_GT(residuals(*other, flow(0.5))[1], 1e-3);
    EXPECT_LT(residuals(*other, flow(0.5))[2], 1e-12);
}

// ψ = 16 x² (1-x)² (y³ - y²): at rest on three walls, the regularized lid on the fourth.
TEST(Cavity, AFlowWithItsWallsFulfilsTheConditions) {
    const auto square_of = [](const Tensor& x) { return square(x * (1.0 - x)) * 16.0; };
    const std::vector<Field> flow{
        [=](const Tensor& x, const Tensor& y) { return square_of(x) * (y * y * 3.0 - y * 2.0); },
        [=](const Tensor& x, const Tensor& y) {
            return x * (1.0 - x) * (1.0 - x * 2.0) * -32.0 * (y * y * y - y * y);
        },
        [](const Tensor& x, const Tensor& y) { return x * y; }};
    const auto smooth =
        make_problem(config_of("problem: {kind: cavity, regularized: true}\n").problem, {});
    ASSERT_EQ(smooth->conditions().size(), 3u);
    for (const PinnCondition& condition : smooth->conditions())
        EXPECT_LT(violation(condition, flow), 1e-13) << condition.name;
    EXPECT_LT(residuals(*smooth, flow)[2], 1e-13);
    const auto sharp = make_problem(config_of("problem: {kind: cavity}\n").problem, {});
    EXPECT_EQ(sharp->conditions()[0].name, "lid");
    EXPECT_GT(violation(sharp->conditions()[0], flow), 0.5);
    EXPECT_EQ(sharp->conditions()[1].name, "walls");
    EXPECT_LT(violation(sharp->conditions()[1], flow), 1e-13);
    EXPECT_EQ(sharp->conditions()[2].name, "pressure");
    std::vector<Field> shifted = flow;
    shifted[2] = [](const Tensor& x, const Tensor& y) { return x * y + 2.0; };
    EXPECT_NEAR(violation(sharp->conditions()[2], shifted), 2, 1e-15);
}

// Walls and lid by construction, the pressure by its term.
TEST(Cavity, ATrainingFindsTheFlowOfTheFiniteDifferences) {
    const NoPrograms no_programs;
    const TemporaryFolder folder;
    const std::string text =
        "kind: pinn\nprecision: float64\nproblem: {kind: cavity, reynolds: 20, regularized: true}\n"
        "constraints: {leave_out: [lid, walls], outputs: [\"16*x^2*(1 - x)^2*y^2 + "
        "x*(1 - x)*y*(1 - y)*u\", \"x*(1 - x)*y*(1 - y)*v\", p]}\n"
        "network: {hidden_layers: 2, width: 16}\npoints: {residual: 400}\n"
        "evaluation: {grid: [17, 17]}\ntraining: {phases: [{steps: 200, optimizer: {kind: adam, "
        "learning_rate: 5e-3}}, {steps: 300, optimizer: {kind: lbfgs}}]}\n";
    std::vector<Tensor> predictions;
    const int n = 32;
    std::vector<double> points;
    for (int j = 1; j < n; ++j)
        for (int i = 1; i < n; ++i) points.insert(points.end(), {i / double(n), j / double(n)});
    const Tensor at = Tensor::from(points, {(n - 1) * (n - 1), 2});
    const Trained trained = train_in(folder / "run", text, [&](WatchedTask& task) {
        predictions.push_back(task.model().forward(at));
        task.before_drawing = [&] { predictions.push_back(task.model().forward(at)); };
    });
    EXPECT_EQ(trained.error, "");
    const FiniteDifferences flow(n, 20, true);
    const auto error_of_velocity = [&](const Tensor& prediction) {
        const std::vector<double> values = prediction.to_doubles();
        double difference = 0, size = 0;
        std::size_t row = 0;
        for (int j = 1; j < n; ++j)
            for (int i = 1; i < n; ++i, ++row) {
                const double u = flow.u(i, j), v = flow.v(i, j);
                difference +=
                    std::pow(values[3 * row] - u, 2) + std::pow(values[3 * row + 1] - v, 2);
                size += u * u + v * v;
            }
        return std::sqrt(difference / size);
    };
    ASSERT_GE(predictions.size(), 2u);
    EXPECT_GT(error_of_velocity(predictions.front()), 0.5);
    EXPECT_LT(error_of_velocity(predictions.back()), 0.1);
}

}  // namespace
}  // namespace ralimp
