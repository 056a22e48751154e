#include "layers/atoms.h"

#include "autograd/operations.h"

namespace ralimp {
namespace {

Tensor from_doubles(const std::vector<double>& values, DType dtype) {
    return to(Tensor::from(values, {static_cast<int64_t>(values.size())}), dtype);
}

}  // namespace

Atoms::Atoms(const RationalFit& fit, const FrequencyOptions& options, DType dtype) {
    std::vector<double> position, log_width, even, odd, nodes, even_weights, odd_weights;
    std::vector<int64_t> pair_of;
    for (std::size_t j = 0; j < fit.pole_pairs.size(); ++j) {
        const PolePair& pair = fit.pole_pairs[j];
        position.push_back(pair.position);
        log_width.push_back(std::log(pair.width));
        even.push_back(pair.even);
        odd.push_back(pair.odd);
        FrequencyOptions of_pair = options;
        of_pair.key.step += static_cast<uint32_t>(j);
        const Frequencies rule = make_frequencies(pair, fit.half_width, of_pair);
        nodes.insert(nodes.end(), rule.nodes.begin(), rule.nodes.end());
        even_weights.insert(even_weights.end(), rule.even_weights.begin(), rule.even_weights.end());
        odd_weights.insert(odd_weights.end(), rule.odd_weights.begin(), rule.odd_weights.end());
        pair_of.insert(pair_of.end(), rule.nodes.size(), static_cast<int64_t>(j));
    }
    position_ = from_doubles(position, dtype);
    log_width_ = from_doubles(log_width, dtype);
    even_ = from_doubles(even, dtype);
    odd_ = from_doubles(odd, dtype);
    polynomial_ = from_doubles(fit.polynomial, dtype);
    nodes_ = from_doubles(nodes, dtype);
    even_weights_ = from_doubles(even_weights, dtype);
    odd_weights_ = from_doubles(odd_weights, dtype);
    pair_ = Tensor::from(pair_of, {static_cast<int64_t>(pair_of.size())});
}

Tensor Atoms::frequencies() const { return nodes_ * index_select(exp(neg(log_width_)), 0, pair_); }

Atoms::Amplitudes Atoms::amplitudes(const Tensor& frequencies) const {
    const Tensor phase = frequencies * index_select(position_, 0, pair_);
    const Tensor c = cos(phase), s = sin(phase);
    const Tensor even = even_weights_ * index_select(even_, 0, pair_);
    const Tensor odd = odd_weights_ * index_select(odd_, 0, pair_);
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
    if (amplitudes && config.train_coefficients) count += 2 * pairs();
    if (config.psi == PsiMode::weights && config.train_coefficients)
        count += polynomial_.elements();
    return count;
}

}  // namespace ralimp
