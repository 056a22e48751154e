#include "layers/scaling.h"

namespace ralimp {

Scaling::Scaling(const Box& box, DType dtype) {
    const int64_t axes = box.dims();
    std::vector<double> factor, shift;
    for (int64_t i = 0; i < axes; ++i) {
        const double low = box.lower[i], high = box.upper[i];
        check(low < high, "scaling: axis {} runs from {} to {}", i, low, high);
        factor.push_back(2 / (high - low));
        shift.push_back(-(high + low) / (high - low));
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
