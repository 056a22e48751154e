#include "trainers/pinn.h"

#include <algorithm>
#include <cmath>

#include "autograd/operations.h"
#include "data/samplers.h"
#include "trainers/plot.h"

namespace ralimp {

PinnTask::PinnTask(const PinnConfig& config)
    : config_(config),
      problem_(make_problem(config.problem)),
      network_(make_network(
          config.network, problem_->domain(), static_cast<int64_t>(problem_->output_names().size()),
          dtype_of(config.run.precision), static_cast<uint64_t>(config.run.seed))),
      dtype_(dtype_of(config.run.precision)),
      part_rows_(rows_per_part(problem_->derivatives()->channels(), config.network.width, dtype_)) {
    set_batch(0);
}

void PinnTask::set_batch(int64_t sample_step) {
    const int64_t every = config_.points.resample_every;
    const int64_t draw = every > 0 ? sample_step / every : 0;
    if (draw == drawn_) return;
    drawn_ = draw;
    const RandomKey key{static_cast<uint64_t>(config_.run.seed), RandomStream::points,
                        static_cast<uint32_t>(draw)};
    RandomKey residual_key = key;
    residual_key.step = key.step * 4;
    residual_points_ = to(sample_points(config_.points.sampler, problem_->domain(),
                                        config_.points.residual, residual_key),
                          dtype_);
    conditions_.clear();
    Tensors points, values;
    for (const ValueCondition& condition : problem_->conditions(config_.points, key)) {
        conditions_.push_back({condition.name,
                               condition.name == "initial" ? config_.loss.initial_weight
                                                           : config_.loss.boundary_weight,
                               condition.points.size(0)});
        points.push_back(condition.points);
        values.push_back(condition.values);
    }
    condition_points_ = to(concatenate(points), dtype_);
    condition_values_ = to(concatenate(values), dtype_);
}

Tensor PinnTask::calibration_batch() const {
    return concatenate({residual_points_, condition_points_});
}

// Of the points that were drawn: a grid may have fewer than were asked for.
int64_t PinnTask::parts() const { return (residual_points_.size(0) + part_rows_ - 1) / part_rows_; }

Loss PinnTask::loss(int64_t part) const {
    const int64_t rows = residual_points_.size(0), begin = part * part_rows_;
    const Tensor points = slice(residual_points_, 0, begin, std::min(begin + part_rows_, rows));
    const Jet u = network_->forward(Jet::input(points, problem_->derivatives()));
    // The mean over all points is the sum of the parts' shares of it.
    const double share = static_cast<double>(points.size(0)) / static_cast<double>(rows);
    const Tensor residual = mean_error(config_.loss.kind, problem_->residual(u, points)) * share;
    Loss result{residual * config_.loss.residual_weight, {{"residual", residual}}};
    if (part != 0) return result;
    const Tensor difference = network_->forward(condition_points_) - condition_values_;
    int64_t row = 0;
    for (const Condition& condition : conditions_) {
        const Tensor term =
            mean_error(config_.loss.kind, slice(difference, 0, row, row + condition.rows));
        row += condition.rows;
        result.terms.emplace_back(condition.name, term);
        result.total = result.total + term * condition.weight;
    }
    return result;
}

Tensor PinnTask::predict(const Tensor& points) const {
    const Tensor values =
        in_pieces(to(points, dtype_), [&](const Tensor& x) { return network_->forward(x); });
    return to(select(values, 1, 0), DType::float64);
}

const Tensor& PinnTask::exact_solution(const Tensor& points) {
    if (!exact_.defined())
        exact_ =
            in_pieces(points, [&](const Tensor& x) { return select(problem_->exact(x), 1, 0); });
    return exact_;
}

NamedValues PinnTask::evaluate() {
    const Tensor points = problem_->evaluation_points(config_.evaluation.grid);
    const Tensor exact = exact_solution(points), difference = predict(points) - exact;
    const double error = std::sqrt(sum(square(difference)).item());
    return {{"relative_l2", error / std::sqrt(sum(square(exact)).item())},
            {"max_error", max(abs(difference)).item()}};
}

std::vector<std::string> PinnTask::draw(const std::filesystem::path& folder) {
    const Tensor points = problem_->evaluation_points(config_.evaluation.grid);
    const Shape shape{config_.evaluation.grid[0], config_.evaluation.grid[1]};
    const Tensor prediction = reshape(predict(points), shape);
    const Tensor exact = reshape(exact_solution(points), shape);
    const Box box = problem_->domain();
    const auto names = problem_->axis_names();
    const std::string u = problem_->output_names()[0];
    plot_fields((folder / "solution.png").string(),
                {{"network " + u, prediction, 0},
                 {"exact " + u, exact, 0},
                 {"|error|", abs(prediction - exact), 1, Palette::inferno}},
                {names[1], box.lower[1], box.upper[1]}, {names[0], box.lower[0], box.upper[0]});
    return {"solution.png"};
}

}  // namespace ralimp
