#include "layers/feature_slots.h"

#include <algorithm>
#include <array>

#include "autograd/operations.h"

namespace ralimp {

// Notation of random_features.h: Φ of the input, Ψ of the weight, λ = C - iS, and every sum of
// products of input and weight parts is Re(λ Φ Ψ), averaged over ±g for the pairs.
std::vector<FeatureSlots::Part> FeatureSlots::parts_of(const RalimpConfig& config) {
    std::vector<Part> parts;
    const auto add = [&](std::initializer_list<std::pair<Constant, double>> values) {
        Part part;
        for (const auto& [name, value] : values) part.values[name] = value;
        parts.push_back(part);
    };
    const double half = 0.5, r = 0.70710678118654752440;
    switch (config.split) {
        case Split::symmetric:
            // R and I are the parts of Φ and of Ψ alike. Merged: R(w) (C R + S I) + I(w) (S R -
            // C I). Concatenated: R(w) C R - I(w) C I and R(w) S I + I(w) S R.
            for (double sign : config.antithetic ? std::vector{1.0, -1.0} : std::vector{1.0}) {
                const auto symmetric =
                    [&](std::initializer_list<std::pair<Constant, double>> amplitudes,
                        bool imaginary_part) {
                        add({{growth, sign * r},
                             {rotation, sign * r},
                             {norm_rotation, -half},
                             {weight_growth, sign * r},
                             {weight_rotation, sign * r},
                             {weight_norm_rotation, -half},
                             {real, imaginary_part ? 0 : 1},
                             {imaginary, imaginary_part ? -1 : 0}});
                        for (const auto& [name, value] : amplitudes)
                            parts.back().values[name] = value;
                    };
                if (config.layout == FeatureLayout::merged) {
                    symmetric({{cosine_by_cosine, 1}, {sine_by_sine, 1}}, false);
                    symmetric({{cosine_by_sine, 1}, {sine_by_cosine, -1}}, true);
                } else {
                    symmetric({{cosine_by_cosine, 1}}, false);
                    symmetric({{sine_by_cosine, -1}}, true);
                    symmetric({{sine_by_sine, 1}}, false);
                    symmetric({{cosine_by_sine, 1}}, true);
                }
            }
            break;
        case Split::real_input:
            // Φ(±g) is real; its weight is Re(λ Ψ(±g)) / 2.
            for (double sign : {1.0, -1.0})
                add({{growth, sign},
                     {norm_growth, -half},
                     {cosine, 1},
                     {weight_rotation, sign},
                     {weight_norm_growth, half},
                     {real_by_cosine, half},
                     {imaginary_by_sine, -half}});
            break;
        case Split::phase_input:
            // Φ(-g) is the conjugate of Φ(g) and Ψ is real: the cosine meets Re(λ) (Ψ(g) + Ψ(-g)) /
            // 2, the sine Re(iλ) (Ψ(g) - Ψ(-g)) / 2.
            add({{rotation, 1},
                 {norm_growth, half},
                 {cosine, 1},
                 {weight_growth, 1},
                 {weight_norm_growth, -half},
                 {mirror, 1},
                 {real_by_cosine, half},
                 {imaginary_by_sine, -half}});
            add({{rotation, 1},
                 {norm_growth, half},
                 {sine, 1},
                 {weight_growth, 1},
                 {weight_norm_growth, -half},
                 {mirror, -1},
                 {real_by_sine, half},
                 {imaginary_by_cosine, half}});
            break;
    }
    return parts;
}

FeatureSlots::FeatureSlots(const RalimpConfig& config, int64_t waves, DType dtype)
    : oscillating_(config.split != Split::real_input),
      input_amplitudes_(config.split == Split::symmetric),
      mirrored_(config.split == Split::phase_input),
      scale_(1 / static_cast<double>(config.features)) {
    const std::vector<Part> parts = parts_of(config);
    const bool halved = config.split == Split::symmetric && config.antithetic;
    const int64_t drawn = halved ? config.features / 2 : config.features;
    block_ = drawn;
    sharing_ = std::count_if(parts.begin(), parts.end(), [&](const Part& part) {
        constexpr std::array exponent = {growth, rotation, norm_growth, norm_rotation};
        return std::all_of(exponent.begin(), exponent.end(), [&](Constant name) {
            return part.values[name] == parts[0].values[name];
        });
    });
    features_ = waves * static_cast<int64_t>(parts.size()) * drawn;
    rows_ = waves == 0 ? 0 : (config.share_projections ? 1 : waves) * drawn;
    std::vector<FeatureBlock> blocks;
    std::vector<int64_t> wave_of, row_of;
    std::vector<std::vector<double>> values(constants);
    for (int64_t wave = 0; wave < waves; ++wave) {
        const int64_t first = config.share_projections ? 0 : wave * drawn;
        for (const Part& part : parts) {
            blocks.push_back({static_cast<int32_t>(row_of.size()), static_cast<int32_t>(first),
                              static_cast<int32_t>(drawn)});
            for (int64_t i = 0; i < drawn; ++i) {
                wave_of.push_back(wave);
                row_of.push_back(first + i);
                for (int name = 0; name < constants; ++name) {
                    values[static_cast<std::size_t>(name)].push_back(part.values[name]);
                    used_[name] = used_[name] || part.values[name] != 0;
                }
            }
        }
    }
    if (features_ == 0) return;
    blocks_ = feature_blocks(blocks, features_, rows_);
    wave_ = Tensor::from(wave_of, {features_});
    row_ = Tensor::from(row_of, {features_});
    for (const std::vector<double>& row : values)
        constants_.push_back(to(Tensor::from(row, {features_}), dtype));
    projections_ = to(of_exponents(row_), DType::int32);
}

// first + (first + 1) C + (first + 2) S, by feature.
Tensor FeatureSlots::combine(Constant first, const Tensor& c, const Tensor& s) const {
    return constants_[first] + constants_[first + 1] * c + constants_[first + 2] * s;
}

// Of each exponent what its first feature has.
Tensor FeatureSlots::of_exponents(const Tensor& by_feature) const {
    if (sharing_ == 1) return by_feature;
    const Tensor blocks = reshape(by_feature, {features_ / (sharing_ * block_), sharing_, block_});
    return reshape(select(blocks, 1, 0), {features_ / sharing_});
}

ChainFeatures FeatureSlots::chain_features(const Tensor& frequencies, bool norms) const {
    const Tensor s = of_exponents(index_select(frequencies, 0, wave_));
    const Tensor root = sqrt(s);
    const auto coefficient = [&](Constant name, const Tensor& factor) {
        return used_[name] ? of_exponents(constant(name)) * factor : Tensor();
    };
    ChainFeatures features{.projections = projections_,
                           .growth = coefficient(growth, root),
                           .rotation = coefficient(rotation, root),
                           .exponential_rows = rows_};
    if (norms) {
        features.norm_growth = coefficient(norm_growth, s);
        features.norm_rotation = coefficient(norm_rotation, s);
    }
    return features;
}

Tensor FeatureSlots::psi_of_chain(const Tensor& psi, const Atoms::Amplitudes& amplitudes) const {
    if (!oscillating_) return psi;
    const int64_t outputs = psi.size(0), exponents = features_ / sharing_;
    // Of the features that share an exponent, each is cosine cos + sine sin.
    const auto sums = [&](Constant factor) {
        const Tensor weighted = psi * input_factors(factor, amplitudes);
        const Tensor blocks = reshape(weighted, {outputs, exponents / block_, sharing_, block_});
        return reshape(sum(blocks, {2}), {outputs, exponents});
    };
    return concatenate({sums(cosine), sums(sine)}, 1);
}

// By feature, from the amplitudes of the waves, which the symmetric split needs alone.
Tensor FeatureSlots::input_factors(Constant first, const Atoms::Amplitudes& amplitudes) const {
    if (!input_amplitudes_) return constant(first);
    check(amplitudes.cosine.defined() && amplitudes.sine.defined(),
          "feature slots: the symmetric split needs amplitudes");
    const Tensor c = index_select(amplitudes.cosine, 0, wave_);
    const Tensor s = index_select(amplitudes.sine, 0, wave_);
    return combine(first, c, s);
}

Tensor FeatureSlots::input_table(const Tensor& frequencies,
                                 const Atoms::Amplitudes& amplitudes) const {
    const Tensor s = index_select(frequencies, 0, wave_);
    const Tensor root = sqrt(s);
    Tensors rows(feature_table::rows);
    rows[feature_table::growth] = constant(growth) * root;
    rows[feature_table::rotation] = constant(rotation) * root;
    rows[feature_table::norm_growth] = constant(norm_growth) * s;
    rows[feature_table::norm_rotation] = constant(norm_rotation) * s;
    rows[feature_table::cosine] = input_factors(cosine, amplitudes);
    rows[feature_table::sine] = input_factors(sine, amplitudes);
    rows[feature_table::shift] = Tensor::zeros({features_}, s.dtype(), s.device());
    return stack(rows);
}

Tensor FeatureSlots::weight_side(const Tensor& frequencies, const Atoms::Amplitudes& amplitudes,
                                 const Tensor& projections, const Tensor& norms,
                                 const Tensor& shift, const ExponentLimit& limit) const {
    const Tensor s = index_select(frequencies, 0, wave_);
    const Tensor root = sqrt(s);
    const Tensor p = index_select(projections, 1, row_);  // [out, F]
    const Tensor stretch = p * (constant(weight_growth) * root);
    const Tensor level = norms * (constant(weight_norm_growth) * s);
    Tensor size = exp(clamp_exponent(level + stretch, limit));
    if (mirrored_) size = size + constant(mirror) * exp(clamp_exponent(level - stretch, limit));
    const Tensor phase = p * (constant(weight_rotation) * root) +
                         norms * (constant(weight_norm_rotation) * s) + shift * s;
    const Tensor c = index_select(amplitudes.cosine, 0, wave_);
    const Tensor d = index_select(amplitudes.sine, 0, wave_);
    return size * (combine(real, c, d) * cos(phase) - combine(imaginary, c, d) * sin(phase)) *
           scale_;
}

}  // namespace ralimp
