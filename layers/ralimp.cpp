#include "layers/ralimp.h"

#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "autograd/operations.h"
#include "layers/projections.h"

namespace ralimp {
namespace {

Atoms make_atoms(const RalimpConfig& config, const HiddenStart& start) {
    RationalFitOptions fit;
    fit.multiplicity = static_cast<int>(config.multiplicity);
    fit.minimax = config.minimax;
    FrequencyOptions nodes;
    nodes.rule = config.nodes;
    nodes.count = static_cast<int>(config.nodes_per_atom);
    nodes.s_max = config.s_max.value_or(std::numeric_limits<double>::infinity());
    // The draws of a layer are told apart by the layer's step; 2^8 pole pairs fit between two.
    nodes.key = {start.start.key.seed, RandomStream::noise, start.start.key.step << 8};
    RationalFits own;
    RationalFits& fits = start.fits ? *start.fits : own;
    return Atoms(fits.get(name_of(start.activation), start.scale, config.half_width,
                          static_cast<int>(config.degree), static_cast<int>(config.pole_pairs), fit,
                          start.envelope),
                 nodes, start.dtype);
}

// Of the polynomial alone: where it shares those of the rational features, without the first group.
int64_t polynomial_row_count(const RalimpConfig& config, int64_t shared) {
    return config.features *
               product_groups(std::max<int64_t>(config.degree, 0), config.share_rows) -
           shared;
}

// Nodes may all be cut off.
int64_t shared_row_count(const RalimpConfig& config, const FeatureSlots& slots) {
    return config.shares_polynomial() && config.degree > 0 && slots.features() > 0 ? config.features
                                                                                   : 0;
}

}  // namespace

Ralimp::Ralimp(int64_t inputs, int64_t outputs, const RalimpConfig& config,
               const HiddenStart& start)
    : config_(config),
      start_(start),
      inputs_(inputs),
      outputs_(outputs),
      atoms_(make_atoms(config, start)),
      slots_(config, atoms_.waves(), start.dtype),
      shared_rows_(shared_row_count(config, slots_)),
      polynomial_rows_(polynomial_row_count(config, shared_rows_)),
      polynomial_features_(config.features * std::max<int64_t>(config.degree, 0)),
      clamps_(Tensor::zeros({2}, DType::int64)) {
    const bool free = config.psi == PsiMode::free;
    rows_ = draw_rows(start.start.key.seed);
    input_scale_ = Tensor::ones({inputs}, start.dtype);
    if (free) {
        const int64_t count = feature_count();
        row_bias_ = Tensor::zeros({rows_.size(0)}, start.dtype);
        psi_ = random_normal({outputs, count}, start.start.key, start.dtype, 0,
                             1 / std::sqrt(static_cast<double>(count)));
        psi_bias_ = Tensor::zeros({outputs}, start.dtype);
        feature_mean_ = Tensor::zeros({count}, start.dtype);
        feature_inverse_ = Tensor::ones({count}, start.dtype);
    } else {
        weight_ = dense_weight(outputs, inputs, start);
        bias_ = dense_bias(outputs, inputs, start);
        weight_scale_ = Tensor::ones({inputs}, start.dtype);
    }
}

// One group of rows for each set of frequencies and one for each degree of the polynomial that
// multiplies rows; within a group they may be orthogonal, between groups they are independent, as
// products of rows must be.
Tensor Ralimp::draw_rows(uint64_t seed) const {
    std::vector<int64_t> groups;
    const int64_t sets = config_.share_projections ? 1 : atoms_.waves();
    for (int64_t set = 0; set < sets && slots_.rows() > 0; ++set)
        groups.push_back(slots_.rows() / sets);
    for (int64_t row = 0; row < polynomial_rows_; row += config_.features)
        groups.push_back(config_.features);
    check(!groups.empty(), "ralimp: neither atoms nor a polynomial of positive degree");
    return projection_groups(groups, inputs_, seed, start_, config_.orthogonal);
}

void Ralimp::redraw_projections(uint64_t seed) {
    check(!config_.train_projections, "ralimp: trained projection rows cannot be drawn anew");
    rows_.copy_from(draw_rows(seed));
}

Jet Ralimp::forward(const Jet& x) const {
    const bool whole = fits_chain(chain_width(x.rows()));
    // All features in one pass over x; Ψ is left to a BLAS. Not for less than a block of rows, nor
    // where every weight of wide projections would have sums of its own.
    const bool features_alone =
        x.rows() >= 64 && !config_.train_projections && fits_chain(LayerChainProgram::max_width);
    if (whole || features_alone) {
        const std::vector<ChainLayer> steps = as_chain();
        if (whole) return layer_chain(x, steps);
        return linear(layer_chain(x, std::span(steps).first(1)), steps[1].weight, steps[1].bias);
    }
    // Ψ meets each part of the features by itself: joining them would copy all of them twice.
    WeightSide side = weight_side();
    const std::vector<Jet> parts = raw_features(x);
    const int64_t rational = slots_.features();
    if (config_.psi == PsiMode::free && polynomial_features_ > 0) {
        // Ψ (feature - mean) / deviation, the constants moved to Ψ's side.
        const Tensor inverse = slice(feature_inverse_, 0, rational, feature_count());
        const Tensor mean = slice(feature_mean_, 0, rational, feature_count());
        const Tensor polynomial = slice(side.psi, 1, rational, feature_count()) * inverse;
        side.constant = side.constant - sum(polynomial * mean, {1});
        side.psi = rational > 0 ? concatenate({slice(side.psi, 1, 0, rational), polynomial}, 1)
                                : polynomial;
    }
    int64_t begin = 0;
    std::vector<Jet> sums;
    for (const Jet& part : parts) {
        const Tensor psi = slice(side.psi, 1, begin, begin + part.features());
        begin += part.features();
        sums.push_back(sums.empty() ? linear(part, psi, side.constant)
                                    : sums.back() + linear(part, psi, Tensor()));
    }
    return sums.back();
}

// Polynomials of rows of their own have none.
bool Ralimp::has_chain_form() const {
    return slots_.features() > 0 && (config_.degree <= 1 || config_.share_rows);
}

bool Ralimp::fits_chain(int64_t width) const {
    return has_chain_form() && std::max({inputs_, rows_.size(0), outputs_}) <= width &&
           feature_count() <= 8 * width;
}

std::vector<ChainLayer> Ralimp::as_chain() const {
    if (!has_chain_form()) return {};
    const Tensor frequencies = atoms_.frequencies();
    return {feature_step(frequencies, config_.features, std::max<int64_t>(config_.degree, 0)),
            psi_step(frequencies)};
}

// What is no chain multiplies the rows of its polynomial in a step of their own.
std::vector<FoldedStep> Ralimp::folded_steps() const {
    if (has_chain_form()) return Layer::folded_steps();
    RowProducts products{
        .rows = config_.features, .degree = config_.degree, .share_rows = config_.share_rows};
    if (slots_.features() == 0)
        return {ChainLayer{.weight = rows_ * input_scale_, .bias = row_bias_}, products,
                psi_step(Tensor())};
    const Tensor frequencies = atoms_.frequencies();
    const ChainLayer features = feature_step(frequencies, shared_rows_ + polynomial_rows_, 1);
    products.kept = features.features->width() - features.features->rows;
    return {features, products, psi_step(frequencies)};
}

// The features of the exponents, and a polynomial of so many rows.
ChainLayer Ralimp::feature_step(const Tensor& frequencies, int64_t rows, int64_t degree) const {
    ChainFeatures features =
        slots_.chain_features(frequencies, config_.norm_used() != FeatureNorm::none);
    features.rows = degree > 0 ? rows : 0;
    features.degree = degree;
    features.shared_rows = shared_rows_;
    features.limit = limit();
    if (config_.norm_used() == FeatureNorm::exact) features.norm_weights = square(input_scale_);
    return {.weight = rows_ * input_scale_, .bias = row_bias_, .features = std::move(features)};
}

// Ψ with amplitudes and standardization, for the features of feature_step(). Without rational
// features there are no frequencies.
ChainLayer Ralimp::psi_step(const Tensor& frequencies) const {
    auto [psi, constant] = weight_side();
    if (config_.psi == PsiMode::free) {
        psi = psi * feature_inverse_;
        constant = constant - sum(psi * feature_mean_, {1});
    }
    const int64_t rational = slots_.features(), all = feature_count();
    if (slots_.oscillating() && rational > 0) {
        const Tensor waves =
            slots_.psi_of_chain(slice(psi, 1, 0, rational), input_amplitudes(frequencies));
        psi = rational < all ? concatenate({waves, slice(psi, 1, rational, all)}, 1) : waves;
    }
    return {.weight = psi, .bias = constant};
}

Jet Ralimp::features(const Jet& x) const {
    std::vector<Jet> parts = raw_features(x);
    if (config_.psi == PsiMode::free) {
        int64_t begin = slots_.features();
        for (std::size_t i = begin > 0 ? 1 : 0; i < parts.size(); ++i) {
            const int64_t end = begin + parts[i].features();
            const Tensor inverse = slice(feature_inverse_, 0, begin, end);
            parts[i] = parts[i] * inverse + neg(slice(feature_mean_, 0, begin, end) * inverse);
            begin = end;
        }
    }
    return parts.size() == 1 ? parts[0] : concatenate(parts);
}

// The rational features, standardized where the layer standardizes; then Π_(i<=k) (g_i·x), which
// are not, [rows, m] for each degree k.
std::vector<Jet> Ralimp::raw_features(const Jet& x) const {
    const Tensor rows = rows_ * input_scale_;
    int64_t next = 0;
    // Group by group: a slice of all projections at once would cost more than the products.
    const auto project = [&](int64_t count) {
        next += count;
        return linear(x, slice(rows, 0, next - count, next),
                      row_bias_.defined() ? slice(row_bias_, 0, next - count, next) : Tensor());
    };
    std::vector<Jet> parts;
    std::optional<Jet> first;  // of the polynomial, where it is there already
    if (slots_.features() > 0) {
        Jet projections = project(slots_.rows());
        parts.push_back(rational_features(x, projections));
        if (shared_rows_ > 0) first = std::move(projections);
    }
    const auto next_group = [&] {
        if (!first) return project(config_.features);
        return *std::exchange(first, std::nullopt);
    };
    for (Jet& degree : product_features(config_.degree, config_.share_rows, next_group))
        parts.push_back(std::move(degree));
    return parts;
}

Atoms::Amplitudes Ralimp::input_amplitudes(const Tensor& frequencies) const {
    return slots_.input_amplitudes() ? atoms_.amplitudes(frequencies) : Atoms::Amplitudes{};
}

Jet Ralimp::rational_features(const Jet& x, const Jet& projections) const {
    const Tensor frequencies = atoms_.frequencies();
    Tensor table = slots_.input_table(frequencies, input_amplitudes(frequencies));
    if (config_.psi == PsiMode::free) {
        // (feature - mean) / deviation is a feature of the same form.
        const Tensor inverse = slice(feature_inverse_, 0, 0, slots_.features());
        const Tensor shift = neg(slice(feature_mean_, 0, 0, slots_.features()) * inverse);
        const Tensor exponents = slice(table, 0, 0, feature_table::cosine);
        const Tensor factors =
            slice(table, 0, feature_table::cosine, feature_table::shift) * inverse;
        table = concatenate({exponents, factors, unsqueeze(shift, 0)});
    }
    if (config_.norm_used() == FeatureNorm::none)
        return exponential_features(projections, nullptr, slots_.blocks(), table,
                                    slots_.oscillating(), limit());
    const Jet norms =
        config_.norm_used() == FeatureNorm::exact
            ? linear(square(x), unsqueeze(square(input_scale_), 0), Tensor())
            : sum_features(square(projections)) * (1.0 / static_cast<double>(slots_.rows()));
    return exponential_features(projections, &norms, slots_.blocks(), table, slots_.oscillating(),
                                limit());
}

// Σ c_n (t + b)^n = Σ_k t^k Σ_(n>=k) c_n binomial(n, k) b^(n-k): one coefficient for each degree
// and output, exact for any shift.
Tensor Ralimp::polynomial_psi(const Tensor& projections, const Tensor& shift,
                              Tensor& constant) const {
    const int64_t m = config_.features, degree = config_.degree;
    const Tensor& c = atoms_.polynomial();
    Tensors coefficients;
    for (int64_t k = 0; k <= degree; ++k) {
        Tensor sum;
        Tensor power = Tensor::ones({outputs_, 1}, shift.dtype());
        double binomial = 1;
        for (int64_t n = k; n <= degree; ++n) {
            const Tensor term = select(c, 0, n) * power * binomial;
            sum = sum.defined() ? sum + term : term;
            power = power * shift;
            binomial *= static_cast<double>(n + 1) / static_cast<double>(n + 1 - k);
        }
        coefficients.push_back(sum);
    }
    constant = degree >= 0 ? coefficients[0] : Tensor::zeros({outputs_, 1}, shift.dtype());
    int64_t next = slots_.rows() - shared_rows_;
    const auto factor = [&] {
        next += m;
        return slice(projections, 1, next - m, next);
    };
    Tensors parts;
    Tensor product;
    for (int64_t k = 1; k <= degree; ++k) {
        if (config_.share_rows) {
            product = k == 1 ? factor() : product * factor();
        } else {
            product = factor();
            for (int64_t i = 1; i < k; ++i) product = product * factor();
        }
        parts.push_back(product * coefficients[static_cast<std::size_t>(k)] *
                        (1.0 / static_cast<double>(m)));
    }
    return parts.empty() ? Tensor() : concatenate(parts, 1);
}

Ralimp::WeightSide Ralimp::weight_side() const {
    if (config_.psi == PsiMode::free) return {psi_, psi_bias_};
    const Tensor scaled = weight_ * weight_scale_;
    const Tensor projections = linear(scaled, rows_, Tensor());
    const Tensor shift = unsqueeze(shift_of_bias(), 1);
    Tensor constant;
    Tensors parts;
    if (slots_.features() > 0) {
        const Tensor frequencies = atoms_.frequencies();
        parts.push_back(slots_.weight_side(frequencies, atoms_.amplitudes(frequencies), projections,
                                           sum(square(scaled), {1}, true), shift, limit()));
    }
    const Tensor polynomial = polynomial_psi(projections, shift, constant);
    if (polynomial.defined()) parts.push_back(polynomial);
    return {parts.size() == 1 ? parts[0] : concatenate(parts, 1), squeeze(constant, 1)};
}

// b / τ²: the scales of x and w multiply to 1 / τ² in every coordinate.
Tensor Ralimp::shift_of_bias() const {
    return bias_ * (select(input_scale_, 0, 0) * select(weight_scale_, 0, 0));
}

Tensor Ralimp::surrogate(const Tensor& t) const {
    Tensor sum = Tensor::zeros({}, t.dtype());
    for (int64_t k = atoms_.degree(); k >= 0; --k)
        sum = sum * t + select(atoms_.polynomial(), 0, k);
    if (atoms_.waves() == 0) return expand(sum, t.shape());
    const Tensor frequencies = atoms_.frequencies();
    const Atoms::Amplitudes amplitudes = atoms_.amplitudes(frequencies);
    const Tensor phase = unsqueeze(t, -1) * frequencies;
    return sum + ralimp::sum(amplitudes.cosine * cos(phase) + amplitudes.sine * sin(phase), {-1});
}

void Ralimp::set_weights(const Tensor& weight, const Tensor& bias) {
    check(config_.psi == PsiMode::weights, "ralimp: psi: free has no weights to set");
    check(weight.shape() == weight_.shape() && bias.shape() == bias_.shape(),
          "ralimp: weight {} and bias {} do not fit {} -> {}", weight.shape(), bias.shape(),
          inputs_, outputs_);
    weight_.copy_from(weight);
    bias_.copy_from(bias);
}

void Ralimp::visit(const std::string& prefix, const ParameterVisitor& visitor) {
    const bool free = config_.psi == PsiMode::free;
    const auto one = [&](const char* name, Tensor& tensor, const ParameterInfo& info) {
        if (tensor.defined()) visitor(join(prefix, name), tensor, info);
    };
    one("weight", weight_, {});
    one("bias", bias_, {.decay = false});
    one("psi", psi_, {});
    one("psi_bias", psi_bias_, {.decay = false});
    atoms_.visit(prefix, visitor, config_, !free || slots_.input_amplitudes());
    one("projections", rows_, {.trained = config_.train_projections, .decay = false});
    one("projection_bias", row_bias_, {.decay = false});
    for (auto& [name, tensor] : {std::pair<const char*, Tensor*>{"input_scale", &input_scale_},
                                 {"weight_scale", &weight_scale_},
                                 {"feature_mean", &feature_mean_},
                                 {"feature_inverse", &feature_inverse_}})
        one(name, *tensor, {.trained = false});
}

void Ralimp::visit_clamps(const std::string& prefix, const ClampVisitor& visitor) const {
    if (slots_.features() > 0) visitor(prefix, clamps_);
}

ParameterCount Ralimp::count() const {
    const bool free = config_.psi == PsiMode::free;
    const int64_t rows = rows_.elements();
    const int64_t biases = free ? row_bias_.elements() : 0;
    ParameterCount count;
    count.trained = atoms_.trained(config_, !free || slots_.input_amplitudes()) + biases +
                    (free ? psi_.elements() + outputs_ : weight_.elements() + outputs_) +
                    (config_.train_projections ? rows : 0);
    count.deployed = rows + biases + feature_count() * outputs_ + outputs_ + atoms_.scalars();
    // Regenerated rows still need the scale of the inputs, one number or one for each.
    const int64_t scales =
        config_.psi == PsiMode::weights && config_.balance == Balance::diagonal ? inputs_ : 1;
    count.regenerated = config_.train_projections ? count.deployed : count.deployed - rows + scales;
    return count;
}

std::string Ralimp::description() const {
    return fmt::format(
        "ralimp {} -> {}, {} with {} pole pairs{}, degree {}, {} {}, {} features from {} rows, "
        "psi {}",
        inputs_, outputs_, name_of(start_.activation), atoms_.pairs(),
        config_.multiplicity > 1 ? fmt::format(" of multiplicity {}", config_.multiplicity) : "",
        config_.degree, name_of(config_.split), enum_name(config_.layout), feature_count(),
        rows_.size(0), enum_name(config_.psi));
}

}  // namespace ralimp
