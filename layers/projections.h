// Random projection rows as tensors, and the product features of what they project.
#pragma once
#include <functional>
#include <vector>

#include "layers/hidden_start.h"

namespace ralimp {

// Groups of rows [Σ groups, dimension] of N(0, I), in the type of the start, whose key gives all
// but the seed. Within a group they may be orthogonal (random_features.h), between groups they are
// independent.
Tensor projection_groups(const std::vector<int64_t>& groups, int64_t dimension, uint64_t seed,
                         const HiddenStart& start, bool orthogonal);

// How many groups of rows the products of degrees 1 … K multiply.
inline int64_t product_groups(int64_t degree, bool share_rows) {
    return share_rows ? degree : degree * (degree + 1) / 2;
}

// Π_(i<=k) p_i for each degree k = 1 … K, [rows, m] each; `project` gives the next group of
// projections [rows, m]. Shared: degree k multiplies one more into the product of degree k - 1;
// otherwise each has k projections of its own. With p_i = g_i·v, and rows that are independent
// between groups, the mean over the rows of the product of two such features, of v and of w, is
// (v·w)^k.
std::vector<Jet> product_features(int64_t degree, bool share_rows,
                                  const std::function<Jet()>& project);

}  // namespace ralimp
