#include "optim/lbfgs.h"

namespace ralimp {
namespace {

std::unique_ptr<Curvature> make_pairs(const ParameterLayout& layout, int64_t history_size) {
    if (history_size < 1)
        fail_with(ExitCode::bad_config, "lbfgs: history_size = {} must be at least 1",
                  history_size);
    return std::make_unique<CurvaturePairs>(layout, history_size);
}

}  // namespace

Lbfgs::Lbfgs(const ParameterLayout& layout, const LbfgsConfig& config)
    : QuasiNewton(layout, LbfgsConfig::kind, QuasiNewtonOptions::of(config),
                  make_pairs(layout, config.history_size)) {}

}  // namespace ralimp
