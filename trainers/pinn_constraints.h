// Conditions that a PINN's network fulfils by construction, in place of terms of the loss: periodic
// axes, and formulas through which its outputs go.
#pragma once
#include <string>
#include <vector>

#include "core/describe.h"
#include "layers/periodic_features.h"
#include "trainers/pinn_problem.h"

namespace ralimp {

struct ConstraintsConfig {
    std::vector<std::string> outputs;
    std::vector<std::string> periodic;
    int64_t harmonics = 1;
    std::vector<std::string> leave_out;

    static void describe(auto& config, auto& field) {
        field("outputs", config.outputs,
              "a formula for each output, of axes, coefficients and the network's outputs, such as "
              "-sin(pi*x) + t*u; empty: the network's outputs themselves");
        field("periodic", config.periodic,
              "axes over whose length the network is periodic: they enter it as cos and sin");
        field("harmonics", config.harmonics,
              "multiples of the frequency up to which a periodic axis enters", between(1, 64));
        field("leave_out", config.leave_out,
              "conditions, by the names of their loss terms, that hold by construction");
        field.check("harmonics", config.harmonics == 1 || !config.periodic.empty(),
                    "harmonics are of periodic axes; none is given");
    }
};

// Throw Error(bad_config) that names the key for what does not fit the problem.
PeriodicInputs periodic_inputs(const ConstraintsConfig& config, const PinnProblem& problem);
std::vector<Formula> output_formulas(const ConstraintsConfig& config, const PinnProblem& problem);
// Those that stay terms of the loss.
std::vector<const PinnCondition*> enforced_conditions(const ConstraintsConfig& config,
                                                      const PinnProblem& problem);

}  // namespace ralimp
