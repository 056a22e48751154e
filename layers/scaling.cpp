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

// A diagonal matrix, to be multiplied into the next one.
std::vector<ChainLayer> Scaling::as_chain() const {
    const int64_t axes = inputs();
    const Tensor weight = Tensor::zeros({axes, axes}, factor_.dtype());
    weight.strided_view({axes}, {axes + 1}).copy_from(factor_);
    return {{.weight = weight, .bias = shift_}};
}

std::string Scaling::description() const {
    return fmt::format("scale {} inputs to [-1, 1]", inputs());
}

}  // namespace ralimp
