#include "optim/make_optimizer.h"

namespace ralimp {
namespace {

template <class Config>
struct Made;
template <>
struct Made<AdamConfig> : std::type_identity<Adam> {};
template <>
struct Made<AdamWConfig> : std::type_identity<Adam> {};
template <>
struct Made<SoapConfig> : std::type_identity<Soap> {};
template <>
struct Made<SgdConfig> : std::type_identity<Sgd> {};
template <>
struct Made<LbfgsConfig> : std::type_identity<Lbfgs> {};
template <>
struct Made<BfgsConfig> : std::type_identity<Bfgs> {};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config, ParameterLayout layout) {
    return std::visit(
        [&]<class Config>(const Config& chosen) -> std::unique_ptr<Optimizer> {
            return std::make_unique<typename Made<Config>::type>(std::move(layout), chosen);
        },
        config);
}

bool is_line_search(const OptimizerConfig& config) {
    return std::visit(
        []<class Config>(const Config&) {
            return std::is_base_of_v<QuasiNewton, typename Made<Config>::type>;
        },
        config);
}

double learning_rate_of(const OptimizerConfig& config) {
    return std::visit([](const auto& chosen) { return chosen.learning_rate; }, config);
}

}  // namespace ralimp
