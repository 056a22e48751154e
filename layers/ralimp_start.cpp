// The data-dependent start of a RaLiMP layer.
#include "autograd/operations.h"
#include "layers/free_psi.h"
#include "layers/ralimp.h"
#include "layers/ridge.h"

namespace ralimp {
namespace {

Tensor from_doubles(const std::vector<double>& values, DType dtype) {
    return to(Tensor::from(values, {static_cast<int64_t>(values.size())}), dtype);
}

// layer.features() of the batch [rows, in], [rows, F].
Tensor features_of(const Ralimp& layer, const Tensor& x) {
    return map_rows(x, layer.feature_count(), [&](const Tensor& rows) {
        return layer.features(Jet::value_only(rows)).value();
    });
}

double mean_of(const Tensor& x) { return mean(to(x, DType::float64)).item(); }

double largest(const Tensor& x) { return max(x).item(); }

}  // namespace

Tensor Ralimp::initialize_from_data(const Tensor& x) {
    NoGrad no_grad;
    const Tensor seen = calibration_part("ralimp", x, inputs_);
    if (config_.psi == PsiMode::weights)
        choose_scales(seen);
    else
        start_free(seen);
    return Layer::initialize_from_data(x);
}

// κ balances the sizes of x and w, exactly; τ then follows from the scale rule.
void Ralimp::choose_scales(const Tensor& x) {
    const Tensor x_squares = to(mean(square(x), {0}), DType::float64);        // [in]
    const Tensor w_squares = to(mean(square(weight_), {0}), DType::float64);  // [in]
    std::vector<double> xs = x_squares.to_doubles(), ws = w_squares.to_doubles();
    double x_total = 0, w_total = 0;
    for (std::size_t i = 0; i < xs.size(); ++i) x_total += xs[i], w_total += ws[i];
    if (!(x_total > 0 && w_total > 0 && std::isfinite(x_total)))
        fail_with(ExitCode::bad_config,
                  "ralimp: the calibration batch or the weight is all zero or not finite");
    std::vector<double> kappa(xs.size(), 1.0);
    for (std::size_t i = 0; i < xs.size(); ++i) {
        if (config_.balance == Balance::scalar) kappa[i] = std::pow(w_total / x_total, 0.25);
        // A coordinate that never moves says nothing about its scale.
        if (config_.balance == Balance::diagonal && xs[i] > 0 && ws[i] > 0)
            kappa[i] = std::pow(ws[i] / xs[i], 0.25);
    }
    double x_norm = 0, w_norm = 0;
    for (std::size_t i = 0; i < xs.size(); ++i) {
        x_norm += kappa[i] * kappa[i] * xs[i];
        w_norm += ws[i] / (kappa[i] * kappa[i]);
    }
    const Tensor products = linear(x, weight_, Tensor());  // [rows, out]
    double exponent = 0;
    if (atoms_.waves() > 0)
        exponent = variance_exponent(angle_of(config_.split), largest(atoms_.frequencies()),
                                     {x_norm, w_norm, mean_of(products)});
    // Trained weights say what function is estimated: a τ would flatten it.
    tau_ = start_.weight.defined()
               ? 1
               : scale_of(config_.scale, exponent, std::sqrt(mean_of(square(products))));
    exponent_ = exponent / (tau_ * tau_);
    std::vector<double> inverse(kappa.size());
    for (std::size_t i = 0; i < kappa.size(); ++i) {
        inverse[i] = 1 / (kappa[i] * tau_);
        kappa[i] /= tau_;
    }
    input_scale_.copy_from(from_doubles(kappa, start_.dtype));
    weight_scale_.copy_from(from_doubles(inverse, start_.dtype));
}

// (a) the largest exponent √s g·x gets the wanted RMS, (b) every feature is standardized, (c) Ψ is
// the ridge regression of the dense layer's outputs; the biases of the projections start at 0.
void Ralimp::start_free(const Tensor& x) {
    input_scale_.fill(1);
    feature_mean_.fill(0);
    feature_inverse_.fill(1);
    row_bias_.fill(0);
    const double s = atoms_.waves() > 0 ? largest(atoms_.frequencies()) : 1;
    const double rms = std::sqrt(
        s * mean_of(map_rows(x, rows_.size(0), [&](const Tensor& rows) {
            return mean(to(square(linear(rows, rows_, Tensor())), DType::float64), {1}, true);
        })));
    if (!(rms > 0 && std::isfinite(rms)))
        fail_with(ExitCode::bad_config, "ralimp: the calibration batch is all zero or not finite");
    input_scale_.fill(config_.start_rms_used() / rms);

    const Standardization standard = standardization_of(features_of(*this, x));
    feature_mean_.copy_from(standard.mean);
    feature_inverse_.copy_from(standard.inverse);
    if (slots_.features() > 0) {
        const Tensor rational = slice(feature_inverse_, 0, 0, slots_.features());
        // A channel whose amplitude is 0 moves by rounding errors alone. Enlarged, it would explode
        // with the first step that changes the amplitude.
        if (slots_.input_amplitudes()) {
            constexpr double rounding = 1e-9;
            const double largest_scale = min(rational).item() / rounding;
            const Tensor one = Tensor::ones(rational.shape(), rational.dtype());
            const Tensor bound = Tensor::full(rational.shape(), largest_scale, rational.dtype());
            rational.copy_from(where(greater(rational, bound), one, rational));
        }
        // What is nearly 0 on the whole batch is not enlarged so far that the limit of its exponent
        // would no longer keep it finite.
        rational.copy_from(clamp(rational, 0, std::exp(default_exponent_limit)));
    }

    const RidgeSolution solution =
        ridge_regression(features_of(*this, x), dense_outputs(x, outputs_, start_), config_.ridge);
    psi_.copy_from(solution.weight);
    psi_bias_.copy_from(solution.bias);
}

}  // namespace ralimp
