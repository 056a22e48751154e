#include "trainers/pinn_weights.h"

#include <algorithm>
#include <cmath>

#include "autograd/operations.h"
#include "core/parallel.h"

namespace ralimp {
namespace {

// ±1 for each element of rows of a term, as a function of seed, step, probe, term and place.
Tensor random_signs(const Tensor& difference, const RandomKey& key, uint64_t stream,
                    int64_t begin) {
    const int64_t first = begin * difference.size(1);
    std::vector<double> signs(static_cast<std::size_t>(difference.elements()));
    for (std::size_t i = 0; i < signs.size(); ++i) {
        const uint64_t index = (stream << 36) + static_cast<uint64_t>(first) + i;
        signs[i] = random_bits(key, index) & 1 ? 1 : -1;
    }
    return to(Tensor::from(signs, difference.shape()), difference.dtype());
}

void append(std::vector<double>& to, const std::vector<double>& values) {
    to.insert(to.end(), values.begin(), values.end());
}

double mean_of(const std::vector<double>& values) {
    double total = 0;
    for (const double value : values) total += value;
    return total / static_cast<double>(values.size());
}

Tensor number(double value) { return Tensor::full({}, value, DType::float64); }

Tensor list(const std::vector<double>& values) {
    return Tensor::from(values, {static_cast<int64_t>(values.size())});
}

// The entry of that name has as many numbers, or is not there.
std::optional<std::vector<double>> take(const NamedTensors& state, const std::string& name,
                                        std::size_t count) {
    for (const auto& [known, tensor] : state) {
        if (known != name) continue;
        if (tensor.dtype() != DType::float64 || tensor.elements() != static_cast<int64_t>(count))
            fail_with(ExitCode::bad_input,
                      "the checkpoint's {} of the loss does not fit: {} numbers, {} expected", name,
                      tensor.elements(), count);
        return tensor.to_doubles();
    }
    return {};
}

}  // namespace

PinnWeights::PinnWeights(Options options, std::vector<LossTerm> terms)
    : options_(std::move(options)), terms_(std::move(terms)), lambdas_(terms_.size(), 1) {
    if (const SelfAdaptiveWeights* config = self_adaptive();
        config && config->per == WeightOwner::point)
        for (const LossTerm& term : terms_)
            point_lambdas_.emplace_back(static_cast<std::size_t>(term.rows), 1);
    if (options_.causal.is_on())
        segment_weights_.assign(static_cast<std::size_t>(options_.causal.segments), 1);
}

bool PinnWeights::is_constant() const {
    return std::holds_alternative<FixedWeights>(options_.weights) && !options_.causal.is_on();
}

std::string PinnWeights::state_name() const {
    return std::visit([](const auto& config) { return std::string(config.kind); },
                      options_.weights) +
           "_weights";
}

double PinnWeights::adapted(std::size_t term) const {
    if (!point_lambdas_.empty()) return 1;
    if (const SelfAdaptiveWeights* config = self_adaptive())
        return mask_of(config->mask, lambdas_[term]);
    return lambdas_[term];
}

std::size_t PinnWeights::segment_of(double time) const {
    const auto [start, end] = *options_.time;
    const auto segments = static_cast<double>(segment_weights_.size());
    const double place = std::floor((time - start) / (end - start) * segments);
    return static_cast<std::size_t>(std::clamp(place, 0.0, segments - 1));
}

Tensor PinnWeights::at_points(const LossTermRows& rows) const {
    if (!weighs_points(rows)) return {};
    const int64_t count = rows.difference.size(0);
    std::vector<double> weights(static_cast<std::size_t>(count), 1);
    if (!point_lambdas_.empty()) {
        const std::vector<double>& lambdas = point_lambdas_[rows.term];
        for (std::size_t i = 0; i < weights.size(); ++i)
            weights[i] =
                mask_of(self_adaptive()->mask, lambdas[static_cast<std::size_t>(rows.begin) + i]);
    }
    if (options_.causal.is_on() && rows.times.defined()) {
        const std::vector<double> times = rows.times.to_doubles();
        for (std::size_t i = 0; i < weights.size(); ++i)
            weights[i] *= segment_weights_[segment_of(times[i])];
    }
    return to(Tensor::from(weights, {count, 1}), rows.difference.dtype());
}

Tensor PinnWeights::plain_error(const LossTermRows& rows) const {
    const double share =
        static_cast<double>(rows.difference.size(0)) / static_cast<double>(terms_[rows.term].rows);
    return mean_error(options_.kind, rows.difference) * share;
}

Tensor PinnWeights::weighted_error(const LossTermRows& rows) const {
    const Tensor weights = at_points(rows);
    if (!weights.defined()) return plain_error(rows);
    const double share =
        static_cast<double>(rows.difference.size(0)) / static_cast<double>(terms_[rows.term].rows);
    return mean(error_of(options_.kind, rows.difference) * weights) * share;
}

bool PinnWeights::is_due(int64_t step, int64_t every) const {
    return updated_at_ < 0 || step / every != updated_at_ / every;
}

PinnWeights::RowErrors PinnWeights::row_errors(const Source& source) const {
    RowErrors result;
    for (const LossTerm& term : terms_) {
        result.errors.emplace_back(static_cast<std::size_t>(term.rows));
        result.times.emplace_back(static_cast<std::size_t>(term.timed ? term.rows : 0));
    }
    parallel_for(source.parts, 1, [&](int64_t part, int64_t) {
        NoGrad no_grad;  // recording is a matter of each thread
        for (const LossTermRows& rows : source.rows(part)) {
            const std::vector<double> errors =
                mean(error_of(options_.kind, rows.difference), {1}).to_doubles();
            std::copy(errors.begin(), errors.end(), result.errors[rows.term].begin() + rows.begin);
            if (!rows.times.defined()) continue;
            const std::vector<double> times = rows.times.to_doubles();
            std::copy(times.begin(), times.end(), result.times[rows.term].begin() + rows.begin);
        }
    });
    return result;
}

// The losses of a segment are the means of the equations' errors over its points; of several
// equations their sum.
void PinnWeights::update_causal(const RowErrors& rows) {
    const CausalConfig& config = options_.causal;
    std::vector<double> losses(segment_weights_.size());
    for (std::size_t term = 0; term < terms_.size(); ++term) {
        std::vector<double> totals(losses.size()), counts(losses.size());
        for (std::size_t i = 0; i < rows.times[term].size(); ++i) {
            const std::size_t segment = segment_of(rows.times[term][i]);
            totals[segment] += rows.errors[term][i];
            counts[segment] += 1;
        }
        for (std::size_t k = 0; k < losses.size(); ++k)
            if (counts[k] > 0) losses[k] += totals[k] / counts[k];
    }
    segment_weights_ = causal_weights(losses, config.epsilons[epsilon_]);
    if (segment_weights_.back() <= config.threshold || epsilon_ + 1 == config.epsilons.size())
        return;
    ++epsilon_;
    segment_weights_ = causal_weights(losses, config.epsilons[epsilon_]);
}

void PinnWeights::update_self_adaptive(const SelfAdaptiveWeights& config, const RowErrors& rows) {
    const auto climb = [&](double& lambda, double error) {
        lambda += config.learning_rate * mask_slope(config.mask, lambda) * error;
    };
    for (std::size_t term = 0; term < terms_.size(); ++term) {
        if (point_lambdas_.empty()) {
            climb(lambdas_[term], mean_of(rows.errors[term]));
            continue;
        }
        for (std::size_t i = 0; i < point_lambdas_[term].size(); ++i)
            climb(point_lambdas_[term][i], rows.errors[term][i]);
    }
}

std::vector<double> PinnWeights::squared_gradient_norms(
    const Source& source, const std::function<Tensor(const LossTermRows&)>& scalar) const {
    using Gradients = std::vector<std::vector<double>>;  // [terms][parameters]; empty: 0
    std::vector<Gradients> parts(static_cast<std::size_t>(source.parts), Gradients(terms_.size()));
    parallel_for(source.parts, 1, [&](int64_t part, int64_t) {
        for (const LossTermRows& rows : source.rows(part)) {
            if (terms_[rows.term].weight == 0) continue;
            std::vector<double>& gradient = parts[static_cast<std::size_t>(part)][rows.term];
            for (const Tensor& tensor : grad({scalar(rows)}, source.parameters))
                append(gradient, tensor.to_doubles());
        }
    });
    std::vector<double> norms(terms_.size());
    for (std::size_t term = 0; term < terms_.size(); ++term) {
        std::vector<double> total = parts[0][term];
        for (std::size_t part = 1; part < parts.size(); ++part)
            for (std::size_t i = 0; i < parts[part][term].size(); ++i)
                total[i] += parts[part][term][i];
        for (const double entry : total) norms[term] += entry * entry;
    }
    return norms;
}

std::vector<double> PinnWeights::gradient_norms(const Source& source) const {
    std::vector<double> norms = squared_gradient_norms(
        source, [&](const LossTermRows& rows) { return weighted_error(rows); });
    for (double& norm : norms) norm = std::sqrt(norm);
    return norms;
}

// Hutchinson's estimate: the mean of |J' ε|² over signs ε is the trace of J J'.
std::vector<double> PinnWeights::kernel_traces(const Source& source, int64_t step,
                                               int64_t probes) const {
    const RandomKey key{options_.seed, RandomStream::noise, static_cast<uint32_t>(step)};
    std::vector<double> traces(terms_.size());
    for (int64_t probe = 0; probe < probes; ++probe) {
        const std::vector<double> norms =
            squared_gradient_norms(source, [&](const LossTermRows& rows) {
                const uint64_t stream = static_cast<uint64_t>(probe) * terms_.size() + rows.term;
                Tensor signs = random_signs(rows.difference, key, stream, rows.begin);
                if (const Tensor weights = at_points(rows); weights.defined())
                    signs = signs * sqrt(weights);
                const auto all =
                    static_cast<double>(terms_[rows.term].rows * rows.difference.size(1));
                return sum(rows.difference * signs) * (1 / std::sqrt(all));
            });
        for (std::size_t term = 0; term < terms_.size(); ++term)
            traces[term] += norms[term] / static_cast<double>(probes);
    }
    return traces;
}

void PinnWeights::update(int64_t step, const Source& source) {
    if (is_constant() || step == updated_at_) return;
    const bool causal_due = options_.causal.is_on() && is_due(step, options_.causal.every);
    const SelfAdaptiveWeights* adaptive = self_adaptive();
    const bool adaptive_due = adaptive && is_due(step, adaptive->every);
    if (causal_due || adaptive_due) {
        const RowErrors rows = row_errors(source);
        if (causal_due) update_causal(rows);
        if (adaptive_due) update_self_adaptive(*adaptive, rows);
    }
    // Of the terms as they are trained, so after the weights of moments.
    if (const auto* config = std::get_if<GradientNormWeights>(&options_.weights))
        if (is_due(step, config->every))
            balance_weights(lambdas_, gradient_norms(source), config->momentum, config->max_weight);
    if (const auto* config = std::get_if<NtkWeights>(&options_.weights))
        if (is_due(step, config->every))
            balance_weights(lambdas_, kernel_traces(source, step, config->probes), config->momentum,
                            config->max_weight);
    updated_at_ = step;
}

NamedValues PinnWeights::values() const {
    NamedValues values;
    if (!std::holds_alternative<FixedWeights>(options_.weights))
        for (std::size_t term = 0; term < terms_.size(); ++term) {
            double weight = of(term);
            if (!point_lambdas_.empty()) {
                std::vector<double> weights = point_lambdas_[term];
                for (double& lambda : weights) lambda = mask_of(self_adaptive()->mask, lambda);
                weight *= mean_of(weights);
            }
            values.emplace_back("weight_" + terms_[term].name, weight);
        }
    if (options_.causal.is_on()) {
        values.emplace_back("causal_epsilon", options_.causal.epsilons[epsilon_]);
        values.emplace_back("causal_smallest_weight", segment_weights_.back());
    }
    return values;
}

NamedTensors PinnWeights::state() const {
    NamedTensors state;
    if (is_constant() || updated_at_ < 0) return state;
    state.emplace_back("weights_updated_at", number(static_cast<double>(updated_at_)));
    if (options_.causal.is_on()) {
        state.emplace_back("causal_epsilon", number(static_cast<double>(epsilon_)));
        state.emplace_back("causal_weights", list(segment_weights_));
    }
    if (std::holds_alternative<FixedWeights>(options_.weights)) return state;
    if (point_lambdas_.empty()) state.emplace_back(state_name(), list(lambdas_));
    for (std::size_t term = 0; term < point_lambdas_.size(); ++term)
        state.emplace_back(state_name() + "_" + terms_[term].name, list(point_lambdas_[term]));
    return state;
}

void PinnWeights::restore(const NamedTensors& state) {
    if (is_constant()) return;
    const auto updated_at = take(state, "weights_updated_at", 1);
    const auto lambdas = take(state, state_name(), lambdas_.size());
    std::vector<std::vector<double>> point_lambdas = point_lambdas_;
    for (std::size_t term = 0; term < point_lambdas.size(); ++term)
        if (auto known =
                take(state, state_name() + "_" + terms_[term].name, point_lambdas[term].size()))
            point_lambdas[term] = *known;
    const bool causal = options_.causal.is_on();
    const auto epsilon = causal ? take(state, "causal_epsilon", 1) : std::nullopt;
    const auto weights =
        causal ? take(state, "causal_weights", segment_weights_.size()) : std::nullopt;
    if (updated_at) updated_at_ = static_cast<int64_t>((*updated_at)[0]);
    if (lambdas) lambdas_ = *lambdas;
    point_lambdas_ = std::move(point_lambdas);
    if (weights) segment_weights_ = *weights;
    const auto last = static_cast<double>(options_.causal.epsilons.size()) - 1;
    if (epsilon) epsilon_ = static_cast<std::size_t>(std::clamp((*epsilon)[0], 0.0, last));
}

}  // namespace ralimp
