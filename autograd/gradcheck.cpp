#include "autograd/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "autograd/operations.h"

namespace ralimp {
namespace {

// Which inputs are checked.
std::vector<bool> checked_inputs(const Tensors& inputs) {
    std::vector<bool> checked;
    for (const Tensor& input : inputs) checked.push_back(input.requires_grad());
    if (std::find(checked.begin(), checked.end(), true) == checked.end())
        for (std::size_t i = 0; i < inputs.size(); ++i) checked[i] = is_floating(inputs[i].dtype());
    for (std::size_t i = 0; i < inputs.size(); ++i)
        check(!checked[i] || inputs[i].dtype() == DType::float64,
              "gradcheck: input {} is {}; differences need float64", i, name_of(inputs[i].dtype()));
    return checked;
}

Tensors random_weights(const Tensors& outputs, uint64_t seed) {
    Tensors weights;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        check(outputs[i].dtype() == DType::float64, "gradcheck: output {} is {}, not float64", i,
              name_of(outputs[i].dtype()));
        const RandomKey key{seed, RandomStream::user, static_cast<uint32_t>(i)};
        weights.push_back(random_uniform(outputs[i].shape(), key, DType::float64, -1.5, 1.5)
                              .to(outputs[i].device()));
    }
    return weights;
}

// Σ outputs·weights, summed on the host in double; the order is that of the elements.
double weighted_sum(const Tensors& outputs, const Tensors& weights) {
    double total = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const auto values = outputs[i].to_doubles(), factors = weights[i].to_doubles();
        for (std::size_t k = 0; k < values.size(); ++k) total += values[k] * factors[k];
    }
    return total;
}

std::string position(int64_t element, const Shape& shape) {
    Shape index = shape;
    for (int axis = shape.dims() - 1; axis >= 0; --axis) {
        index[axis] = element % shape[axis];
        element /= shape[axis];
    }
    return to_string(index);
}

}  // namespace

std::string gradcheck(const TensorFunction& function, const Tensors& inputs,
                      const GradcheckOptions& options) {
    const std::vector<bool> checked = checked_inputs(inputs);
    Tensors points, leaves;  // the same memory; only the leaves are in the graph
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        points.push_back(checked[i] ? inputs[i].clone() : inputs[i].detach());
        leaves.push_back(checked[i] ? requires_grad(points[i]) : points[i]);
    }
    const Tensors outputs = function(leaves);
    const Tensors weights = random_weights(outputs, options.seed);
    Tensors wanted;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (checked[i]) wanted.push_back(leaves[i]);
    const Tensors gradients = grad(outputs, wanted, weights);

    std::string message;
    int wrong = 0;
    for (std::size_t i = 0, next = 0; i < inputs.size(); ++i) {
        if (!checked[i]) continue;
        const std::vector<double> analytic = gradients[next++].to_doubles();
        const std::vector<double> values = points[i].to_doubles();
        for (std::size_t k = 0; k < values.size(); ++k) {
            const Tensor element = points[i].strided_view({}, {}, static_cast<int64_t>(k));
            const auto at = [&](double offset) {
                element.fill(values[k] + offset);
                return weighted_sum(function(points), weights);
            };
            const double h = options.step * std::max(1.0, std::abs(values[k]));
            const double numeric = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
            element.fill(values[k]);
            const double scale = std::max({1.0, std::abs(analytic[k]), std::abs(numeric)});
            // Written so that a NaN on either side counts as wrong.
            if (std::abs(analytic[k] - numeric) <= options.tolerance * scale) continue;
            if (++wrong <= options.reported)
                message += fmt::format("input {} at {}: analytic {:.12g}, numeric {:.12g}\n", i,
                                       position(static_cast<int64_t>(k), points[i].shape()),
                                       analytic[k], numeric);
        }
    }
    if (wrong > options.reported)
        message += fmt::format("and {} more wrong elements\n", wrong - options.reported);
    return message;
}

std::string gradgradcheck(const TensorFunction& function, const Tensors& inputs,
                          const GradcheckOptions& options) {
    const std::vector<bool> checked = checked_inputs(inputs);
    const std::size_t count = inputs.size();
    Tensors outputs;
    {
        const NoGrad pause;
        outputs = function(inputs);
    }
    // Inputs of the gradient: those of the function, then the weights.
    Tensors arguments;
    for (std::size_t i = 0; i < count; ++i)
        arguments.push_back(checked[i] ? requires_grad(inputs[i]) : inputs[i].detach());
    for (const Tensor& weight : random_weights(outputs, options.seed + 1))
        arguments.push_back(requires_grad(weight));
    const auto gradient = [&](const Tensors& at) {
        Tensors variables(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(count)), wanted;
        for (std::size_t i = 0; i < count; ++i) {
            if (!checked[i]) continue;
            if (!variables[i].requires_grad()) variables[i] = requires_grad(variables[i]);
            wanted.push_back(variables[i]);
        }
        const Tensors weights(at.begin() + static_cast<std::ptrdiff_t>(count), at.end());
        return grad(function(variables), wanted, weights, true);
    };
    return gradcheck(gradient, arguments, options);
}

}  // namespace ralimp
