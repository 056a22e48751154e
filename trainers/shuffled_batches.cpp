#include "trainers/shuffled_batches.h"

#include "autograd/operations.h"

namespace ralimp {

Tensor ShuffledBatches::of_step(int64_t step) {
    const int64_t batches = rows_ / size_, epoch = step / batches;
    if (epoch != epoch_) {
        epoch_ = epoch;
        order_ =
            random_permutation(rows_, {seed_, RandomStream::batches, static_cast<uint32_t>(epoch)});
    }
    const int64_t begin = step % batches * size_;
    return slice(order_, 0, begin, begin + size_);
}

}  // namespace ralimp
