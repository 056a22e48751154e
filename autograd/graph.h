// The graph of recorded operations and the reverse walk over it. Operations themselves are declared
// in autograd/operations.h.
#pragma once
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/tensor.h"

namespace ralimp {

using Tensors = std::vector<Tensor>;

// What a derivative sees. Every tensor in it is connected to the graph, so a derivative written in
// public operations can itself be differentiated, to any order.
struct VjpContext {
    const Node& node;
    const Tensors& inputs;   // values only where Keep::inputs was asked for
    const Tensor& output;    // values only where Keep::output was asked for
    const Tensor& gradient;  // same shape as the output

    // Whether the gradient of this input is asked for; the others may be left undefined.
    bool needs(std::size_t input) const { return needed[input]; }
    const std::vector<bool>& needed;  // at least one is true
};

// Gradients of the inputs, in their order; an undefined tensor stands for "none". A plain function:
// a captured tensor would hide an edge of the graph from the destructor, which frees deep graphs by
// a loop.
using Vjp = Tensors (*)(const VjpContext&);

struct Node : std::enable_shared_from_this<Node> {
    const char* name = "leaf";
    Vjp vjp = nullptr;  // null for a leaf
    Tensors inputs;
    Tensor
        output;  // outside the graph: shape and type, and the values when the derivative needs them

    Node() = default;
    Node(const Node&) = delete;
    virtual ~Node();
};

// What an operation keeps for its derivative. Keeping less frees memory during the forward pass.
enum class Keep { nothing = 0, inputs = 1, output = 2, both = 3 };

// Operations with arguments beside tensors (axes, sizes, flags) keep them in a plain struct. It
// must be trivially copyable, so that no tensor can hide in it.
template <class Arguments>
struct NodeWith : Node {
    static_assert(std::is_trivially_copyable_v<Arguments>);
    Arguments arguments;
};

template <class Arguments>
const Arguments& arguments_of(const VjpContext& context) {
    return static_cast<const NodeWith<Arguments>&>(context.node).arguments;
}

// A leaf: the same values, and a gradient can be asked for.
Tensor requires_grad(const Tensor& tensor);

// True while operations are recorded (the default).
bool is_recording();

// Operations inside its scope are not recorded on this thread.
class NoGrad {
public:
    NoGrad();
    ~NoGrad();
    NoGrad(const NoGrad&) = delete;

private:
    bool before_;
};

// Connects a freshly computed output to its inputs, when one of them requires a gradient and
// recording is on; otherwise returns it as it is. Whole-number outputs are never connected.
Tensor record(const char* name, const Tensor& output, Tensors inputs, Keep keep, Vjp vjp);

bool needs_record(const Tensors& inputs, const Tensor& output);
Tensor attach(std::shared_ptr<Node> node, const char* name, const Tensor& output, Tensors inputs,
              Keep keep, Vjp vjp);

template <class Arguments>
Tensor record(const char* name, const Tensor& output, Tensors inputs, Keep keep,
              const Arguments& arguments, Vjp vjp) {
    if (!needs_record(inputs, output)) return output;
    auto node = std::make_shared<NodeWith<Arguments>>();
    node->arguments = arguments;
    return attach(std::move(node), name, output, std::move(inputs), keep, vjp);
}

// Gradients of Σ outputs·weights with respect to the inputs, in their order: vector-Jacobian
// products by reverse mode. `weights` (default: ones) have the shapes of the outputs. An input the
// outputs do not depend on gets zeros. With create_graph the results are differentiable themselves.
// Nothing is stored on tensors. Two results may be views of the same memory (the gradients of a and
// b in a + b are one tensor): clone before writing into one.
Tensors grad(const Tensors& outputs, const Tensors& inputs, const Tensors& weights = {},
             bool create_graph = false);
Tensor grad(const Tensor& output, const Tensor& input, bool create_graph = false);

// For fused operations: the derivative of a reference written in plain operations, at the inputs of
// the node, by the graph itself; connected to the graph when recording is on. The inputs count as
// independent of each other and of their own history.
using Reference = Tensor (*)(const Node& node, const Tensors& inputs);
Tensors local_vjp(Reference reference, const VjpContext& context);

// The derivative of the given order of an elementwise operation, connected to x.
Tensor local_derivative(const std::function<Tensor(const Tensor&)>& elementwise, int order,
                        const Tensor& x);

}  // namespace ralimp
