// The rational surrogates against the published table of errors and poles, and against rational
// functions that are known exactly.
#include "layers/rational_fit.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "core/error.h"

namespace ralimp {
namespace {

struct Row {
    const char* activation;
    double frequency;
    double half_width;
    std::vector<double> polynomial_errors;  // degrees 2, 4, 8
    std::vector<double> errors;             // J = 1, 2, 3; largest error with K = 2
};

const std::vector<Row>& table() {
    static const std::vector<Row> rows = {
        {"tanh", 1, 3, {3.6e-1, 1.4e-1, 1.9e-2}, {2.1e-3, 1.4e-6, 2.7e-9}},
        {"tanh", 1, 6, {5.9e-1, 3.7e-1, 1.4e-1}, {2.1e-2, 1.3e-4, 2.8e-7}},
        {"silu", 1, 3, {9.2e-2, 1.4e-2, 3.7e-4}, {5.2e-5, 2.7e-9}},
        {"silu", 1, 6, {4.3e-1, 1.5e-1, 1.9e-2}, {2.9e-3, 2.1e-6, 1.4e-7}},
        {"gelu", 1, 3, {1.9e-1, 4.8e-2, 2.2e-3}, {1.5e-3, 4.6e-5, 1.0e-7}},
        {"relu", 1, 3, {3.2e-1, 1.9e-1, 1.0e-1}, {6.5e-2, 1.8e-2, 5.2e-3}},
        {"softplus", 1, 3, {3.0e-2, 3.2e-3, 4.9e-5}, {4.8e-5, 8.3e-8}},
        {"sin", 1, 3, {6.7e-1, 9.0e-2, 1.7e-4}, {7.1e-3, 4.1e-6, 6.5e-7}},
        {"sin", 3, 3, {1.3, 1.1, 5.7e-1}, {1.2, 6.5e-1, 7.9e-3}},
    };
    return rows;
}

double largest_error(const RationalFit& fit, const ScalarFunction& f) {
    double largest = 0;
    for (int i = 0; i <= 5000; ++i) {
        const double t = fit.half_width * (i / 2500.0 - 1);
        largest = std::max(largest, std::abs(fit.value(t) - f(t)));
    }
    return largest;
}

TEST(RationalFit, PolynomialsAloneGiveTheErrorsOfTheTable) {
    for (const Row& row : table()) {
        const ScalarFunction f = activation_function(row.activation, row.frequency);
        const int degrees[] = {2, 4, 8};
        for (int i = 0; i < 3; ++i) {
            const double error = fit_rational(f, row.half_width, degrees[i], 0).max_error;
            const double wanted = row.polynomial_errors[static_cast<std::size_t>(i)];
            EXPECT_LE(error, 1.05 * wanted) << row.activation << " degree " << degrees[i];
            EXPECT_GE(error, 0.93 * wanted) << row.activation << " degree " << degrees[i];
        }
    }
}

TEST(RationalFit, PolePairsReachTheErrorsOfTheTable) {
    for (const Row& row : table()) {
        const ScalarFunction f = activation_function(row.activation, row.frequency);
        for (std::size_t j = 0; j < row.errors.size(); ++j) {
            const RationalFit fit = fit_rational(f, row.half_width, 2, static_cast<int>(j) + 1);
            EXPECT_LE(fit.max_error, 1.05 * row.errors[j])
                << row.activation << " of " << row.frequency << " t, T = " << row.half_width
                << ", J = " << j + 1;
            EXPECT_LE(fit.rms_error, fit.max_error);
            // What is reported holds between the fitted points too, except at a kink that lies
            // between two of them.
            const double slack = row.activation == std::string("relu") ? 1.6 : 1.02;
            EXPECT_LE(largest_error(fit, f), slack * fit.max_error + 1e-13);
        }
    }
}

TEST(RationalFit, FindsThePolesOfTheTable) {
    const RationalFit tanh_fit = fit_rational(activation_function("tanh"), 3, 2, 2);
    EXPECT_NEAR(tanh_fit.pole_pairs[0].position, 0, 1e-6);
    EXPECT_NEAR(tanh_fit.pole_pairs[1].position, 0, 1e-6);
    EXPECT_NEAR(tanh_fit.pole_pairs[0].width, 1.57, 0.005);
    EXPECT_NEAR(tanh_fit.pole_pairs[1].width, 5.29, 0.01);

    EXPECT_NEAR(fit_rational(activation_function("silu"), 3, 2, 1).pole_pairs[0].width, 3.21,
                0.005);
    const RationalFit silu_fit = fit_rational(activation_function("silu"), 3, 2, 2);
    EXPECT_NEAR(silu_fit.pole_pairs[0].width, 3.14, 0.005);
    EXPECT_NEAR(silu_fit.pole_pairs[1].width, 10.2, 0.05);

    const RationalFit gelu_fit = fit_rational(activation_function("gelu"), 3, 2, 2);
    EXPECT_NEAR(gelu_fit.pole_pairs[0].position, -0.62, 0.005);
    EXPECT_NEAR(gelu_fit.pole_pairs[1].position, 0.62, 0.005);
    for (const PolePair& pair : gelu_fit.pole_pairs) EXPECT_NEAR(pair.width, 2.15, 0.005);

    const RationalFit relu_fit = fit_rational(activation_function("relu"), 3, 2, 1);
    EXPECT_NEAR(relu_fit.pole_pairs[0].position, 0, 1e-6);
    EXPECT_NEAR(relu_fit.pole_pairs[0].width, 1.05, 0.005);

    const RationalFit sin_fit = fit_rational(activation_function("sin"), 3, 2, 2);
    EXPECT_NEAR(sin_fit.pole_pairs[0].position, -2.41, 0.005);
    EXPECT_NEAR(sin_fit.pole_pairs[1].position, 2.41, 0.005);
    for (const PolePair& pair : sin_fit.pole_pairs) EXPECT_NEAR(pair.width, 5.87, 0.005);
}

TEST(RationalFit, SymmetricFunctionsKeepSymmetricCoefficients) {
    const RationalFit odd = fit_rational(activation_function("sin"), 3, 2, 2);
    EXPECT_NEAR(odd.polynomial[0], 0, 1e-8);
    EXPECT_NEAR(odd.polynomial[2], 0, 1e-8);
    EXPECT_NEAR(odd.pole_pairs[0].even[0], -odd.pole_pairs[1].even[0], 1e-5);
    EXPECT_NEAR(odd.pole_pairs[0].odd[0], odd.pole_pairs[1].odd[0], 1e-5);
}

TEST(RationalFit, RecoversARationalFunction) {
    const PolePair pairs[] = {{-0.8, 0.5, {1.25}, {-0.5}}, {1.1, 0.9, {-0.75}, {2.0}}};
    const auto f = [&](double t) {
        return 0.5 - t + 0.25 * t * t + pairs[0].value(t) + pairs[1].value(t);
    };
    const RationalFit fit = fit_rational(f, 2, 2, 2);
    EXPECT_LT(fit.max_error, 1e-9);
    const double polynomial[] = {0.5, -1, 0.25};
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(fit.polynomial[k], polynomial[k], 1e-7);
    for (std::size_t j = 0; j < 2; ++j) {
        EXPECT_NEAR(fit.pole_pairs[j].position, pairs[j].position, 1e-7);
        EXPECT_NEAR(fit.pole_pairs[j].width, pairs[j].width, 1e-7);
        EXPECT_NEAR(fit.pole_pairs[j].even[0], pairs[j].even[0], 1e-7);
        EXPECT_NEAR(fit.pole_pairs[j].odd[0], pairs[j].odd[0], 1e-7);
    }
    EXPECT_NEAR(fit.narrowest_width(), 0.5, 1e-7);
}

TEST(RationalFit, FitsPolesOfHigherMultiplicity) {
    const auto f = [](double t) {
        const double x = t - 0.3, d = x * x + 0.49;
        return 2 * std::pow(0.49 / d, 3) - 0.5 * std::pow(0.7, 5) * x / (d * d * d) +
               0.8 * 0.7 * x / d - 1.5 * std::pow(0.49 / d, 2);
    };
    RationalFitOptions options;
    options.multiplicity = 3;
    const RationalFit fit = fit_rational(f, 2, -1, 1, options);
    EXPECT_LT(fit.max_error, 1e-9);
    EXPECT_TRUE(fit.polynomial.empty());
    EXPECT_NEAR(fit.pole_pairs[0].position, 0.3, 1e-7);
    EXPECT_NEAR(fit.pole_pairs[0].width, 0.7, 1e-7);
    const double even[] = {0, -1.5, 2}, odd[] = {0.8, 0, -0.5};
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(fit.pole_pairs[0].even[i], even[i], 1e-6);
        EXPECT_NEAR(fit.pole_pairs[0].odd[i], odd[i], 1e-6);
    }
}

// More powers at the same pole never fit worse; for smooth functions each gains much. No
// coefficient is so large that float32 would lose the sum.
TEST(RationalFit, HigherMultiplicityLowersTheError) {
    const struct {
        const char* name;
        double errors[4];  // of multiplicities 1 to 4, one pole pair, T = 3
    } rows[] = {{"tanh", {2.1e-3, 6.7e-4, 8.4e-5, 1.9e-5}},
                {"gelu", {1.5e-3, 2.0e-4, 1.5e-5, 2.0e-6}},
                {"sin", {7.2e-3, 2.9e-3, 7.6e-6, 1.2e-6}},
                {"silu", {5.3e-5, 1.3e-5, 4.9e-7, 1.3e-7}}};
    for (const auto& row : rows) {
        for (int multiplicity : {1, 2, 3, 4}) {
            RationalFitOptions options;
            options.multiplicity = multiplicity;
            const ScalarFunction f = activation_function(row.name);
            const RationalFit fit = fit_rational(f, 3, 2, 1, options);
            EXPECT_LE(fit.max_error, 1.05 * row.errors[multiplicity - 1])
                << row.name << " " << multiplicity;
            EXPECT_LE(largest_error(fit, f), 1.02 * fit.max_error + 1e-13);
            ASSERT_EQ(fit.pole_pairs[0].multiplicity(), static_cast<std::size_t>(multiplicity));
            for (double even : fit.pole_pairs[0].even) EXPECT_LT(std::abs(even), 1e3);
            for (double odd : fit.pole_pairs[0].odd) EXPECT_LT(std::abs(odd), 1e3);
        }
    }
}

TEST(RationalFit, MinimaxLowersTheLargestErrorAndLevelsItsPeaks) {
    RationalFitOptions options;
    options.minimax = true;
    for (const char* name : {"tanh", "gelu", "relu"}) {
        const ScalarFunction f = activation_function(name);
        const RationalFit squares = fit_rational(f, 3, 2, 1);
        const RationalFit minimax = fit_rational(f, 3, 2, 1, options);
        EXPECT_LT(minimax.max_error, 0.95 * squares.max_error) << name;
        EXPECT_GT(minimax.rms_error, squares.rms_error) << name;
    }
    // The best uniform approximation of |t| by an even rational function of this kind has equal
    // peaks: the middle peak is no larger than the others.
    const RationalFit relu = fit_rational(activation_function("relu"), 3, 2, 1, options);
    const double middle = std::abs(relu.value(0));
    double elsewhere = 0;
    for (double t = 0.1; t <= 3; t += 0.01)
        elsewhere = std::max(elsewhere, std::abs(relu.value(t) - t));
    EXPECT_NEAR(middle, elsewhere, 0.1 * elsewhere);
}

TEST(RationalFit, IsDeterministicAndQuick) {
    const ScalarFunction f = activation_function("gelu");
    const auto begin = std::chrono::steady_clock::now();
    const RationalFit first = fit_rational(f, 3, 2, 3);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const RationalFit second = fit_rational(f, 3, 2, 3);
    for (std::size_t j = 0; j < 3; ++j) {
        EXPECT_EQ(first.pole_pairs[j].position, second.pole_pairs[j].position);
        EXPECT_EQ(first.pole_pairs[j].even, second.pole_pairs[j].even);
    }
    EXPECT_LT(seconds, 5);  // about 0.05 s on an idle core; a bound even a sanitizer build meets
}

TEST(RationalFits, AreMadeOnceForEachSetOfArguments) {
    RationalFits fits;
    RationalFitOptions twofold;
    twofold.multiplicity = 2;
    const RationalFit& tanh_fit = fits.get("tanh", 1, 3, 2, 1);
    const RationalFit& repeated = fits.get("tanh", 1, 3, 2, 1, twofold);
    const RationalFit& wide = fits.get("tanh", 1, 4, 2, 1);
    const RationalFit& fast = fits.get("tanh", 2, 3, 2, 1);
    EXPECT_EQ(fits.size(), 4u);
    EXPECT_EQ(&fits.get("tanh", 1, 3, 2, 1), &tanh_fit);
    EXPECT_EQ(&fits.get("tanh", 1, 3, 2, 1, twofold), &repeated);
    EXPECT_EQ(&fits.get("tanh", 1, 4, 2, 1), &wide);
    EXPECT_EQ(&fits.get("tanh", 2, 3, 2, 1), &fast);
    EXPECT_EQ(fits.size(), 4u);
    const RationalFit again = fit_rational(activation_function("tanh"), 3, 2, 1, twofold);
    EXPECT_EQ(repeated.pole_pairs[0].width, again.pole_pairs[0].width);
    EXPECT_EQ(repeated.pole_pairs[0].odd, again.pole_pairs[0].odd);
}

TEST(RationalFit, RejectsWhatItCannotFit) {
    const ScalarFunction f = activation_function("tanh");
    EXPECT_THROW(fit_rational(f, 0, 2, 1), Error);
    EXPECT_THROW(fit_rational(f, 3, -2, 1), Error);
    EXPECT_THROW(fit_rational(f, 3, 2, 17), Error);
    RationalFitOptions options;
    options.points = 8;
    EXPECT_THROW(fit_rational(f, 3, 2, 2, options), Error);
    options = {};
    for (int multiplicity : {0, 9}) {
        options.multiplicity = multiplicity;
        EXPECT_THROW(fit_rational(f, 3, 2, 2, options), Error);
    }
    EXPECT_THROW(fit_rational([](double t) { return std::log(t); }, 3, 2, 1), Error);
}

TEST(ScalarActivation, ValuesByName) {
    EXPECT_DOUBLE_EQ(activation_value("tanh", 0.5), std::tanh(0.5));
    EXPECT_DOUBLE_EQ(activation_value("relu", -2), 0);
    EXPECT_DOUBLE_EQ(activation_value("gaussian", 2), std::exp(-4));
    EXPECT_DOUBLE_EQ(activation_value("gelu", 1), 0.5 * (1 + std::erf(std::sqrt(0.5))));
    EXPECT_DOUBLE_EQ(activation_function("sin", 30)(0.1), std::sin(3.0));
    for (const std::string& name : activation_names())
        EXPECT_TRUE(std::isfinite(activation_value(name, 1.5))) << name;
    try {
        activation_value("tahn", 0);
        FAIL() << "an unknown name was accepted";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("tanh"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace ralimp
