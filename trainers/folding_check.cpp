#include "trainers/folding_check.h"

#include <algorithm>
#include <cmath>

#include "autograd/operations.h"

namespace ralimp {

FoldingDifference difference_from_trained(const FoldedNetwork& folded, const Layer& trained,
                                          const Tensor& x) {
    const NoGrad pause;
    Tensor y = x;
    for (const Layer* layer : trained.parts()) y = layer->forward(y);
    const std::vector<double> a = folded.forward(x).to_doubles(), b = y.to_doubles();
    double largest = 0, squares = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double d = std::abs(a[i] - b[i]);
        largest = std::isfinite(d) ? std::max(largest, d) : INFINITY;
        squares += d * d;
        size += b[i] * b[i];
    }
    const double scale = size > 0 ? std::sqrt(size / static_cast<double>(a.size())) : 1;
    return {largest / scale, std::sqrt(squares / static_cast<double>(a.size())) / scale};
}

void check_difference(const FoldingDifference& difference, DType dtype) {
    if (const double most = dtype == DType::float64 ? 1e-8 : 1e-2; !(difference.rms <= most))
        fail_with(ExitCode::failure,
                  "fold: the folded network differs by {:.3g} from the trained one",
                  difference.rms);
}

}  // namespace ralimp
