// The present weights of a PINN's loss, and how they follow the model from one step to another.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "autograd/graph.h"
#include "data/geometry_samplers.h"
#include "trainers/checkpoint.h"
#include "trainers/loss_kind.h"
#include "trainers/loss_weights.h"
#include "trainers/metrics.h"

namespace ralimp {

// A term of the loss as a whole.
struct LossTerm {
    std::string name;
    double weight = 1;   // that of the config; 0: only watched
    int64_t rows = 0;    // of all its points
    bool timed = false;  // whether it is an equation's, in a problem with time
};

// What a term says should be 0 at some of its points.
struct LossTermRows {
    std::size_t term = 0;
    Tensor difference;  // [rows, columns], differentiable
    Tensor times;       // [rows, 1] of a timed term; else undefined
    int64_t begin = 0;  // of the rows
};

class PinnWeights {
public:
    struct Options {
        LossKind kind = LossKind::mse;
        LossWeightsConfig weights;
        CausalConfig causal;
        std::optional<TimeInterval> time;
        uint64_t seed = 0;
    };
    // All weights are those of the terms at first.
    PinnWeights(Options options, std::vector<LossTerm> terms);

    const std::vector<LossTerm>& terms() const { return terms_; }
    // After another draw of points: the same terms, perhaps of other numbers of rows.
    void set_terms(std::vector<LossTerm> terms) { terms_ = std::move(terms); }

    // The factor on a term.
    double of(std::size_t term) const { return terms_[term].weight * adapted(term); }
    // The factors on the errors of points, [rows, 1] of the difference's type; undefined where all
    // are 1.
    Tensor at_points(const LossTermRows& rows) const;
    bool weighs_points(const LossTermRows& rows) const {
        return !point_lambdas_.empty() || (options_.causal.is_on() && rows.times.defined());
    }
    // The mean error of the rows with these factors, times their share of all rows: a scalar.
    Tensor weighted_error(const LossTermRows& rows) const;
    // The same without factors.
    Tensor plain_error(const LossTermRows& rows) const;

    // What the weights follow: the terms' rows, part by part, and the trained tensors.
    struct Source {
        int64_t parts = 1;
        std::function<std::vector<LossTermRows>(int64_t part)> rows;
        Tensors parameters;
    };
    // To be called in every step, with its number; updates what is due: when the number stands in
    // another interval of `every` than that of the last call. The same number again changes
    // nothing. Parts run on several threads; the result does not depend on them.
    void update(int64_t step, const Source& source);

    // For metrics.csv: weight_ and the name of each term, of points the mean weight;
    // causal_epsilon, causal_smallest_weight. Nothing while all weights are fixed.
    NamedValues values() const;

    // For checkpoints. Restoring takes what the config has a use for; Error(bad_input) for what
    // does not fit.
    NamedTensors state() const;
    void restore(const NamedTensors& state);

private:
    using Scalars = std::vector<std::pair<std::size_t, Tensor>>;  // of terms

    bool is_constant() const;
    const SelfAdaptiveWeights* self_adaptive() const {
        return std::get_if<SelfAdaptiveWeights>(&options_.weights);
    }
    std::string state_name() const;
    double adapted(std::size_t term) const;
    bool is_due(int64_t step, int64_t every) const;
    std::size_t segment_of(double time) const;

    // Errors of rows, the mean over columns, without weights: [terms][rows]; times of timed
    // terms.
    struct RowErrors {
        std::vector<std::vector<double>> errors, times;
    };
    RowErrors row_errors(const Source& source) const;
    // |∇ Σ_parts s|² of scalars, by term.
    std::vector<double> squared_gradient_norms(
        const Source& source, const std::function<Tensor(const LossTermRows&)>& scalar) const;
    std::vector<double> gradient_norms(const Source& source) const;
    std::vector<double> kernel_traces(const Source& source, int64_t step, int64_t probes) const;

    void update_causal(const RowErrors& rows);
    void update_self_adaptive(const SelfAdaptiveWeights& config, const RowErrors& rows);

    Options options_;
    std::vector<LossTerm> terms_;
    int64_t updated_at_ = -1;
    std::vector<double> lambdas_;                     // of terms
    std::vector<std::vector<double>> point_lambdas_;  // of terms and points; empty: none
    std::size_t epsilon_ = 0;                         // among those of the config
    std::vector<double> segment_weights_;             // empty: none
};

}  // namespace ralimp
