#include "layers/scaling.h"

namespace ralimp {

Scaling::Scaling(const std::vector<double>& low, const std::vector<double>& high, DType dtype) {
    check(low.size() == high.size(), "scaling: {} lower and {} upper ends", low.size(),
          high.size());
    const int64_t axes = static_cast<int64_t>(low.size());
    std::vector<double> factor, shift;
    for (std::size_t i = 0; i < low.size(); ++i) {
        check(low[i] < high[i], "scaling: axis {} runs from {} to {}", i, low[i], high[i]);
        factor.push_back(2 / (high[i] - low[i]));
        shift.push_back(-(high[i] + low[i]) / (high[i] - low[i]));
    }
    factor_ = Tensor::empty({axes}, dtype);
    factor_.copy_from(Tensor::from(factor, {axes}));
    shift_ = Tensor::empty({axes}, dtype);
    shift_.copy_from(Tensor::from(shift, {axes}));
}

std::string Scaling::description() const {
    return fmt::format("scale {} inputs to [-1, 1]", inputs());
}

}  // namespace ralimp
