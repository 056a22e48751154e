// Conditions that hold by construction: derivatives of the constrained outputs against nested
// reverse mode, exact conditions for whatever the network is, conditions left out, complaints.
#include "trainers/pinn_constraints.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "autograd/gradcheck.h"
#include "autograd/operations.h"
#include "layers/parameters.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"
#include "tests/trainers/training_testing.h"
#include "trainers/config.h"
#include "trainers/pinn.h"

namespace ralimp {
namespace {

PinnConfig config_of(const std::string& text) {
    return std::get<PinnConfig>(read_config_text<RunConfig>(
        "kind: pinn\nprecision: float64\nnetwork: {hidden_layers: 2, width: 6}\n" + text));
}

double largest_difference(const Tensor& a, const Tensor& b) {
    return max(abs(a - b) / (abs(b) + 1.0)).item();
}

const FormulaNames names{{"x", "t"}, {"u", "v"}, {"a"}, {{"nu", 0.25}}, 0, false};

// Coordinates and two outputs of a network, on tensors and on jets.
class ConstrainedOutput : public testing::Test {
protected:
    Tensor plain(const std::string& text, const Tensor& points, const Tensor& a) const {
        const Jet u = Jet::value_only(network_->forward(points));
        return Formula(text, names).evaluate({&u, points, {}, {a}});
    }
    Jet jet(const std::string& text, const Tensor& points, const Tensor& a) const {
        const Jet x = Jet::input(points, plan_);
        return Formula(text, names).evaluate({x, network_->forward(x), {a}});
    }
    static NetworkConfig small() {
        NetworkConfig config;
        config.hidden_layers = 2;
        config.width = 5;
        return config;
    }

    std::unique_ptr<Mlp> network_ = make_network(small(), {{-1, 0}, {1, 1}}, 2, DType::float64, 3);
    std::shared_ptr<const JetPlan> plan_ =
        JetPlan::make({{0, 0, 0}, {0, 0, 1}, {0, 1, 1}, {1, 1, 1}});
    Tensor points_ = random_uniform({5, 2}, {1, RandomStream::points, 0}, DType::float64, 0.1, 0.9);
    Tensor a_ = Tensor::full({}, 1.3, DType::float64);
    const std::vector<std::string> texts_{"u",
                                          "-sin(pi*x) + t*(1 - x^2)*u",
                                          "x*v/(2 + u^2) - nu*t",
                                          "a*u + x/a",
                                          "exp(-u)*cos(v) + log(2 + x) - sqrt(t + u^2)",
                                          "tanh(u)*sinh(x)/cosh(v)",
                                          "erf(x*u) + tan(x/2)*v",
                                          "sech(3*x)*u + abs(x - 2)*v",
                                          "min(x, 5)*u + max(t, u - 9)",
                                          "(1 + x)^2.5*u + x^3*v + (2 + t)^-1*u^2",
                                          "2^x*u + (1 + x)^(1 + t)*v",
                                          "-u + 3"};
};

TEST_F(ConstrainedOutput, AgreesWithNestedReverseMode) {
    const Tensor at = requires_grad(points_);
    for (const std::string& text : texts_) {
        const Jet u = jet(text, points_, a_);
        const Tensor value = plain(text, at, a_);
        ASSERT_EQ(u.value().shape(), value.shape()) << text;
        EXPECT_LT(largest_difference(u.value(), value), 1e-14) << text;
        for (int channel = 1; channel < plan_->channels(); ++channel) {
            Tensor derivative = value;
            for (int axis : plan_->axes(channel))
                derivative = slice(grad(sum(derivative), at, true), 1, axis, axis + 1);
            EXPECT_LT(largest_difference(u.channel(channel), derivative), 1e-11)
                << text << ", channel " << channel;
        }
    }
}

TEST_F(ConstrainedOutput, AgreesWithAClosedForm) {
    const double pi = std::numbers::pi;
    const FormulaNames linear{{"x", "t"}, {"u"}, {}, {}, 0, false};
    const Jet x = Jet::input(points_, plan_);
    // With u = x t: -sin πx + t (1 - x²) x t.
    const Jet u = slice_features(x, 0, 1) * slice_features(x, 1, 2);
    const Jet f = Formula("-sin(pi*x) + t*(1 - x^2)*u", linear).evaluate({x, u, {}});
    for (std::size_t row = 0; row < 5; ++row) {
        const double p = points_.to_doubles()[2 * row], t = points_.to_doubles()[2 * row + 1];
        const auto at = [&](const std::vector<int>& axes) {
            return f.derivative(axes).to_doubles()[row];
        };
        EXPECT_NEAR(at({}), -std::sin(pi * p) + t * t * (p - p * p * p), 1e-14);
        EXPECT_NEAR(at({0}), -pi * std::cos(pi * p) + t * t * (1 - 3 * p * p), 1e-14);
        EXPECT_NEAR(at({1, 1}), 2 * (p - p * p * p), 1e-14);
        EXPECT_NEAR(at({0, 0, 1}), -12 * t * p, 1e-13);
        EXPECT_NEAR(at({0, 0, 0}), pi * pi * pi * std::cos(pi * p) - 6 * t * t, 1e-12);
    }
}

// To the parameters of the network and to a coefficient.
TEST_F(ConstrainedOutput, HasFirstAndSecondGradients) {
    const Tensor few = slice(points_, 0, 0, 2).contiguous();
    Tensors parameters;
    network_->visit("", [&](const std::string&, Tensor& tensor, const ParameterInfo&) {
        parameters.push_back(tensor);
    });
    parameters.resize(2);  // of the first layer
    for (const std::string& text : texts_) {
        const auto f = [&](const Tensors& inputs) -> Tensors {
            std::size_t next = 0;
            network_->visit("", [&](const std::string&, Tensor& tensor, const ParameterInfo&) {
                if (next < 2) tensor = inputs[next++];
            });
            return {jet(text, few, inputs[2]).channels()};
        };
        const Tensors inputs{parameters[0], parameters[1], a_};
        EXPECT_EQ(gradcheck(f, inputs), "") << text;
        EXPECT_EQ(gradgradcheck(f, inputs), "") << text;
    }
}

TEST(ConstrainedFormula, SechIsFiniteFarOut) {
    const FormulaNames axis{{"x"}, {}, {}, {}, 0, false};
    const auto plan = JetPlan::make({{0, 0, 0}});
    for (const DType dtype : {DType::float32, DType::float64})
        for (const double far : {-1e30, -100.0, 38.0, 60.0, 100.0, 200.0, 340.0, 710.0, 1e30}) {
            const Tensor at = requires_grad(Tensor::full({1, 1}, far, dtype));
            const Jet x = Jet::input(at, plan);
            const Jet value = Formula("sech(x)", axis).evaluate({x, x, {}});
            EXPECT_LT(max(abs(value.channels())).item(), 1e-15) << far;
            EXPECT_LT(std::abs(grad(sum(value.channels()), at).item()), 1e-15) << far;
        }
}

// Burgers with a network that was never trained: the conditions are 0 to rounding.
TEST(PinnConstraints, HoldForAnyNetwork) {
    for (const uint64_t seed : {1, 2, 3}) {
        PinnTask task(
            config_of(fmt::format("seed: {}\nproblem: {{kind: burgers}}\nconstraints: {{outputs: "
                                  "[\"-sin(pi*x) + t*(1 - x^2)*u\"]}}\n",
                                  seed)));
        for (const auto& [name, value] : task.loss(0).terms) {
            EXPECT_EQ(value.item() < 1e-30, name != "residual") << name << ' ' << value.item();
        }
    }
    // Periodic to the second derivative, and the first time derivative given.
    PinnTask periodic(config_of(
        "problem: {kind: custom, geometry: {kind: interval}, time: [0, 2], equations: "
        "[u_tt - u_xx], conditions: [{kind: periodic, derivatives: 2}, {kind: initial, "
        "values: [cos(2*pi*x)]}, {kind: initial, derivative: 1, values: [sin(2*pi*x)]}]}\n"
        "constraints: {periodic: [x], harmonics: 2, outputs: [cos(2*pi*x) + "
        "t*sin(2*pi*x) + t^2*u]}\n"));
    for (const auto& [name, value] : periodic.loss(0).terms)
        EXPECT_EQ(value.item() < 1e-22, name != "residual") << name << ' ' << value.item();
}

TEST(PinnConstraints, ConditionsAreLeftOut) {
    const std::string burgers =
        "problem: {kind: burgers}\nconstraints: {periodic: [x], outputs: [-sin(pi*x) + t*u], "
        "leave_out: [initial, boundary]}\n";
    PinnTask task(config_of(burgers + "points: {residual: 50}\n"));
    const Loss loss = task.loss(0);
    ASSERT_EQ(loss.terms.size(), 1u);
    EXPECT_EQ(loss.terms[0].first, "residual");
    EXPECT_EQ(task.calibration_batch().size(0), 50);
    const std::vector<std::string> remarks = task.remarks();
    ASSERT_EQ(remarks.size(), 3u);
    EXPECT_EQ(remarks[0], "u = -sin(pi*x) + t*u, of the network's outputs");
    EXPECT_NE(remarks[1].find("condition initial is left out"), std::string::npos);
    EXPECT_NE(remarks[2].find("condition boundary is left out; the model is off by up to 0."),
              std::string::npos)
        << remarks[2];
    // Those that stay see the points they would see without.
    PinnTask all(config_of("problem: {kind: burgers}\n"));
    PinnTask one(config_of("problem: {kind: burgers}\nconstraints: {leave_out: [initial]}\n"));
    EXPECT_EQ(one.loss(0).terms[1].first, "boundary");
    EXPECT_EQ(one.loss(0).terms[1].second.item(), all.loss(0).terms[2].second.item());
    EXPECT_TRUE(all.remarks().empty());
}

TEST(PinnConstraints, CountAndNameTheModel) {
    PinnTask plain(config_of("problem: {kind: burgers}\n"));
    PinnTask task(
        config_of("problem: {kind: burgers}\nconstraints: {periodic: [x], harmonics: 3, "
                  "outputs: [t*u]}\n"));
    EXPECT_EQ(task.model().inputs(), 2);
    EXPECT_EQ(task.model().count().trained, plain.model().count().trained + 6 * 5);
    EXPECT_EQ(task.model().count().deployed, plain.model().count().deployed + 6 * 5);
    EXPECT_NE(task.model().description().find("; output t*u"), std::string::npos);
}

// The figures of an evaluation are those of the constrained outputs, in a run that is resumed too.
TEST(PinnConstraints, TrainAndGoOn) {
    const NoPrograms no_programs;
    const TemporaryFolder folder;
    const auto text = [](int steps) {
        return fmt::format(
            "kind: pinn\nprecision: float64\nproblem: {{kind: burgers, viscosity: 0.1}}\n"
            "constraints: {{periodic: [x], outputs: [-sin(pi*x) + t*u], leave_out: [initial, "
            "boundary]}}\nnetwork: {{hidden_layers: 2, width: 10}}\npoints: {{residual: 300}}\n"
            "evaluation: {{grid: [21, 10]}}\ntraining: {{log_every: 10, evaluate_every: 50, "
            "phases: [{{steps: 60, "
            "optimizer: {{kind: adam, learning_rate: 5e-3}}}}, {{steps: {}, optimizer: {{kind: "
            "lbfgs}}}}]}}\n",
            steps);
    };
    const Trained whole = train_in(folder / "whole", text(120));
    EXPECT_EQ(whole.error, "");
    const std::vector<double> loss = whole.column("loss");
    EXPECT_LT(loss.back(), 1e-2 * loss.front());
    EXPECT_EQ(whole.result.metrics[0].first, "relative_l2");
    EXPECT_LT(whole.result.metrics[0].second, 2e-2);
    train_in(folder / "pieces", text(40));
    expect_same(whole, train_in(folder / "pieces", text(120)), "going on");
}

TEST(PinnConstraints, ComplaintsNameTheKey) {
    const auto complaint = [](const std::string& constraints) {
        const Thrown thrown = error_of([&] {
            PinnTask(config_of("problem: {kind: burgers}\nconstraints: {" + constraints + "}\n"));
        });
        EXPECT_EQ(thrown.code, ExitCode::bad_config) << constraints;
        return thrown.text;
    };
    const std::pair<const char*, const char*> cases[] = {
        {"periodic: [y]", "constraints.periodic: y is no axis of the problem; its axes are x, t"},
        {"periodic: [x, x]", "constraints.periodic: x stands twice"},
        {"harmonics: 2", "constraints.harmonics: harmonics are of periodic axes"},
        {"periodic: [x], harmonics: 0", "constraints.harmonics"},
        {"outputs: [u, u]", "constraints.outputs: 2 formulas for 1 outputs (u)"},
        {"outputs: [x*t]", "constraints.outputs[0]: 'x*t' names no output of the network"},
        {"outputs: [u + u_x]", "constraints.outputs[0]: expression, column 5: u_x is a derivative"},
        {"outputs: [u*n_x]", "n_x is unknown; known are x, t, u, nu"},
        {"outputs: [u*]", "constraints.outputs[0]: expression"},
        {"leave_out: [end]",
         "constraints.leave_out: end is no condition of the problem; its conditions are initial, "
         "boundary"},
        {"leave_out: [initial, initial]", "constraints.leave_out: initial stands twice"}};
    for (const auto& [constraints, expected] : cases)
        EXPECT_NE(complaint(constraints).find(expected), std::string::npos)
            << complaint(constraints);
}

}  // namespace
}  // namespace ralimp
