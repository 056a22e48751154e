#include "trainers/pinn_problem.h"

#include <numbers>

#include "autograd/operations.h"

namespace ralimp {
namespace {

class Burgers : public PinnProblem {
public:
    explicit Burgers(const BurgersConfig& config)
        : viscosity_(config.viscosity), plan_(JetPlan::make({{0}, {1}, {0, 0}})) {}

    std::string name() const override { return BurgersConfig::kind; }
    Box domain() const override { return {{-1, 0}, {1, 1}}; }
    std::vector<std::string> axis_names() const override { return {"x", "t"}; }
    std::vector<std::string> output_names() const override { return {"u"}; }
    std::shared_ptr<const JetPlan> derivatives() const override { return plan_; }

    Tensor residual(const Jet& u, const Tensor&) const override {
        const Tensor u_x = u.derivative({0}), u_t = u.derivative({1}), u_xx = u.derivative({0, 0});
        return u_t + u.value() * u_x - viscosity_ * u_xx;
    }

    std::vector<ValueCondition> conditions(const PointsConfig& points,
                                           const RandomKey& key) const override {
        RandomKey initial_key = key, boundary_key = key;
        initial_key.step = key.step * 4 + 1;
        boundary_key.step = key.step * 4 + 2;
        const Tensor x = sample_points(points.sampler, {{-1}, {1}}, points.initial, initial_key);
        const Tensor t = sample_points(points.sampler, {{0}, {1}}, points.boundary, boundary_key);
        const Tensor initial =
            concatenate({x, Tensor::zeros({points.initial, 1}, DType::float64)}, 1);
        // Half of the boundary points on each side.
        std::vector<double> side;
        for (int64_t i = 0; i < points.boundary; ++i) side.push_back(i % 2 ? 1 : -1);
        const Tensor boundary = concatenate({Tensor::from(side, {points.boundary, 1}), t}, 1);
        return {{"initial", initial, neg(sin(x * std::numbers::pi))},
                {"boundary", boundary, Tensor::zeros({points.boundary, 1}, DType::float64)}};
    }

    Tensor exact(const Tensor& points) const override {
        return burgers_solution(points, viscosity_);
    }

private:
    double viscosity_;
    std::shared_ptr<const JetPlan> plan_;
};

}  // namespace

Tensor PinnProblem::evaluation_points(const std::array<int64_t, 2>& grid) const {
    Box box = domain();
    box.upper[1] -= (box.upper[1] - box.lower[1]) / static_cast<double>(grid[1]);
    return grid_points(box, {grid[0], grid[1]});
}

std::unique_ptr<PinnProblem> make_problem(const PinnProblemConfig& config) {
    return std::visit(
        [](const BurgersConfig& burgers) { return std::make_unique<Burgers>(burgers); }, config);
}

}  // namespace ralimp
