#include "layers/hidden_start.h"

#include <algorithm>

#include "autograd/operations.h"
#include "core/interruption.h"

namespace ralimp {

Tensor map_rows(const Tensor& x, int64_t numbers, const std::function<Tensor(const Tensor&)>& f) {
    constexpr int64_t most_numbers = int64_t{1} << 23, most_products = int64_t{1} << 31;
    const int64_t rows = x.size(0);
    const int64_t step = std::max<int64_t>(
        16, std::min(most_numbers / numbers, most_products / numbers / x.size(1)));
    Tensor result;
    for (int64_t begin = 0; begin < rows; begin += step) {
        throw_if_interrupted();
        const int64_t end = std::min(begin + step, rows);
        const Tensor piece = f(slice(x, 0, begin, end));
        if (begin == 0) result = Tensor::empty({rows, piece.size(1)}, piece.dtype());
        slice(result, 0, begin, end).copy_from(piece);
    }
    return result;
}

namespace {

Tensor trained_or(const Tensor& trained, const Shape& shape, const char* name,
                  const std::function<Tensor()>& usual) {
    if (!trained.defined()) return usual();
    check(trained.shape() == shape, "dense: the trained {} {} is to be {}", name, trained.shape(),
          shape);
    return trained.detach().clone();
}

}  // namespace

Tensor dense_weight(int64_t outputs, int64_t inputs, const HiddenStart& start) {
    return trained_or(start.weight, {outputs, inputs}, "weight",
                      [&] { return start_weight(outputs, inputs, start.dtype, start.start); });
}

Tensor dense_bias(int64_t outputs, int64_t inputs, const HiddenStart& start) {
    return trained_or(start.bias, {outputs}, "bias",
                      [&] { return start_bias(outputs, inputs, start.dtype, start.start); });
}

Tensor dense_outputs(const Tensor& x, int64_t outputs, const HiddenStart& start) {
    const Tensor weight = dense_weight(outputs, x.size(1), start);
    const Tensor bias = dense_bias(outputs, x.size(1), start);
    check(!start.seen.defined() ||
              (start.seen.size(0) >= x.size(0) && start.seen.size(1) == x.size(1)),
          "dense: it sees {} where the layer in its place sees {}", start.seen.shape(), x.shape());
    const Tensor seen = start.seen.defined() ? slice(start.seen, 0, 0, x.size(0)) : x;
    return map_rows(seen, outputs, [&](const Tensor& rows) {
        return apply(start.activation, linear(rows, weight, bias), start.scale, start.envelope);
    });
}

Tensor calibration_part(const char* layer, const Tensor& x, int64_t inputs) {
    check(x.dims() == 2 && x.size(1) == inputs && x.size(0) > 1,
          "{}: the calibration batch {} must be [rows, {}] with at least two rows", layer,
          x.shape(), inputs);
    return slice(x, 0, 0, calibration_batch_rows);
}

}  // namespace ralimp
