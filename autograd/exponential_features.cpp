#include "autograd/exponential_features.h"

#include <limits>

#include "autograd/apply.h"
#include "autograd/operations.h"
#include "core/kernels.h"

namespace ralimp {
namespace {

struct Complex {
    Tensor re, im;
};

Complex operator*(const Complex& a, const Complex& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// The projection that each feature reads, int64 [features].
Tensor feature_projections(const Tensor& blocks) {
    const std::vector<int32_t> values = blocks.to_vector<int32_t>();
    std::vector<int64_t> projections;
    for (std::size_t b = 0; b < values.size(); b += 3)
        for (int32_t i = 0; i < values[b + 2]; ++i) projections.push_back(values[b + 1] + i);
    return Tensor::from(projections, {static_cast<int64_t>(projections.size())})
        .to(blocks.device());
}

void check_limit(const char* operation, const Tensor& exponent, const ExponentLimit& limit) {
    check(limit.value > 0, "{}: the exponent's limit {} must be positive", operation, limit.value);
    check(!limit.counts.defined() ||
              (limit.counts.dtype() == DType::int64 && limit.counts.shape() == Shape{2}),
          "{}: the counts of clamped exponents must be int64 [2]", operation);
    check_same_device(operation, exponent, limit.counts);
}

// Inputs: projections, blocks, table and, if there are any, norms.
Tensors vjp(const VjpContext& c) {
    const auto& program = arguments_of<FeatureProgram>(c);
    if (is_recording())
        return local_vjp(
            [](const Node& node, const Tensors& inputs) {
                return exponential_features_reference(
                    static_cast<const NodeWith<FeatureProgram>&>(node).arguments, inputs[0],
                    inputs.size() > 3 ? inputs[3] : Tensor(), inputs[1], inputs[2]);
            },
            c);
    const auto like = [](const Tensor& x) {
        return Tensor::empty(x.shape(), x.dtype(), x.device());
    };
    const Tensor p = c.inputs[0].contiguous(), table = c.inputs[2].contiguous();
    const Tensor n = c.inputs.size() > 3 ? c.inputs[3].contiguous() : Tensor();
    FeatureGradientTensors gradients;
    gradients.out = c.gradient.contiguous();
    if (c.needs(0)) gradients.p = like(p);
    if (c.needs(2)) gradients.table = like(table);
    if (n.defined() && c.needs(3)) gradients.n = like(n);
    kernels(p.device()).features_backward(program, gradients, p, n, c.inputs[1], table);
    Tensors results{gradients.p, Tensor(), gradients.table};
    if (n.defined()) results.push_back(gradients.n);
    return results;
}

}  // namespace

Tensor feature_blocks(const std::vector<FeatureBlock>& blocks, int64_t features,
                      int64_t projections) {
    std::vector<int32_t> values;
    int64_t next = 0;
    for (const FeatureBlock& block : blocks) {
        check(block.feature == next && block.count > 0,
              "feature_blocks: a block starts at feature {} where {} is next", block.feature, next);
        check(block.projection >= 0 && block.projection + block.count <= projections,
              "feature_blocks: projections {} to {} of {}", block.projection,
              block.projection + block.count, projections);
        values.insert(values.end(), {block.feature, block.projection, block.count});
        next += block.count;
    }
    check(next == features, "feature_blocks: the blocks cover {} of {} features", next, features);
    return Tensor::from(values, {static_cast<int64_t>(blocks.size()), 3});
}

Jet exponential_features(const Jet& projections, const Jet* norms, const Tensor& blocks,
                         const Tensor& table, bool oscillating, const ExponentLimit& limit) {
    const Tensor& p = projections.channels();
    check_limit("exponential_features", p, limit);
    check_same_device("exponential_features", p, blocks);
    check_same_device("exponential_features", p, table);
    check(table.dims() == 2 && table.size(0) == feature_table::rows && table.dtype() == p.dtype(),
          "exponential_features: the table {} {} must be [{}, features] {}", name_of(table.dtype()),
          table.shape(), int(feature_table::rows), name_of(p.dtype()));
    const FeatureProgram program{projections.plan().composition(Activation::exp, 1), oscillating,
                                 limit.value};
    Tensors inputs{p, blocks, table};
    Tensor n;
    if (norms) {
        check(norms->shared_plan() == projections.shared_plan() && norms->features() == 1 &&
                  norms->rows() == projections.rows(),
              "exponential_features: norms {} do not fit projections {}", norms->channels().shape(),
              p.shape());
        check_same_device("exponential_features", p, norms->channels());
        n = norms->channels().contiguous();
        inputs.push_back(norms->channels());
    }
    const Tensor out = Tensor::empty({p.size(0), p.size(1), table.size(1)}, p.dtype(), p.device());
    kernels(p.device())
        .features_forward(program, out, p.contiguous(), n, blocks, table.contiguous(),
                          limit.counts);
    return Jet(record("exponential_features", out, inputs, Keep::inputs, program, vjp),
               projections.shared_plan());
}

Tensor clamp_exponent(const Tensor& exponent, const ExponentLimit& limit) {
    check_limit("clamp_exponent", exponent, limit);
    if (limit.counts.defined())
        kernels(exponent.device())
            .count_above(limit.counts, exponent.detach().contiguous(), limit.value);
    return clamp(exponent, -std::numeric_limits<double>::infinity(), limit.value);
}

Tensor exponential_features_reference(const FeatureProgram& program, const Tensor& projections,
                                      const Tensor& norms, const Tensor& blocks,
                                      const Tensor& table) {
    const auto row = [&](int index) { return select(table, 0, index); };
    const Tensor p = index_select(projections, 2, feature_projections(blocks));
    Complex z{p * row(feature_table::growth), p * row(feature_table::rotation)};
    if (norms.defined()) {
        z.re = z.re + norms * row(feature_table::norm_growth);
        z.im = z.im + norms * row(feature_table::norm_rotation);
    }
    // Beyond the limit the value is the limit and every derivative is 0.
    const Tensor limit = Tensor::scalar(program.exponent_limit, p.dtype(), p.device());
    Tensor at_limit = Tensor::zeros({p.size(0), 1, 1}, p.dtype(), p.device());
    slice(at_limit, 0, 0, 1).fill(program.exponent_limit);
    z.re = where(greater(slice(z.re, 0, 0, 1), limit), at_limit, z.re);
    const auto channel = [&](int c) { return Complex{select(z.re, 0, c), select(z.im, 0, c)}; };
    const Complex value = channel(0);
    const Tensor e = exp(value.re);
    const Complex weighted = Complex{row(feature_table::cosine), neg(row(feature_table::sine))} *
                             Complex{e * cos(value.im), e * sin(value.im)};
    Tensors out(program.composition.channels);
    out[0] = weighted.re + row(feature_table::shift);
    for (int t = 0; t < program.composition.term_count; ++t) {
        const auto& term = program.composition.terms[t];
        Complex factor = weighted;
        for (int k = 0; k < term.order; ++k) factor = factor * channel(term.factors[k]);
        const Tensor part = factor.re * double(term.coefficient);
        Tensor& sum = out[term.channel];
        sum = sum.defined() ? sum + part : part;
    }
    return stack(out);
}

}  // namespace ralimp
