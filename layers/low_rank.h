// Layers of two narrow factors: f(scale (U V x + b)), or the linear U V x + b.
#pragma once
#include <algorithm>

#include "core/describe.h"
#include "layers/hidden_start.h"

namespace ralimp {

struct LowRankConfig {
    static constexpr const char* kind = "low_rank";

    int64_t rank = 8;  // r
    bool activated = true;
    double ridge = 1e-4;

    static void describe(auto& config, auto& field) {
        field("rank", config.rank, "columns of U, rows of V; at most the width", at_least(1));
        field("activated", config.activated,
              "f(scale (U V x + b)) in place of f(scale (W x + b)); false: U V x + b");
        field("ridge", config.ridge, "penalty of least squares at the start", more_than(0));
    }
};

class LowRank : public Layer {
public:
    // The rank must not exceed the smaller side. Random until initialize_from_data() is called.
    LowRank(int64_t inputs, int64_t outputs, const LowRankConfig& config, const HiddenStart& start);

    using Layer::forward;
    Jet forward(const Jet& x) const override;
    std::vector<ChainLayer> as_chain() const override;
    bool fits_chain(int64_t width) const override { return std::max(inputs(), outputs()) <= width; }
    int64_t inputs() const override { return right_.size(1); }
    int64_t outputs() const override { return left_.size(0); }
    void visit(const std::string& prefix, const ParameterVisitor& visitor) override;
    // Activated: U V keeps the r principal components of W x on the batch, scaled to the variance
    // of all of them (what an activation makes of its input depends on that), and b the mean of W x
    // + b; in place of a trained layer not scaled: the best of W x that the rank allows. Linear:
    // the reduced-rank ridge regression of the dense layer's outputs.
    Tensor initialize_from_data(const Tensor& x) override;
    ParameterCount count() const override;
    std::string description() const override;

private:
    LowRankConfig config_;
    HiddenStart start_;
    Tensor left_, right_;  // U [out, r], V [r, in]
    Tensor bias_;          // [out]
};

}  // namespace ralimp
