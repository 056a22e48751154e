#include "layers/snnk.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "autograd/operations.h"
#include "layers/projections.h"

namespace ralimp {

Snnk::Snnk(int64_t inputs, int64_t outputs, const SnnkConfig& config, const HiddenStart& start)
    : config_(config),
      start_(start),
      psi_(outputs, config.features, start),
      rows_(projection_groups({config.features}, inputs, start.start.key.seed, start,
                              config.orthogonal)),
      input_scale_(Tensor::ones({1}, start.dtype)) {
    const RandomKey key{start.start.key.seed, RandomStream::noise, start.start.key.step};
    const Tensor draws = random_normal({config.features}, key, start.dtype);
    if (is_relu()) {
        row_bias_ = draws * config.bias_rms;
    } else {
        growth_ = sqrt(abs(draws));
        clamps_ = Tensor::zeros({2}, DType::int64);
    }
}

Jet Snnk::features(const Jet& x) const {
    const ChainLayer step = feature_step();
    if (is_relu()) return apply(step.activation, linear(x, step.weight, step.bias));
    return layer_chain(x, {&step, 1});
}

ChainLayer Snnk::feature_step() const {
    if (is_relu())
        return {.weight = rows_ * input_scale_, .bias = row_bias_, .activation = Activation::relu};
    const Tensor scales = growth_ * input_scale_;
    ChainLayer step{.weight = rows_ * unsqueeze(scales, 1)};
    std::vector<int64_t> own(static_cast<std::size_t>(config_.features));
    std::iota(own.begin(), own.end(), 0);
    step.features = {
        .projections = to(Tensor::from(own, {config_.features}), DType::int32),
        .growth = Tensor::ones({config_.features}, start_.dtype),
        .norm_growth = square(scales) * -0.5,
        .norm_weights = Tensor::ones({inputs()}, start_.dtype),
        .exponential_rows = config_.features,
        .limit = {config_.exponent_limit, clamps_},
    };
    return step;
}

bool Snnk::fits_chain(int64_t width) const {
    return std::max({inputs(), config_.features, outputs()}) <= width;
}

Tensor Snnk::initialize_from_data(const Tensor& x) {
    NoGrad no_grad;
    const Tensor seen = calibration_part("snnk", x, inputs());
    const Tensor squares = map_rows(seen, config_.features, [&](const Tensor& rows) {
        const Tensor projections = linear(rows, rows_, Tensor());
        const Tensor linear_part = is_relu() ? projections : projections * growth_;
        return mean(to(square(linear_part), DType::float64), {1}, true);
    });
    const double rms = std::sqrt(mean(squares).item());
    if (!(rms > 0 && std::isfinite(rms)))
        fail_with(ExitCode::bad_config, "snnk: the calibration batch is all zero or not finite");
    input_scale_.fill(config_.start_rms / rms);
    psi_.start(
        map_rows(seen, config_.features,
                 [&](const Tensor& rows) { return features(Jet::value_only(rows)).value(); }),
        dense_outputs(seen, outputs(), start_), config_.ridge);
    return Layer::initialize_from_data(x);
}

void Snnk::visit(const std::string& prefix, const ParameterVisitor& visitor) {
    psi_.visit(prefix, visitor);
    visitor(join(prefix, "projections"), rows_,
            {.trained = config_.train_projections, .decay = false});
    if (is_relu())
        visitor(join(prefix, "projection_bias"), row_bias_, {.decay = false});
    else
        visitor(join(prefix, "growth"), growth_, {.trained = false});
    visitor(join(prefix, "input_scale"), input_scale_, {.trained = false});
}

void Snnk::visit_clamps(const std::string& prefix, const ClampVisitor& visitor) const {
    if (!is_relu()) visitor(prefix, clamps_);
}

ParameterCount Snnk::count() const {
    const int64_t rows = rows_.elements(), m = config_.features;
    ParameterCount count;
    count.trained = psi_.count() + (is_relu() ? m : 0) + (config_.train_projections ? rows : 0);
    count.deployed = psi_.count() + m + rows;
    count.regenerated =
        config_.train_projections ? count.deployed : psi_.count() + (is_relu() ? m : 0) + 1;
    return count;
}

std::string Snnk::description() const {
    return fmt::format("snnk {} -> {}, {}, {} {} features", inputs(), outputs(),
                       name_of(start_.activation), config_.features, enum_name(config_.form));
}

}  // namespace ralimp
