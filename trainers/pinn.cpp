#include "trainers/pinn.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/ranges.h>

#include "autograd/operations.h"
#include "core/file.h"
#include "data/weighted_choice.h"

namespace ralimp {
namespace {

std::shared_ptr<const JetPlan> plan_of(const std::vector<PinnEquation>& equations) {
    std::vector<std::vector<int>> derivatives;
    for (const PinnEquation& equation : equations)
        for (const auto& axes : equation.formula.derivatives()) derivatives.push_back(axes);
    return JetPlan::make(std::move(derivatives));
}

std::vector<double> picture_times(const PinnProblem& problem,
                                  const std::optional<std::vector<double>>& given) {
    if (!problem.time()) {
        if (given) fail_with(ExitCode::bad_config, "evaluation.times: the problem has no time");
        return {};
    }
    const auto& [start, end] = *problem.time();
    if (!given) {
        const double length = end - start;
        return {start + 0.25 * length, start + 0.5 * length, start + 0.75 * length};
    }
    for (const double time : *given)
        if (!(start <= time && time <= end))
            fail_with(ExitCode::bad_config,
                      "evaluation.times: {} is outside the problem's {} to {}", time, start, end);
    return *given;
}

Jet rows_of(const Jet& jet, int64_t begin, int64_t end) {
    return Jet(slice(jet.channels(), 1, begin, end), jet.shared_plan());
}

}  // namespace

PinnTask::PinnTask(const PinnConfig& config, TaskUse use)
    : config_(config),
      text_(problem_text(config.problem)),
      problem_(make_problem(
          config.problem, config.points,
          use == TaskUse::training ? ProblemParts::all : ProblemParts::without_conditions)),
      plan_(plan_of(problem_->equations())),
      dtype_(dtype_of(config.run.precision)),
      part_rows_(rows_per_part(plan_->channels(), hidden_width(config.network), dtype_)) {
    picture_times_ = picture_times(*problem_, config.evaluation.times);
    if (use == TaskUse::training) {
        enforced_ = enforced_conditions(config.constraints, *problem_);
        reference();  // complains now, not after the training
    }
    model_ = pinn_model(config.network);
    if (use == TaskUse::trained_model) return;
    try {
        draw_points(0);
    } catch (const Error& error) {  // points that cannot be drawn as the config wants them
        if (error.code() != ExitCode::failure) throw;
        fail_with(ExitCode::bad_config, "points: {}", error.what());
    }
    weights_ = make_weights();
}

std::unique_ptr<PinnModel> PinnTask::pinn_model(const NetworkConfig& network) const {
    auto chain = make_network(
        network, problem_->domain(), static_cast<int64_t>(problem_->outputs().size()), dtype_,
        static_cast<uint64_t>(config_.run.seed), periodic_inputs(config_.constraints, *problem_));
    return std::make_unique<PinnModel>(std::move(chain), problem_->trained_coefficients(), dtype_,
                                       output_formulas(config_.constraints, *problem_));
}

std::unique_ptr<Layer> PinnTask::make_model(const NetworkConfig& network) const {
    return pinn_model(network);
}

std::unique_ptr<PinnWeights> PinnTask::make_weights() const {
    const PinnLossConfig& loss = config_.loss;
    if (loss.causal.is_on() && !problem_->time())
        fail_with(ExitCode::bad_config, "loss.causal.segments: the problem has no time");
    if (const auto* adaptive = std::get_if<SelfAdaptiveWeights>(&loss.weights);
        adaptive && adaptive->per == WeightOwner::point && config_.points.resample_every > 0)
        fail_with(
            ExitCode::bad_config,
            "loss.weights.per: points with weights of their own must stay; set it to term, or "
            "points.resample_every to 0");
    return std::make_unique<PinnWeights>(
        PinnWeights::Options{loss.kind, loss.weights, loss.causal, problem_->time(),
                             static_cast<uint64_t>(config_.run.seed)},
        loss_terms());
}

std::vector<LossTerm> PinnTask::loss_terms() const {
    std::vector<LossTerm> terms;
    for (const PinnEquation& equation : problem_->equations())
        terms.push_back({equation.name, config_.loss.residual_weight, residual_points_.size(0),
                         problem_->time().has_value()});
    for (const ConditionGroup& group : groups_)
        for (const auto& drawn : group.conditions)
            terms.push_back({drawn.condition->name, weight_of(*drawn.condition), drawn.rows});
    return terms;
}

double PinnTask::weight_of(const PinnCondition& condition) const {
    return condition.weight.value_or(condition.initial ? config_.loss.initial_weight
                                                       : config_.loss.boundary_weight);
}

void PinnTask::set_batch(int64_t sample_step) {
    const int64_t every = config_.points.resample_every;
    draw_points(every > 0 ? sample_step / every : 0);
    PinnWeights::Source source{parts(), [&](int64_t part) { return term_rows(part); }, {}};
    model_->visit("", [&](const std::string&, Tensor& tensor, const ParameterInfo& info) {
        if (info.trained) source.parameters.push_back(tensor);
    });
    weights_->update(sample_step, source);
}

void PinnTask::draw_points(int64_t draw) {
    if (draw == drawn_) return;
    const Tensor points = draw > 0 && config_.points.adaptive.candidates > 0
                              ? adaptive_points(draw)
                              : problem_->residual_points(key_of(draw, RandomStream::points),
                                                          config_.points.residual);
    residual_points_ = to(points, dtype_);
    groups_ = groups_of(enforced_, key_of(draw, RandomStream::points));
    drawn_ = draw;
    if (weights_) weights_->set_terms(loss_terms());
}

RandomKey PinnTask::key_of(int64_t draw, RandomStream stream) const {
    return {static_cast<uint64_t>(config_.run.seed), stream, static_cast<uint32_t>(draw)};
}

Tensor PinnTask::adaptive_points(int64_t draw) const {
    const AdaptivePointsConfig& adaptive = config_.points.adaptive;
    const Tensor candidates =
        problem_->residual_points(key_of(draw, RandomStream::points), adaptive.candidates);
    const Tensor size = sqrt(sum(square(residuals(candidates)), {1}));
    const Tensor sharpened = pow(size, adaptive.exponent);
    const double typical = mean(sharpened).item();
    // Where every residual is 0, or one is not finite, there is nothing to follow. The smallest
    // weight lets points without a residual fill up what the others leave.
    constexpr double smallest = 1e-12;
    const Tensor weights = typical > 0 && std::isfinite(typical)
                               ? clamp(sharpened * (1 / typical) + adaptive.offset, smallest,
                                       std::numeric_limits<double>::max())
                               : Tensor::ones(size.shape(), DType::float64);
    const int64_t count = std::min(config_.points.residual, candidates.size(0));
    return index_select(candidates, 0,
                        choose_weighted(key_of(draw, RandomStream::batches), weights, count));
}

NamedTensors PinnTask::saved_state() const {
    NamedTensors state = weights_->state();
    if (drawn_ <= 0 || config_.points.adaptive.candidates == 0) return state;
    state.emplace_back("draw", Tensor::full({}, static_cast<double>(drawn_), DType::float64));
    state.emplace_back("residual_points", residual_points_);
    return state;
}

void PinnTask::restore_state(const NamedTensors& state) {
    weights_->restore(state);
    if (config_.points.adaptive.candidates == 0) return;
    Tensor draw, points;
    for (const auto& [name, tensor] : state) {
        if (name == "draw") draw = tensor;
        if (name == "residual_points") points = tensor;
    }
    if (!draw.defined() && !points.defined()) return;
    if (!draw.defined() || draw.shape() != Shape{} || draw.dtype() != DType::float64 ||
        !points.defined() || points.shape().dims() != 2 || points.size(0) < 1 ||
        points.size(1) != residual_points_.size(1) || points.dtype() != dtype_)
        fail_with(ExitCode::bad_input, "the checkpoint's residual points do not fit the problem");
    residual_points_ = points;
    drawn_ = static_cast<int64_t>(draw.item());
    groups_ = groups_of(enforced_, key_of(drawn_, RandomStream::points));
    weights_->set_terms(loss_terms());
}

std::vector<PinnTask::ConditionGroup> PinnTask::groups_of(
    const std::vector<const PinnCondition*>& conditions, const RandomKey& key) const {
    std::vector<ConditionGroup> groups;
    for (const bool with_derivatives : {false, true}) {
        ConditionGroup group;
        std::vector<std::vector<int>> derivatives;
        Tensors points;
        int64_t begin = 0;
        for (const PinnCondition* condition : conditions) {
            const auto needed = [](const Formula& formula) {
                return !formula.derivatives().empty();
            };
            if (std::any_of(condition->formulas.begin(), condition->formulas.end(), needed) !=
                with_derivatives)
                continue;
            for (const Formula& formula : condition->formulas)
                for (const auto& axes : formula.derivatives()) derivatives.push_back(axes);
            ConditionPoints at = condition->draw(key);
            for (Tensor* tensor : {&at.points, &at.normals, &at.partners, &at.targets})
                if (tensor->defined()) *tensor = to(*tensor, dtype_);
            const int64_t rows = at.points.size(0);
            points.push_back(at.points);
            if (at.partners.defined()) points.push_back(at.partners);
            group.conditions.push_back({condition, begin, rows, at});
            begin += group.conditions.back().all_rows();
        }
        if (group.conditions.empty()) continue;
        group.plan = JetPlan::make(std::move(derivatives));
        group.points = concatenate(points);
        groups.push_back(std::move(group));
    }
    return groups;
}

// Of the points of the equations and of each condition as many as their share of all points, one at
// least: a condition may hold where the equations have no points. Any of them, as those of a grid
// stand in order.
Tensor PinnTask::calibration_batch() const {
    Tensors parts{residual_points_};
    for (const ConditionGroup& group : groups_)
        for (const auto& drawn : group.conditions)
            parts.push_back(slice(group.points, 0, drawn.begin, drawn.begin + drawn.all_rows()));
    int64_t all = 0;
    for (const Tensor& part : parts) all += part.size(0);
    if (all <= calibration_batch_rows) return concatenate(parts);
    int64_t left = calibration_batch_rows;
    for (std::size_t i = parts.size(); i-- > 0;) {  // the equations take what the others leave
        const int64_t rows = parts[i].size(0);
        const int64_t share = std::max<int64_t>(1, rows * calibration_batch_rows / all);
        const int64_t taken = std::min(rows, i == 0 ? left : share);
        // Steps never come as far.
        RandomKey key = key_of(0xFFFFFFFF, RandomStream::batches);
        key.seed += static_cast<uint64_t>(i) << 32;
        parts[i] = index_select(parts[i], 0, slice(random_permutation(rows, key), 0, 0, taken));
        left -= taken;
    }
    return concatenate(parts);
}

Tensor PinnTask::fresh_inputs(int64_t rows, int64_t number) const {
    RandomKey key = key_of(number, RandomStream::points);
    key.seed ^= uint64_t{1} << 63;
    Tensors points;
    for (const ConditionGroup& group : groups_of(enforced_, key)) points.push_back(group.points);
    int64_t of_conditions = 0;
    if (!points.empty()) {
        const Tensor all = concatenate(points);
        of_conditions = std::min(all.size(0), rows / 4);
        points = {
            index_select(all, 0, slice(random_permutation(all.size(0), key), 0, 0, of_conditions))};
    }
    points.push_back(to(problem_->residual_points(key, rows - of_conditions), dtype_));
    return concatenate(points);
}

// Of the points that were drawn: a grid may have fewer than were asked for.
int64_t PinnTask::parts() const { return (residual_points_.size(0) + part_rows_ - 1) / part_rows_; }

int64_t PinnTask::rows_of_part() const { return std::min(part_rows_, residual_points_.size(0)); }

std::vector<LossTermRows> PinnTask::term_rows(int64_t part) const {
    const int64_t begin = part * part_rows_,
                  end = std::min(begin + part_rows_, residual_points_.size(0));
    const Tensor points = slice(residual_points_, 0, begin, end);
    const Tensor times = problem_->time() ? slice(points, 1, -1, points.size(1)) : Tensor();
    const Tensors coefficients = model_->coefficients();
    const Jet u = model_->forward(Jet::input(points, plan_));
    std::vector<LossTermRows> terms;
    for (const PinnEquation& equation : problem_->equations())
        terms.push_back({terms.size(), equation.formula.evaluate({&u, points, {}, coefficients}),
                         times, begin});
    if (part > 0) return terms;
    for (const ConditionGroup& group : groups_)
        for (const Tensor& difference : differences(group, coefficients))
            terms.push_back({terms.size(), difference, {}, 0});
    return terms;
}

Loss PinnTask::loss(int64_t part) const {
    Loss result;
    for (const LossTermRows& rows : term_rows(part)) {
        const Tensor error = weights_->weighted_error(rows);
        const Tensor weighted = error * weights_->of(rows.term);
        result.total = result.total.defined() ? result.total + weighted : weighted;
        result.terms.emplace_back(
            weights_->terms()[rows.term].name,
            weights_->weighs_points(rows) ? weights_->plain_error(rows) : error);
    }
    return result;
}

Tensors PinnTask::differences(const ConditionGroup& group, const Tensors& coefficients) const {
    const Jet all = model_->forward(Jet::input(group.points, group.plan));
    Tensors result;
    for (const auto& [condition, begin, rows, at] : group.conditions) {
        const Jet u = rows_of(all, begin, begin + rows);
        Tensors columns;
        for (const Formula& formula : condition->formulas) {
            columns.push_back(formula.evaluate({&u, at.points, at.normals, coefficients}));
            if (!at.partners.defined()) continue;
            const Jet partner = rows_of(all, begin + rows, begin + 2 * rows);
            columns.back() =
                columns.back() - formula.evaluate({&partner, at.partners, {}, coefficients});
        }
        result.push_back(concatenate(columns, 1));
        if (at.targets.defined()) result.back() = result.back() - at.targets;
    }
    return result;
}

std::vector<std::string> PinnTask::remarks() const {
    std::vector<std::string> lines;
    const std::vector<std::string>& outputs = config_.constraints.outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i)
        lines.push_back(
            fmt::format("{} = {}, of the network's outputs", problem_->outputs()[i], outputs[i]));
    for (const std::string& name : metric_names())
        if (name.starts_with(absolute_error_name))
            lines.push_back(fmt::format(
                "{} stands for a relative error: the known solution is 0, or rounding alone",
                name));
    std::vector<const PinnCondition*> left_out;
    for (const PinnCondition& condition : problem_->conditions())
        if (std::find(enforced_.begin(), enforced_.end(), &condition) == enforced_.end())
            left_out.push_back(&condition);
    NoGrad no_grad;
    const RandomKey key{static_cast<uint64_t>(config_.run.seed), RandomStream::points, 0};
    for (const ConditionGroup& group : groups_of(left_out, key)) {
        const Tensors all = differences(group, model_->coefficients());
        for (std::size_t i = 0; i < all.size(); ++i)
            lines.push_back(fmt::format(
                "condition {} is left out; the model is off by up to {:.2g}",
                group.conditions[i].condition->name, max(abs(all[i])).item() + 0.0));  // no -0
    }
    return lines;
}

void PinnTask::write_data(const std::filesystem::path& folder) const {
    std::string text = fmt::format("condition,{}\n", fmt::join(problem_->axes(), ","));
    const auto add = [&](const std::string& name, const Tensor& points) {
        const std::vector<double> values = points.to_doubles();
        const auto axes = static_cast<std::size_t>(points.size(1));
        for (std::size_t row = 0; row < values.size(); row += axes)
            text += fmt::format(
                "{},{}\n", name,
                fmt::join(values.begin() + static_cast<std::ptrdiff_t>(row),
                          values.begin() + static_cast<std::ptrdiff_t>(row + axes), ","));
    };
    add("residual", residual_points_);
    for (const ConditionGroup& group : groups_)
        for (const auto& drawn : group.conditions) {
            add(drawn.condition->name, drawn.at.points);
            if (drawn.at.partners.defined()) add(drawn.condition->name, drawn.at.partners);
        }
    write_file((folder / "points.csv").string(),
               {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace ralimp
