// The fused activation of a jet and its reference in plain operations.
#include <array>
#include <utility>

#include "autograd/jet.h"
#include "autograd/operations.h"
#include "core/kernels.h"

namespace ralimp {
namespace {

using PlainOperation = Tensor (*)(const Tensor& x, double parameter);

template <Tensor (*operation)(const Tensor&)>
Tensor plain(const Tensor& x, double) {
    return operation(x);
}

Tensor identity(const Tensor& x) { return x * 1.0; }
Tensor wire(const Tensor& x, double r) { return cos(x) * gaussian(x * r); }
Tensor finer(const Tensor& x, double p) { return sin(x + x * abs(x) * p); }

// In the order of activation::Activations.
constexpr std::array<PlainOperation, activation::Activations::size> plain_operations = {
    plain<identity>,
    plain<tanh>,
    plain<sin>,
    plain<cos>,
    plain<sinh>,
    plain<cosh>,
    plain<exp>,
    plain<sigmoid>,
    plain<softplus>,
    plain<silu>,
    plain<gelu>,
    plain<gelu_tanh>,
    plain<relu>,
    plain<gaussian>,
    plain<reciprocal>,
    plain<sqrt>,
    plain<log>,
    wire,
    finer};

Tensors activation_vjp(const VjpContext& c) {
    const auto& program = arguments_of<ActivationProgram>(c);
    if (is_recording())
        return local_vjp(
            [](const Node& node, const Tensors& inputs) {
                return activation_reference(
                    static_cast<const NodeWith<ActivationProgram>&>(node).arguments, inputs[0]);
            },
            c);
    const Tensor input = c.inputs[0].contiguous();
    const Tensor gradient = Tensor::empty(input.shape(), input.dtype(), input.device());
    kernels(input.device())
        .activation_backward(program, gradient, input, c.output, c.gradient.contiguous());
    return {gradient};
}

// channels [channels, …]
Tensor apply_program(const ActivationProgram& program, const Tensor& channels) {
    const Tensor input = channels.contiguous();
    const Tensor out = Tensor::empty(input.shape(), input.dtype(), input.device());
    kernels(input.device()).activation_forward(program, out, input);
    return record(name_of(program.activation), out, {channels}, Keep::both, program,
                  activation_vjp);
}

}  // namespace

const char* name_of(Activation activation) {
    return enum_names(activation)[static_cast<int>(activation)].second;
}

Tensor activation_derivative(Activation activation, int order, const Tensor& x, double parameter) {
    const PlainOperation operation = plain_operations[static_cast<int>(activation)];
    if (order == 0) return operation(x, parameter);
    return local_derivative([&](const Tensor& y) { return operation(y, parameter); }, order, x);
}

namespace {

// The chain rule, from derivatives[k] = scaleᵏ f⁽ᵏ⁾ at the value.
Tensor chain_rule(const ActivationProgram& program, const Tensors& derivatives,
                  const Tensor& channels) {
    Tensors out(program.channels);
    out[0] = derivatives[0];
    for (int t = 0; t < program.term_count; ++t) {
        const auto& term = program.terms[t];
        Tensor product = derivatives[term.order] * double(term.coefficient);
        for (int i = 0; i < term.order; ++i)
            product = product * select(channels, 0, term.factors[i]);
        Tensor& sum = out[term.channel];
        sum = sum.defined() ? sum + product : product;
    }
    return stack(out);
}

}  // namespace

Tensor activation_reference(const ActivationProgram& program, const Tensor& channels) {
    const Tensor argument = select(channels, 0, 0) * program.scale;
    Tensors derivatives;
    double power = 1;
    for (int order = 0; order <= program.max_order; ++order, power *= program.scale)
        derivatives.push_back(
            activation_derivative(program.activation, order, argument, program.parameter) * power);
    return chain_rule(program, derivatives, channels);
}

Jet compose(const Tensors& derivatives, const Jet& x) {
    check(static_cast<int>(derivatives.size()) > x.plan().max_order(),
          "jet compose: {} derivatives for a plan of order {}", derivatives.size(),
          x.plan().max_order());
    return Jet(chain_rule(x.plan().composition(Activation::identity, 1), derivatives, x.channels()),
               x.shared_plan());
}

Jet apply(Activation activation, const Jet& x, double scale, double envelope) {
    return Jet(apply_program(x.plan().composition(activation, scale, envelope), x.channels()),
               x.shared_plan());
}

Tensor apply(Activation activation, const Tensor& x, double scale, double envelope) {
    const ActivationProgram program =
        JetPlan::value_only()->composition(activation, scale, envelope);
    return select(apply_program(program, unsqueeze(x, 0)), 0, 0);
}

}  // namespace ralimp
