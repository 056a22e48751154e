// Objectives with derivatives by hand, for the tests of the optimizers; computed in the type of the
// parameters, so that float32 rounding is real.
#pragma once
#include <cmath>
#include <numbers>
#include <vector>

#include "optim/optimizer.h"

namespace ralimp::problems {

// Σ 100 (x_{i+1} - x_i²)² + (1 - x_i)²
struct Rosenbrock {
    template <class T>
    static T value(const T* x, T* gradient, int64_t count) {
        T loss = 0;
        for (int64_t i = 0; i < count; ++i) gradient[i] = 0;
        for (int64_t i = 0; i + 1 < count; ++i) {
            const T valley = x[i + 1] - x[i] * x[i], slope = 1 - x[i];
            loss += 100 * valley * valley + slope * slope;
            gradient[i + 1] += 200 * valley;
            gradient[i] += -400 * valley * x[i] - 2 * slope;
        }
        return loss;
    }
};

// ½ Σ λ_i (x_i - 1)² with λ from 1 to 1e6 in equal ratios.
struct IllConditioned {
    static constexpr double condition = 1e6;
    template <class T>
    static T value(const T* x, T* gradient, int64_t count) {
        T loss = 0;
        for (int64_t i = 0; i < count; ++i) {
            const double share =
                count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0;
            const T curvature = static_cast<T>(std::pow(condition, share));
            gradient[i] = curvature * (x[i] - 1);
            loss += gradient[i] * (x[i] - 1) / 2;
        }
        return loss;
    }
};

// Mean squared error of a 1-m-1 tanh network v·tanh(w x + b) on 20 points of sin 3x; the parameters
// are w, b, v, m each.
struct Regression {
    template <class T>
    static T value(const T* parameters, T* gradient, int64_t count) {
        constexpr int points = 20;
        const int64_t m = count / 3;
        const T *w = parameters, *b = w + m, *v = b + m;
        for (int64_t i = 0; i < count; ++i) gradient[i] = 0;
        T loss = 0;
        std::vector<T> hidden(static_cast<size_t>(m));
        for (int point = 0; point < points; ++point) {
            const T x = static_cast<T>(-1 + 2.0 * point / (points - 1));
            T out = 0;
            for (int64_t j = 0; j < m; ++j) {
                hidden[static_cast<size_t>(j)] = std::tanh(w[j] * x + b[j]);
                out += v[j] * hidden[static_cast<size_t>(j)];
            }
            const T error = out - std::sin(3 * x);
            loss += error * error / points;
            for (int64_t j = 0; j < m; ++j) {
                const T h = hidden[static_cast<size_t>(j)];
                const T to_hidden = 2 * error / points * v[j] * (1 - h * h);
                gradient[j] += to_hidden * x;
                gradient[m + j] += to_hidden;
                gradient[2 * m + j] += 2 * error / points * h;
            }
        }
        return loss;
    }
};

// The objective over this buffer, which writes into one gradient buffer again and again, as a model
// does.
template <class Problem>
Objective objective(const Tensor& parameters) {
    const Tensor gradient = Tensor::empty(parameters.shape(), parameters.dtype());
    return [=] {
        const double loss = dispatch_floating("problem", parameters.dtype(), [&]<class T>(T) {
            return static_cast<double>(
                Problem::value(parameters.data<T>(), gradient.data<T>(), parameters.elements()));
        });
        return Evaluation{loss, gradient};
    };
}

template <class Start>
Tensor filled(int64_t count, DType dtype, Start start) {
    Tensor tensor = Tensor::empty({count}, dtype);
    dispatch_floating("start", dtype, [&]<class T>(T) {
        for (int64_t i = 0; i < count; ++i) tensor.data<T>()[i] = static_cast<T>(start(i));
    });
    return tensor;
}

inline Tensor rosenbrock_start(int64_t count, DType dtype = DType::float64) {
    return filled(count, dtype, [](int64_t i) { return i % 2 == 0 ? -1.2 : 1.0; });
}
inline Tensor regression_start(int64_t count, DType dtype = DType::float64) {
    return filled(count, dtype,
                  [](int64_t i) { return 0.9 * static_cast<double>((7 * i) % 11 - 5) / 5; });
}

}  // namespace ralimp::problems
