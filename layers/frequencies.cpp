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

NodeRule node_rule_from_name(std::string_view name) {
    return enum_from_name<NodeRule>("nodes", name);
}

namespace {

// The two unit atoms on Chebyshev points of [-reach, reach], with rows for the penalty below.
class AtomFit {
public:
    AtomFit(int multiplicity, double reach, Index nodes, double ridge)
        : x_(points), even_(VectorXd::Zero(points + nodes)), odd_(even_) {
        for (Index i = 0; i < points; ++i) {
            const double angle = (2 * static_cast<double>(i) + 1) / (4.0 * points);
            x_[i] = reach * std::cos(2 * std::acos(-1.0) * angle);
        }
        even_.head(points) = (1 + x_.square()).inverse().pow(multiplicity);
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

// Starts from stretched Gauss–Laguerre nodes and from evenly spaced ones; the best end is kept.
std::vector<double> optimized_nodes(int multiplicity, double reach,
                                    const FrequencyOptions& options) {
    const double largest = std::min(options.s_max, 60.0);
    const AtomFit fit(multiplicity, reach, options.count, options.ridge);
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

void measure(Frequencies& rule, int multiplicity, double reach) {
    constexpr int steps = 1000;
    rule.even_error = rule.odd_error = 0;
    for (int i = 0; i <= steps; ++i) {
        const double x = reach * i / steps;
        double even = std::pow(1 + x * x, -multiplicity), odd = x * even;
        for (std::size_t k = 0; k < rule.nodes.size(); ++k) {
            even -= rule.even_weights[k] * std::cos(rule.nodes[k] * x);
            odd -= rule.odd_weights[k] * std::sin(rule.nodes[k] * x);
        }
        rule.even_error = std::max(rule.even_error, std::abs(even));
        rule.odd_error = std::max(rule.odd_error, std::abs(odd));
    }
}

}  // namespace

Frequencies make_frequencies(int multiplicity, double reach, const FrequencyOptions& options) {
    check(options.count >= 1 && options.count <= 64, "frequencies: {} nodes are not in 1 … 64",
          options.count);
    check(reach > 0 && std::isfinite(reach), "frequencies: the reach {} must be positive", reach);
    check(options.s_max > 0, "frequencies: s_max = {} must be positive", options.s_max);
    check(options.ridge >= 0, "frequencies: ridge = {} must not be negative", options.ridge);
    const LaplacePolynomials weights = laplace_polynomials(multiplicity);
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
    double discarded_even = 0, discarded_odd = 0;
    for (std::size_t k = 0; k < rule.nodes.size(); ++k) {
        const double u = rule.nodes[k];
        const double even = rule.weights[k] * polynomial_value(weights.even, u);
        const double odd = rule.weights[k] * polynomial_value(weights.odd, u);
        if (u > options.s_max) {
            discarded_even += std::abs(even);
            discarded_odd += std::abs(odd);
            continue;
        }
        result.nodes.push_back(u);
        result.even_weights.push_back(even);
        result.odd_weights.push_back(odd);
    }
    result.discarded_weight = std::max(discarded_even, discarded_odd);
    check(!result.nodes.empty(), "frequencies: s_max = {} drops all {} nodes; the smallest is {}",
          options.s_max, options.count, rule.nodes.front());
    if (options.least_squares_weights || options.rule == NodeRule::optimized) {
        const VectorXd nodes = to_eigen(result.nodes);
        const AtomFit fit(multiplicity, reach, nodes.size(), options.ridge);
        result.even_weights = to_vector(fit.even(nodes).coefficients());
        result.odd_weights = to_vector(fit.odd(nodes).coefficients());
    }
    measure(result, multiplicity, reach);
    return result;
}

Frequencies make_frequencies(const PolePair& pair, double half_width,
                             const FrequencyOptions& options) {
    return make_frequencies(pair.multiplicity, (half_width + std::abs(pair.position)) / pair.width,
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
            const double even = pair.even * rule.even_weights[k];
            const double odd = pair.odd * rule.odd_weights[k];
            sum.waves.push_back({s, even * c - odd * d, even * d + odd * c, j, k});
        }
        sum.error_bound +=
            std::abs(pair.even) * rule.even_error + std::abs(pair.odd) * rule.odd_error;
        sum.discarded_weight = std::max(sum.discarded_weight, rule.discarded_weight);
    }
    return sum;
}

}  // namespace ralimp
