#include "operation_table.h"

namespace ralimp::testing {

const Rows& operation_table() {
    static const Rows rows = [] {
        Rows all;
        for (const auto& part : {unary_rows(), binary_rows(), shape_rows(), reduction_rows(),
                                 linear_rows(), indexing_rows(), order_rows(), random_rows()})
            all.insert(all.end(), part.begin(), part.end());
        return all;
    }();
    return rows;
}

std::vector<Shape> elementwise_shapes() {
    return {{}, {1}, {0}, {2, 0, 3}, {1, 1}, {7}, {3, 5}, {2, 3, 5}, {1031}, {181, 211}};
}

std::vector<std::pair<Shape, Shape>> broadcast_pairs() {
    return {{{3, 5}, {3, 5}},    {{3, 5}, {5}},          {{5}, {3, 5}},       {{3, 1}, {1, 5}},
            {{2, 1, 4}, {3, 1}}, {{3, 5}, {}},           {{}, {7}},           {{}, {}},
            {{0}, {1}},          {{2, 0}, {2, 1}},       {{4, 3, 5}, {3, 5}}, {{1, 1}, {1}},
            {{129, 65}, {65}},   {{181, 211}, {181, 1}}, {{211}, {181, 211}}};
}

}  // namespace ralimp::testing
