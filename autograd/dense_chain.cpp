#include "autograd/dense_chain.h"

#include "autograd/operations.h"
#include "core/kernels.h"

namespace ralimp {
namespace {

// Inputs: x, what the forward pass kept, then weights and biases of each layer.
constexpr std::size_t first_parameter = 2;

Tensor reference(const Node& node, const Tensors& inputs) {
    const auto& chain = static_cast<const NodeWith<DenseChainProgram>&>(node).arguments;
    Tensor y = inputs[0];
    for (int l = 0; l < chain.layers; ++l) {
        const auto parameter = first_parameter + 2 * static_cast<std::size_t>(l);
        const Tensor product = matmul(y, transpose(inputs[parameter]));
        const Tensor value =
            slice(product, 0, 0, 1) + unsqueeze(unsqueeze(inputs[parameter + 1], 0), 0);
        y = product.size(0) == 1 ? value
                                 : concatenate({value, slice(product, 0, 1, product.size(0))});
        if (!chain.steps[l].linear()) y = activation_reference(chain.program(l), y);
    }
    return y;
}

Tensors vjp(const VjpContext& c) {
    const auto& program = arguments_of<DenseChainProgram>(c);
    if (is_recording()) return local_vjp(reference, c);
    Tensors parameters, results(c.inputs.size());
    for (std::size_t i = first_parameter; i < c.inputs.size(); ++i)
        parameters.push_back(c.inputs[i].contiguous());
    const auto like = [](const Tensor& x) {
        return Tensor::empty(x.shape(), x.dtype(), x.device());
    };
    for (std::size_t i = 0; i < c.inputs.size(); ++i)
        if (i != 1 && c.needs(i)) results[i] = like(c.inputs[i]);
    ChainGradientTensors gradients{c.gradient.contiguous(), results[0],
                                   std::span<const Tensor>(results).subspan(first_parameter)};
    kernels(c.gradient.device())
        .chain_backward(program, gradients, c.inputs[1], c.inputs[0].contiguous(), parameters);
    return results;
}

}  // namespace

bool fits_dense_chain(const DenseChainLayer& layer) {
    constexpr int64_t most = DenseChainProgram::max_width;
    return layer.bias.defined() && layer.weight.size(0) <= most && layer.weight.size(1) <= most;
}

Jet dense_chain(const Jet& x, std::span<const DenseChainLayer> layers) {
    check(!layers.empty() && layers.size() <= DenseChainProgram::max_layers,
          "dense_chain: {} layers; there may be 1 to {}", layers.size(),
          int(DenseChainProgram::max_layers));
    const JetPlan& plan = x.plan();
    DenseChainProgram program;
    program.composition = plan.composition(Activation::identity, 1);
    program.layers = static_cast<uint8_t>(layers.size());
    Tensors inputs{x.channels(), Tensor()};
    Tensors parameters;
    int64_t width = x.features();
    for (std::size_t l = 0; l < layers.size(); ++l) {
        const DenseChainLayer& layer = layers[l];
        check(layer.weight.dims() == 2 && layer.weight.size(1) == width &&
                  layer.bias.shape() == Shape{layer.weight.size(0)},
              "dense_chain: layer {} has weights {} and biases {} after {} features", l,
              layer.weight.shape(), layer.bias.shape(), width);
        check(layer.weight.dtype() == x.channels().dtype() &&
                  layer.bias.dtype() == x.channels().dtype(),
              "dense_chain: layer {} is {}, the input {}", l, name_of(layer.weight.dtype()),
              name_of(x.channels().dtype()));
        width = layer.weight.size(0);
        const ActivationProgram one =
            plan.composition(layer.activation, layer.scale, layer.envelope);
        program.steps[l] = {one.activation, one.scale, one.parameter};
        for (const Tensor& parameter : {layer.weight, layer.bias}) {
            inputs.push_back(parameter);
            parameters.push_back(parameter.contiguous());
        }
    }
    const Tensor in = x.channels().contiguous();
    const Tensor out = Tensor::empty({in.size(0), in.size(1), width}, in.dtype(), in.device());
    const Kernels& table = kernels(in.device());
    Tensor saved;
    if (needs_record(inputs, out))
        saved = Tensor::empty({table.chain_saved_elements(program, in, parameters)}, in.dtype(),
                              in.device());
    table.chain_forward(program, out, saved, in, parameters);
    inputs[1] = saved;
    return Jet(record("dense_chain", out, inputs, Keep::inputs, program, vjp), x.shared_plan());
}

}  // namespace ralimp
