// Taylor mode: a jet carries a value and chosen derivatives of it along input axes through a
// network in one forward pass; one reverse pass over it then gives the gradient of a loss that
// contains derivatives. Nested reverse mode (grad with create_graph) gives the same numbers,
// slower. Sources: Griewank & Walther, Evaluating Derivatives (2008), ch. 13; the collapsed
// Laplacian is the forward Laplacian of Li et al., arXiv 2307.08214.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "autograd/graph.h"
#include "core/activation.h"

namespace ralimp {

// Which derivatives a jet carries. Channel 0 is the value.
class JetPlan {
public:
    // Each derivative is a sorted list of input axes: {0} is ∂/∂x_0, {0, 0} the second, {0, 1}
    // mixed; at most three entries. With laplacian_axes not empty a further channel carries Σ
    // ∂²/∂x_i² over those axes as one. Whatever the chain rule needs besides is added. No
    // derivative: a plan that carries only the value.
    static std::shared_ptr<const JetPlan> make(std::vector<std::vector<int>> derivatives,
                                               std::vector<int> laplacian_axes = {});
    static const std::shared_ptr<const JetPlan>& value_only();

    int channels() const { return static_cast<int>(channels_.size()); }
    // Channel of a derivative; the axes may stand in any order. Throws Error when the plan has it
    // not.
    int channel(std::vector<int> axes) const;
    int laplacian_channel() const;
    // The axes of a channel; {} for the value and for the Laplacian.
    const std::vector<int>& axes(int channel) const { return channels_[channel]; }
    const std::vector<int>& laplacian_axes() const { return laplacian_axes_; }
    // The highest order among the derivatives, 0 to 3.
    int max_order() const { return composition_.max_order; }

    // The chain rule for f(scale·v) and the product rule: channel c of a·b is Σ
    // coefficient·a_left·b_right.
    ActivationProgram composition(Activation activation, double scale, double envelope = 1) const;
    struct ProductTerm {
        int channel, left, right;
        double coefficient;
    };
    const std::vector<ProductTerm>& products() const { return products_; }

private:
    JetPlan() = default;
    void build_rules();

    std::vector<std::vector<int>> channels_;
    std::vector<int> laplacian_axes_;
    int laplacian_ = -1;
    ActivationProgram composition_;
    std::vector<ProductTerm> products_;
};

class Jet {
public:
    Jet(Tensor channels, std::shared_ptr<const JetPlan> plan);

    // The points themselves as functions of their coordinates: value x, derivative along axis i the
    // i-th unit vector, all others 0. points [rows, axes].
    static Jet input(const Tensor& points, const std::shared_ptr<const JetPlan>& plan);
    // A plain tensor [rows, features] as a jet that carries only the value; no copy.
    static Jet value_only(const Tensor& value);

    const Tensor& channels() const { return channels_; }  // [channels, rows, features]
    const JetPlan& plan() const { return *plan_; }
    const std::shared_ptr<const JetPlan>& shared_plan() const { return plan_; }
    int64_t rows() const { return channels_.shape()[1]; }
    int64_t features() const { return channels_.shape()[2]; }

    // Views [rows, features].
    Tensor value() const { return channel(0); }
    Tensor derivative(const std::vector<int>& axes) const { return channel(plan_->channel(axes)); }
    Tensor laplacian() const { return channel(plan_->laplacian_channel()); }
    Tensor channel(int index) const;

private:
    Tensor channels_;
    std::shared_ptr<const JetPlan> plan_;
};

// Arithmetic by the rules of differentiation. Jets of one plan; shapes [rows, features] broadcast.
Jet operator+(const Jet& a, const Jet& b);
Jet operator-(const Jet& a, const Jet& b);
Jet operator*(const Jet& a, const Jet& b);
Jet square(const Jet& a);
// Constants: tensors that do not depend on the input, broadcasting against [rows, features].
Jet operator+(const Jet& a, const Tensor& constant);
Jet operator*(const Jet& a, const Tensor& constant);
Jet operator*(const Jet& a, double constant);
Jet concatenate(const std::vector<Jet>& parts);                // along the features
Jet slice_features(const Jet& a, int64_t start, int64_t end);  // a view
Jet sum_features(const Jet& a);                                // [rows, 1]

// x Wᵀ + b on every row: weight [out, in], bias [out] or undefined. Derivatives get no bias.
Jet linear(const Jet& x, const Tensor& weight, const Tensor& bias);
// f(scale·x), elementwise; a fused kernel forward and backward. The envelope is the s of wire:
// cos(scale·x) e^(-(s x)²). finer is sin(scale·(|x| + 1) x).
Jet apply(Activation activation, const Jet& x, double scale = 1, double envelope = 1);
// f(x) from derivatives[k] = f⁽ᵏ⁾(x.value()), k up to plan().max_order(), in plain operations.
Jet compose(const Tensors& derivatives, const Jet& x);

// Plain-tensor forms of the two: x [..., in] and any shape.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);
Tensor apply(Activation activation, const Tensor& x, double scale = 1, double envelope = 1);

// The same as apply(), in plain operations. The fused kernels are tested against it, and second
// derivatives with respect to parameters go through it.
Tensor activation_reference(const ActivationProgram& program, const Tensor& channels);
// f⁽ᵒʳᵈᵉʳ⁾(x) in plain differentiable operations; the parameter is ActivationProgram's.
Tensor activation_derivative(Activation activation, int order, const Tensor& x,
                             double parameter = 0);

const char* name_of(Activation activation);

}  // namespace ralimp
