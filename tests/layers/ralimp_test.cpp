// The RaLiMP layer: unbiased and convergent in the weights mode, equal layouts, derivatives of
// every option, the data-dependent start, and the counts.
#include "layers/ralimp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/gradcheck.h"
#include "autograd/operations.h"
#include "layers/parameters.h"
#include "tests/layers/paper_ralimp.h"

namespace ralimp {
namespace {

constexpr Split splits[] = {Split::symmetric, Split::real_input, Split::phase_input};

HiddenStart start_of(uint64_t seed, Activation activation = Activation::gelu,
                     DType dtype = DType::float64) {
    HiddenStart start;
    start.activation = activation;
    start.start.key = {seed, RandomStream::parameters, 3};
    start.dtype = dtype;
    return start;
}

RalimpConfig weights_config(Split split) {
    RalimpConfig config = paper_ralimp();
    config.split = split;
    config.psi = PsiMode::weights;
    config.half_width = 1.5;
    config.pole_pairs = 2;
    config.nodes = NodeRule::optimized;
    config.scale = {ScaleRule::fixed, 1, 4, 0.5};
    return config;
}

Tensor normal(const Shape& shape, uint64_t seed, double deviation, DType dtype = DType::float64) {
    return random_normal(shape, {seed, RandomStream::user, 0}, dtype, 0, deviation);
}

double largest_difference(const Tensor& a, const Tensor& b) { return max(abs(a - b)).item(); }

// Exponents clamped and exponents, so far.
std::vector<int64_t> clamps_of(const Ralimp& layer) {
    std::vector<int64_t> result;
    layer.visit_clamps("", [&](const std::string&, const Tensor& counts) {
        result = counts.to_vector<int64_t>();
    });
    return result;
}

// Small W and b for every layer, so that one set of numbers is estimated by all.
void set_small_weights(Ralimp& layer, int64_t outputs, int64_t inputs) {
    layer.set_weights(normal({outputs, inputs}, 50, 0.25), normal({outputs}, 51, 0.3));
}

TEST(Ralimp, MergedAndConcatenatedLayoutsAreTheSameFunction) {
    for (bool antithetic : {false, true}) {
        RalimpConfig config = weights_config(Split::symmetric);
        config.antithetic = antithetic;
        Ralimp merged(5, 3, config, start_of(1));
        config.layout = FeatureLayout::concatenated;
        Ralimp concatenated(5, 3, config, start_of(1));
        EXPECT_EQ(concatenated.feature_count() - 2 * 8, 2 * (merged.feature_count() - 2 * 8));
        set_small_weights(merged, 3, 5);
        set_small_weights(concatenated, 3, 5);
        const Tensor x = normal({7, 5}, 2, 0.4);
        EXPECT_LT(largest_difference(merged.forward(x), concatenated.forward(x)), 1e-13);
    }
    // F = 1 + K m + 2 J nfreq m, and twice the last term when concatenated; the 1 is the constant.
    RalimpConfig config = weights_config(Split::symmetric);
    for (Split split : splits) {
        config.split = split;
        EXPECT_EQ(Ralimp(5, 3, config, start_of(1)).feature_count(), 2 * 8 + 2 * 2 * 3 * 8);
    }
}

// The mean of many independent layers is the surrogate, whatever the options.
TEST(Ralimp, WeightsModeIsUnbiased) {
    constexpr int layers = 600;
    constexpr int64_t inputs = 3, outputs = 2, rows = 4;
    const Tensor x = normal({rows, inputs}, 3, 0.5);
    for (Split split : splits) {
        for (int variant = 0; variant < 4; ++variant) {
            RalimpConfig config = weights_config(split);
            config.features = 4;
            config.antithetic = variant & 1;
            config.orthogonal = variant & 2;
            config.share_projections = variant & 1;
            config.share_rows = variant & 2;
            config.layout = variant == 3 ? FeatureLayout::concatenated : FeatureLayout::merged;
            config.nodes_per_atom = 2;
            config.nodes = NodeRule::gauss_laguerre;
            config.multiplicity = variant >= 2 ? 2 : 1;
            Tensor sum = Tensor::zeros({rows, outputs}, DType::float64), squares = sum, wanted;
            Ralimp layer(inputs, outputs, config, start_of(0));
            set_small_weights(layer, outputs, inputs);
            for (int i = 0; i < layers; ++i) {
                layer.redraw_projections(static_cast<uint64_t>(i));
                const Tensor y = layer.forward(x);
                if (i == 0) wanted = layer.surrogate(linear(x, layer.weight(), layer.bias()));
                sum = sum + y;
                squares = squares + square(y);
            }
            const Tensor average = sum / layers;
            const Tensor error = sqrt((squares / layers - square(average)) / layers);
            EXPECT_LT(max(abs(average - wanted) / error).item(), 4.5)
                << name_of(split) << " " << variant;
            EXPECT_LT(max(error).item(), 0.05) << name_of(split) << " " << variant;
        }
    }
}

TEST(Ralimp, WeightsModeConvergesToTheActivation) {
    const Tensor x = normal({32, 4}, 4, 0.35);
    for (Split split : splits) {
        std::vector<double> errors;
        for (int64_t features : {16, 256, 4096}) {
            RalimpConfig config = weights_config(split);
            config.features = features;
            config.orthogonal = false;
            config.share_polynomial = split == Split::real_input;
            Ralimp layer(4, 8, config, start_of(7));
            set_small_weights(layer, 8, 4);
            const Tensor y = layer.forward(x);
            const Tensor dense = gelu(linear(x, layer.weight(), layer.bias()));
            errors.push_back(std::sqrt(mean(square(y - dense)).item()));
        }
        // Sixteen times the features, a quarter of the error; then the surrogate's own error shows.
        EXPECT_NEAR(errors[0] / errors[1], 4, 2) << name_of(split);
        EXPECT_GT(errors[1] / errors[2], 2) << name_of(split);
        EXPECT_LT(errors[2], 0.02) << name_of(split);
    }
}

// What the weights mode estimates is the rational function, up to the quadrature of its atoms.
TEST(Ralimp, TheSurrogateIsTheRationalFunctionWithRepeatedPoles) {
    const Tensor t = Tensor::from(
        [] {
            std::vector<double> values;
            for (int i = -100; i <= 100; ++i) values.push_back(0.015 * i);
            return values;
        }(),
        {201});
    const std::vector<double> points = t.to_vector<double>();
    for (const Activation activation : {Activation::gelu, Activation::tanh}) {
        double before = 1;
        for (int64_t multiplicity : {1, 2, 3}) {
            RationalFitOptions options;
            options.multiplicity = static_cast<int>(multiplicity);
            const RationalFit fit =
                fit_rational(activation_function(name_of(activation)), 1.5, 2, 1, options);
            EXPECT_LT(fit.max_error, 0.3 * before);
            before = fit.max_error;
            for (const NodeRule rule : {NodeRule::gauss_laguerre, NodeRule::optimized}) {
                RalimpConfig config = weights_config(Split::real_input);
                config.pole_pairs = 1;
                config.multiplicity = multiplicity;
                config.nodes = rule;
                config.nodes_per_atom = 5;
                const Ralimp layer(3, 2, config, start_of(40, activation));
                // No feature and no projection row more than a simple pole.
                EXPECT_EQ(layer.feature_count(), 2 * 8 + 5 * 16);
                FrequencyOptions nodes;
                nodes.rule = rule;
                nodes.count = 5;
                const double bound = make_waves(fit, nodes).error_bound;
                const std::vector<double> surrogate = layer.surrogate(t).to_vector<double>();
                double largest = 0;
                for (std::size_t i = 0; i < points.size(); ++i)
                    largest = std::max(largest, std::abs(surrogate[i] - fit.value(points[i])));
                EXPECT_LE(largest, 1.001 * bound + 1e-12) << name_of(rule) << " " << multiplicity;
                EXPECT_GE(largest, 0.05 * bound - 1e-12) << name_of(rule) << " " << multiplicity;
                EXPECT_LT(bound, 0.02) << name_of(rule) << " " << multiplicity;
            }
        }
    }
}

// Plain gradient descent on a smooth function: the loss falls and the poles take part.
TEST(Ralimp, LayersWithRepeatedPolesTrain) {
    const Tensor x = normal({256, 2}, 41, 1);
    const Tensor wanted = sin(sum(x, {1}, true) * 2.0);
    for (Split split : splits) {
        for (PsiMode psi : {PsiMode::free, PsiMode::weights}) {
            RalimpConfig config = paper_ralimp();
            config.split = split;
            config.psi = psi;
            config.multiplicity = 2;
            Ralimp layer(2, 1, config, start_of(42, Activation::tanh));
            layer.initialize_from_data(x);
            const Parameters parameters(layer);
            std::vector<double> start = parameters.values().to_vector<double>();
            const auto loss = [&] { return mean(square(layer.forward(x) - wanted)); };
            const double first = loss().item();
            for (int step = 0; step < 60; ++step) {
                const Tensor gradient = parameters.gradient(loss());
                const double norm = std::sqrt(sum(square(gradient)).item());
                parameters.values().copy_from(
                    (parameters.values() - gradient * (0.02 / std::max(norm, 1.0))).detach());
            }
            // One neuron, which is all that the weights mode has, can do little here.
            EXPECT_LT(loss().item(), (psi == PsiMode::free ? 0.8 : 0.98) * first)
                << layer.description();
            const std::vector<double> end = parameters.values().to_vector<double>();
            int moved = 0;
            for (const Parameters::Entry& entry : parameters.entries())
                if (entry.name == "log_width" || entry.name == "even" || entry.name == "odd" ||
                    entry.name == "position") {
                    ++moved;
                    EXPECT_EQ(entry.shape.elements(),
                              entry.name == "even" || entry.name == "odd" ? 2 : 1);
                    for (int64_t i = 0; i < entry.shape.elements(); ++i) {
                        const auto at = static_cast<std::size_t>(entry.offset + i);
                        EXPECT_NE(start[at], end[at]) << entry.name << " " << i;
                    }
                }
            // Free real and phase input keep the coefficients in Ψ.
            const bool amplitudes = psi == PsiMode::weights || split == Split::symmetric;
            EXPECT_EQ(moved, amplitudes ? 4 : 1) << layer.description();
        }
    }
}

TEST(Ralimp, ScaleRulesAreMetOnTheCalibrationBatch) {
    const Tensor x = normal({256, 6}, 5, 2);
    for (Split split : splits) {
        RalimpConfig config = weights_config(split);
        config.scale = {ScaleRule::variance, 1, 4, 0.5};
        std::vector<double> scales;
        for (Balance balance : {Balance::none, Balance::scalar, Balance::diagonal}) {
            config.balance = balance;
            Ralimp layer(6, 5, config, start_of(8));
            layer.set_weights(normal({5, 6}, 9, 0.3) * normal({6}, 10, 1), normal({5}, 11, 0.1));
            const Tensor y = layer.initialize_from_data(x);
            EXPECT_NEAR(layer.exponent(), 0.5, 1e-9) << name_of(split);
            EXPECT_GT(layer.scale(), 1);
            scales.push_back(layer.scale());
            // Balancing is exact: the estimated function is f((w·x + b) / τ²).
            EXPECT_TRUE(std::isfinite(max(abs(y)).item()));
        }
        EXPECT_LT(scales[1], scales[0]) << name_of(split);
        EXPECT_LT(scales[2], scales[1]) << name_of(split);
    }
    RalimpConfig config = weights_config(Split::symmetric);
    config.scale.rule = ScaleRule::rms;
    Ralimp layer(6, 5, config, start_of(8));
    layer.initialize_from_data(x);
    const double rms = std::sqrt(mean(square(linear(x, layer.weight(), Tensor()))).item());
    EXPECT_NEAR(layer.scale(), 4 * rms, 1e-9 * rms);
}

TEST(Ralimp, ScaledLayersEstimateTheScaledFunction) {
    const Tensor x = normal({32, 4}, 12, 1.0);
    RalimpConfig config = weights_config(Split::real_input);
    config.scale = {ScaleRule::variance, 1, 4, 0.25};
    config.balance = Balance::diagonal;
    config.features = 16384;
    Ralimp layer(4, 3, config, start_of(13));
    layer.set_weights(normal({3, 4}, 14, 0.8), normal({3}, 15, 0.4));
    const Tensor y = layer.initialize_from_data(x);
    const double tau2 = layer.scale() * layer.scale();
    ASSERT_GT(tau2, 1.5);
    const Tensor wanted = layer.surrogate(linear(x, layer.weight(), layer.bias()) / tau2);
    EXPECT_LT(std::sqrt(mean(square(y - wanted)).item()), 0.01);
}

TEST(Ralimp, ProjectedNormsApproachTheExactOnes) {
    const Tensor x = normal({16, 4}, 16, 0.4);
    for (Split split : splits) {
        RalimpConfig config = weights_config(split);
        config.features = 1024;
        Ralimp exact(4, 3, config, start_of(17));
        config.norm = FeatureNorm::projected;
        Ralimp projected(4, 3, config, start_of(17));
        config.norm = FeatureNorm::none;
        Ralimp none(4, 3, config, start_of(17));
        for (Ralimp* layer : {&exact, &projected, &none}) set_small_weights(*layer, 3, 4);
        const Tensor y = exact.forward(x);
        EXPECT_LT(largest_difference(y, projected.forward(x)), 0.1) << name_of(split);
        EXPECT_GT(largest_difference(y, none.forward(x)), 0.1) << name_of(split);
    }
}

// Every parameter and the input, in float64, for the options that change the formulas.
TEST(Ralimp, GradientsAgreeWithDifferences) {
    for (Split split : splits) {
        for (PsiMode psi : {PsiMode::weights, PsiMode::free}) {
            for (FeatureNorm norm : {FeatureNorm::exact, FeatureNorm::projected}) {
                RalimpConfig config = weights_config(split);
                config.psi = psi;
                config.norm = norm;
                config.features = 2;
                config.nodes_per_atom = 2;
                config.multiplicity = norm == FeatureNorm::projected ? 2 : 1;
                config.train_projections = true;
                // A part of the exponents is clamped, on both sides.
                if (norm == FeatureNorm::exact) config.exponent_limit = 0.12;
                config.share_projections = norm == FeatureNorm::exact;
                config.share_rows = psi == PsiMode::free;
                config.share_polynomial = config.share_projections && split != Split::symmetric;
                if (split == Split::symmetric && norm == FeatureNorm::projected)
                    config.layout = FeatureLayout::concatenated;
                Ralimp layer(3, 2, config, start_of(18));
                const Tensor x = normal({4, 3}, 19, 0.5);
                layer.initialize_from_data(x);
                Tensors inputs{x};
                layer.visit("", [&](const std::string&, Tensor& tensor, const ParameterInfo& info) {
                    if (info.trained) inputs.push_back(tensor);
                });
                const auto function = [&](const Tensors& values) -> Tensors {
                    std::size_t next = 1;
                    layer.visit("",
                                [&](const std::string&, Tensor& tensor, const ParameterInfo& info) {
                                    if (info.trained) tensor = values[next++];
                                });
                    return {layer.forward(values[0])};
                };
                EXPECT_EQ(clamps_of(layer)[0] > 0, norm == FeatureNorm::exact)
                    << layer.description();
                EXPECT_EQ(gradcheck(function, inputs, {.tolerance = 1e-6}), "")
                    << layer.description() << ", norm " << enum_name(norm);
            }
        }
    }
}

TEST(Ralimp, TaylorModeAgreesWithNestedGradients) {
    for (Split split : splits) {
        for (const auto& [psi, limit] :
             {std::pair{PsiMode::weights, 20.0}, {PsiMode::free, 20.0}, {PsiMode::free, 0.05}}) {
            RalimpConfig config = weights_config(split);
            config.psi = psi;
            config.features = 4;
            config.exponent_limit = limit;
            Ralimp layer(2, 1, config, start_of(20));
            const Tensor points = requires_grad(normal({5, 2}, 21, 0.5));
            layer.initialize_from_data(points.detach());
            const Jet jet =
                layer.forward(Jet::input(points, JetPlan::make({{0}, {1}, {0, 0}, {0, 1}})));
            const Tensor value = layer.forward(points);
            EXPECT_LT(largest_difference(jet.value(), value), 1e-12);
            const Tensor first = grad(value, points, true);
            const Tensor second = grad(slice(first, 1, 0, 1), points);
            EXPECT_LT(largest_difference(jet.derivative({0}), slice(first, 1, 0, 1)), 1e-10);
            EXPECT_LT(largest_difference(jet.derivative({1}), slice(first, 1, 1, 2)), 1e-10);
            EXPECT_LT(largest_difference(jet.derivative({0, 0}), slice(second, 1, 0, 1)), 1e-9);
            EXPECT_LT(largest_difference(jet.derivative({0, 1}), slice(second, 1, 1, 2)), 1e-9);
        }
    }
}

TEST(Ralimp, FreeModeStartsStandardizedAndCloseToTheDenseLayer) {
    const Tensor x = normal({1024, 2}, 22, 1);
    for (Split split : splits) {
        RalimpConfig config = paper_ralimp();
        config.split = split;
        config.features = 32;
        Ralimp layer(2, 10, config, start_of(23, Activation::tanh));
        const Tensor y = layer.initialize_from_data(x);
        const Tensor features = layer.features(Jet::value_only(x)).value();
        EXPECT_LT(max(abs(mean(features, {0}))).item(), 1e-9) << name_of(split);
        EXPECT_LT(max(abs(sqrt(variance(features, {0})) - 1)).item(), 1e-9) << name_of(split);
        const HiddenStart start = start_of(23, Activation::tanh);
        const Tensor dense = tanh(linear(x, start_weight(10, 2, DType::float64, start.start),
                                         start_bias(10, 2, DType::float64, start.start)));
        const double error = std::sqrt(mean(square(y - dense)).item() / mean(square(dense)).item());
        EXPECT_LT(error, 0.03) << name_of(split);
        // The same again: nothing is left over from the first start.
        EXPECT_EQ(largest_difference(layer.initialize_from_data(x), y), 0) << name_of(split);
    }
}

TEST(Ralimp, CountsTheClampedExponentsOfBothSides) {
    for (Split split : splits) {
        for (PsiMode psi : {PsiMode::weights, PsiMode::free}) {
            RalimpConfig config = paper_ralimp();
            config.split = split;
            config.psi = psi;
            config.scale = {ScaleRule::fixed, 1, 4, 0.5};
            Ralimp layer(4, 3, config, start_of(30, Activation::tanh, DType::float32));
            const Tensor x = normal({16, 4}, 31, 0.5, DType::float32);
            layer.initialize_from_data(x);
            const std::vector<int64_t> start = clamps_of(layer);
            EXPECT_EQ(start[0], 0);
            layer.forward(x);
            // Three nodes, two parts, 8 rows; phase input has the weight side's mirror as well.
            const int64_t weight_side = 3 * 48 * (split == Split::phase_input ? 2 : 1);
            const int64_t once = 16 * 48 + (psi == PsiMode::weights ? weight_side : 0);
            EXPECT_EQ(clamps_of(layer)[1] - start[1], once) << layer.description();
            EXPECT_EQ(clamps_of(layer)[0], 0);
            // Points far away: finite, and told.
            const Tensor y = layer.forward(x * 1000.0);
            EXPECT_TRUE(std::isfinite(max(abs(y)).item())) << layer.description();
            const int64_t far = clamps_of(layer)[0];
            // The norm outweighs real input's growth, and phase input has no growth but the norm.
            if (split == Split::real_input)
                EXPECT_EQ(far, 0);
            else
                EXPECT_GT(far, 16 * 48 / 4);
            if (psi == PsiMode::free) continue;
            layer.set_weights(normal({3, 4}, 32, 1000, DType::float32), layer.bias());
            EXPECT_TRUE(std::isfinite(max(abs(layer.forward(x))).item())) << layer.description();
            if (split == Split::phase_input)
                EXPECT_EQ(clamps_of(layer)[0], far);
            else
                EXPECT_GT(clamps_of(layer)[0], far);
        }
    }
    RalimpConfig polynomial = paper_ralimp();
    polynomial.pole_pairs = 0;
    EXPECT_TRUE(clamps_of(Ralimp(4, 3, polynomial, start_of(30))).empty());
}

// A feature that is next to nothing on the whole batch must not be enlarged beyond all bounds.
TEST(Ralimp, AVanishingFeatureIsNotEnlargedBeyondAllBounds) {
    const Tensor far = normal({64, 6}, 33, 1) + 40.0;  // |x|² >> the reach of any row
    RalimpConfig config = paper_ralimp();
    config.split = Split::real_input;
    Ralimp layer(6, 3, config, start_of(34, Activation::tanh));
    config.start_rms = 12;
    Ralimp wild(6, 3, config, start_of(34, Activation::tanh));
    for (Ralimp* each : {&layer, &wild}) {
        each->initialize_from_data(far);
        each->visit("", [&](const std::string& name, Tensor& tensor, const ParameterInfo&) {
            if (name == "feature_inverse") {
                EXPECT_LE(max(tensor).item(), std::exp(20.0));
            }
        });
        EXPECT_TRUE(std::isfinite(max(abs(each->forward(far * 0.01))).item()));
    }
    wild.visit("", [&](const std::string& name, Tensor& tensor, const ParameterInfo&) {
        if (name == "feature_inverse") {
            EXPECT_EQ(max(tensor).item(), std::exp(20.0));
        }
    });
}

TEST(Ralimp, ADeadFeatureIsLeftAlone) {
    // The second input never moves, so the exponent of a row along it would be constant.
    const Tensor x =
        concatenate({normal({64, 1}, 24, 1), Tensor::zeros({64, 1}, DType::float64)}, 1);
    RalimpConfig config = paper_ralimp();
    config.split = Split::symmetric;
    config.degree = -1;
    Ralimp layer(2, 3, config, start_of(25, Activation::tanh));
    EXPECT_TRUE(std::isfinite(max(abs(layer.initialize_from_data(x))).item()));
}

TEST(Ralimp, CountsWhatIsTrainedAndDeployed) {
    RalimpConfig config = paper_ralimp();
    config.split = Split::real_input;
    config.features = 4;
    config.degree = 2;
    config.pole_pairs = 1;
    config.nodes_per_atom = 3;
    const Ralimp free(10, 7, config, start_of(26));
    // Rows 4 + 2·4; F - 1 = 2·4 + 2·3·4 = 32; the atom's scalars.
    EXPECT_EQ(free.feature_count(), 32);
    EXPECT_EQ(free.count().deployed, 12 * 10 + 12 + 32 * 7 + 7 + 4);
    EXPECT_EQ(free.count().regenerated, free.count().deployed - 120 + 1);
    EXPECT_EQ(free.count().trained, 12 + 32 * 7 + 7 + 1);

    config.multiplicity = 3;  // four numbers more
    EXPECT_EQ(Ralimp(10, 7, config, start_of(26)).count().deployed, free.count().deployed + 4);
    for (Split split : splits) {
        for (PsiMode psi : {PsiMode::weights, PsiMode::free}) {
            for (bool on : {false, true}) {
                config.split = split;
                config.psi = psi;
                config.train_positions = config.train_widths = on;
                config.train_coefficients = on;
                config.train_projections = on;
                Ralimp layer(10, 7, config, start_of(26));
                EXPECT_EQ(Parameters(layer).count(), layer.count().trained)
                    << layer.description() << " " << on;
            }
        }
    }
}

TEST(Ralimp, Float32FollowsFloat64) {
    const Tensor x = normal({512, 8}, 27, 1);
    for (Split split : splits) {
        RalimpConfig config = paper_ralimp();
        config.split = split;
        Ralimp wide(8, 5, config, start_of(28, Activation::sin));
        Ralimp narrow(8, 5, config, start_of(28, Activation::sin, DType::float32));
        narrow.initialize_from_data(to(x, DType::float32));
        wide.initialize_from_data(x);
        // The rows are the same draws; Ψ differs by the random weights of each type, so it is
        // copied.
        const auto from = named_tensors(wide);
        std::size_t next = 0;
        narrow.visit("", [&](const std::string& name, Tensor& tensor, const ParameterInfo&) {
            ASSERT_EQ(name, from[next].first);
            tensor.copy_from(from[next++].second);
        });
        EXPECT_LT(largest_difference(wide.forward(x),
                                     to(narrow.forward(to(x, DType::float32)), DType::float64)),
                  2e-4)
            << name_of(split);
    }
}

TEST(Ralimp, LayersShareTheirFit) {
    HiddenStart start = start_of(43);
    start.fits = std::make_shared<RationalFits>();
    RalimpConfig config = paper_ralimp();
    const Ralimp first(4, 3, config, start), second(6, 2, config, start);
    EXPECT_EQ(start.fits->size(), 1u);
    const Tensor t = normal({50}, 44, 1);
    EXPECT_EQ(largest_difference(first.surrogate(t), second.surrogate(t)), 0);
    EXPECT_EQ(
        largest_difference(first.surrogate(t), Ralimp(4, 3, config, start_of(43)).surrogate(t)), 0);
    config.pole_pairs = 2;
    const Ralimp other(4, 3, config, start);
    EXPECT_EQ(start.fits->size(), 2u);
}

TEST(Ralimp, RejectsWhatDoesNotFit) {
    RalimpConfig config = paper_ralimp();
    config.pole_pairs = 0;
    config.degree = 0;
    EXPECT_THROW(Ralimp(3, 2, config, start_of(29)), Error);
    config.degree = 2;
    Ralimp polynomial(3, 2, config, start_of(29));
    EXPECT_EQ(polynomial.feature_count(), 16);
    EXPECT_THROW(polynomial.initialize_from_data(Tensor::zeros({4, 2}, DType::float64)), Error);
    EXPECT_THROW(polynomial.initialize_from_data(Tensor::zeros({4, 3}, DType::float64)), Error);
    EXPECT_THROW(polynomial.set_weights(normal({2, 3}, 1, 1), normal({2}, 1, 1)), Error);
}

TEST(Ralimp, WhatIsLeftOpenFollowsThePurpose) {
    RalimpConfig config;
    EXPECT_TRUE(config.shares_polynomial());
    EXPECT_EQ(config.norm_used(), FeatureNorm::projected);
    EXPECT_EQ(config.start_rms_used(), 2.5);
    config.split = Split::phase_input;
    EXPECT_TRUE(config.shares_polynomial());
    EXPECT_EQ(config.norm_used(), FeatureNorm::none);
    EXPECT_EQ(config.start_rms_used(), 10);
    config.split = Split::symmetric;
    EXPECT_FALSE(config.shares_polynomial());
    EXPECT_EQ(config.norm_used(), FeatureNorm::projected);
    EXPECT_EQ(config.start_rms_used(), 0.4);
    config.antithetic = false;
    EXPECT_TRUE(config.shares_polynomial());
    config.share_projections = false;
    EXPECT_FALSE(config.shares_polynomial());
    // An estimator of W without bias.
    config = {};
    config.psi = PsiMode::weights;
    EXPECT_FALSE(config.shares_polynomial());
    EXPECT_EQ(config.norm_used(), FeatureNorm::exact);
    // What is said counts.
    config.norm = FeatureNorm::none;
    config.start_rms = 7;
    config.share_polynomial = true;
    EXPECT_TRUE(config.shares_polynomial());
    EXPECT_EQ(config.norm_used(), FeatureNorm::none);
    EXPECT_EQ(config.start_rms_used(), 7);
}

// Channels whose amplitude is 0 move by rounding errors: a small step must not make them huge.
TEST(Ralimp, ASmallStepOfEveryParameterChangesLittle) {
    for (const Split split : splits)
        for (const FeatureLayout layout : {FeatureLayout::merged, FeatureLayout::concatenated})
            for (const Activation activation :
                 {Activation::tanh, Activation::sin, Activation::gelu, Activation::relu}) {
                RalimpConfig config;
                config.split = split;
                config.layout = layout;
                config.start_rms = 0.4;
                Ralimp layer(5, 4, config, start_of(5, activation));
                const Tensor x = normal({300, 5}, 8, 1);
                layer.initialize_from_data(x);
                const Tensor before = layer.forward(x);
                layer.visit("", [](const std::string&, Tensor& tensor, const ParameterInfo& info) {
                    if (info.trained) tensor.copy_from(tensor + 1e-4);
                });
                EXPECT_LT(largest_difference(before, layer.forward(x)), 0.1) << layer.description();
            }
}

}  // namespace
}  // namespace ralimp
