#include "layers/layer.h"

#include "autograd/operations.h"

namespace ralimp {

Tensor Layer::forward(const Tensor& x) const {
    check(x.dims() >= 1 && x.shape().back() == inputs(),
          "{}: the input {} must have {} features in its last axis", description(),
          to_string(x.shape()), inputs());
    Shape shape = x.shape();
    const Tensor rows = reshape(x, {x.elements() / inputs(), inputs()});
    shape[shape.dims() - 1] = outputs();
    return reshape(forward(Jet::value_only(rows)).value(), shape);
}

Tensor Layer::initialize_from_data(const Tensor& x) {
    NoGrad no_grad;
    return forward(x);
}

}  // namespace ralimp
