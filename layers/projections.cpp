#include "layers/projections.h"

#include "autograd/operations.h"
#include "layers/random_features.h"

namespace ralimp {

Tensor projection_groups(const std::vector<int64_t>& groups, int64_t dimension, uint64_t seed,
                         const HiddenStart& start, bool orthogonal) {
    Tensors parts;
    for (std::size_t group = 0; group < groups.size(); ++group) {
        const RandomKey key{seed + (static_cast<uint64_t>(group) << 32), RandomStream::projections,
                            start.start.key.step};
        const std::vector<double> values =
            projection_rows(groups[group], dimension, key, {orthogonal, false});
        parts.push_back(Tensor::from(values, {groups[group], dimension}));
    }
    return to(concatenate(parts), start.dtype);
}

std::vector<Jet> product_features(int64_t degree, bool share_rows,
                                  const std::function<Jet()>& project) {
    std::vector<Jet> products;
    for (int64_t k = 1; k <= degree; ++k) {
        if (share_rows) {
            products.push_back(k == 1 ? project() : products.back() * project());
            continue;
        }
        Jet product = project();
        for (int64_t i = 1; i < k; ++i) product = product * project();
        products.push_back(product);
    }
    return products;
}

}  // namespace ralimp
