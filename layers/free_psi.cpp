#include "layers/free_psi.h"

#include <algorithm>
#include <cmath>

#include "autograd/operations.h"
#include "core/exponential_features.h"
#include "core/interruption.h"
#include "layers/ridge.h"

namespace ralimp {

// Some columns at a time: memory stays bounded and an interruption is seen.
Standardization standardization_of(const Tensor& features) {
    const int64_t count = features.size(1);
    const int64_t step = std::max<int64_t>(16, (int64_t{1} << 23) / features.size(0));
    const Tensor mean = Tensor::empty({count}, features.dtype()),
                 deviation = Tensor::empty({count}, features.dtype());
    for (int64_t begin = 0; begin < count; begin += step) {
        throw_if_interrupted();
        const int64_t end = std::min(begin + step, count);
        const Tensor columns = slice(features, 1, begin, end);
        slice(mean, 0, begin, end).copy_from(ralimp::mean(columns, {0}));
        slice(deviation, 0, begin, end).copy_from(sqrt(variance(columns, {0})));
    }
    const Tensor moves = greater(deviation, 1e-6 * (abs(mean) + 1e-30));
    const Tensor one = Tensor::scalar(1, features.dtype());
    return {mean, where(moves, reciprocal(where(moves, deviation, one)), one)};
}

FreePsi::FreePsi(int64_t outputs, int64_t features, const HiddenStart& start)
    : psi_(random_normal({outputs, features}, start.start.key, start.dtype, 0,
                         1 / std::sqrt(static_cast<double>(features)))),
      bias_(Tensor::zeros({outputs}, start.dtype)),
      mean_(Tensor::zeros({features}, start.dtype)),
      inverse_(Tensor::ones({features}, start.dtype)) {}

FreePsi::Folded FreePsi::folded() const {
    const Tensor psi = psi_ * inverse_;
    return {psi, bias_ - sum(psi * mean_, {1})};
}

Jet FreePsi::apply(const std::vector<Jet>& parts) const {
    const auto [psi, constant] = folded();
    std::vector<Jet> sums;
    int64_t begin = 0;
    for (const Jet& part : parts) {
        const Tensor own = slice(psi, 1, begin, begin + part.features());
        begin += part.features();
        sums.push_back(sums.empty() ? linear(part, own, constant)
                                    : sums.back() + linear(part, own, Tensor()));
    }
    check(begin == features(), "psi: {} features meet a matrix for {}", begin, features());
    return sums.back();
}

ChainLayer FreePsi::as_chain() const {
    const auto [psi, constant] = folded();
    return {.weight = psi, .bias = constant};
}

void FreePsi::start(const Tensor& features, const Tensor& wanted, double ridge) {
    const Standardization standard = standardization_of(features);
    mean_.copy_from(standard.mean);
    // What is nearly 0 on the whole batch is not enlarged beyond all bounds.
    inverse_.copy_from(clamp(standard.inverse, 0, std::exp(default_exponent_limit)));
    const RidgeSolution solution = ridge_regression((features - mean_) * inverse_, wanted, ridge);
    psi_.copy_from(solution.weight);
    bias_.copy_from(solution.bias);
}

void FreePsi::visit(const std::string& prefix, const ParameterVisitor& visitor) {
    visitor(join(prefix, "psi"), psi_, {});
    visitor(join(prefix, "psi_bias"), bias_, {.decay = false});
    visitor(join(prefix, "feature_mean"), mean_, {.trained = false});
    visitor(join(prefix, "feature_inverse"), inverse_, {.trained = false});
}

}  // namespace ralimp
