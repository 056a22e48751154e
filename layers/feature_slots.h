// Which wave, row and part of a random feature stands at which place of a RaLiMP layer: constants,
// from which the coefficients of both sides follow as tensors.
#pragma once
#include <vector>

#include "autograd/layer_chain.h"
#include "layers/atoms.h"

namespace ralimp {

class FeatureSlots {
public:
    FeatureSlots(const RalimpConfig& config, int64_t waves, DType dtype);

    // What it keeps of each feature.
    static int64_t constant_bytes_per_feature(DType dtype) {
        return constants * bytes_of(dtype) + 2 * bytes_of(DType::int64) + bytes_of(DType::int32);
    }

    int64_t features() const { return features_; }
    // Projection rows they read, numbered from 0.
    int64_t rows() const { return rows_; }
    const Tensor& blocks() const { return blocks_; }  // of exponential_features()
    bool oscillating() const { return oscillating_; }

    // The input side's table [7, F] without standardization. The symmetric split carries the
    // amplitudes here, the others (which may leave them undefined) on the weight side.
    Tensor input_table(const Tensor& frequencies, const Atoms::Amplitudes& amplitudes) const;
    // The exponents of the same features as a step of a chain has them: each once, without what is
    // 0 for all of them. With norms = false |x|² is left out.
    ChainFeatures chain_features(const Tensor& frequencies, bool norms) const;
    // Ψ [out, F] of input_table()'s features as Ψ of that step's, with the amplitudes.
    Tensor psi_of_chain(const Tensor& psi, const Atoms::Amplitudes& amplitudes) const;
    // Whether input_table() needs them.
    bool input_amplitudes() const { return input_amplitudes_; }

    // The weight side [out, F] for projections g·w [out, rows], squared norms |w|² [out, 1] and a
    // shift of the pre-activation b [out, 1]: it turns every phase by s b, which is exact and adds
    // no variance. Features times these sum to Σ C cos(s (t + b)) + S sin(s (t + b)) on average,
    // as far as no exponent is beyond the limit.
    Tensor weight_side(const Tensor& frequencies, const Atoms::Amplitudes& amplitudes,
                       const Tensor& projections, const Tensor& norms, const Tensor& shift,
                       const ExponentLimit& limit) const;

private:
    // A constant for each feature.
    enum Constant {
        growth,       // input side: of √s g·x in the exponent
        rotation,     // … and in the phase
        norm_growth,  // of s|x|²
        norm_rotation,
        cosine,  // amplitude of the cosine: this + by_cosine C + by_sine S
        cosine_by_cosine,
        cosine_by_sine,
        sine,
        sine_by_cosine,
        sine_by_sine,
        weight_growth,  // weight side, likewise
        weight_rotation,
        weight_norm_growth,
        weight_norm_rotation,
        mirror,  // adds this times the exponential of the opposite projection
        real,    // the complex factor of the weight side, as for the cosine above
        real_by_cosine,
        real_by_sine,
        imaginary,
        imaginary_by_cosine,
        imaginary_by_sine,
        constants
    };
    struct Part {
        double values[constants] = {};
    };

    static std::vector<Part> parts_of(const RalimpConfig& config);
    const Tensor& constant(Constant name) const { return constants_[name]; }
    Tensor of_exponents(const Tensor& by_feature) const;
    Tensor input_factors(Constant first, const Atoms::Amplitudes& amplitudes) const;
    Tensor combine(Constant first, const Tensor& c, const Tensor& s) const;

    int64_t features_ = 0, rows_ = 0;
    // Features stand in blocks of so many rows; so many blocks after each other share exponents.
    int64_t block_ = 0, sharing_ = 1;
    bool oscillating_ = true, input_amplitudes_ = false, mirrored_ = false;
    double scale_ = 1;  // of the weight side: one over the number of draws
    Tensor blocks_;
    Tensor wave_, row_;              // [F] int64
    Tensor projections_;             // int32 [exponents]: row_ of them
    std::vector<Tensor> constants_;  // [F] each
    bool used_[constants] = {};      // whether they are not 0 for every feature
};

}  // namespace ralimp
