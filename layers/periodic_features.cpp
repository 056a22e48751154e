#include "layers/periodic_features.h"

#include <algorithm>
#include <numbers>
#include <numeric>

#include <fmt/ranges.h>

#include "autograd/operations.h"

namespace ralimp {

PeriodicFeatures::PeriodicFeatures(const Box& box, const PeriodicInputs& periodic, bool scale,
                                   DType dtype)
    : axes_(static_cast<std::size_t>(box.dims())), periodic_(periodic), scale_(scale) {
    check(periodic.harmonics >= 1, "periodic features: {} harmonics; at least 1",
          periodic.harmonics);
    for (int64_t axis : periodic.axes) {
        check(0 <= axis && axis < inputs(), "periodic features: axis {} of {}", axis, inputs());
        bool& taken = axes_[static_cast<std::size_t>(axis)].periodic;
        check(!taken, "periodic features: axis {} stands twice", axis);
        taken = true;
    }
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        const double low = box.lower[i], high = box.upper[i];
        check(low < high, "periodic features: axis {} runs from {} to {}", i, low, high);
        std::vector<double> factors;
        double shift = -low;  // the phase is exactly 0 at the lower end
        if (axes_[i].periodic) {
            for (int64_t k = 1; k <= periodic.harmonics; ++k)
                factors.push_back(2 * std::numbers::pi * static_cast<double>(k) / (high - low));
        } else {
            factors.push_back(scale ? 2 / (high - low) : 1);
            shift = scale ? -(low + high) / 2 : 0;
        }
        const auto count = static_cast<int64_t>(factors.size());
        axes_[i].shift = Tensor::full({1}, shift, dtype);
        axes_[i].factor = to(Tensor::from(factors, {count}), dtype);
    }
}

int64_t PeriodicFeatures::outputs() const {
    const auto periodic = static_cast<int64_t>(periodic_.axes.size());
    return inputs() + periodic * (2 * periodic_.harmonics - 1);
}

Jet PeriodicFeatures::forward(const Jet& x) const {
    std::vector<Jet> features;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        const auto column = static_cast<int64_t>(i);
        const Jet y = (slice_features(x, column, column + 1) + axes_[i].shift) * axes_[i].factor;
        if (axes_[i].periodic) {
            features.push_back(apply(Activation::cos, y));
            features.push_back(apply(Activation::sin, y));
        } else {
            features.push_back(y);
        }
    }
    return concatenate(features);
}

// Cosines of all phases, sines of all, then what is not periodic; and these brought into order.
std::vector<ChainLayer> PeriodicFeatures::as_chain() const {
    const DType dtype = axes_[0].shift.dtype();
    const int64_t h = periodic_.harmonics, dims = inputs();
    const auto phases = static_cast<int64_t>(periodic_.axes.size()) * h;
    const int64_t products = phases + dims - phases / h;
    std::vector<double> weight(static_cast<std::size_t>(products * dims)), bias;
    std::vector<double> order(static_cast<std::size_t>(outputs() * (phases + products)));
    int64_t phase = 0, plain = phases, output = 0;
    bias.resize(static_cast<std::size_t>(products));
    const auto project = [&](int64_t row, int64_t axis, double factor, double shift) {
        weight[static_cast<std::size_t>(row * dims + axis)] = factor;
        bias[static_cast<std::size_t>(row)] = factor * shift;
    };
    const auto take = [&](int64_t feature) {
        order[static_cast<std::size_t>(output++ * (phases + products) + feature)] = 1;
    };
    for (int64_t axis = 0; axis < dims; ++axis) {
        const Axis& one = axes_[static_cast<std::size_t>(axis)];
        const std::vector<double> factors = one.factor.to_doubles();
        const double shift = one.shift.to_doubles()[0];
        if (!one.periodic) {
            project(plain, axis, factors[0], shift);
            take(phases + plain++);
            continue;
        }
        for (int64_t k = 0; k < h; ++k)
            project(phase + k, axis, factors[static_cast<std::size_t>(k)], shift);
        for (int64_t k = 0; k < h; ++k) take(phase + k);
        for (int64_t k = 0; k < h; ++k) take(phases + phase + k);
        phase += h;
    }
    std::vector<int32_t> read(static_cast<std::size_t>(phases));
    std::iota(read.begin(), read.end(), 0);
    ChainFeatures features{.projections = Tensor::from(read, {phases}),
                           .rotation = Tensor::ones({phases}, dtype),
                           .exponential_rows = phases,
                           .rows = products - phases,
                           .degree = products > phases ? 1 : 0};
    return {{.weight = to(Tensor::from(weight, {products, dims}), dtype),
             .bias = to(Tensor::from(bias, {products}), dtype),
             .features = std::move(features)},
            {.weight = to(Tensor::from(order, {outputs(), phases + products}), dtype)}};
}

std::string PeriodicFeatures::description() const {
    std::string text =
        fmt::format("cos and sin of {} harmonic{} of input {}", periodic_.harmonics,
                    periodic_.harmonics == 1 ? "" : "s", fmt::join(periodic_.axes, ", "));
    if (scale_ && periodic_.axes.size() < axes_.size()) text += ", the others scaled to [-1, 1]";
    return text;
}

}  // namespace ralimp
