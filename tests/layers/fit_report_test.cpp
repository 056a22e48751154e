// The report's promises: what it predicts is what it measures, and its bounds hold.
#include "layers/fit_report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/parallel.h"

namespace ralimp {
namespace {

FitOptions small_options(Split split, bool antithetic, bool share) {
    FitOptions options;
    options.activation = "gelu";
    options.half_width = 1;
    options.features = 16;
    options.dimension = 4;
    options.repeats = 300;
    options.split = split;
    options.antithetic = antithetic;
    options.share_projections = share;
    return options;
}

TEST(FitReport, PredictedErrorsMeetTheMeasuredOnes) {
    for (Split split : {Split::symmetric, Split::real_input, Split::phase_input}) {
        for (bool antithetic : {false, true}) {
            const bool share = antithetic;  // both, in fewer runs
            FitOptions options = small_options(split, antithetic, share);
            options.multiplicity = antithetic ? 1 : 2;
            const FitReport report = make_fit_report(options);
            SCOPED_TRACE(report.to_text());
            EXPECT_EQ(report.to_text().find("of multiplicity 2") == std::string::npos, antithetic);
            EXPECT_EQ(report.fit.pole_pairs[0].multiplicity(), antithetic ? 1u : 2u);
            EXPECT_LE(report.quadrature_error, 1.001 * report.quadrature_bound);
            EXPECT_NEAR(report.sampling_measured / report.sampling_predicted, 1, 0.25);
            for (std::size_t i = 0; i < report.reached.size(); ++i)
                EXPECT_NEAR(report.deviation_measured[i] / report.deviation_predicted[i], 1, 0.3);
            EXPECT_LT(report.bias_in_deviations, 4);
            EXPECT_LE(report.total_measured, 1.25 * report.total_predicted);
            EXPECT_NEAR(report.exponent, 0.5, 1e-9);
        }
    }
}

TEST(FitReport, SamplingErrorFallsWithTheRootOfTheFeatures) {
    FitOptions options = small_options(Split::symmetric, true, true);
    const FitReport few = make_fit_report(options);
    options.features *= 4;
    const FitReport many = make_fit_report(options);
    EXPECT_NEAR(few.sampling_predicted / many.sampling_predicted, 2, 1e-9);
    EXPECT_NEAR(few.sampling_measured / many.sampling_measured, 2, 0.5);
    EXPECT_EQ(few.quadrature_error, many.quadrature_error);
    EXPECT_EQ(many.input_width, 1 + 2 * 64 + 2 * 2 * 3 * 64);
}

TEST(FitReport, MoreNodesTradeQuadratureForVariance) {
    FitOptions options = small_options(Split::symmetric, true, true);
    options.repeats = 2;
    const FitReport report = make_fit_report(options);
    ASSERT_EQ(report.trade.size(), 8u);
    for (std::size_t i = 1; i < report.trade.size(); ++i) {
        EXPECT_GT(report.trade[i].exponent, report.trade[i - 1].exponent);
        EXPECT_GT(report.trade[i].largest_node, report.trade[i - 1].largest_node);
        EXPECT_LT(report.trade[i].quadrature_error, report.trade[i - 1].quadrature_error);
    }
    // The row of the chosen number of nodes repeats the report.
    EXPECT_EQ(report.trade[2].nodes, 3);
    EXPECT_DOUBLE_EQ(report.trade[2].quadrature_error, report.quadrature_error);
    EXPECT_DOUBLE_EQ(report.trade[2].sampling_error, report.sampling_predicted);
    EXPECT_DOUBLE_EQ(report.trade[2].exponent, report.exponent);
}

TEST(FitReport, ACutOffIsReportedAndLowersTheExponent) {
    FitOptions options = small_options(Split::real_input, true, true);
    options.repeats = 2;
    options.scale = {ScaleRule::fixed, 1, 4, 0.5};
    options.nodes.count = 6;
    const FitReport whole = make_fit_report(options);
    options.nodes.s_max = 6;
    const FitReport cut = make_fit_report(options);
    EXPECT_LT(cut.exponent, whole.exponent);
    EXPECT_GT(cut.quadrature_error, whole.quadrature_error);
    EXPECT_GT(cut.waves.discarded_weight, 0);
    EXPECT_LT(cut.input_width, whole.input_width);
    EXPECT_NE(cut.to_text().find("discarded weight"), std::string::npos);
}

TEST(FitReport, ScaleRules) {
    FitOptions options = small_options(Split::symmetric, true, true);
    options.repeats = 2;
    options.squared_norm = 2;
    options.scale = {ScaleRule::fixed, 3, 4, 0.5};
    EXPECT_DOUBLE_EQ(make_fit_report(options).scaled_norm, 2.0 / 9);
    options.scale.rule = ScaleRule::rms;
    EXPECT_DOUBLE_EQ(make_fit_report(options).scale, 4 * 2 / std::sqrt(4.0));
    EXPECT_DOUBLE_EQ(scale_of({ScaleRule::variance, 1, 4, 0.5}, 8, 1), 4);
    EXPECT_DOUBLE_EQ(scale_of({ScaleRule::variance, 1, 4, 0.5}, 0.1, 1), 1);  // never stretched
    EXPECT_THROW(scale_of({ScaleRule::fixed, 0, 4, 0.5}, 1, 1), Error);
}

TEST(FitReport, DoesNotDependOnTheNumberOfThreads) {
    FitOptions options = small_options(Split::symmetric, true, true);
    options.repeats = 20;
    options.orthogonal = true;
    const int before = thread_count();
    set_thread_count(1);
    const FitReport one = make_fit_report(options);
    set_thread_count(2);
    const FitReport two = make_fit_report(options);
    set_thread_count(before);
    EXPECT_EQ(one.to_text(), two.to_text());
    EXPECT_EQ(one.deviation_measured, two.deviation_measured);
}

TEST(FitReport, RejectsOptionsThatDoNotFit) {
    FitOptions options = small_options(Split::symmetric, true, true);
    options.features = 15;
    EXPECT_THROW(make_fit_report(options), Error);
    options.split = Split::real_input;
    options.repeats = 2;
    EXPECT_NO_THROW(make_fit_report(options));
    options.dimension = 1;
    EXPECT_THROW(make_fit_report(options), Error);
    options = {};
    options.activation = "step";
    EXPECT_THROW(make_fit_report(options), Error);
}

}  // namespace
}  // namespace ralimp
