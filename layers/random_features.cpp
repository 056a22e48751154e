#include "layers/random_features.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/interruption.h"
#include "layers/orthonormal.h"

namespace ralimp {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXd;

namespace {
constexpr double pi = 3.14159265358979323846;
}  // namespace

std::string_view name_of(Split split) { return enum_name(split); }

double angle_of(Split split) {
    constexpr double angles[] = {pi / 4, 0, pi / 2};
    return angles[static_cast<int>(split)];
}

Complex input_feature(double angle, double frequency, double projection, double squared_norm) {
    const Complex u = std::polar(std::sqrt(frequency), angle);
    return std::exp(u * projection - 0.5 * u * u * squared_norm);
}

Complex weight_feature(double angle, double frequency, double projection, double squared_norm) {
    return input_feature(pi / 2 - angle, frequency, projection, squared_norm);
}

namespace {

// α and β of the header.
struct Moments {
    double modulus;
    Complex phase;
};

Moments moments_of(double angle, const PairGeometry& pair) {
    return {pair.input + pair.weight + 2 * std::sin(2 * angle) * pair.product,
            std::polar(1.0, 2 * angle) * pair.input - std::polar(1.0, -2 * angle) * pair.weight};
}

}  // namespace

double variance_exponent(double angle, double frequency, const PairGeometry& pair) {
    return 0.5 * frequency * moments_of(angle, pair).modulus;
}

// With λ = C - iS a draw is X = Σ Re(λ Y), and E[X X'] = ½ Re ΣΣ (λ_i λ_j E[Y_i Y'_j] +
// λ_i λ̄_j E[Y_i Ȳ'_j]).
double wave_variance(double angle, std::span<const Wave> waves, const PairGeometry& pair,
                     bool antithetic) {
    const Moments moments = moments_of(angle, pair);
    const double t = pair.product;
    double mean = 0, square = 0, cross = 0;
    for (const Wave& a : waves) {
        mean += a.value(t);
        const Complex left(a.cosine, -a.sine);
        for (const Wave& b : waves) {
            const Complex right(b.cosine, -b.sine);
            const double root = std::sqrt(a.frequency * b.frequency);
            const double sum = a.frequency + b.frequency;
            const Complex shift(0, (a.frequency - b.frequency) * t);
            const Complex plus(0, (sum + 2 * root) * t), minus(0, (sum - 2 * root) * t);
            square += 0.5 * (left * right * std::exp(root * moments.phase + plus) +
                             left * std::conj(right) * std::exp(root * moments.modulus + shift))
                                .real();
            cross += 0.5 * (left * right * std::exp(-root * moments.phase + minus) +
                            left * std::conj(right) * std::exp(-root * moments.modulus + shift))
                               .real();
        }
    }
    const double second_moment = antithetic ? 0.5 * (square + cross) : square;
    return std::max(0.0, second_moment - mean * mean);
}

double cosine_variance(double angle, double frequency, const PairGeometry& pair, bool antithetic) {
    const Wave wave{frequency, 1, 0};
    return wave_variance(angle, {&wave, 1}, pair, antithetic);
}

double sine_variance(double angle, double frequency, const PairGeometry& pair, bool antithetic) {
    const Wave wave{frequency, 0, 1};
    return wave_variance(angle, {&wave, 1}, pair, antithetic);
}

// E[((g·x)(g·w))²] = |x|²|w|² + 2t², so the prefixes of length k <= l have the product moment
// (|x|²|w|² + 2t²)^k t^(l-k).
double polynomial_variance(std::span<const double> coefficients, const PairGeometry& pair,
                           bool shared_rows) {
    const double t = pair.product;
    const double fourth = pair.input * pair.weight + 2 * t * t;
    double variance = 0;
    for (std::size_t k = 1; k < coefficients.size(); ++k) {
        const double excess =
            std::pow(fourth, static_cast<int>(k)) - std::pow(t, 2 * static_cast<int>(k));
        variance += coefficients[k] * coefficients[k] * excess;
        double power = t;
        for (std::size_t l = k + 1; shared_rows && l < coefficients.size(); ++l, power *= t)
            variance += 2 * coefficients[k] * coefficients[l] * excess * power;
    }
    return variance;
}

std::string_view name_of(ScaleRule rule) { return enum_name(rule); }

double scale_of(const ScaleOptions& options, double mean_exponent, double rms_product) {
    double scale = options.value;
    if (options.rule == ScaleRule::rms) scale = options.c * rms_product;
    if (options.rule == ScaleRule::variance) {
        check(options.target > 0, "scale: target = {} must be positive", options.target);
        scale = std::sqrt(std::max(1.0, mean_exponent / options.target));
    }
    check(scale > 0 && std::isfinite(scale),
          "scale: rule {} gives {} (mean exponent {}, RMS of w·x {}); it must be positive",
          name_of(options.rule), scale, mean_exponent, rms_product);
    return scale;
}

namespace {

MatrixXd gaussian(Index rows, Index columns, const RandomKey& key, uint64_t first) {
    MatrixXd matrix(rows, columns);
    for (Index i = 0; i < rows; ++i) {
        throw_if_interrupted();
        for (Index j = 0; j < columns; ++j)
            matrix(i, j) =
                random_normal<double>(key, first + static_cast<uint64_t>(i * columns + j));
    }
    return matrix;
}

// Rows [count, dimension] with orthogonal directions; `block` keeps the draws of blocks apart.
MatrixXd orthogonal_block(Index count, Index dimension, const RandomKey& key, uint64_t block) {
    const auto size = static_cast<uint64_t>(dimension * dimension);
    const MatrixXd draws = gaussian(count, dimension, key, 2 * block * size);
    OrthonormalColumns directions = orthonormal_columns(draws.transpose());
    const MatrixXd lengths = gaussian(count, dimension, key, (2 * block + 1) * size);
    for (Index i = 0; i < count; ++i) {
        // Householder's method fixes the sign of each column; the diagonal of R takes it back,
        // which makes the directions uniformly distributed.
        directions.q.col(i) *= directions.signs[i] * lengths.row(i).norm();
    }
    return directions.q.transpose();
}

}  // namespace

std::vector<double> projection_rows(int64_t rows, int64_t dimension, const RandomKey& key,
                                    const ProjectionOptions& options) {
    check(rows >= 1 && dimension >= 1, "projection_rows: [{}, {}] must have positive sizes", rows,
          dimension);
    check(!options.antithetic || rows % 2 == 0,
          "projection_rows: antithetic rows come in pairs; {} is odd", rows);
    const int64_t drawn = options.antithetic ? rows / 2 : rows;
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    std::vector<double> result(static_cast<std::size_t>(rows * dimension));
    Eigen::Map<RowMajor> matrix(result.data(), rows, dimension);
    if (options.orthogonal) {
        for (int64_t first = 0; first < drawn; first += dimension) {
            const int64_t count = std::min(dimension, drawn - first);
            matrix.middleRows(first, count) =
                orthogonal_block(count, dimension, key, static_cast<uint64_t>(first / dimension));
        }
    } else {
        matrix.topRows(drawn) = gaussian(drawn, dimension, key, 0);
    }
    if (options.antithetic) matrix.bottomRows(drawn) = -matrix.topRows(drawn);
    return result;
}

}  // namespace ralimp
