#include "layers/periodic_features.h"

#include <algorithm>
#include <numbers>

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

std::string PeriodicFeatures::description() const {
    std::string text =
        fmt::format("cos and sin of {} harmonic{} of input {}", periodic_.harmonics,
                    periodic_.harmonics == 1 ? "" : "s", fmt::join(periodic_.axes, ", "));
    if (scale_ && periodic_.axes.size() < axes_.size()) text += ", the others scaled to [-1, 1]";
    return text;
}

}  // namespace ralimp
