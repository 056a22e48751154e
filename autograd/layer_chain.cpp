#include "autograd/layer_chain.h"

#include <array>

#include "autograd/apply.h"
#include "autograd/operations.h"

namespace ralimp {
namespace {

using Kind = LayerChainProgram::Kind;

// Inputs: x, what the forward pass kept, then the tensors of each step, some of them undefined.
constexpr std::size_t first_tensor = 2;
constexpr std::array members = {
    &ChainTensors::weight,       &ChainTensors::bias,        &ChainTensors::growth,
    &ChainTensors::norm_growth,  &ChainTensors::rotation,    &ChainTensors::norm_rotation,
    &ChainTensors::norm_weights, &ChainTensors::projections, &ChainTensors::clamps};

std::vector<ChainTensors> steps_of(const Tensors& inputs) {
    std::vector<ChainTensors> steps;
    for (std::size_t at = first_tensor; at < inputs.size(); at += members.size()) {
        ChainTensors& step = steps.emplace_back();
        for (std::size_t m = 0; m < members.size(); ++m) step.*members[m] = inputs[at + m];
    }
    return steps;
}

std::vector<ChainTensors> contiguous(std::vector<ChainTensors> steps) {
    for (ChainTensors& step : steps)
        for (const auto member : members)
            if ((step.*member).defined()) step.*member = (step.*member).contiguous();
    return steps;
}

// a b by the rules of differentiation, for stacks [channels, …].
Tensor product(const LayerChainProgram& chain, const Tensor& a, const Tensor& b) {
    Tensors out(chain.composition.channels);
    for (int t = 0; t < chain.product_count; ++t) {
        const auto& term = chain.products[t];
        const Tensor part =
            select(a, 0, term.left) * select(b, 0, term.right) * double(term.coefficient);
        Tensor& sum = out[term.channel];
        sum = sum.defined() ? sum + part : part;
    }
    return stack(out);
}

Tensor features(const LayerChainProgram& chain, const LayerChainProgram::Step& step,
                const ChainTensors& tensors, const Tensor& p, const Tensor& x) {
    const ChainFeatures own{.projections = tensors.projections,
                            .growth = tensors.growth,
                            .norm_growth = tensors.norm_growth,
                            .rotation = tensors.rotation,
                            .norm_rotation = tensors.norm_rotation,
                            .exponential_rows = step.exponential_rows};
    const auto [table, blocks] = exponential_form(own);
    Tensor norms;
    if (own.has_norms()) {
        const Tensor read = slice(p, 2, 0, step.exponential_rows);
        norms = tensors.norm_weights.defined()
                    ? sum(product(chain, x, x) * tensors.norm_weights, {2}, true)
                    : mean(product(chain, read, read), {2}, true);
    }
    const FeatureProgram exponential{chain.composition, step.oscillating, step.exponent_limit};
    Tensors parts{exponential_features_reference(exponential, slice(p, 2, 0, step.exponential_rows),
                                                 norms, blocks, table)};
    for (int64_t k = 1; k <= step.degree; ++k) {
        const int64_t first = step.polynomial_first + (k - 1) * step.rows;
        const Tensor factor = slice(p, 2, first, first + step.rows);
        parts.push_back(k == 1 ? factor : product(chain, parts.back(), factor));
    }
    return concatenate(parts, 2);
}

Tensor reference(const Node& node, const Tensors& inputs) {
    const auto& chain = static_cast<const NodeWith<LayerChainProgram>&>(node).arguments;
    Tensor x = inputs[0];
    int l = 0;
    for (const ChainTensors& tensors : steps_of(inputs)) {
        const LayerChainProgram::Step& step = chain.steps[l++];
        Tensor p = matmul(x, transpose(tensors.weight));
        if (tensors.bias.defined()) {
            const Tensor value = slice(p, 0, 0, 1) + tensors.bias;
            p = p.size(0) == 1 ? value : concatenate({value, slice(p, 0, 1, p.size(0))});
        }
        switch (step.kind) {
            case Kind::linear:
                x = p;
                break;
            case Kind::activation:
                x = activation_reference(chain.program(step), p);
                break;
            case Kind::features:
                x = features(chain, step, tensors, p, x);
                break;
        }
    }
    return x;
}

Tensors vjp(const VjpContext& c) {
    const auto& program = arguments_of<LayerChainProgram>(c);
    if (is_recording()) return local_vjp(reference, c);
    Tensors results(c.inputs.size());
    const auto like = [](const Tensor& x) {
        return Tensor::empty(x.shape(), x.dtype(), x.device());
    };
    for (std::size_t i = 0; i < c.inputs.size(); ++i)
        if (i != 1 && c.needs(i)) results[i] = like(c.inputs[i]);
    const std::vector<ChainTensors> wanted = steps_of(results);
    kernels(c.gradient.device())
        .chain_backward(program, {c.gradient.contiguous(), results[0], wanted}, c.inputs[1],
                        c.inputs[0].contiguous(), contiguous(steps_of(c.inputs)));
    return results;
}

// The step of a layer that takes `inputs` features; throws for what does not fit.
LayerChainProgram::Step step_of(const ChainLayer& layer, const JetPlan& plan, int64_t inputs,
                                DType dtype, std::size_t index) {
    check(layer.weight.dims() == 2 && layer.weight.size(1) == inputs &&
              (!layer.bias.defined() || layer.bias.shape() == Shape{layer.weight.size(0)}),
          "layer_chain: step {} has weights {} and biases {} after {} features", index,
          layer.weight.shape(), layer.bias.shape(), inputs);
    check(layer.weight.dtype() == dtype && (!layer.bias.defined() || layer.bias.dtype() == dtype),
          "layer_chain: step {} is {}, the input {}", index, name_of(layer.weight.dtype()),
          name_of(dtype));
    LayerChainProgram::Step step;
    if (!layer.features) {
        const ActivationProgram one =
            plan.composition(layer.activation, layer.scale, layer.envelope);
        const bool linear = layer.activation == Activation::identity && layer.scale == 1;
        step.kind = linear ? Kind::linear : Kind::activation;
        step.activation = one.activation;
        step.scale = one.scale;
        step.parameter = one.parameter;
        return step;
    }
    const ChainFeatures& f = *layer.features;
    const Shape exponentials = f.projections.shape();
    bool fits = f.growth.defined() || f.rotation.defined();
    for (const auto coefficient : chain_coefficients)
        if (const Tensor& tensor = f.*coefficient; tensor.defined())
            fits = fits && tensor.shape() == exponentials && tensor.dtype() == dtype;
    check(fits && exponentials.dims() == 1 && f.projections.dtype() == DType::int32 &&
              (!f.norm_rotation.defined() || f.rotation.defined()) &&
              (!f.norm_weights.defined() ||
               (f.has_norms() && f.norm_weights.shape() == Shape{inputs} &&
                f.norm_weights.dtype() == dtype)) &&
              f.reads(layer.weight.size(0)),
          "layer_chain: the features of step {} do not fit its weights {}", index,
          layer.weight.shape());
    const Tensor projections = f.projections.to(Device{}).contiguous();
    for (int64_t i = 0; i < projections.elements(); ++i) {
        const int32_t projection = projections.data<int32_t>()[i];
        check(projection >= 0 && projection < f.exponential_rows,
              "layer_chain: step {} reads projection {} of {} projections", index, projection,
              f.exponential_rows);
    }
    check(f.limit.value > 0, "layer_chain: the exponent's limit {} of step {} must be positive",
          f.limit.value, index);
    step.kind = Kind::features;
    step.exponentials = static_cast<int32_t>(exponentials[0]);
    step.exponential_rows = static_cast<int32_t>(f.exponential_rows);
    step.polynomial_first = static_cast<int32_t>(f.polynomial_first());
    step.rows = static_cast<int32_t>(f.rows);
    step.degree = static_cast<int32_t>(f.degree);
    step.oscillating = f.oscillating();
    step.exponent_limit = f.limit.value;
    return step;
}

LayerChainProgram program_of(std::span<const ChainLayer> layers, const JetPlan& plan,
                             int64_t inputs, DType dtype) {
    check(!layers.empty() && layers.size() <= LayerChainProgram::max_steps,
          "layer_chain: {} layers; there may be 1 to {}", layers.size(),
          int(LayerChainProgram::max_steps));
    LayerChainProgram program;
    program.composition = plan.composition(Activation::identity, 1);
    program.steps_count = static_cast<uint8_t>(layers.size());
    check(plan.products().size() <= LayerChainProgram::max_products,
          "layer_chain: {} terms in a product of jets", plan.products().size());
    for (const auto& term : plan.products())
        program.products[program.product_count++] = {
            static_cast<uint8_t>(term.channel), static_cast<uint8_t>(term.left),
            static_cast<uint8_t>(term.right), static_cast<float>(term.coefficient)};
    for (std::size_t l = 0; l < layers.size(); ++l) {
        program.steps[l] = step_of(layers[l], plan, inputs, dtype, l);
        inputs = program.steps[l].width(layers[l].weight.size(0));
    }
    return program;
}

ChainTensors tensors_of(const ChainLayer& layer) {
    ChainTensors tensors{.weight = layer.weight, .bias = layer.bias};
    if (layer.features) {
        tensors.growth = layer.features->growth;
        tensors.norm_growth = layer.features->norm_growth;
        tensors.rotation = layer.features->rotation;
        tensors.norm_rotation = layer.features->norm_rotation;
        tensors.norm_weights = layer.features->norm_weights;
        tensors.projections = layer.features->projections;
        tensors.clamps = layer.features->limit.counts;
    }
    return tensors;
}

}  // namespace

ExponentialForm exponential_form(const ChainFeatures& features) {
    const Tensor& like = features.oscillating() ? features.rotation : features.growth;
    const Tensor zeros = Tensor::zeros(like.shape(), like.dtype(), like.device());
    const Tensor ones = Tensor::ones(like.shape(), like.dtype(), like.device());
    // Neighbours that read neighbouring projections are a block.
    const std::vector<int32_t> read = features.projections.to_vector<int32_t>();
    std::vector<FeatureBlock> blocks;
    int32_t next = 0;
    const auto add = [&](int32_t projection) {
        if (next > 0 && projection == blocks.back().projection + blocks.back().count)
            ++blocks.back().count;
        else
            blocks.push_back({next, projection, 1});
        ++next;
    };
    const auto table = [&](const Tensor& cosine, const Tensor& sine) {
        for (const int32_t projection : read) add(projection);
        Tensors rows(feature_table::rows, zeros);
        for (std::size_t row = 0; row < chain_coefficients.size(); ++row)
            if (const Tensor& own = features.*chain_coefficients[row]; own.defined())
                rows[row] = own;
        rows[feature_table::cosine] = cosine;
        rows[feature_table::sine] = sine;
        return stack(rows);
    };
    Tensor all = table(ones, zeros);
    if (features.oscillating()) all = concatenate({all, table(zeros, ones)}, 1);
    return {all, feature_blocks(blocks, next, features.exponential_rows).to(like.device())};
}

Jet layer_chain(const Jet& x, std::span<const ChainLayer> layers) {
    const Tensor in = x.channels().contiguous();
    const LayerChainProgram program = program_of(layers, x.plan(), x.features(), in.dtype());
    Tensors inputs{x.channels(), Tensor()};
    for (const ChainLayer& layer : layers) {
        const ChainTensors tensors = tensors_of(layer);
        for (const auto member : members) inputs.push_back(tensors.*member);
    }
    for (const Tensor& input : inputs) check_same_device("layer_chain", in, input);
    const std::vector<ChainTensors> steps = contiguous(steps_of(inputs));
    const int64_t width = program.steps[layers.size() - 1].width(layers.back().weight.size(0));
    const Tensor out = Tensor::empty({in.size(0), in.size(1), width}, in.dtype(), in.device());
    const Kernels& table = kernels(in.device());
    if (needs_record(inputs, out))
        inputs[1] = Tensor::empty({table.chain_saved_elements(program, in, steps)}, in.dtype(),
                                  in.device());
    table.chain_forward(program, out, inputs[1], in, steps);
    return Jet(record("layer_chain", out, inputs, Keep::inputs, program, vjp), x.shared_plan());
}

int64_t check_chain_layer(const ChainLayer& layer, int64_t inputs, DType dtype,
                          std::size_t number) {
    return step_of(layer, *JetPlan::value_only(), inputs, dtype, number)
        .width(layer.weight.size(0));
}

PackedChain::PackedChain(std::span<const ChainLayer> layers) {
    check(!layers.empty() && layers[0].weight.dims() == 2,
          "layer_chain: step 0 has no weights [products, inputs]");
    const NoGrad pause;
    program_ = program_of(layers, *JetPlan::value_only(), layers[0].weight.size(1),
                          layers[0].weight.dtype());
    for (const ChainLayer& layer : layers) steps_.push_back(tensors_of(layer));
    for (const ChainTensors& step : steps_)
        for (const auto member : members)
            check_same_device("packed_chain", layers[0].weight, step.*member);
    steps_ = contiguous(std::move(steps_));
    for (ChainTensors& step : steps_) {
        const Tensor weight = step.weight = step.weight.detach();
        const int64_t lanes =
            LayerChainProgram::packed_bytes / static_cast<int64_t>(bytes_of(weight.dtype()));
        const int64_t blocks = (weight.size(0) + lanes - 1) / lanes, inputs = weight.size(1);
        const Tensor padded = pad_slice(weight, {blocks * lanes, inputs}, 0, 0);
        step.packed = transpose(reshape(padded, {blocks, lanes, inputs})).contiguous();
    }
    outputs_ = program_.steps[layers.size() - 1].width(layers.back().weight.size(0));
}

Tensor PackedChain::forward(const Tensor& x) const {
    const Tensor& weight = steps_.front().weight;
    check(x.dims() == 2 && x.size(1) == weight.size(1) && x.dtype() == weight.dtype(),
          "packed_chain: {} {} is not [rows, {}] of {}", name_of(x.dtype()), x.shape(),
          weight.size(1), name_of(weight.dtype()));
    check_same_device("packed_chain", x, weight);
    const Tensor out = Tensor::empty({x.size(0), outputs_}, x.dtype(), x.device());
    kernels(x.device()).packed_chain(program_, out, x.contiguous(), steps_);
    return out;
}

}  // namespace ralimp
