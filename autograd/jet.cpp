#include "autograd/jet.h"

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

Jet operator*(const Jet& a, const Jet& b) {
    check_plans("jet *", a, b);
    std::vector<Tensor> channels(a.plan().channels());
    for (const auto& term : a.plan().products()) {
        Tensor product = a.channel(term.left) * b.channel(term.right);
        if (term.coefficient != 1) product = product * term.coefficient;
        Tensor& sum = channels[term.channel];
        sum = sum.defined() ? sum + product : product;
    }
    return Jet(stack(channels), a.shared_plan());
}

Jet square(const Jet& a) { return a * a; }

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
