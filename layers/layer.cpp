#include "layers/layer.h"

#include <algorithm>

#include "autograd/operations.h"
#include "core/interruption.h"

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

std::vector<FoldedStep> Layer::folded_steps() const {
    const std::vector<ChainLayer> steps = as_chain();
    return {steps.begin(), steps.end()};
}

// Some rows at a time, about a second's work: memory stays bounded and an interruption is seen.
Tensor Layer::initialize_from_data(const Tensor& x) {
    NoGrad no_grad;
    const int64_t rows = x.size(0), numbers = std::max<int64_t>(1, count().deployed);
    const int64_t step = std::max<int64_t>(16, (int64_t{1} << 30) / numbers);
    Tensors pieces;
    for (int64_t begin = 0; begin == 0 || begin < rows; begin += step) {
        throw_if_interrupted();
        pieces.push_back(forward(slice(x, 0, begin, std::min(begin + step, rows))));
    }
    return concatenate(pieces);
}

}  // namespace ralimp
