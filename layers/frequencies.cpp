#include "layers/frequencies.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/describe.h"
#include "core/error.h"
#include "core/quadrature.h"
#include "layers/variable_projection.h"

namespace ralimp {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

double polynomial_value(const std::vector<double>& coefficients, double x) {
    double sum = 0;
    for (auto c = coefficients.rbegin(); c != coefficients.rend(); ++c) sum = sum * x + *c;
    return sum;
}

// ((u + shift) p - u p') / 2n
std::vector<double> next_polynomial(const std::vector<double>& p, int shift, int n) {
    std::vector<double> next(p.size() + 1, 0.0);
    for (std::size_t k = 0; k < p.size(); ++k) {
        next[k] += (shift - static_cast<double>(k)) * p[k];
        next[k + 1] += p[k];
    }
    for (double& coefficient : next) coefficient /= 2 * n;
    return next;
}

}  // namespace

LaplacePolynomials laplace_polynomials(int multiplicity) {
    check(multiplicity >= 1 && multiplicity <= 16,
          "laplace_polynomials: multiplicity {} is not in 1 … 16", multiplicity);
    LaplacePolynomials result{{1}, {1}};
    for (int n = 1; n < multiplicity; ++n) {
        result.even = next_polynomial(result.even, 2 * n - 1, n);
        result.odd = next_polynomial(result.odd, 2 * n - 2, n);
    }
    return result;
}

std::string_view name_of(NodeRule rule) { return enum_name(rule); }

namespace {

// The two unit atoms of one power on Chebyshev points of [-reach, reach], with rows for the penalty
// below.
class AtomFit {
public:
    AtomFit(int power, double reach, Index nodes, double ridge)
        : x_(points), even_(VectorXd::Zero(points + nodes)), odd_(even_) {
        for (Index i = 0; i < points; ++i) {
            const double angle = (2 * static_cast<double>(i) + 1) / (4.0 * points);
            x_[i] = reach * std::cos(2 * std::acos(-1.0) * angle);
        }
        even_.head(points) = (1 + x_.square()).inverse().pow(power);
        odd_.head(points) = x_ * even_.head(points).array();
        penalty_ = std::sqrt(ridge * points);
    }

    VariableProjection even(const VectorXd& nodes) const {
        return VariableProjection(columns(nodes, false), even_);
    }
    VariableProjection odd(const VectorXd& nodes) const {
        return VariableProjection(columns(nodes, true), odd_);
    }
    double cost(const VectorXd& nodes) const { return even(nodes).cost() + odd(nodes).cost(); }

    Linearization linearize(const VectorXd& nodes) const {
        const VariableProjection cosines = even(nodes), sines = odd(nodes);
        const Index rows = even_.size();
        Linearization result{VectorXd(2 * rows), MatrixXd(2 * rows, nodes.size())};
        result.residual << cosines.residual(), sines.residual();
        for (Index k = 0; k < nodes.size(); ++k) {
            VectorXd cosine_slope = VectorXd::Zero(rows), sine_slope = VectorXd::Zero(rows);
            cosine_slope.head(points) = -x_ * (nodes[k] * x_).sin();
            sine_slope.head(points) = x_ * (nodes[k] * x_).cos();
            result.jacobian.col(k) << cosines.residual_derivative({{k, cosine_slope}}),
                sines.residual_derivative({{k, sine_slope}});
        }
        return result;
    }

private:
    static constexpr Index points = 200;

    MatrixXd columns(const VectorXd& nodes, bool sines) const {
        MatrixXd matrix(points + nodes.size(), nodes.size());
        for (Index k = 0; k < nodes.size(); ++k) {
            const ArrayXd phase = nodes[k] * x_;
            matrix.col(k).head(points) = sines ? ArrayXd(phase.sin()) : ArrayXd(phase.cos());
        }
        matrix.bottomRows(nodes.size()) = MatrixXd::Identity(nodes.size(), nodes.size()) * penalty_;
        return matrix;
    }

    ArrayXd x_;
    VectorXd even_, odd_;
    double penalty_;
};

std::vector<double> to_vector(const VectorXd& v) { return {v.begin(), v.end()}; }

VectorXd to_eigen(const std::vector<double>& v) {
    return Eigen::Map<const VectorXd>(v.data(), static_cast<Index>(v.size()));
}

// Nodes for the atoms of all powers at a time.
struct NodeFit {
    std::vector<AtomFit> powers;

    double cost(const VectorXd& nodes) const {
        double sum = 0;
        for (const AtomFit& power : powers) sum += power.cost(nodes);
        return sum;
    }

    Linearization linearize(const VectorXd& nodes) const {
        Linearization all;
        for (const AtomFit& power : powers) {
            const Linearization one = power.linearize(nodes);
            const Index rows = all.residual.size();
            all.residual.conservativeResize(rows + one.residual.size());
            all.jacobian.conservativeResize(rows + one.residual.size(), nodes.size());
            all.residual.tail(one.residual.size()) = one.residual;
            all.jacobian.bottomRows(one.residual.size()) = one.jacobian;
        }
        return all;
    }
};

// Starts from stretched Gauss–Laguerre nodes and from evenly spaced ones; the best end is kept.
std::vector<double> optimized_nodes(int multiplicity, double reach,
                                    const FrequencyOptions& options) {
    const double largest = std::min(options.s_max, 60.0);
    NodeFit fit;
    for (int power = 1; power <= multiplicity; ++power)
        fit.powers.emplace_back(power, reach, options.count, options.ridge);
    const NonlinearProblem problem{
        [&](const VectorXd& nodes) { return fit.cost(nodes); },
        [&](const VectorXd& nodes) { return fit.linearize(nodes); },
        [&](const VectorXd& nodes) { return VectorXd(nodes.cwiseMax(1e-3).cwiseMin(largest)); }};
    const VectorXd laguerre = to_eigen(gauss_laguerre(options.count).nodes);
    const VectorXd even = VectorXd::LinSpaced(options.count, 0.5, options.count - 0.5);
    VectorXd best;
    double least = std::numeric_limits<double>::infinity();
    for (double size : {1.0, 0.6, 0.3}) {
        for (const VectorXd& shape : {laguerre, even}) {
            const double spacing = &shape == &laguerre ? 1 : std::max(1.0, 3 / reach);
            VectorXd start = size * spacing * shape;
            // Shrunk as a whole below the limit, so that no two start on it together.
            if (start.maxCoeff() > largest) start *= largest / start.maxCoeff();
            const VectorXd nodes = levenberg_marquardt(problem, start, 40);
            const double cost = fit.cost(nodes);
            if (cost < least) {
                least = cost;
                best = nodes;
            }
        }
    }
    return to_vector(levenberg_marquardt(problem, best, 100));
}

struct LargestErrors {
    double even = 0, odd = 0;
};

// Of Σ_i a_i / (1 + x²)^i and Σ_i b_i x / (1 + x²)^i for |x| <= reach. The errors of the powers
// partly cancel, so this is less than the sum over them.
LargestErrors largest_errors(const Frequencies& rule, const std::vector<double>& a,
                             const std::vector<double>& b, double reach) {
    std::vector<double> even_weights(rule.nodes.size()), odd_weights(rule.nodes.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t k = 0; k < rule.nodes.size(); ++k) {
            even_weights[k] += a[i] * rule.powers[i].even_weights[k];
            odd_weights[k] += b[i] * rule.powers[i].odd_weights[k];
        }
    LargestErrors errors;
    constexpr int steps = 1000;
    for (int step = 0; step <= steps; ++step) {
        const double x = reach * step / steps, ratio = 1 / (1 + x * x);
        double even = polynomial_value(a, ratio) * ratio;
        double odd = polynomial_value(b, ratio) * ratio * x;
        for (std::size_t k = 0; k < rule.nodes.size(); ++k) {
            even -= even_weights[k] * std::cos(rule.nodes[k] * x);
            odd -= odd_weights[k] * std::sin(rule.nodes[k] * x);
        }
        errors.even = std::max(errors.even, std::abs(even));
        errors.odd = std::max(errors.odd, std::abs(odd));
    }
    return errors;
}

double reach_of(const PolePair& pair, double half_width) {
    return (half_width + std::abs(pair.position)) / pair.width;
}

}  // namespace

Frequencies make_frequencies(int multiplicity, double reach, const FrequencyOptions& options) {
    check(options.count >= 1 && options.count <= 64, "frequencies: {} nodes are not in 1 … 64",
          options.count);
    check(reach > 0 && std::isfinite(reach), "frequencies: the reach {} must be positive", reach);
    check(options.s_max > 0, "frequencies: s_max = {} must be positive", options.s_max);
    check(options.ridge >= 0, "frequencies: ridge = {} must not be negative", options.ridge);
    check(multiplicity >= 1 && multiplicity <= 16, "frequencies: multiplicity {} is not in 1 … 16",
          multiplicity);
    QuadratureRule rule;
    if (options.rule == NodeRule::gauss_laguerre) {
        rule = gauss_laguerre(options.count);
    } else if (options.rule == NodeRule::monte_carlo) {
        for (int k = 0; k < options.count; ++k) {
            const double u = random_uniform<double>(options.key, static_cast<uint64_t>(k));
            rule.nodes.push_back(-std::log1p(-u));
        }
        std::sort(rule.nodes.begin(), rule.nodes.end());
        rule.weights.assign(rule.nodes.size(), 1.0 / options.count);
    } else {
        rule.nodes = optimized_nodes(multiplicity, reach, options);
        std::sort(rule.nodes.begin(), rule.nodes.end());
        rule.weights.assign(rule.nodes.size(), 0.0);
    }

    Frequencies result;
    for (double u : rule.nodes)
        if (u <= options.s_max) result.nodes.push_back(u);
    check(!result.nodes.empty(), "frequencies: s_max = {} drops all {} nodes; the smallest is {}",
          options.s_max, options.count, rule.nodes.front());
    for (int power = 1; power <= multiplicity; ++power) {
        AtomRule atom;
        const LaplacePolynomials weights = laplace_polynomials(power);
        double discarded_even = 0, discarded_odd = 0;
        for (std::size_t k = 0; k < rule.nodes.size(); ++k) {
            const double even = rule.weights[k] * polynomial_value(weights.even, rule.nodes[k]);
            const double odd = rule.weights[k] * polynomial_value(weights.odd, rule.nodes[k]);
            if (k < result.nodes.size()) {
                atom.even_weights.push_back(even);
                atom.odd_weights.push_back(odd);
            } else {
                discarded_even += std::abs(even);
                discarded_odd += std::abs(odd);
            }
        }
        result.discarded_weight =
            std::max({result.discarded_weight, discarded_even, discarded_odd});
        if (options.least_squares_weights || options.rule == NodeRule::optimized) {
            const VectorXd nodes = to_eigen(result.nodes);
            const AtomFit fit(power, reach, nodes.size(), options.ridge);
            atom.even_weights = to_vector(fit.even(nodes).coefficients());
            atom.odd_weights = to_vector(fit.odd(nodes).coefficients());
        }
        result.powers.push_back(std::move(atom));
        std::vector<double> unit(static_cast<std::size_t>(power));
        unit.back() = 1;
        const LargestErrors errors = largest_errors(result, unit, unit, reach);
        result.powers.back().even_error = errors.even;
        result.powers.back().odd_error = errors.odd;
    }
    return result;
}

Frequencies make_frequencies(const PolePair& pair, double half_width,
                             const FrequencyOptions& options) {
    return make_frequencies(static_cast<int>(pair.multiplicity()), reach_of(pair, half_width),
                            options);
}

double Wave::value(double t) const {
    return cosine * std::cos(frequency * t) + sine * std::sin(frequency * t);
}

double WaveSum::value(double t) const {
    double sum = polynomial_value(polynomial, t);
    for (const Wave& wave : waves) sum += wave.value(t);
    return sum;
}

double WaveSum::largest_frequency() const {
    double largest = 0;
    for (const Wave& wave : waves) largest = std::max(largest, wave.frequency);
    return largest;
}

WaveSum make_waves(const RationalFit& fit, const FrequencyOptions& options) {
    WaveSum sum;
    sum.polynomial = fit.polynomial;
    for (std::size_t j = 0; j < fit.pole_pairs.size(); ++j) {
        const PolePair& pair = fit.pole_pairs[j];
        FrequencyOptions of_pair = options;
        of_pair.key.step += static_cast<uint32_t>(j);
        const Frequencies rule = make_frequencies(pair, fit.half_width, of_pair);
        for (std::size_t k = 0; k < rule.nodes.size(); ++k) {
            const double s = rule.nodes[k] / pair.width;
            const double c = std::cos(s * pair.position), d = std::sin(s * pair.position);
            double even = 0, odd = 0;
            for (std::size_t i = 0; i < pair.multiplicity(); ++i) {
                even += pair.even[i] * rule.powers[i].even_weights[k];
                odd += pair.odd[i] * rule.powers[i].odd_weights[k];
            }
            sum.waves.push_back({s, even * c - odd * d, even * d + odd * c, j, k});
        }
        const LargestErrors errors =
            largest_errors(rule, pair.even, pair.odd, reach_of(pair, fit.half_width));
        sum.error_bound += errors.even + errors.odd;
        sum.discarded_weight = std::max(sum.discarded_weight, rule.discarded_weight);
    }
    return sum;
}

}  // namespace ralimp
