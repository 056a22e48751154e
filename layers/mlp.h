// Layers one after the other: the network of every coordinate task.
#pragma once
#include <memory>
#include <vector>

#include "layers/layer.h"

namespace ralimp {

class Mlp : public Layer {
public:
    // Layers whose sizes fit each other, at least one; their names are "layer_0", "layer_1", …
    explicit Mlp(std::vector<std::unique_ptr<Layer>> layers);

    using Layer::forward;
    Jet forward(const Jet& x) const override;
    int64_t inputs() const override { return layers_.front()->inputs(); }
    int64_t outputs() const override { return layers_.back()->outputs(); }
    void visit(const std::string& prefix, const ParameterVisitor& visitor) override;
    Tensor initialize_from_data(const Tensor& x) override;
    void visit_clamps(const std::string& prefix, const ClampVisitor& visitor) const override;
    std::vector<const Layer*> parts() const override;
    ParameterCount count() const override;
    std::string description() const override;

private:
    std::vector<std::unique_ptr<Layer>> layers_;
};

}  // namespace ralimp
