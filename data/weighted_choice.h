// A random choice of some of many, as residual-based resampling needs it.
#pragma once
#include <cstdint>

#include "core/random.h"
#include "core/tensor.h"

namespace ralimp {

// `count` different indices in increasing order, as drawn one after another, each with a
// probability proportional to its weight among those left (Efraimidis and Spirakis, "Weighted
// random sampling with a reservoir", 2006). weights [n] of any floating type, finite and not
// negative; a weight of 0 is never chosen. Returns [count] int64. Throws Error when fewer than
// `count` weights are positive.
Tensor choose_weighted(const RandomKey& key, const Tensor& weights, int64_t count);

}  // namespace ralimp
