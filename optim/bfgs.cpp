#include "optim/bfgs.h"

namespace ralimp {
namespace {

std::unique_ptr<Curvature> make_matrix(const ParameterLayout& layout, const BfgsConfig& config) {
    constexpr double gib = 1 << 30;
    const auto n = static_cast<double>(layout.count());
    const double needed = n * n * sizeof(double) / gib;
    if (!(needed <= config.max_memory_gib))
        fail_with(ExitCode::bad_config,
                  "bfgs: the inverse Hessian of {} parameters takes {:.3g} GiB, more than "
                  "max_memory_gib = {:.3g}; lbfgs needs no matrix",
                  layout.count(), needed, config.max_memory_gib);
    return std::make_unique<InverseHessian>(layout, config.update);
}

}  // namespace

Bfgs::Bfgs(const ParameterLayout& layout, const BfgsConfig& config)
    : QuasiNewton(layout, BfgsConfig::kind, QuasiNewtonOptions::of(config),
                  make_matrix(layout, config)) {}

}  // namespace ralimp
