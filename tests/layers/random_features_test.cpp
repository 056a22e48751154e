// The random features against their closed forms by Monte Carlo, and the published relations of the
// variance reductions.
#include "layers/random_features.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <functional>

#include "core/error.h"

namespace ralimp {
namespace {

using Complex = std::complex<double>;
constexpr Split splits[] = {Split::symmetric, Split::real_input, Split::phase_input};

// Two vectors of the given geometry in the plane of the first two coordinates.
struct Vectors {
    PairGeometry pair;
    double x0, w0, w1;

    Vectors(double input, double weight, double cosine)
        : pair{input, weight, cosine * std::sqrt(input * weight)},
          x0(std::sqrt(input)),
          w0(cosine * std::sqrt(weight)),
          w1(std::sqrt((1 - cosine * cosine) * weight)) {}

    Complex draw(double angle, double frequency, double g0, double g1) const {
        return input_feature(angle, frequency, g0 * x0, pair.input) *
               weight_feature(angle, frequency, g0 * w0 + g1 * w1, pair.weight);
    }
};

struct Statistics {
    double mean = 0, variance = 0;
    double mean_error = 0, variance_error = 0;  // standard errors
};

Statistics statistics(int count, const std::function<double(int)>& sample) {
    std::vector<double> values(static_cast<std::size_t>(count));
    Statistics result;
    for (int i = 0; i < count; ++i) {
        values[static_cast<std::size_t>(i)] = sample(i);
        result.mean += values[static_cast<std::size_t>(i)] / count;
    }
    double fourth = 0;
    for (double value : values) {
        const double squared = (value - result.mean) * (value - result.mean);
        result.variance += squared / count;
        fourth += squared * squared / count;
    }
    result.mean_error = std::sqrt(result.variance / count);
    result.variance_error = std::sqrt((fourth - result.variance * result.variance) / count);
    return result;
}

double normal(uint64_t stream, int index) {
    return random_normal<double>({stream, RandomStream::projections, 0},
                                 static_cast<uint64_t>(index));
}

void expect_moments(const Statistics& measured, double mean, double variance, const char* what) {
    EXPECT_NEAR(measured.mean, mean, 4 * measured.mean_error) << what;
    EXPECT_NEAR(measured.variance, variance, 4 * measured.variance_error) << what;
    EXPECT_LT(measured.variance_error, 0.2 * measured.variance) << what;
}

TEST(RandomFeatures, OneDrawIsUnbiasedWithTheClosedFormVariance) {
    constexpr int draws = 60000;
    const Vectors cases[] = {{0.3, 0.3, 0.4}, {0.5, 0.2, -0.6}};
    const double s = 0.9;
    for (Split split : splits) {
        const double angle = angle_of(split);
        for (const Vectors& vectors : cases) {
            const double t = vectors.pair.product;
            const auto draw = [&](int i) {
                return vectors.draw(angle, s, normal(1, 2 * i), normal(1, 2 * i + 1));
            };
            expect_moments(statistics(draws, [&](int i) { return draw(i).real(); }),
                           std::cos(s * t), cosine_variance(angle, s, vectors.pair), "cosine");
            expect_moments(statistics(draws, [&](int i) { return draw(i).imag(); }),
                           std::sin(s * t), sine_variance(angle, s, vectors.pair), "sine");
        }
    }
}

// Any angle between the named ones is unbiased too.
TEST(RandomFeatures, ThePairsOfOppositeDrawsHaveTheClosedFormVariance) {
    constexpr int draws = 60000;
    const Vectors vectors(0.4, 0.3, 0.5);
    const double s = 0.8, t = vectors.pair.product;
    for (double angle : {angle_of(Split::symmetric), angle_of(Split::real_input),
                         angle_of(Split::phase_input), 0.3}) {
        const auto draw = [&](int i) {
            const double g0 = normal(2, 2 * i), g1 = normal(2, 2 * i + 1);
            return 0.5 * (vectors.draw(angle, s, g0, g1) + vectors.draw(angle, s, -g0, -g1));
        };
        expect_moments(statistics(draws, [&](int i) { return draw(i).real(); }), std::cos(s * t),
                       cosine_variance(angle, s, vectors.pair, true), "cosine");
        expect_moments(statistics(draws, [&](int i) { return draw(i).imag(); }), std::sin(s * t),
                       sine_variance(angle, s, vectors.pair, true), "sine");
    }
}

TEST(RandomFeatures, WavesThatShareTheirDrawHaveTheClosedFormVariance) {
    constexpr int draws = 60000;
    const Vectors vectors(0.4, 0.5, 0.3);
    const std::vector<Wave> waves = {{0.2, 0.7, -0.3}, {0.6, -0.4, 0.5}, {1.1, 0.2, 0.1}};
    double mean = 0;
    for (const Wave& wave : waves) mean += wave.value(vectors.pair.product);
    for (Split split : splits) {
        const double angle = angle_of(split);
        const auto draw = [&](double g0, double g1) {
            double sum = 0;
            for (const Wave& wave : waves) {
                const Complex y = vectors.draw(angle, wave.frequency, g0, g1);
                sum += wave.cosine * y.real() + wave.sine * y.imag();
            }
            return sum;
        };
        const auto g = [](int i) { return normal(3, i); };
        expect_moments(statistics(draws, [&](int i) { return draw(g(2 * i), g(2 * i + 1)); }), mean,
                       wave_variance(angle, waves, vectors.pair), "single");
        expect_moments(statistics(draws,
                                  [&](int i) {
                                      return 0.5 * (draw(g(2 * i), g(2 * i + 1)) +
                                                    draw(-g(2 * i), -g(2 * i + 1)));
                                  }),
                       mean, wave_variance(angle, waves, vectors.pair, true), "antithetic");
    }
}

// The forms as they are printed in the theory, which the code does not use.
TEST(RandomFeatures, TheGeneralVarianceContainsThePrintedForms) {
    for (const PairGeometry& p : {PairGeometry{0.5, 0.5, 0.1}, {0.2, 0.9, -0.3}, {1, 0.4, 0.5}}) {
        for (double s : {0.3, 1.0, 2.0}) {
            const double z = p.input + p.weight + 2 * p.product, c = std::cos(s * p.product);
            const double symmetric = 0.5 * std::exp(s * z) +
                                     0.5 * std::cos(s * (p.input + p.weight + 4 * p.product)) -
                                     c * c;
            const auto real_input = [&](double x, double w) {
                return 0.5 * std::exp(-s * x + s * w) *
                           (std::exp(2 * s * x) +
                            std::exp(2 * s * x - 2 * s * w) * std::cos(4 * s * p.product)) -
                       c * c;
            };
            EXPECT_NEAR(cosine_variance(angle_of(Split::symmetric), s, p), symmetric, 1e-12);
            EXPECT_NEAR(cosine_variance(angle_of(Split::real_input), s, p),
                        real_input(p.input, p.weight), 1e-12);
            EXPECT_NEAR(cosine_variance(angle_of(Split::phase_input), s, p),
                        real_input(p.weight, p.input), 1e-12);
            EXPECT_NEAR(variance_exponent(angle_of(Split::symmetric), s, p), 0.5 * s * z, 1e-14);
            EXPECT_NEAR(variance_exponent(angle_of(Split::real_input), s, p),
                        0.5 * s * (p.input + p.weight), 1e-14);
        }
    }
}

// x and w of equal length at a cosine of 0.38: A = s |x|² (1 + 0.38).
TEST(RandomFeatures, AntitheticPairsGainWhatIsPublished) {
    const auto gain = [](double exponent) {
        const double norm = exponent / 1.38;
        const PairGeometry pair{norm, norm, 0.38 * norm};
        const double angle = angle_of(Split::symmetric);
        EXPECT_NEAR(variance_exponent(angle, 1, pair), exponent, 1e-12);
        return 2 * cosine_variance(angle, 1, pair, true) / cosine_variance(angle, 1, pair);
    };
    EXPECT_NEAR(gain(0.25), 0.03, 0.005);
    EXPECT_NEAR(gain(1), 0.66, 0.005);
    // And never hurt by much more than a rounding, whatever the geometry, while A <= 1.
    for (double exponent = 0.05; exponent <= 1; exponent += 0.05) EXPECT_LE(gain(exponent), 1);
}

// Mean square error of cos(s t) over random directions at 32 real features.
double cosine_error(Split split, double norm, const ProjectionOptions& options, bool pairs) {
    constexpr int64_t dimension = 8, repeats = 2500;
    const int64_t rows = split == Split::symmetric ? 16 : 32;
    const double angle = angle_of(split);
    double error = 0;
    for (int64_t repeat = 0; repeat < repeats; ++repeat) {
        const auto seed = static_cast<uint64_t>(repeat);
        const double cosine = random_normal<double>({seed, RandomStream::user, 0}, 0) /
                              std::sqrt(static_cast<double>(dimension));
        const Vectors vectors(norm, norm, std::clamp(cosine, -1.0, 1.0));
        const std::vector<double> g =
            projection_rows(rows, dimension, {seed, RandomStream::projections, 0}, options);
        double mean = 0;
        for (int64_t row = 0; row < rows; ++row) {
            const double g0 = g[static_cast<std::size_t>(row * dimension)];
            const double g1 = g[static_cast<std::size_t>(row * dimension + 1)];
            double value = vectors.draw(angle, 1, g0, g1).real();
            if (pairs) value = 0.5 * (value + vectors.draw(angle, 1, -g0, -g1).real());
            mean += value / static_cast<double>(rows);
        }
        const double difference = mean - std::cos(vectors.pair.product);
        error += difference * difference / static_cast<double>(repeats);
    }
    return error;
}

TEST(RandomFeatures, RealInputWithOrthogonalRowsAgainstTheBestSymmetricVariant) {
    for (double norm : {0.1, 0.25, 0.5, 1.0}) {
        double best = 1e300;
        for (bool orthogonal : {false, true})
            for (bool antithetic : {false, true})
                best = std::min(
                    best, cosine_error(Split::symmetric, norm, {orthogonal, antithetic}, false));
        const double gain = best / cosine_error(Split::real_input, norm, {true, false}, true);
        if (norm < 0.2) {
            EXPECT_LT(gain, 1);
            EXPECT_GT(gain, 1 / 3.5);
        } else {
            EXPECT_GT(gain, 1.1) << norm;
            EXPECT_LT(gain, 18) << norm;
        }
    }
}

TEST(RandomFeatures, PolynomialBlockHasTheClosedFormVariance) {
    constexpr int draws = 80000;
    const Vectors vectors(0.7, 0.9, 0.4);
    const double coefficients[] = {0.5, 0.8, -0.6, 0.3};
    const double t = vectors.pair.product;
    const double mean = 0.5 + t * (0.8 + t * (-0.6 + t * 0.3));
    for (bool shared : {true, false}) {
        const auto draw = [&](int i) {
            double sum = coefficients[0];
            int row = 0;
            double prefix = 1;
            for (int k = 1; k <= 3; ++k) {
                double product = 1;
                for (int factor = shared ? k - 1 : 0; factor < k; ++factor, ++row) {
                    const double g0 = normal(4, 12 * i + 2 * row);
                    const double g1 = normal(4, 12 * i + 2 * row + 1);
                    product *= g0 * vectors.x0 * (g0 * vectors.w0 + g1 * vectors.w1);
                }
                prefix = shared ? prefix * product : product;
                sum += coefficients[k] * prefix;
            }
            return sum;
        };
        const Statistics measured = statistics(draws, draw);
        const double variance = polynomial_variance(coefficients, vectors.pair, shared);
        EXPECT_NEAR(measured.mean, mean, 4 * measured.mean_error);
        EXPECT_NEAR(measured.variance, variance, 4 * measured.variance_error);
    }
}

TEST(ProjectionRows, OrthogonalRowsKeepTheirLaw) {
    constexpr int64_t rows = 12, dimension = 5;
    double norm = 0, norm_squares = 0, entry = 0, fourth = 0;
    constexpr int repeats = 2000;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        const RandomKey key{static_cast<uint64_t>(repeat), RandomStream::projections, 0};
        const std::vector<double> values = projection_rows(rows, dimension, key, {true, false});
        using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        const Eigen::Map<const RowMajor> g(values.data(), rows, dimension);
        for (int64_t block = 0; block < rows; block += dimension) {
            const int64_t count = std::min(dimension, rows - block);
            const Eigen::MatrixXd gram =
                g.middleRows(block, count) * g.middleRows(block, count).transpose();
            const Eigen::MatrixXd diagonal = gram.diagonal().asDiagonal();
            EXPECT_LT((gram - diagonal).cwiseAbs().maxCoeff(), 1e-12);
        }
        const double square = g.row(3).squaredNorm();
        norm += square / repeats;
        norm_squares += square * square / repeats;
        entry += g(3, 0) / repeats;
        fourth += std::pow(g(3, 0), 4) / repeats;
    }
    // χ² with 5 degrees of freedom: mean 5, variance 10; a single entry is standard normal.
    EXPECT_NEAR(norm, 5, 4 * std::sqrt(10.0 / repeats));
    EXPECT_NEAR(norm_squares - norm * norm, 10, 2);
    EXPECT_NEAR(entry, 0, 4 / std::sqrt(double(repeats)));
    EXPECT_NEAR(fourth, 3, 4 * std::sqrt(96.0 / repeats));
}

// Of blocks of every size, also those that the decomposition cuts: the Q of Eigen's in one piece,
// with positive diagonal of R, times the norms of other draws.
TEST(ProjectionRows, OrthogonalRowsAreThoseOfTheWholeDecomposition) {
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const RandomKey key{9, RandomStream::projections, 1};
    for (const auto& [rows, dimension] :
         {std::pair{1, 1}, {3, 7}, {48, 48}, {49, 49}, {130, 131}}) {
        const std::vector<double> drawn = projection_rows(rows, dimension, key);
        const std::vector<double> made = projection_rows(rows, dimension, key, {true, false});
        const Eigen::Map<const Matrix> draws(drawn.data(), rows, dimension);
        const Eigen::Map<const Matrix> orthogonal(made.data(), rows, dimension);
        const Eigen::HouseholderQR<Eigen::MatrixXd> qr(draws.transpose());
        const Eigen::MatrixXd q = qr.householderQ() * Eigen::MatrixXd::Identity(dimension, rows);
        for (int i = 0; i < rows; ++i) {
            const double sign = qr.matrixQR()(i, i) < 0 ? -1 : 1;
            const Eigen::VectorXd direction = orthogonal.row(i).transpose().normalized();
            EXPECT_LT((direction - sign * q.col(i)).norm(), 1e-12) << rows << " " << i;
        }
    }
}

TEST(ProjectionRows, AntitheticRowsAreNegatedAndDeterministic) {
    const RandomKey key{7, RandomStream::projections, 2};
    for (bool orthogonal : {false, true}) {
        const std::vector<double> g = projection_rows(6, 4, key, {orthogonal, true});
        ASSERT_EQ(g.size(), 24u);
        for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(g[i], -g[i + 12]);
        EXPECT_EQ(g, projection_rows(6, 4, key, {orthogonal, true}));
        RandomKey other = key;
        other.seed = 8;
        EXPECT_NE(g, projection_rows(6, 4, other, {orthogonal, true}));
    }
    // The rows that are drawn do not depend on how many follow.
    const std::vector<double> few = projection_rows(3, 4, key), many = projection_rows(9, 4, key);
    for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i], many[i]);
    EXPECT_EQ(projection_rows(3, 1, key, {true, false}).size(), 3u);
    EXPECT_THROW(projection_rows(5, 4, key, {false, true}), Error);
    EXPECT_THROW(projection_rows(0, 4, key), Error);
}

}  // namespace
}  // namespace ralimp
