// The data-dependent start of a RaLiMP layer.
#include "autograd/operations.h"
#include "core/interruption.h"
#include "layers/ralimp.h"
#include "layers/ridge.h"

namespace ralimp {
namespace {

Tensor from_doubles(const std::vector<double>& values, DType dtype) {
    return to(Tensor::from(values, {static_cast<int64_t>(values.size())}), dtype);
}

// Calls f(begin, end) for ranges of [0, count), each of which is to touch some millions of numbers:
// memory stays bounded and an interruption is seen.
template <class F>
void in_pieces(int64_t count, int64_t numbers_each, F&& f) {
    const int64_t step = std::max<int64_t>(16, (int64_t{1} << 23) / numbers_each);
    for (int64_t begin = 0; begin < count; begin += step) {
        throw_if_interrupted();
        f(begin, std::min(begin + step, count));
    }
}

// layer.features() of the batch [rows, in], [rows, F].
Tensor features_of(const Ralimp& layer, const Tensor& x) {
    const Tensor result = Tensor::empty({x.size(0), layer.feature_count()}, x.dtype());
    in_pieces(x.size(0), layer.feature_count(), [&](int64_t begin, int64_t end) {
        const Jet rows = Jet::value_only(slice(x, 0, begin, end));
        slice(result, 0, begin, end).copy_from(layer.features(rows).value());
    });
    return result;
}

double mean_of(const Tensor& x) { return mean(to(x, DType::float64)).item(); }

double largest(const Tensor& x) { return max(x).item(); }

}  // namespace

Tensor Ralimp::initialize_from_data(const Tensor& x) {
    NoGrad no_grad;
    check(x.dims() == 2 && x.size(1) == inputs_ && x.size(0) > 1,
          "ralimp: the calibration batch {} must be [rows, {}] with at least two rows", x.shape(),
          inputs_);
    const Tensor seen = slice(x, 0, 0, calibration_batch_rows);
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
    check(x_total > 0 && w_total > 0, "ralimp: the calibration batch or the weight is all zero");
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
    tau_ = scale_of(config_.scale, exponent, std::sqrt(mean_of(square(products))));
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
    double squares = 0;  // the mean of (g·x)²
    in_pieces(x.size(0), rows_.size(0), [&](int64_t begin, int64_t end) {
        const Tensor projections = linear(slice(x, 0, begin, end), rows_, Tensor());
        squares += mean_of(square(projections)) * static_cast<double>(end - begin) /
                   static_cast<double>(x.size(0));
    });
    const double rms = std::sqrt(s * squares);
    check(rms > 0 && std::isfinite(rms), "ralimp: the calibration batch is all zero or not finite");
    const double wanted = config_.start_rms.value_or(config_.split == Split::symmetric ? 0.4 : 1);
    input_scale_.fill(wanted / rms);

    const Tensor deviation = Tensor::empty({feature_count()}, start_.dtype);
    {
        const Tensor raw = features_of(*this, x);
        in_pieces(feature_count(), x.size(0), [&](int64_t begin, int64_t end) {
            const Tensor columns = slice(raw, 1, begin, end);
            slice(deviation, 0, begin, end).copy_from(sqrt(variance(columns, {0})));
            slice(feature_mean_, 0, begin, end).copy_from(mean(columns, {0}));
        });
    }
    // A feature that does not move on the batch stays as it is.
    const Tensor moves = greater(deviation, 1e-6 * (abs(feature_mean_) + 1e-30));
    const Tensor one = Tensor::scalar(1, start_.dtype);
    feature_inverse_.copy_from(where(moves, reciprocal(where(moves, deviation, one)), one));
    // What is nearly 0 on the whole batch is not enlarged so far that the limit of its exponent
    // would no longer keep it finite.
    if (slots_.features() > 0) {
        const Tensor rational = slice(feature_inverse_, 0, 0, slots_.features());
        rational.copy_from(clamp(rational, 0, std::exp(default_exponent_limit)));
    }

    const Tensor weight = start_weight(outputs_, inputs_, start_.dtype, start_.start);
    const Tensor bias = start_bias(outputs_, inputs_, start_.dtype, start_.start);
    const Tensor wanted_outputs =
        apply(start_.activation, linear(x, weight, bias), start_.scale, start_.envelope);
    const RidgeSolution solution =
        ridge_regression(features_of(*this, x), wanted_outputs, config_.ridge);
    psi_.copy_from(solution.weight);
    psi_bias_.copy_from(solution.bias);
}

}  // namespace ralimp
