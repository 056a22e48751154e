#include "trainers/loss_weights.h"

#include <algorithm>
#include <cmath>

namespace ralimp {
namespace {

double power_of(WeightMask mask) {
    return mask == WeightMask::linear ? 1 : mask == WeightMask::square ? 2 : 4;
}

}  // namespace

void balance_weights(std::vector<double>& weights, const std::vector<double>& sizes,
                     double momentum, double max_weight) {
    const auto counts = [](double size) { return size > 0 && std::isfinite(size); };
    double total = 0, number = 0;
    for (const double size : sizes) {
        if (!counts(size)) continue;
        total += size;
        number += 1;
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (!counts(sizes[i])) continue;
        const double target = std::min(total / number / sizes[i], max_weight);
        weights[i] = momentum * weights[i] + (1 - momentum) * target;
    }
}

std::vector<double> causal_weights(const std::vector<double>& losses, double epsilon) {
    std::vector<double> weights;
    double before = 0;
    for (const double loss : losses) {
        weights.push_back(std::exp(-epsilon * before));
        before += loss;
    }
    return weights;
}

double mask_of(WeightMask mask, double lambda) { return std::pow(lambda, power_of(mask)); }

double mask_slope(WeightMask mask, double lambda) {
    return power_of(mask) * std::pow(lambda, power_of(mask) - 1);
}

}  // namespace ralimp
