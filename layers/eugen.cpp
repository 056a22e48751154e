#include "layers/eugen.h"

#include <cmath>

#include "autograd/operations.h"
#include "layers/projections.h"

namespace ralimp {
namespace {

std::vector<int64_t> groups_of(const EugenConfig& config) {
    return std::vector<int64_t>(
        static_cast<std::size_t>(product_groups(config.degree, config.share_rows)),
        config.features);
}

}  // namespace

Eugen::Eugen(int64_t inputs, int64_t outputs, const EugenConfig& config, const HiddenStart& start)
    : config_(config),
      start_(start),
      psi_(outputs, config.features * config.degree, start),
      rows_(projection_groups(groups_of(config), inputs + 2, start.start.key.seed, start,
                              config.orthogonal)),
      input_scale_(Tensor::ones({1}, start.dtype)) {}

double Eugen::floor() const { return EugenConfig::norm_floor * config_.start_rms; }

std::vector<Jet> Eugen::features(const Jet& x) const {
    const int64_t d = inputs(), m = config_.features;
    const Jet norm =
        apply(Activation::sqrt, linear(square(x), expand(square(input_scale_), {1, d}),
                                       Tensor::full({1}, floor() * floor(), start_.dtype)));
    const Jet extended = concatenate({x, norm});
    const Tensor of_one = select(rows_, 1, d);
    const Tensor weight =
        concatenate({slice(rows_, 1, 0, d) * input_scale_, slice(rows_, 1, d + 1, d + 2)}, 1);
    int64_t next = 0;
    return product_features(config_.degree, config_.share_rows, [&] {
        next += m;
        return linear(extended, slice(weight, 0, next - m, next), slice(of_one, 0, next - m, next));
    });
}

// With the scale s of the inputs: s|x| is kept in the units of x.
std::vector<FoldedStep> Eugen::folded_steps() const {
    const int64_t d = inputs();
    const Tensor of_inputs =
        concatenate({slice(rows_, 1, 0, d), slice(rows_, 1, d + 1, d + 2)}, 1) * input_scale_;
    return {
        InputNorm{.inputs = d, .floor = floor() / input_scale_.item()},
        ChainLayer{.weight = of_inputs, .bias = select(rows_, 1, d)},
        RowProducts{
            .rows = config_.features, .degree = config_.degree, .share_rows = config_.share_rows},
        psi_.as_chain()};
}

Tensor Eugen::initialize_from_data(const Tensor& x) {
    NoGrad no_grad;
    const Tensor seen = calibration_part("eugen", x, inputs());
    const double rms = std::sqrt(mean(sum(square(to(seen, DType::float64)), {1})).item());
    if (!(rms > 0 && std::isfinite(rms)))
        fail_with(ExitCode::bad_config, "eugen: the calibration batch is all zero or not finite");
    input_scale_.fill(config_.start_rms / rms);
    psi_.start(map_rows(seen, rows_.size(0),
                        [&](const Tensor& rows) {
                            return concatenate(features(Jet::value_only(rows))).value();
                        }),
               dense_outputs(seen, outputs(), start_), config_.ridge);
    return Layer::initialize_from_data(x);
}

void Eugen::visit(const std::string& prefix, const ParameterVisitor& visitor) {
    psi_.visit(prefix, visitor);
    visitor(join(prefix, "projections"), rows_,
            {.trained = config_.train_projections, .decay = false});
    visitor(join(prefix, "input_scale"), input_scale_, {.trained = false});
}

ParameterCount Eugen::count() const {
    const int64_t rows = rows_.elements();
    ParameterCount count;
    count.trained = psi_.count() + (config_.train_projections ? rows : 0);
    count.deployed = psi_.count() + rows + 1;
    count.regenerated = config_.train_projections ? count.deployed : count.deployed - rows;
    return count;
}

std::string Eugen::description() const {
    return fmt::format("eugen {} -> {}, {}, degree {}, {} features from {} rows", inputs(),
                       outputs(), name_of(start_.activation), config_.degree, psi_.features(),
                       rows_.size(0));
}

}  // namespace ralimp
