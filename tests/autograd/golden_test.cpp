// Composite models against PyTorch: losses and gradients in float64. The values were written by
// tests/golden/make_autograd_golden.py, which describes the cases.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "autograd/operations.h"

namespace ralimp {
namespace {

const std::map<std::string, std::vector<double>>& golden() {
    static const auto values = [] {
        std::map<std::string, std::vector<double>> result;
        std::ifstream file(std::string(SOURCE_DIR) + "/tests/golden/autograd.csv");
        std::string line, cell;
        while (std::getline(file, line)) {
            std::istringstream cells(line);
            std::getline(cells, cell, ',');
            std::vector<double>& list = result[cell];
            while (std::getline(cells, cell, ',')) list.push_back(std::stod(cell));
        }
        return result;
    }();
    return values;
}

Tensor wave(double phase, const Shape& shape) {
    std::vector<double> values;
    for (int64_t i = 0; i < shape.elements(); ++i)
        values.push_back(std::sin(0.7 * static_cast<double>(i) + phase));
    return requires_grad(Tensor::from(values, shape));
}

void expect_golden(const std::string& name, const Tensors& tensors) {
    for (std::size_t k = 0; k < tensors.size(); ++k) {
        const std::string key = name + "." + std::to_string(k);
        ASSERT_TRUE(golden().count(key)) << key;
        const std::vector<double>& expected = golden().at(key);
        const std::vector<double> actual = tensors[k].to_doubles();
        ASSERT_EQ(actual.size(), expected.size()) << key;
        for (std::size_t i = 0; i < actual.size(); ++i)
            EXPECT_NEAR(actual[i], expected[i], 1e-12 * std::max(1.0, std::abs(expected[i])))
                << key << " element " << i;
    }
    EXPECT_FALSE(golden().count(name + "." + std::to_string(tensors.size())));
}

Tensors with_gradients(Tensors values, const Tensor& loss, const Tensors& inputs) {
    for (const Tensor& gradient : grad({loss}, inputs)) values.push_back(gradient);
    return values;
}

TEST(AutogradGolden, Classifier) {
    const Tensor x = wave(0.1, {5, 4}), w1 = wave(0.2, {6, 4}), b1 = wave(0.3, {6}),
                 w2 = wave(0.4, {6, 3});
    const Tensor hidden = gelu_tanh(matmul(x, transpose(w1)) + b1);
    const Tensor normal =
        (hidden - mean(hidden, {-1}, true)) * rsqrt(variance(hidden, {-1}, true) + 1e-5);
    const Tensor labels = Tensor::from<int64_t>({0, 2, 1, 1, 0}, {5, 1});
    const Tensor loss = -mean(gather(log_softmax(matmul(normal, w2)), 1, labels));
    expect_golden("classifier", with_gradients({loss}, loss, {x, w1, b1, w2}));
}

TEST(AutogradGolden, Attention) {
    const Shape shape{2, 2, 5, 3};
    const Tensor q = wave(0.5, shape), k = wave(0.6, shape), v = wave(0.7, shape);
    const Tensor time = Tensor::arange(5, DType::float64);
    const Tensor visible = less_equal(time, unsqueeze(time, 1));
    const Tensor scores = matmul(q, transpose(k)) / std::sqrt(3.0);
    const Tensor hidden = Tensor::scalar(-INFINITY, DType::float64);
    const Tensor out = matmul(softmax(where(visible, scores, hidden)), v);
    const Tensor joined = reshape(transpose(out, 1, 2), {2, 5, 6});
    expect_golden("attention", with_gradients({out}, sum(pow(joined, 3.0)), {q, k, v}));
}

TEST(AutogradGolden, Equation) {
    const Tensor points = wave(0.8, {6, 2}), w1 = wave(0.9, {5, 2}), b1 = wave(1.0, {5}),
                 w2 = wave(1.1, {1, 5});
    const Tensor u = matmul(tanh(matmul(points, transpose(w1)) + b1), transpose(w2));
    const Tensor first = grad(u, points, true);
    const Tensor u_x = slice(first, 1, 0, 1), u_t = slice(first, 1, 1, 2);
    const Tensor u_xx = slice(grad(u_x, points, true), 1, 0, 1);
    const Tensor residual = u_t + u * u_x - 0.1 * u_xx;
    const Tensor loss = mean(square(residual));
    expect_golden("equation", with_gradients({loss, residual}, loss, {w1, b1, w2}));
}

TEST(AutogradGolden, Rendering) {
    const Tensor density = wave(1.2, {3, 7}), colour = wave(1.3, {3, 7, 3});
    const Tensor one = Tensor::scalar(1, DType::float64);
    const Tensor opaque =
        equal(reshape(Tensor::arange(21), {3, 7}), Tensor::scalar(10, DType::int64));
    const Tensor opacity = where(opaque, one, 1.0 - exp(-softplus(density)));
    const Tensor passing = cumulative_product(1.0 - opacity, 1);
    const Tensor before = concatenate({expand(one, {3, 1}), slice(passing, 1, 0, -1)}, 1);
    const Tensor pixel = sum(unsqueeze(opacity * before, -1) * sigmoid(colour), {1});
    const Tensor loss = mean(square(pixel - 0.5));
    expect_golden("rendering", with_gradients({pixel}, loss, {density, colour}));
}

}  // namespace
}  // namespace ralimp
