// Which wave, row and part of a random feature stands at which place of a RaLiMP layer: constants,
// from which the coefficients of both sides follow as tensors.
#pragma once
#include <vector>

#include "autograd/exponential_features.h"
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
    // amplitudes (null: not needed) here, the others on the weight side.
    Tensor input_table(const Tensor& frequencies, const Atoms::Amplitudes* amplitudes) const;
    // Two rows of it by themselves, and the projection that each feature reads, int32 [F].
    Tensor growth_of(const Tensor& frequencies) const;
    Tensor norm_growth_of(const Tensor& frequencies) const;
    const Tensor& projections() const { return projections_; }
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
    Tensor combine(Constant first, const Tensor* c, const Tensor* s) const;

    int64_t features_ = 0, rows_ = 0;
    bool oscillating_ = true, input_amplitudes_ = false, mirrored_ = false;
    double scale_ = 1;  // of the weight side: one over the number of draws
    Tensor blocks_;
    Tensor wave_, row_;              // [F] int64
    Tensor projections_;             // row_ as int32
    std::vector<Tensor> constants_;  // [F] each
};

}  // namespace ralimp
