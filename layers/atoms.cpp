#include "layers/atoms.h"

#include "autograd/operations.h"

namespace ralimp {
namespace {

Tensor from_doubles(const std::vector<double>& values, DType dtype) {
    return to(Tensor::from(values, {static_cast<int64_t>(values.size())}), dtype);
}

std::vector<double> joined(const std::vector<std::vector<double>>& parts) {
    std::vector<double> all;
    for (const std::vector<double>& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

}  // namespace

Atoms::Atoms(const RationalFit& fit, const FrequencyOptions& options, DType dtype) {
    std::vector<double> position, log_width, nodes;
    const std::size_t powers = fit.pole_pairs.empty() ? 0 : fit.pole_pairs[0].multiplicity();
    std::vector<std::vector<double>> even(powers), odd(powers), even_weights(powers),
        odd_weights(powers);
    const auto append = [](std::vector<double>& to, const std::vector<double>& values) {
        to.insert(to.end(), values.begin(), values.end());
    };
    std::vector<int64_t> pair_of;
    for (std::size_t j = 0; j < fit.pole_pairs.size(); ++j) {
        const PolePair& pair = fit.pole_pairs[j];
        position.push_back(pair.position);
        log_width.push_back(std::log(pair.width));
        FrequencyOptions of_pair = options;
        of_pair.key.step += static_cast<uint32_t>(j);
        const Frequencies rule = make_frequencies(pair, fit.half_width, of_pair);
        append(nodes, rule.nodes);
        check(pair.multiplicity() == powers, "atoms: pole pairs of different multiplicities");
        for (std::size_t i = 0; i < powers; ++i) {
            even[i].push_back(pair.even[i]);
            odd[i].push_back(pair.odd[i]);
            append(even_weights[i], rule.powers[i].even_weights);
            append(odd_weights[i], rule.powers[i].odd_weights);
        }
        pair_of.insert(pair_of.end(), rule.nodes.size(), static_cast<int64_t>(j));
    }
    position_ = from_doubles(position, dtype);
    log_width_ = from_doubles(log_width, dtype);
    even_ = from_doubles(joined(even), dtype);
    odd_ = from_doubles(joined(odd), dtype);
    polynomial_ = from_doubles(fit.polynomial, dtype);
    nodes_ = from_doubles(nodes, dtype);
    even_weights_ = from_doubles(joined(even_weights), dtype);
    odd_weights_ = from_doubles(joined(odd_weights), dtype);
    pair_ = Tensor::from(pair_of, {static_cast<int64_t>(pair_of.size())});
}

Tensor Atoms::frequencies() const { return nodes_ * index_select(exp(neg(log_width_)), 0, pair_); }

// Σ over the powers of weight times coefficient, [N].
Tensor Atoms::weighted(const Tensor& coefficients, const Tensor& weights) const {
    Tensor sum;
    for (int64_t i = 0; i * waves() < weights.elements(); ++i) {
        const Tensor of_pairs = slice(coefficients, 0, i * pairs(), (i + 1) * pairs());
        const Tensor term =
            slice(weights, 0, i * waves(), (i + 1) * waves()) * index_select(of_pairs, 0, pair_);
        sum = sum.defined() ? sum + term : term;
    }
    return sum;
}

Atoms::Amplitudes Atoms::amplitudes(const Tensor& frequencies) const {
    const Tensor phase = frequencies * index_select(position_, 0, pair_);
    const Tensor c = cos(phase), s = sin(phase);
    const Tensor even = weighted(even_, even_weights_), odd = weighted(odd_, odd_weights_);
    return {even * c - odd * s, even * s + odd * c};
}

void Atoms::visit(const std::string& prefix, const ParameterVisitor& visitor,
                  const RalimpConfig& config, bool amplitudes) {
    const auto one = [&](const char* name, Tensor& tensor, const ParameterInfo& info) {
        if (tensor.elements() > 0) visitor(join(prefix, name), tensor, info);
    };
    const bool coefficients = amplitudes && config.train_coefficients;
    one("position", position_, {.trained = amplitudes && config.train_positions, .decay = false});
    one("log_width", log_width_, {.trained = config.train_widths, .decay = false});
    one("even", even_, {.trained = coefficients, .decay = false});
    one("odd", odd_, {.trained = coefficients, .decay = false});
    one("polynomial", polynomial_,
        {.trained = config.psi == PsiMode::weights && config.train_coefficients, .decay = false});
    one("nodes", nodes_, {.trained = false});
    one("even_weights", even_weights_, {.trained = false});
    one("odd_weights", odd_weights_, {.trained = false});
}

int64_t Atoms::trained(const RalimpConfig& config, bool amplitudes) const {
    int64_t count = config.train_widths ? pairs() : 0;
    if (amplitudes && config.train_positions) count += pairs();
    if (amplitudes && config.train_coefficients) count += even_.elements() + odd_.elements();
    if (config.psi == PsiMode::weights && config.train_coefficients)
        count += polynomial_.elements();
    return count;
}

}  // namespace ralimp
