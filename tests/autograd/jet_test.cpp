// Taylor mode against nested reverse mode, and the fused kernels against their references.
#include "autograd/jet.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/exponential_features.h"
#include "autograd/gradcheck.h"
#include "autograd/operations.h"
#include "core/kernels.h"
#include "core/parallel.h"

namespace ralimp {
namespace {

Tensor normal(const Shape& shape, uint32_t step, double deviation = 1,
              DType dtype = DType::float64) {
    return random_normal(shape, {7, RandomStream::user, step}, dtype, 0, deviation);
}

double largest_difference(const Tensor& a, const Tensor& b) {
    EXPECT_EQ(to_string(a.shape()), to_string(b.shape()));
    const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        largest = std::max(largest, std::abs(x[i] - y[i]) / (1 + std::abs(y[i])));
    return largest;
}

// Activations that are smooth on the whole axis; the others need positive or nonzero arguments.
const std::vector<Activation> smooth = {
    Activation::identity, Activation::tanh, Activation::sin,  Activation::cos,
    Activation::sinh,     Activation::cosh, Activation::exp,  Activation::sigmoid,
    Activation::softplus, Activation::silu, Activation::gelu, Activation::gelu_tanh,
    Activation::gaussian, Activation::wire, Activation::finer};

struct SmallNetwork {
    Tensor w0 = requires_grad(normal({5, 3}, 1)), b0 = requires_grad(normal({5}, 2));
    Tensor w1 = requires_grad(normal({4, 5}, 3, 0.5)), b1 = requires_grad(normal({4}, 4));
    Tensor w2 = requires_grad(normal({2, 4}, 5)), b2;
    Tensors parameters() const { return {w0, b0, w1, b1, w2}; }

    Jet forward(const Jet& x, Activation f) const {
        return linear(apply(f, linear(apply(f, linear(x, w0, b0), 0.7), w1, b1)), w2, b2);
    }
};

TEST(Jet, AgreesWithNestedReverseModeForEveryDerivative) {
    const SmallNetwork network;
    const Tensor points = requires_grad(normal({6, 3}, 10, 0.5));
    const std::vector<std::vector<int>> derivatives = {
        {0}, {1}, {2}, {0, 0}, {0, 1}, {1, 2}, {2, 2}, {0, 0, 0}, {0, 0, 1}, {0, 1, 2}, {2, 1, 1}};
    const auto plan = JetPlan::make(derivatives, {0, 1, 2});
    for (const Activation f : smooth) {
        SCOPED_TRACE(name_of(f));
        const Jet u = network.forward(Jet::input(points, plan), f);
        // The plain-operation reference of the activation, so that the fused kernel is not compared
        // with itself.
        const auto plain = [&](const Tensor& x, double scale) {
            return activation_derivative(f, 0, x * scale, plan->composition(f, scale).parameter);
        };
        const Tensor h0 = plain(matmul(points, transpose(network.w0)) + network.b0, 0.7);
        const Tensor h1 = plain(matmul(h0, transpose(network.w1)) + network.b1, 1);
        const Tensor value = matmul(h1, transpose(network.w2));
        EXPECT_LT(largest_difference(u.value(), value), 1e-13);
        for (int output = 0; output < 2; ++output) {
            const auto column = [&](const Tensor& x) { return slice(x, 1, output, output + 1); };
            Tensor laplacian;
            for (const auto& axes : derivatives) {
                Tensor derivative = column(value);
                for (int axis : axes)
                    derivative = slice(grad(derivative, points, true), 1, axis, axis + 1);
                EXPECT_LT(largest_difference(column(u.derivative(axes)), derivative), 1e-10)
                    << "order " << axes.size();
            }
            for (int axis = 0; axis < 3; ++axis) {
                Tensor second = column(value);
                for (int i = 0; i < 2; ++i)
                    second = slice(grad(second, points, true), 1, axis, axis + 1);
                laplacian = laplacian.defined() ? laplacian + second : second;
            }
            EXPECT_LT(largest_difference(column(u.laplacian()), laplacian), 1e-10);
        }
    }
}

TEST(Jet, GradientsOfDerivativesAgreeWithNestedReverseMode) {
    const SmallNetwork network;
    const Tensor points = requires_grad(normal({7, 3}, 11, 0.5));
    const auto plan = JetPlan::make({{0}, {1, 1}, {0, 1, 2}});
    const Jet u = network.forward(Jet::input(points, plan), Activation::tanh);
    const Tensor loss = mean(
        square(u.derivative({1, 1}) + u.value() * u.derivative({0}) - u.derivative({0, 1, 2})));
    const auto derivative = [&](Tensor y, std::vector<int> axes) {
        for (int axis : axes) y = slice(grad(y, points, true), 1, axis, axis + 1);
        return y;
    };
    const Tensor h0 = tanh((matmul(points, transpose(network.w0)) + network.b0) * 0.7);
    const Tensor h1 = tanh(matmul(h0, transpose(network.w1)) + network.b1);
    const Tensor value = matmul(h1, transpose(network.w2));
    Tensors columns;
    for (int output = 0; output < 2; ++output) {
        const Tensor y = slice(value, 1, output, output + 1);
        columns.push_back(derivative(y, {1, 1}) + y * derivative(y, {0}) -
                          derivative(y, {0, 1, 2}));
    }
    const Tensor nested = mean(square(concatenate(columns, 1)));
    EXPECT_NEAR(loss.item(), nested.item(), 1e-12 * nested.item());
    const Tensors a = grad({loss}, network.parameters()), b = grad({nested}, network.parameters());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_LT(largest_difference(a[i], b[i]), 1e-11);
}

// Value, gradient and second gradient of the fused activation equal those of its reference.
TEST(Jet, FusedActivationAgreesWithItsReference) {
    const auto plan = JetPlan::make({{0, 0, 0}, {0, 1}, {1, 1, 0}}, {0, 1});
    for (std::size_t i = 0; i < activation::Activations::size; ++i) {
        const Activation f = static_cast<Activation>(i);
        SCOPED_TRACE(name_of(f));
        for (const int64_t columns : {1, 5, 700}) {
            const ActivationProgram program = plan->composition(f, 1.3);
            Tensor start = normal({plan->channels(), 2, columns}, 20);
            // Away from 0: where relu bends, and where the reciprocal, root and logarithm end.
            slice(start, 0, 0, 1).copy_from(abs(slice(start, 0, 0, 1)) + 0.3);
            const Tensor x = requires_grad(start);
            const Tensor weights = normal(x.shape(), 21), direction = normal(x.shape(), 22);
            const Tensor fused = apply(f, Jet(x, plan), 1.3).channels();
            const Tensor reference = activation_reference(program, x);
            EXPECT_LT(largest_difference(fused, reference), 1e-12);
            const Tensor fused_gradient = grad({fused}, {x}, {weights})[0];
            const Tensor reference_gradient = grad({reference}, {x}, {weights}, true)[0];
            EXPECT_LT(largest_difference(fused_gradient, reference_gradient), 1e-11);
            const Tensor connected = grad({fused}, {x}, {weights}, true)[0];
            EXPECT_LT(largest_difference(grad({connected}, {x}, {direction})[0],
                                         grad({reference_gradient}, {x}, {direction})[0]),
                      1e-11);
        }
    }
}

TEST(Jet, FusedActivationInFloat32StaysNearFloat64) {
    const auto plan = JetPlan::make({{0}, {1}, {0, 0}});
    for (const Activation f : smooth) {
        const Tensor x = normal({plan->channels(), 33, 7}, 30);
        const Tensor single = requires_grad(to(x, DType::float32)), twice = requires_grad(x);
        const Tensor a = apply(f, Jet(single, plan)).channels(),
                     b = apply(f, Jet(twice, plan)).channels();
        // The sine of finer has an argument that grows with x², and so does its rounding.
        const double tolerance = f == Activation::finer ? 6e-6 : 2e-6;
        EXPECT_LT(largest_difference(a, b), tolerance) << name_of(f);
        EXPECT_LT(largest_difference(grad(sum(a), single), grad(sum(b), twice)), 1e-5)
            << name_of(f);
    }
}

TEST(Jet, ProductsFollowTheProductRule) {
    const auto plan = JetPlan::make({{0, 0, 1}, {1, 1}}, {0, 1});
    const Tensor points = requires_grad(normal({5, 2}, 40));
    const Jet x = Jet::input(points, plan);
    const Jet f = apply(Activation::sin, linear(x, normal({3, 2}, 41), Tensor()));
    const Jet g = apply(Activation::exp, linear(x, normal({3, 2}, 42, 0.5), Tensor()));
    const Jet h = sum_features(f * g - square(f) * 0.5 + normal({3}, 43));
    const auto derivative = [&](std::vector<int> axes) {
        Tensor y = h.value();
        // The value channel is an ordinary function of the points.
        for (int axis : axes) y = slice(grad(y, points, true), 1, axis, axis + 1);
        return y;
    };
    EXPECT_LT(largest_difference(h.derivative({0, 0, 1}), derivative({0, 0, 1})), 1e-10);
    EXPECT_LT(largest_difference(h.derivative({1, 0}), derivative({0, 1})), 1e-11);
    EXPECT_LT(largest_difference(h.laplacian(), derivative({0, 0}) + derivative({1, 1})), 1e-11);
}

// The fused product against the sum over the rule's terms, written here in plain operations, for
// plans of every order, views, squares and broadcasting factors.
TEST(Jet, ProductsAgreeWithTheirReference) {
    const std::vector<std::pair<std::vector<std::vector<int>>, std::vector<int>>> plans = {
        {{}, {}},
        {{{0}}, {}},
        {{{0, 0}, {0, 1}}, {}},
        {{{0, 0, 0}, {0, 1, 1}}, {}},
        {{{1}}, {0, 1}}};
    for (const auto& [derivatives, laplacian] : plans) {
        const auto plan = JetPlan::make(derivatives, laplacian);
        const int64_t channels = plan->channels();
        SCOPED_TRACE(channels);
        const auto expected = [&](const Tensor& a, const Tensor& b) {
            Tensors sums(static_cast<std::size_t>(channels));
            for (const auto& term : plan->products()) {
                const Tensor product =
                    select(a, 0, term.left) * select(b, 0, term.right) * term.coefficient;
                Tensor& sum = sums[static_cast<std::size_t>(term.channel)];
                sum = sum.defined() ? sum + product : product;
            }
            return stack(sums);
        };
        const Tensor a = normal({channels, 3, 4}, 20), b = normal({channels, 3, 4}, 21);
        const Tensor view = slice(normal({channels, 3, 9}, 22), 2, 2, 6);
        const Tensor row = normal({channels, 1, 4}, 23);
        for (const auto& [x, y] : {std::pair{a, b}, {a, view}, {view, b}, {a, row}, {row, b}}) {
            const auto product = [&](const Tensors& in) -> Tensors {
                return {(Jet(in[0], plan) * Jet(in[1], plan)).channels()};
            };
            EXPECT_LT(largest_difference(product({x, y})[0], expected(x, y)), 1e-15);
            EXPECT_EQ(gradcheck(product, {x, y}), "");
            EXPECT_EQ(gradgradcheck(product, {x, y}), "");
        }
        const auto squared = [&](const Tensors& in) -> Tensors {
            return {square(Jet(in[0], plan)).channels()};
        };
        EXPECT_LT(largest_difference(squared({view})[0], expected(view, view)), 1e-15);
        EXPECT_EQ(gradcheck(squared, {view}), "");
        EXPECT_EQ(gradgradcheck(squared, {view}), "");
    }
}

TEST(Jet, PlanRefusesWhatItCannotCarry) {
    EXPECT_THROW(JetPlan::make({{0, 0, 0, 0}}), Error);
    EXPECT_THROW(JetPlan::make({{-1}}), Error);
    const auto plan = JetPlan::make({{0}});
    EXPECT_THROW(plan->channel({1}), Error);
    EXPECT_THROW(plan->laplacian_channel(), Error);
    EXPECT_THROW(Jet::input(Tensor::zeros({3}), plan), Error);
    EXPECT_THROW(Jet::input(Tensor::zeros({3, 1}), JetPlan::make({{1}})), Error);
    EXPECT_THROW(Jet(Tensor::zeros({3, 2, 1}), plan), Error);
    EXPECT_THROW(linear(Tensor::zeros({4, 3}), Tensor::zeros({2, 5}), Tensor()), Error);
}

// The cost of a second derivative must not grow with unused ones: channels and terms are counted.
TEST(Jet, PlansAreSmall) {
    EXPECT_EQ(JetPlan::make({{0}, {1}, {0, 0}})->channels(), 4);
    EXPECT_EQ(JetPlan::make({{0}, {1}, {0, 0}})->composition(Activation::tanh, 1).term_count, 4);
    EXPECT_EQ(JetPlan::make({{0, 0, 0}})->channels(), 4);
    EXPECT_EQ(JetPlan::make({}, {0, 1, 2})->channels(), 5);
}

struct FeatureCase {
    bool oscillating, with_norms;
    int64_t points;
    double limit = default_exponent_limit;  // below 1 a good part of the exponents is clamped
};

class ExponentialFeatures : public testing::TestWithParam<FeatureCase> {
protected:
    // Two frequencies of 5 projections each, the second block reading the same projections, and one
    // apart.
    static constexpr int64_t projections = 9, features = 14;
    Tensor blocks = feature_blocks({{0, 0, 5}, {5, 0, 5}, {10, 5, 4}}, features, projections);
    Tensor table(DType dtype) const {
        Tensor t = normal({feature_table::rows, features}, 50, 0.5, dtype);
        if (!GetParam().oscillating)
            for (int row :
                 {feature_table::rotation, feature_table::norm_rotation, feature_table::sine})
                slice(t, 0, row, row + 1).fill(0);
        return t;
    }
    // How many exponents of the value are beyond the limit, from the definition.
    int64_t beyond(const Tensor& p, const Tensor* n, const Tensor& t, double limit) const {
        int64_t count = 0;
        const std::vector<double> ps = p.to_doubles(), table = t.to_doubles();
        const std::vector<double> ns = n ? n->to_doubles() : std::vector<double>();
        const std::vector<int32_t> runs = blocks.to_vector<int32_t>();
        for (int64_t i = 0; i < p.size(1); ++i)
            for (std::size_t b = 0; b < runs.size(); b += 3)
                for (int32_t k = 0; k < runs[b + 2]; ++k) {
                    const auto f = static_cast<std::size_t>(runs[b] + k);
                    double z = table[feature_table::growth * features + f] *
                               ps[static_cast<std::size_t>(i * projections + runs[b + 1] + k)];
                    if (n)
                        z += table[feature_table::norm_growth * features + f] *
                             ns[static_cast<std::size_t>(i)];
                    count += z > limit;
                }
        return count;
    }
};

TEST_P(ExponentialFeatures, AgreeWithTheirReference) {
    const auto plan = JetPlan::make({{0, 0, 0}, {0, 1}}, {0, 1});
    const FeatureCase& c = GetParam();
    const Tensor p = requires_grad(normal({plan->channels(), c.points, projections}, 51, 0.5));
    const Tensor n = requires_grad(normal({plan->channels(), c.points, 1}, 52, 0.5));
    const Tensor t = requires_grad(table(DType::float64));
    const Jet norms(n, plan);
    const FeatureProgram program{plan->composition(Activation::exp, 1), c.oscillating, c.limit};
    const ExponentLimit limit{c.limit, Tensor::zeros({2}, DType::int64)};
    const Tensor fused = exponential_features(Jet(p, plan), c.with_norms ? &norms : nullptr, blocks,
                                              t, c.oscillating, limit)
                             .channels();
    const int64_t clamped =
        beyond(p.detach(), c.with_norms ? &norms.channels() : nullptr, t.detach(), c.limit);
    EXPECT_EQ(clamped > 0, c.limit < 1);
    EXPECT_EQ(limit.counts.to_vector<int64_t>(),
              (std::vector<int64_t>{clamped, c.points * features}));
    const Tensor reference =
        exponential_features_reference(program, p, c.with_norms ? n : Tensor(), blocks, t);
    EXPECT_LT(largest_difference(fused, reference), 1e-12);
    Tensors inputs{p, t};
    if (c.with_norms) inputs.push_back(n);
    const Tensor weights = normal(fused.shape(), 53);
    const Tensors a = grad({fused}, inputs, {weights});
    const Tensors b = grad({reference}, inputs, {weights}, true);
    const Tensors connected = grad({fused}, inputs, {weights}, true);
    // Rows of the table that the plain form does not read get no gradient from the fused pass.
    const auto comparable = [&](const Tensor& x, std::size_t i) {
        return i == 1 && !c.oscillating
                   ? index_select(x, 0, Tensor::from(std::vector<int64_t>{0, 1, 4, 6}, {4}))
                   : x;
    };
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        EXPECT_LT(largest_difference(comparable(a[i], i), comparable(b[i], i)), 1e-11) << i;
        EXPECT_LT(largest_difference(comparable(connected[i], i), comparable(b[i], i)), 1e-11) << i;
    }
    const Tensor direction = normal(p.shape(), 54);
    EXPECT_LT(largest_difference(grad({connected[0]}, {p}, {direction})[0],
                                 grad({b[0]}, {p}, {direction})[0]),
              1e-10);
    // No gradient pass counts.
    EXPECT_EQ(limit.counts.to_vector<int64_t>()[1], c.points * features);
}

// The values, by differences: the reference might share a mistake with the fused form.
TEST_P(ExponentialFeatures, GradientsAgreeWithDifferences) {
    const auto plan = JetPlan::make({{0, 0}});
    const FeatureCase& c = GetParam();
    Tensors inputs{normal({plan->channels(), c.points, projections}, 60, 0.5),
                   table(DType::float64)};
    if (c.with_norms) inputs.push_back(normal({plan->channels(), c.points, 1}, 61, 0.5));
    const auto function = [&](const Tensors& x) -> Tensors {
        // Where nothing oscillates these rows are promised to be 0 and get no gradient.
        const Tensor t =
            c.oscillating ? x[1]
                          : where(Tensor::from(std::vector<uint8_t>{1, 1, 0, 0, 1, 0, 1}, {7, 1}),
                                  x[1], Tensor::zeros({}, DType::float64));
        const Jet p(x[0], plan);
        if (!c.with_norms)
            return {exponential_features(p, nullptr, blocks, t, c.oscillating, {c.limit, {}})
                        .channels()};
        const Jet n(x[2], plan);
        return {exponential_features(p, &n, blocks, t, c.oscillating, {c.limit, {}}).channels()};
    };
    EXPECT_EQ(gradcheck(function, inputs, {.tolerance = 1e-6}), "");
}

TEST_P(ExponentialFeatures, StayFiniteForAnyExponentAndKeepTheirBitsBelowTheLimit) {
    const auto plan = JetPlan::make({{0, 0}});
    const FeatureCase& c = GetParam();
    const Tensor t = requires_grad(table(DType::float32));
    const auto channels = [&](double size, double limit) {
        const Tensor p = requires_grad(
            normal({plan->channels(), c.points, projections}, 62, size, DType::float32));
        const Tensor y =
            exponential_features(Jet(p, plan), nullptr, blocks, t, c.oscillating, {limit, {}})
                .channels();
        Tensors all = grad({sum(square(select(y, 0, 0)))}, {p, t});
        all.push_back(y.detach());
        return all;
    };
    const Tensors wild = channels(1000, default_exponent_limit);
    for (const Tensor& part : wild)
        for (double value : part.to_doubles()) EXPECT_TRUE(std::isfinite(value));
    EXPECT_GT(max(abs(select(wild[2], 0, 0))).item(), 1e7);
    if (c.limit < 1) return;
    const Tensors tame = channels(1, default_exponent_limit), free = channels(1, 80);
    for (std::size_t i = 0; i < tame.size(); ++i)
        EXPECT_EQ(tame[i].to_vector<float>(), free[i].to_vector<float>());
}

TEST_P(ExponentialFeatures, GiveTheSameBitsOnOneAndTwoThreads) {
    const auto plan = JetPlan::make({{0, 0}});
    const FeatureCase& c = GetParam();
    const int64_t points = c.points * 400;
    const Tensor p =
        requires_grad(normal({plan->channels(), points, projections}, 55, 0.5, DType::float32));
    const Tensor t = requires_grad(table(DType::float32));
    std::vector<std::vector<float>> results;
    const int64_t clamped = beyond(p.detach(), nullptr, t.detach(), c.limit);
    const int before = thread_count();
    for (const int threads : {1, 2, 2}) {
        set_thread_count(threads);
        const ExponentLimit limit{c.limit, Tensor::zeros({2}, DType::int64)};
        const Tensor y =
            exponential_features(Jet(p, plan), nullptr, blocks, t, c.oscillating, limit).channels();
        EXPECT_EQ(limit.counts.to_vector<int64_t>(),
                  (std::vector<int64_t>{clamped, points * features}));
        const Tensors g = grad({y}, {p, t});
        std::vector<float> all = y.to_vector<float>();
        for (const Tensor& part : g) {
            const std::vector<float> values = part.to_vector<float>();
            all.insert(all.end(), values.begin(), values.end());
        }
        results.push_back(all);
    }
    set_thread_count(before);
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[1], results[2]);
}

INSTANTIATE_TEST_SUITE_P(Forms, ExponentialFeatures,
                         testing::Values(FeatureCase{true, true, 3}, FeatureCase{true, false, 3},
                                         FeatureCase{false, true, 3}, FeatureCase{false, false, 1},
                                         FeatureCase{true, true, 3, 0.2},
                                         FeatureCase{true, false, 3, 0.3},
                                         FeatureCase{false, true, 3, 0.2},
                                         FeatureCase{false, false, 2, 0.3}));

// As the parts of a loss do.
TEST(ExponentialFeatureClamps, AreCountedFromSeveralThreadsAtATime) {
    const ExponentLimit limit{1, Tensor::zeros({2}, DType::int64)};
    const Tensor blocks = feature_blocks({{0, 0, 1}}, 1, 1);
    const Tensor table =
        Tensor::from(std::vector<double>{1, 0, 0, 0, 1, 0, 0}, {feature_table::rows, 1});
    const Tensor p = Tensor::from(std::vector<double>{-3, 2, 1, 5, 0.5}, {5, 1});
    const int before = thread_count();
    set_thread_count(2);
    parallel_for(1000, 1, [&](int64_t, int64_t) {
        const NoGrad no_grad;
        exponential_features(Jet::value_only(p), nullptr, blocks, table, false, limit);
        clamp_exponent(p, limit);
    });
    set_thread_count(before);
    EXPECT_EQ(limit.counts.to_vector<int64_t>(), (std::vector<int64_t>{4000, 10000}));
    EXPECT_EQ(clamp_exponent(p, limit).to_vector<double>(),
              (std::vector<double>{-3, 1, 1, 1, 0.5}));
    EXPECT_THROW(clamp_exponent(p, {0, {}}), Error);
    EXPECT_THROW(clamp_exponent(p, {1, Tensor::zeros({3}, DType::int64)}), Error);
    // What is not a number stays so.
    const Tensor nan = Tensor::from(std::vector<double>{std::nan("")}, {1, 1});
    const Jet y = exponential_features(Jet::value_only(nan), nullptr, blocks, table, false, limit);
    EXPECT_TRUE(std::isnan(y.value().item()));
    EXPECT_TRUE(std::isnan(clamp_exponent(nan, limit).item()));
}

TEST(ExponentialFeatureBlocks, MustCoverTheFeatures) {
    EXPECT_THROW(feature_blocks({{0, 0, 3}, {4, 0, 3}}, 7, 3), Error);
    EXPECT_THROW(feature_blocks({{0, 0, 3}}, 4, 3), Error);
    EXPECT_THROW(feature_blocks({{0, 2, 3}}, 3, 4), Error);
    EXPECT_THROW(feature_blocks({{0, 0, 0}}, 0, 4), Error);
}

}  // namespace
}  // namespace ralimp
