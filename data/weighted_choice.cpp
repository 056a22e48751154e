#include "data/weighted_choice.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/error.h"

namespace ralimp {

// Item i is due after an exponential time of rate w_i; the first `count` to be due are chosen. The
// logarithm of the time neither overflows nor underflows.
Tensor choose_weighted(const RandomKey& key, const Tensor& weights, int64_t count) {
    check(weights.defined() && weights.dims() == 1 && is_floating(weights.dtype()),
          "choose_weighted: weights are [n] of a floating type");
    check(count >= 0, "choose_weighted: {} items cannot be chosen", count);
    const std::vector<double> values = weights.to_doubles();
    std::vector<std::pair<double, int64_t>> due;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double weight = values[i];
        check(weight >= 0 && std::isfinite(weight),
              "choose_weighted: weight {} is {}, not a finite number of at least 0", i, weight);
        if (weight == 0) continue;
        const double uniform = random_uniform<double>(key, static_cast<uint64_t>(i));
        due.emplace_back(std::log(-std::log1p(-uniform)) - std::log(weight),
                         static_cast<int64_t>(i));
    }
    check(count <= static_cast<int64_t>(due.size()),
          "choose_weighted: {} of {} items cannot be chosen, only {} weights are positive", count,
          values.size(), due.size());
    std::nth_element(due.begin(), due.begin() + count, due.end());
    std::vector<int64_t> chosen;
    for (int64_t i = 0; i < count; ++i) chosen.push_back(due[static_cast<std::size_t>(i)].second);
    std::sort(chosen.begin(), chosen.end());
    return Tensor::from(chosen, {count});
}

}  // namespace ralimp
