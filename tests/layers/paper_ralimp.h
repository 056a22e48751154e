// The RaLiMP layer of the paper, whose estimator has no bias: fixed rows for the rational features
// and others for a polynomial of degree 2, with |x|² itself. What the tests of one part begin with.
#pragma once
#include "layers/ralimp_config.h"

namespace ralimp {

inline RalimpConfig paper_ralimp() {
    RalimpConfig config;
    config.degree = 2;
    config.share_polynomial = false;
    config.norm = FeatureNorm::exact;
    config.start_rms = 1;
    config.train_projections = false;
    return config;
}

}  // namespace ralimp
