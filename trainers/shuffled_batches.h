// Mini-batches of the rows of a data set: every epoch in an order of its own.
#pragma once
#include "core/random.h"
#include "core/tensor.h"

namespace ralimp {

class ShuffledBatches {
public:
    // Batches of `size` of so many rows; 0 or all of them: every step has all, in their order.
    ShuffledBatches(int64_t rows, int64_t size, uint64_t seed)
        : rows_(rows), size_(size), seed_(seed) {}

    bool all() const { return size_ == 0 || size_ == rows_; }
    // Those of a step, int64 [size], where not all() are: a function of the seed and the step. The
    // last, shorter part of an epoch is left out.
    Tensor of_step(int64_t step);

private:
    int64_t rows_, size_;
    uint64_t seed_;
    int64_t epoch_ = -1;  // of the present order
    Tensor order_;        // [rows] int64
};

}  // namespace ralimp
