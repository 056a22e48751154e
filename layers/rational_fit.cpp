#include "layers/rational_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/random.h"
#include "layers/variable_projection.h"

namespace ralimp {

double PolePair::value(double t) const {
    const double x = (t - position) / width, ratio = 1 / (1 + x * x);
    double sum = 0;
    for (std::size_t i = multiplicity(); i-- > 0;) sum = ratio * (sum + even[i] + odd[i] * x);
    return sum;
}

double RationalFit::value(double t) const {
    double sum = 0;
    for (auto c = polynomial.rbegin(); c != polynomial.rend(); ++c) sum = sum * t + *c;
    for (const PolePair& pair : pole_pairs) sum += pair.value(t);
    return sum;
}

double RationalFit::narrowest_width() const {
    double narrowest = std::numeric_limits<double>::infinity();
    for (const PolePair& pair : pole_pairs) narrowest = std::min(narrowest, pair.width);
    return narrowest;
}

namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double pi = 3.14159265358979323846;

// The points, the wanted values there and the weight of each equation.
struct Samples {
    VectorXd t;
    VectorXd f;
    VectorXd weight;
    MatrixXd basis;  // [points, degree + 1] Chebyshev polynomials of t / T
};

Samples sample(const ScalarFunction& function, double half_width, int degree, int points) {
    Samples samples{VectorXd(points), VectorXd(points), VectorXd::Ones(points),
                    MatrixXd(points, degree + 1)};
    for (Index i = 0; i < points; ++i) {
        const double angle = pi * (2 * static_cast<double>(i) + 1) / (2.0 * points);
        samples.t[i] = -half_width * std::cos(angle);
        samples.f[i] = function(samples.t[i]);
        if (!std::isfinite(samples.f[i]))
            fail_with(ExitCode::bad_config, "fit_rational: the function is not finite at t = {}",
                      samples.t[i]);
        for (int k = 0; k <= degree; ++k) samples.basis(i, k) = std::cos(k * (pi - angle));
    }
    return samples;
}

struct Bounds {
    double position, log_smallest, log_largest;

    VectorXd clamp(VectorXd parameters) const {
        const Index pairs = parameters.size() / 2;
        for (Index j = 0; j < pairs; ++j) {
            parameters[j] = std::clamp(parameters[j], -position, position);
            double& width = parameters[pairs + j];
            width = std::clamp(width, log_smallest, log_largest);
        }
        return parameters;
    }
};

struct Atom {
    ArrayXd even, odd;
    ArrayXd even_by_position, odd_by_position, even_by_log_width, odd_by_log_width;
};

// Of one power. Parameters: the positions of the poles, then the logarithms of their widths.
Atom atom_of(const VectorXd& t, const VectorXd& parameters, Index pair, int order) {
    const double width = std::exp(parameters[parameters.size() / 2 + pair]);
    const ArrayXd x = (t.array() - parameters[pair]) / width;
    const ArrayXd inverse = (1 + x.square()).inverse();
    Atom atom;
    atom.even = inverse.pow(order);
    atom.odd = atom.even * x;
    atom.even_by_position = 2 * order * atom.odd * inverse / width;
    atom.odd_by_position = atom.even_by_position * x - atom.even / width;
    atom.even_by_log_width = 2 * order * atom.even * x.square() * inverse;
    atom.odd_by_log_width = atom.odd * (2 * order - 1 - 2 * order * inverse);
    return atom;
}

// Columns: the polynomials, then for each pair and power the even and the odd atom. Rows are
// weighted.
VariableProjection project(const Samples& samples, const VectorXd& parameters, int multiplicity) {
    const Index pairs = parameters.size() / 2;
    Index column = samples.basis.cols();
    MatrixXd matrix(samples.t.size(), column + 2 * pairs * multiplicity);
    matrix.leftCols(column) = samples.basis;
    for (Index j = 0; j < pairs; ++j)
        for (int power = 1; power <= multiplicity; ++power) {
            const Atom atom = atom_of(samples.t, parameters, j, power);
            matrix.col(column++) = atom.even;
            matrix.col(column++) = atom.odd;
        }
    return VariableProjection(samples.weight.asDiagonal() * matrix,
                              samples.weight.cwiseProduct(samples.f));
}

Linearization linearize(const Samples& samples, const VectorXd& parameters, int multiplicity) {
    const VariableProjection projection = project(samples, parameters, multiplicity);
    const Index pairs = parameters.size() / 2;
    const ArrayXd weight = samples.weight.array();
    Linearization result{projection.residual(), MatrixXd(samples.t.size(), 2 * pairs)};
    Index column = samples.basis.cols();
    for (Index j = 0; j < pairs; ++j) {
        std::vector<VariableProjection::MovedColumn> by_position, by_log_width;
        for (int power = 1; power <= multiplicity; ++power, column += 2) {
            const Atom atom = atom_of(samples.t, parameters, j, power);
            by_position.push_back({column, weight * atom.even_by_position});
            by_position.push_back({column + 1, weight * atom.odd_by_position});
            by_log_width.push_back({column, weight * atom.even_by_log_width});
            by_log_width.push_back({column + 1, weight * atom.odd_by_log_width});
        }
        result.jacobian.col(j) = projection.residual_derivative(by_position);
        result.jacobian.col(pairs + j) = projection.residual_derivative(by_log_width);
    }
    return result;
}

VectorXd minimize(const Samples& samples, const VectorXd& parameters, int multiplicity,
                  const Bounds& bounds, int iterations) {
    const NonlinearProblem problem{
        [&](const VectorXd& at) { return project(samples, at, multiplicity).cost(); },
        [&](const VectorXd& at) { return linearize(samples, at, multiplicity); },
        [&](VectorXd at) { return bounds.clamp(std::move(at)); }};
    return levenberg_marquardt(problem, parameters, iterations);
}

// Start 0, 2, 4, …: poles spread evenly over the interval; 1, 3, 5, …: all in its middle with
// widths in geometric progression. Both symmetric, so that symmetric functions keep symmetric
// poles; from the seventh on they are perturbed.
VectorXd start_layout(int start, int pairs, double half_width, const RandomKey& key) {
    VectorXd parameters(2 * pairs);
    constexpr double sizes[] = {1.0, 0.4, 0.15};
    const double size = sizes[(start / 2) % 3] * half_width;
    for (int j = 0; j < pairs; ++j) {
        const bool spread = start % 2 == 0;
        parameters[j] = spread ? half_width * ((2.0 * j + 1) / pairs - 1) : 0;
        parameters[pairs + j] = std::log(spread ? size : size * std::pow(3.0, j - 0.5));
        if (start >= 6) {
            const auto index = static_cast<uint64_t>(2 * (start * pairs + j));
            parameters[j] += 0.3 * half_width * random_normal<double>(key, index);
            parameters[pairs + j] += 0.5 * random_normal<double>(key, index + 1);
        }
    }
    return parameters;
}

// Lawson's iteration: each weight is multiplied by its residual's size, so that the equations with
// the largest errors count more. Returns the poles with the least largest error seen.
VectorXd minimize_largest(Samples& samples, VectorXd parameters, int multiplicity,
                          const Bounds& bounds) {
    VectorXd best = parameters, best_weight = samples.weight;
    double least = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 60; ++round) {
        const VariableProjection projection = project(samples, parameters, multiplicity);
        const ArrayXd error = projection.residual().array().abs() / samples.weight.array();
        if (error.maxCoeff() < least) {
            least = error.maxCoeff();
            best = parameters;
            best_weight = samples.weight;
        }
        if (!(error.maxCoeff() > 0)) break;
        // The weights multiply residuals, so Lawson's weights of squares are their squares.
        ArrayXd weight = samples.weight.array() * (error / error.maxCoeff()).sqrt().max(1e-3);
        weight /= std::sqrt(weight.square().mean());
        samples.weight = weight.max(1e-4).matrix();
        parameters = minimize(samples, parameters, multiplicity, bounds, 8);
    }
    samples.weight = best_weight;
    return best;
}

// Coefficients of the Chebyshev polynomials of t / T, as coefficients of 1, t, t², …
std::vector<double> monomials(const VectorXd& chebyshev, double half_width) {
    const Index count = chebyshev.size();
    std::vector<double> result(static_cast<std::size_t>(count), 0.0);
    VectorXd before = VectorXd::Zero(count), current = VectorXd::Zero(count);
    if (count > 0) current[0] = 1;
    for (Index k = 0; k < count; ++k) {
        double power = 1;
        for (Index i = 0; i <= k; ++i, power /= half_width)
            result[static_cast<std::size_t>(i)] += chebyshev[k] * current[i] * power;
        VectorXd next = -before;
        for (Index i = 0; i + 1 < count; ++i) next[i + 1] += (k == 0 ? 1 : 2) * current[i];
        before = current;
        current = next;
    }
    return result;
}

}  // namespace

RationalFit fit_rational(const ScalarFunction& function, double half_width, int degree,
                         int pole_pairs, const RationalFitOptions& options) {
    check(half_width > 0 && std::isfinite(half_width), "fit_rational: T = {} must be positive",
          half_width);
    check(degree >= -1 && degree <= 20, "fit_rational: degree {} must be in -1 … 20", degree);
    check(pole_pairs >= 0 && pole_pairs <= 16, "fit_rational: {} pole pairs must be in 0 … 16",
          pole_pairs);
    const int multiplicity = options.multiplicity;
    check(multiplicity >= 1 && multiplicity * std::max(pole_pairs, 1) <= 16,
          "fit_rational: {} pole pairs of multiplicity {}: their product must be in 1 … 16",
          pole_pairs, multiplicity);
    check(options.points >= 2 * (degree + 1 + (2 + 2 * multiplicity) * pole_pairs),
          "fit_rational: {} points are too few for degree {} and {} pole pairs of multiplicity {}",
          options.points, degree, pole_pairs, multiplicity);
    check(options.starts >= 1 && options.smallest_width > 0 &&
              options.smallest_width < options.largest_width,
          "fit_rational: needs at least one start and 0 < smallest_width < largest_width");

    const Bounds bounds{3 * half_width, std::log(options.smallest_width * half_width),
                        std::log(options.largest_width * half_width)};
    const RandomKey key{options.seed, RandomStream::parameters, 0};
    const Samples coarse = sample(function, half_width, degree, std::min(options.points, 160));
    Samples samples = sample(function, half_width, degree, options.points);

    // Every start on few points, then the best three on all of them.
    struct Candidate {
        double cost;
        VectorXd parameters;
    };
    const auto by_cost = [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; };
    std::vector<Candidate> candidates;
    for (int start = 0; start < (pole_pairs == 0 ? 1 : options.starts); ++start) {
        const VectorXd from = bounds.clamp(start_layout(start, pole_pairs, half_width, key));
        const VectorXd to = minimize(coarse, from, multiplicity, bounds, 60);
        candidates.push_back({project(coarse, to, multiplicity).cost(), to});
    }
    std::stable_sort(candidates.begin(), candidates.end(), by_cost);
    candidates.resize(std::min<std::size_t>(candidates.size(), 3));
    for (Candidate& candidate : candidates) {
        candidate.parameters =
            minimize(samples, candidate.parameters, multiplicity, bounds, options.max_iterations);
        candidate.cost = project(samples, candidate.parameters, multiplicity).cost();
    }
    VectorXd parameters =
        std::min_element(candidates.begin(), candidates.end(), by_cost)->parameters;
    if (options.minimax) parameters = minimize_largest(samples, parameters, multiplicity, bounds);

    const VectorXd coefficients = project(samples, parameters, multiplicity).coefficients();
    RationalFit fit;
    fit.half_width = half_width;
    fit.polynomial = monomials(coefficients.head(degree + 1), half_width);
    Index column = degree + 1;
    for (Index j = 0; j < pole_pairs; ++j) {
        PolePair pair{parameters[j], std::exp(parameters[pole_pairs + j]), {}, {}};
        for (int power = 1; power <= multiplicity; ++power) {
            pair.even.push_back(coefficients[column++]);
            pair.odd.push_back(coefficients[column++]);
        }
        fit.pole_pairs.push_back(pair);
    }
    // In the order of positions, equal ones (to a millionth of T) by width.
    const auto cell = [&](double position) { return std::round(position / (1e-6 * half_width)); };
    std::sort(fit.pole_pairs.begin(), fit.pole_pairs.end(),
              [&](const PolePair& a, const PolePair& b) {
                  const double left = cell(a.position), right = cell(b.position);
                  return left != right ? left < right : a.width < b.width;
              });
    double squares = 0;
    for (Index i = 0; i < samples.t.size(); ++i) {
        const double error = std::abs(fit.value(samples.t[i]) - samples.f[i]);
        fit.max_error = std::max(fit.max_error, error);
        squares += error * error;
    }
    fit.rms_error = std::sqrt(squares / static_cast<double>(samples.t.size()));
    return fit;
}

const RationalFit& RationalFits::get(const std::string& activation, double frequency,
                                     double half_width, int degree, int pole_pairs,
                                     const RationalFitOptions& options, double envelope) {
    const auto key =
        std::tuple(activation, frequency, half_width, degree, pole_pairs, options, envelope);
    const auto found = fits_.find(key);
    if (found != fits_.end()) return found->second;
    return fits_
        .emplace(key, fit_rational(activation_function(activation, frequency, envelope), half_width,
                                   degree, pole_pairs, options))
        .first->second;
}

}  // namespace ralimp
