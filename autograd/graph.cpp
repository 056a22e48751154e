#include "autograd/graph.h"

#include <unordered_map>
#include <unordered_set>

#include "autograd/operations.h"

namespace ralimp {
namespace {
thread_local bool recording = true;
}

// Unlinks a dying chain of nodes with a loop, so that a graph of any depth is freed without
// recursion.
Node::~Node() {
    std::vector<std::shared_ptr<Node>> dying;
    const auto take = [&](Tensors& tensors) {
        for (Tensor& input : tensors) {
            std::shared_ptr<Node> node = input.node();
            if (!node) continue;
            input = Tensor();
            if (node.use_count() == 1) dying.push_back(std::move(node));
        }
    };
    take(inputs);
    while (!dying.empty()) {
        const std::shared_ptr<Node> node = std::move(dying.back());
        dying.pop_back();
        take(node->inputs);
    }
}

Tensor requires_grad(const Tensor& tensor) {
    check(is_floating(tensor.dtype()), "requires_grad: {} values have no gradient",
          name_of(tensor.dtype()));
    auto node = std::make_shared<Node>();
    node->output = tensor.without_values().detach();
    return tensor.with_node(std::move(node));
}

bool is_recording() { return recording; }

NoGrad::NoGrad() : before_(recording) { recording = false; }
NoGrad::~NoGrad() { recording = before_; }

bool needs_record(const Tensors& inputs, const Tensor& output) {
    if (!recording || !is_floating(output.dtype())) return false;
    for (const Tensor& input : inputs)
        if (input.requires_grad()) return true;
    return false;
}

Tensor attach(std::shared_ptr<Node> node, const char* name, const Tensor& output, Tensors inputs,
              Keep keep, Vjp vjp) {
    node->name = name;
    node->vjp = vjp;
    node->inputs = std::move(inputs);
    if (!(static_cast<int>(keep) & static_cast<int>(Keep::inputs)))
        for (Tensor& input : node->inputs) input = input.without_values();
    node->output = output.detach();
    if (!(static_cast<int>(keep) & static_cast<int>(Keep::output)))
        node->output = node->output.without_values();
    return output.with_node(std::move(node));
}

Tensor record(const char* name, const Tensor& output, Tensors inputs, Keep keep, Vjp vjp) {
    if (!needs_record(inputs, output)) return output;
    return attach(std::make_shared<Node>(), name, output, std::move(inputs), keep, vjp);
}

namespace {

// The visited nodes; those that lie between the outputs and the inputs are needed: only they get a
// gradient. `order` lists the needed ones, each after the nodes it was computed from. With
// stop_at_wanted the walk does not look behind the wanted nodes.
struct Walk {
    std::vector<Node*> order;
    std::unordered_map<const Node*, bool> needed;
};

Walk walk(const Tensors& outputs, const std::unordered_set<const Node*>& wanted,
          bool stop_at_wanted) {
    struct Visit {
        Node* node;
        bool needed;
        std::size_t next;  // input to look at
    };
    Walk result;
    std::vector<Visit> stack;
    const auto enter = [&](Node* node) {
        const bool is_wanted = wanted.count(node) > 0;
        stack.push_back({node, is_wanted, is_wanted && stop_at_wanted ? node->inputs.size() : 0});
    };
    for (const Tensor& output : outputs) {
        if (!output.node() || result.needed.count(output.node().get())) continue;
        enter(output.node().get());
        while (!stack.empty()) {
            Visit& visit = stack.back();
            Node* unvisited = nullptr;
            while (visit.next < visit.node->inputs.size()) {
                Node* input = visit.node->inputs[visit.next].node().get();
                if (input) {
                    const auto found = result.needed.find(input);
                    if (found == result.needed.end()) {
                        unvisited = input;
                        break;
                    }
                    visit.needed |= found->second;
                }
                ++visit.next;
            }
            if (unvisited) {
                enter(unvisited);
                continue;
            }
            result.needed[visit.node] = visit.needed;
            if (visit.needed) result.order.push_back(visit.node);
            stack.pop_back();
        }
    }
    return result;
}

struct RecordingScope {
    explicit RecordingScope(bool on) { recording = on; }
    ~RecordingScope() { recording = before; }
    bool before = recording;
};

void check_arguments(const Tensors& outputs, const Tensors& inputs, const Tensors& weights) {
    for (const Tensor& input : inputs)
        check(input.requires_grad(),
              "grad: an input {} does not require a gradient; make it a leaf with requires_grad() "
              "first",
              input.shape());
    if (weights.empty()) return;
    check(weights.size() == outputs.size(), "grad: {} weights for {} outputs", weights.size(),
          outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const Tensor &weight = weights[i], &output = outputs[i];
        check(weight.shape() == output.shape() && weight.dtype() == output.dtype() &&
                  weight.device() == output.device(),
              "grad: weight {} is {} {} on {}, its output {} {} on {}; they must agree", i,
              name_of(weight.dtype()), weight.shape(), to_string(weight.device()),
              name_of(output.dtype()), output.shape(), to_string(output.device()));
    }
}

Tensors reverse_walk(const Tensors& outputs, const Tensors& inputs, const Tensors& weights,
                     bool create_graph, bool stop_at_inputs) {
    check_arguments(outputs, inputs, weights);
    const RecordingScope scope(create_graph);
    std::unordered_set<const Node*> wanted;
    for (const Tensor& input : inputs) wanted.insert(input.node().get());
    const Walk path = walk(outputs, wanted, stop_at_inputs);

    std::unordered_map<const Node*, Tensor> gradients;  // of the nodes not yet passed, and wanted
    const auto accumulate = [&](const Node* node, const Tensor& gradient) {
        auto [slot, fresh] = gradients.try_emplace(node, gradient);
        if (!fresh) slot->second = add(slot->second, gradient);
    };
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const Tensor& output = outputs[i];
        if (!output.node() || !path.needed.at(output.node().get())) continue;
        accumulate(output.node().get(),
                   weights.empty() ? Tensor::ones(output.shape(), output.dtype(), output.device())
                                   : weights[i]);
    }
    std::vector<bool> needed;
    for (auto it = path.order.rbegin(); it != path.order.rend(); ++it) {
        Node* node = *it;
        if (!node->vjp || (stop_at_inputs && wanted.count(node))) continue;
        const auto found = gradients.find(node);
        if (found == gradients.end()) continue;
        const Tensor gradient = found->second;
        if (!wanted.count(node)) gradients.erase(found);
        needed.clear();
        bool any = false;
        for (const Tensor& input : node->inputs) {
            needed.push_back(input.node() && path.needed.at(input.node().get()));
            any |= needed.back();
        }
        if (!any) continue;
        const Tensor output =
            create_graph ? node->output.with_node(node->shared_from_this()) : node->output;
        const Tensors parts = node->vjp({*node, node->inputs, output, gradient, needed});
        for (std::size_t k = 0; k < parts.size(); ++k) {
            if (!needed[k] || !parts[k].defined()) continue;
            const Tensor& input = node->inputs[k];
            check(parts[k].shape() == input.shape() && parts[k].dtype() == input.dtype(),
                  "grad: the derivative of {} gives {} {} for its input {} {}", node->name,
                  name_of(parts[k].dtype()), parts[k].shape(), name_of(input.dtype()),
                  input.shape());
            accumulate(input.node().get(), parts[k]);
        }
    }
    Tensors results;
    for (const Tensor& input : inputs) {
        const auto found = gradients.find(input.node().get());
        if (found == gradients.end())
            results.push_back(Tensor::zeros(input.shape(), input.dtype(), input.device()));
        else
            results.push_back(create_graph ? found->second : found->second.detach());
    }
    return results;
}

// The same values behind a node of their own, connected to x when x is in the graph.
Tensor alias(const Tensor& x) {
    if (!x.requires_grad()) return requires_grad(x);
    return attach(std::make_shared<Node>(), "alias", x, {x}, Keep::nothing,
                  [](const VjpContext& c) { return Tensors{c.gradient}; });
}

}  // namespace

Tensors grad(const Tensors& outputs, const Tensors& inputs, const Tensors& weights,
             bool create_graph) {
    return reverse_walk(outputs, inputs, weights, create_graph, false);
}

Tensor grad(const Tensor& output, const Tensor& input, bool create_graph) {
    return grad(Tensors{output}, Tensors{input}, {}, create_graph)[0];
}

Tensors local_vjp(Reference reference, const VjpContext& context) {
    const bool connected = recording;
    const RecordingScope scope(true);
    Tensors aliases, wanted;
    for (std::size_t i = 0; i < context.inputs.size(); ++i) {
        aliases.push_back(context.needs(i) ? alias(context.inputs[i]) : context.inputs[i]);
        if (context.needs(i)) wanted.push_back(aliases.back());
    }
    const Tensor output = reference(context.node, aliases);
    const Tensors parts = reverse_walk({output}, wanted, {context.gradient}, connected, true);
    Tensors gradients(context.inputs.size());
    for (std::size_t i = 0, part = 0; i < gradients.size(); ++i)
        if (context.needs(i)) gradients[i] = parts[part++];
    return gradients;
}

Tensor local_derivative(const std::function<Tensor(const Tensor&)>& elementwise, int order,
                        const Tensor& x) {
    const bool connected = recording && x.requires_grad();
    const RecordingScope scope(true);
    const Tensor argument = alias(x);
    Tensor derivative = elementwise(argument);
    for (int k = 0; k < order; ++k)
        derivative = reverse_walk({derivative}, {argument}, {}, true, true)[0];
    return connected ? derivative : derivative.detach();
}

}  // namespace ralimp
