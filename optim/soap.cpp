#include "optim/soap.h"

namespace ralimp {
namespace {

Tensor product(const Tensor& a, const Tensor& b) {
    const Tensor result = Tensor::empty({a.size(0), b.size(1)}, a.dtype(), a.device());
    kernels(a.device()).matmul(result, a, b);
    return result;
}

Tensor flattened(const Tensor& matrix) { return matrix.strided_view({matrix.elements()}, {1}); }

Tensor shaped(const Tensor& flat, const Shape& shape) {
    return flat.strided_view(shape, row_major_strides(shape));
}

// Puts the rows (axis 0) or columns (axis 1) in the given order, int64 [size of the axis].
void reorder(const Tensor& matrix, const Tensor& order, int axis) {
    const Shape strides = axis == 0 ? Shape{1, 0} : Shape{0, 1};
    kernels(matrix.device())
        .gather(matrix, matrix.clone(), order.strided_view(matrix.shape(), strides), axis);
}

}  // namespace

Soap::Soap(ParameterLayout layout, const SoapConfig& config)
    : FirstOrderOptimizer(std::move(layout), config.clipping),
      config_(config),
      shampoo_beta_(config.shampoo_beta.value_or(config.beta2)) {
    for (const auto& [label, beta] : {std::pair{"beta1", config.beta1},
                                      {"beta2", config.beta2},
                                      {"shampoo_beta", shampoo_beta_}})
        if (!(beta >= 0 && beta < 1))
            fail_with(ExitCode::bad_config, "{}: {} = {} must be in [0, 1)", name(), label, beta);
    for (const auto& [label, value] :
         {std::pair{"epsilon", config.epsilon}, {"weight_decay", config.weight_decay}})
        if (!(value >= 0))
            fail_with(ExitCode::bad_config, "{}: {} = {} must be >= 0", name(), label, value);
    for (const auto& [label, value] : {std::pair{"precondition_every", config.precondition_every},
                                       {"max_side", config.max_side}})
        if (value < 1)
            fail_with(ExitCode::bad_config, "{}: {} = {} must be >= 1", name(), label, value);

    first_moment_ = this->layout().zeros();
    second_moment_ = this->layout().zeros();
    ranges_ = this->layout().ranges_but(
        [this](const ParameterGroup& group) { return is_rotated(group); });
    const auto basis = [this](int64_t side) {
        return is_rotated(side) ? std::optional(Eigenbasis(side, this->layout().dtype(),
                                                           this->layout().device()))
                                : std::nullopt;
    };
    for (const ParameterGroup& group : this->layout().groups())
        if (is_rotated(group))
            matrices_[group.offset] = {group.name, basis(group.shape[0]), basis(group.shape[1])};
}

bool Soap::is_rotated(const ParameterGroup& group) const {
    return group.count > 0 && group.shape.dims() == 2 &&
           (is_rotated(group.shape[0]) || is_rotated(group.shape[1]));
}

OptimizerState Soap::state() const {
    std::vector<std::pair<std::string, Tensor>> tensors{{"first_moment", first_moment_},
                                                        {"second_moment", second_moment_}};
    for (const auto& [offset, matrix] : matrices_)
        for (const auto& [side, basis] :
             {std::pair{"left", &matrix.left}, {"right", &matrix.right}})
            if (*basis) {
                tensors.emplace_back(fmt::format("{}.{}_preconditioner", matrix.name, side),
                                     (*basis)->preconditioner());
                tensors.emplace_back(fmt::format("{}.{}_vectors", matrix.name, side),
                                     (*basis)->vectors());
            }
    return state_with(std::move(tensors));
}

void Soap::load_checked(const OptimizerState& given) {
    load_steps(given);
    for (const auto& [name, tensor] : state().tensors) tensor.copy_from(tensor_of(given, name));
}

Tensor Soap::Matrix::into_basis(const Tensor& x) const {
    const Tensor half = left ? product(transposed(left->vectors()), x) : x;
    return right ? product(half, right->vectors()) : half;
}

Tensor Soap::Matrix::out_of_basis(const Tensor& x) const {
    const Tensor half = left ? product(left->vectors(), x) : x;
    return right ? product(half, transposed(right->vectors())) : half;
}

void Soap::adam(const ParameterGroup& range, const Tensor& parameters, const Tensor& gradient,
                double learning_rate, double weight_decay, const GradientClip& clip) {
    flat().adam(parameters, range_of(first_moment_, range), range_of(second_moment_, range),
                gradient,
                {.learning_rate = learning_rate,
                 .beta1 = config_.beta1,
                 .beta2 = config_.beta2,
                 .epsilon = config_.epsilon,
                 .weight_decay = weight_decay,
                 .decoupled = true,
                 .step = steps(),
                 .clip = clip});
}

void Soap::update(const ParameterGroup& range, const Tensor& parameters, const Tensor& gradient,
                  double learning_rate, const GradientClip& clip) {
    const bool is_first = steps() == 0;
    const double weight_decay = range.decay ? config_.weight_decay : 0;
    const auto found = matrices_.find(range.offset);
    if (found == matrices_.end()) {
        if (!is_first) adam(range, parameters, gradient, learning_rate, weight_decay, clip);
        return;
    }
    Matrix& matrix = found->second;
    // A step of SGD from 0 is the clipped gradient.
    const Tensor clipped = Tensor::zeros({range.count}, gradient.dtype(), gradient.device());
    flat().sgd(clipped, {}, gradient, {.learning_rate = -1, .clip = clip});
    const Tensor shaped_gradient = shaped(clipped, range.shape);
    if (!is_first) {
        const Tensor change = Tensor::zeros({range.count}, gradient.dtype(), gradient.device());
        adam(range, change, flattened(matrix.into_basis(shaped_gradient)), learning_rate, 0, {});
        flat().combine(parameters, 1 - learning_rate * weight_decay, parameters, 1,
                       flattened(matrix.out_of_basis(shaped(change, range.shape))));
    }
    learn(matrix, range, shaped_gradient);
}

void Soap::learn(Matrix& matrix, const ParameterGroup& range, const Tensor& gradient) {
    Tensor wide = gradient;
    if (wide.dtype() != DType::float64) {
        wide = Tensor::empty(gradient.shape(), DType::float64, gradient.device());
        wide.copy_from(gradient);
    }
    if (matrix.left) matrix.left->learn(wide, shampoo_beta_);
    if (matrix.right) matrix.right->learn(transposed(wide), shampoo_beta_);
    if (steps() == 0) {
        if (matrix.left) matrix.left->start();
        if (matrix.right) matrix.right->start();
        return;
    }
    if (steps() % config_.precondition_every != 0) return;
    const Tensor first = shaped(range_of(first_moment_, range), range.shape);
    const Tensor second = shaped(range_of(second_moment_, range), range.shape);
    const Tensor in_own_axes = matrix.out_of_basis(first);
    if (matrix.left) reorder(second, matrix.left->turn(), 0);
    if (matrix.right) reorder(second, matrix.right->turn(), 1);
    first.copy_from(matrix.into_basis(in_own_axes));
}

}  // namespace ralimp
