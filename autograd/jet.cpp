#include "autograd/jet.h"

#include "autograd/apply.h"
#include "autograd/operations.h"
#include "core/kernels.h"

namespace ralimp {
namespace {

void check_plans(const char* operation, const Jet& a, const Jet& b) {
    check(a.shared_plan() == b.shared_plan(),
          "{}: the jets carry different derivatives ({} and {} channels)", operation,
          a.plan().channels(), b.plan().channels());
}

}  // namespace

Jet::Jet(Tensor channels, std::shared_ptr<const JetPlan> plan)
    : channels_(std::move(channels)), plan_(std::move(plan)) {
    check(channels_.dims() == 3 && channels_.shape()[0] == plan_->channels(),
          "jet: channels {} do not match a plan of {} channels", channels_.shape(),
          plan_->channels());
}

Jet Jet::input(const Tensor& points, const std::shared_ptr<const JetPlan>& plan) {
    check(points.dims() == 2, "jet: points {} must be [rows, axes]", points.shape());
    const int64_t rows = points.size(0), axes = points.size(1);
    Tensor tail =
        Tensor::zeros({plan->channels() - 1, rows, axes}, points.dtype(), points.device());
    for (int c = 1; c < plan->channels(); ++c) {
        if (plan->axes(c).size() != 1) continue;
        const int axis = plan->axes(c)[0];
        check(axis < axes, "jet: a derivative along axis {} of points with {} axes", axis, axes);
        tail.strided_view({rows}, {tail.strides()[1]}, (c - 1) * tail.strides()[0] + axis).fill(1);
    }
    return Jet(concatenate({unsqueeze(points, 0), tail}, 0), plan);
}

Jet Jet::value_only(const Tensor& value) {
    check(value.dims() == 2, "jet: a value {} must be [rows, features]", value.shape());
    return Jet(unsqueeze(value, 0), JetPlan::value_only());
}

Tensor Jet::channel(int index) const { return select(channels_, 0, index); }

Jet operator+(const Jet& a, const Jet& b) {
    check_plans("jet +", a, b);
    return Jet(a.channels() + b.channels(), a.shared_plan());
}

Jet operator-(const Jet& a, const Jet& b) {
    check_plans("jet -", a, b);
    return Jet(a.channels() - b.channels(), a.shared_plan());
}

namespace {

// The product rule as plain numbers, as a node of the graph keeps it.
struct ProductProgram {
    static constexpr int max_terms = 8 * ActivationProgram::max_channels;
    struct Term {
        uint8_t channel, left, right, coefficient;
    };
    int channels = 0, count = 0;
    Term terms[max_terms];

    explicit ProductProgram(const JetPlan& plan) : channels(plan.channels()) {
        check(plan.products().size() <= max_terms, "jet *: {} terms; at most {}",
              plan.products().size(), max_terms);
        for (const auto& term : plan.products())
            terms[count++] = {static_cast<uint8_t>(term.channel), static_cast<uint8_t>(term.left),
                              static_cast<uint8_t>(term.right),
                              static_cast<uint8_t>(term.coefficient)};
    }
    ProductProgram() = default;
    const Term* begin() const { return terms; }
    const Term* end() const { return terms + count; }
};

// The product rule in plain operations, channels [channels, rows, features] broadcasting.
Tensor product_reference(const ProductProgram& program, const Tensor& a, const Tensor& b) {
    Tensors channels(static_cast<std::size_t>(program.channels));
    for (const auto& term : program) {
        Tensor product = select(a, 0, term.left) * select(b, 0, term.right);
        if (term.coefficient != 1) product = product * term.coefficient;
        Tensor& sum = channels[static_cast<std::size_t>(term.channel)];
        sum = sum.defined() ? sum + product : product;
    }
    return stack(channels);
}

// Sums of products, a channel at a time, each written where it belongs: the graph of the plain
// operations would copy whole jets to read and to collect single channels.
class ProductSums {
public:
    explicit ProductSums(const Tensor& like)
        : sums_(Tensor::empty(like.shape(), like.dtype(), like.device())),
          scratch_(Tensor::empty(select(like, 0, 0).shape(), like.dtype(), like.device())),
          started_(static_cast<std::size_t>(like.size(0))) {}

    void add(int channel, const Tensor& a, const Tensor& b, double coefficient) {
        const auto& binary = kernels(sums_.device()).binary;
        const auto multiply = binary[index_in<scalar::Multiply, scalar::Binary>];
        const Tensor sum = select(sums_, 0, channel);
        std::vector<bool>::reference started = started_[static_cast<std::size_t>(channel)];
        const Tensor& product = started ? scratch_ : sum;
        multiply(product, a, b);
        if (coefficient != 1)
            multiply(
                product, product,
                expand(Tensor::full({1}, coefficient, sum.dtype(), sum.device()), sum.shape()));
        if (started) binary[index_in<scalar::Add, scalar::Binary>](sum, sum, product);
        started = true;
    }

    Tensor result() {
        for (std::size_t channel = 0; channel < started_.size(); ++channel)
            if (!started_[channel]) select(sums_, 0, static_cast<int64_t>(channel)).fill(0);
        return sums_;
    }

private:
    Tensor sums_, scratch_;
    std::vector<bool> started_;
};

// The product is symmetric: what holds for the left factor holds for the right one.
Tensor product_gradient(const ProductProgram& program, const Tensor& gradient,
                        const Tensor& other) {
    ProductSums sums(other);
    for (const auto& term : program)
        sums.add(term.left, select(gradient, 0, term.channel), select(other, 0, term.right),
                 term.coefficient);
    return sums.result();
}

Tensors product_vjp(const VjpContext& c) {
    if (is_recording())
        return local_vjp(
            [](const Node& node, const Tensors& inputs) {
                return product_reference(
                    static_cast<const NodeWith<ProductProgram>&>(node).arguments, inputs[0],
                    inputs.back());
            },
            c);
    const auto& program = arguments_of<ProductProgram>(c);
    Tensors gradients(c.inputs.size());
    if (c.inputs.size() == 1) {  // a square
        gradients[0] = product_gradient(program, c.gradient, c.inputs[0]);
        const auto& binary = kernels(c.gradient.device()).binary;
        binary[index_in<scalar::Add, scalar::Binary>](gradients[0], gradients[0], gradients[0]);
        return gradients;
    }
    if (c.needs(0)) gradients[0] = product_gradient(program, c.gradient, c.inputs[1]);
    if (c.needs(1)) gradients[1] = product_gradient(program, c.gradient, c.inputs[0]);
    return gradients;
}

Jet product(const Jet& a, const Jet& b, const Tensors& inputs) {
    const ProductProgram program(a.plan());
    ProductSums sums(a.channels());
    {
        NoGrad no_grad;
        for (const auto& term : program)
            sums.add(term.channel, a.channel(term.left), b.channel(term.right), term.coefficient);
    }
    return Jet(record("jet product", sums.result(), inputs, Keep::inputs, program, product_vjp),
               a.shared_plan());
}

}  // namespace

Jet operator*(const Jet& a, const Jet& b) {
    check_plans("jet *", a, b);
    if (a.channels().shape() != b.channels().shape())
        return Jet(product_reference(ProductProgram(a.plan()), a.channels(), b.channels()),
                   a.shared_plan());
    return product(a, b, {a.channels(), b.channels()});
}

Jet square(const Jet& a) { return product(a, a, {a.channels()}); }

Jet operator+(const Jet& a, const Tensor& constant) {
    const Tensor value = a.value() + constant;
    if (a.plan().channels() == 1) return Jet(unsqueeze(value, 0), a.shared_plan());
    const Tensor derivatives = slice(a.channels(), 0, 1, a.plan().channels());
    const Shape shape{derivatives.size(0), value.size(0), value.size(1)};
    return Jet(concatenate({unsqueeze(value, 0), expand(derivatives, shape)}), a.shared_plan());
}

Jet operator*(const Jet& a, const Tensor& constant) {
    return Jet(a.channels() * constant, a.shared_plan());
}

Jet operator*(const Jet& a, double constant) {
    return Jet(a.channels() * constant, a.shared_plan());
}

Jet concatenate(const std::vector<Jet>& parts) {
    check(!parts.empty(), "jet concatenate: no parts");
    Tensors channels;
    for (const Jet& part : parts) {
        check_plans("jet concatenate", parts[0], part);
        channels.push_back(part.channels());
    }
    return Jet(concatenate(channels, 2), parts[0].shared_plan());
}

Jet slice_features(const Jet& a, int64_t start, int64_t end) {
    return Jet(slice(a.channels(), 2, start, end), a.shared_plan());
}

Jet sum_features(const Jet& a) { return Jet(sum(a.channels(), {2}, true), a.shared_plan()); }

// x [channels, rows, in]. One product for all channels; the bias reaches the rows of channel 0
// only.
static Tensor linear_channels(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    check(weight.dims() == 2, "linear: the weight {} must be [out, in]", weight.shape());
    check(x.shape().back() == weight.shape()[1],
          "linear: rows of {} features meet a weight {} ([out, in])", x.shape().back(),
          weight.shape());
    check(!bias.defined() || bias.shape() == Shape{weight.shape()[0]},
          "linear: the bias {} does not fit the weight {}", bias.shape(), weight.shape());
    Tensor out;
    {
        NoGrad no_grad;
        out = matmul(x, transpose(weight));
        if (bias.defined()) {
            check(bias.dtype() == x.dtype(), "linear: the bias is {}, the input {}",
                  name_of(bias.dtype()), name_of(x.dtype()));
            check_same_device("linear", x, bias);
            const Tensor value = select(out, 0, 0);
            kernels(x.device())
                .binary[index_in<scalar::Add, scalar::Binary>](value, value,
                                                               expand(bias, value.shape()));
        }
    }
    Tensors inputs{x, weight};
    if (bias.defined()) inputs.push_back(bias);
    return record("linear", out, inputs, Keep::inputs, [](const VjpContext& c) -> Tensors {
        const Tensor &input = c.inputs[0], &w = c.inputs[1], &g = c.gradient;
        Tensors gradients(c.inputs.size());
        if (c.needs(0)) gradients[0] = matmul(g, w);
        if (c.needs(1)) {
            const Tensor g_rows = reshape(g, {-1, g.shape().back()});
            gradients[1] = matmul(transpose(g_rows), reshape(input, {-1, input.shape().back()}));
        }
        if (c.inputs.size() == 3 && c.needs(2)) gradients[2] = sum(select(g, 0, 0), {0});
        return gradients;
    });
}

Jet linear(const Jet& x, const Tensor& weight, const Tensor& bias) {
    return Jet(linear_channels(x.channels(), weight, bias), x.shared_plan());
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    check(x.dims() >= 1, "linear: the input has no feature axis");
    Shape shape = x.shape();
    const int64_t rows = shape.elements() / std::max<int64_t>(shape.back(), 1);
    const Tensor out = linear_channels(reshape(x, {1, rows, shape.back()}), weight, bias);
    shape[shape.dims() - 1] = weight.shape()[0];
    return reshape(out, shape);
}

}  // namespace ralimp
