// The trained parameters of a model in one contiguous buffer: one optimizer kernel, one norm, one
// checksum.
#pragma once
#include <string>
#include <vector>

#include "layers/layer.h"

namespace ralimp {

class Parameters {
public:
    struct Entry {
        std::string name;
        int64_t offset = 0;
        Shape shape;
        bool decay = true;
        double learning_rate_scale = 1;
    };

    // Moves every trained parameter of the model into one buffer; the model's tensors become views
    // of it that require gradients. All must have one dtype.
    explicit Parameters(Layer& model);

    const Tensor& values() const { return values_; }  // [count]; changed in place by the optimizer
    int64_t count() const { return values_.elements(); }
    const std::vector<Entry>& entries() const { return entries_; }

    // The gradient of a scalar loss with respect to all of them, [count], in the same order.
    Tensor gradient(const Tensor& loss) const;

private:
    Tensor values_;
    Tensors views_;
    std::vector<Entry> entries_;
};

// Every tensor that makes up the model, trained or not, by name: what a checkpoint holds. Views,
// not copies.
std::vector<std::pair<std::string, Tensor>> named_tensors(Layer& model);

}  // namespace ralimp
