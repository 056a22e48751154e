// What every optimizer is to the training loop: a step on a flat parameter buffer, and a state for
// checkpoints. First-order methods and line searches have the same interface, so there is one loop.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tensor.h"
#include "optim/parameter_layout.h"

namespace ralimp {

// The objective at the present values of the parameters.
struct Evaluation {
    double loss = 0;
    Tensor gradient;  // [n], contiguous, of the parameters' type; may be reused by the next call
};

// Evaluates loss and gradient at whatever the parameter buffer holds when it is called. It must be
// deterministic during a step, and over several processes give each the same (reduced) values.
using Objective = std::function<Evaluation()>;

enum class StopReason {
    none,
    gradient_tolerance,
    change_tolerance,
    max_iterations,
    max_evaluations,
    line_search_failed,
    non_finite,
};

// "gradient tolerance"
std::string_view name_of(StopReason reason);

struct StepResult {
    double loss = 0;           // before the step
    double gradient_norm = 0;  // Euclidean, before the step and before clipping
    int64_t evaluations = 0;   // calls of the objective by this step
    bool moved = false;        // whether the step was made: not when it only found a reason to stop
    // After the step, where it is known without another evaluation (L-BFGS).
    std::optional<double> loss_after;
    // Anything but `none`: the optimizer will make no further step. The parameters hold the last
    // good values. `message` is one line with the reason and its figures.
    StopReason stop = StopReason::none;
    std::string message;
};

// Everything besides the parameters that the next steps depend on. Whole numbers are exact up to
// 2^53.
struct OptimizerState {
    std::vector<std::pair<std::string, Tensor>> tensors;
    std::vector<std::pair<std::string, double>> scalars;
};

class Optimizer {
public:
    explicit Optimizer(ParameterLayout layout) : layout_(std::move(layout)) {}
    virtual ~Optimizer() = default;
    Optimizer(const Optimizer&) = delete;
    Optimizer& operator=(const Optimizer&) = delete;

    // "adam": also written into checkpoints.
    virtual std::string_view name() const = 0;
    const ParameterLayout& layout() const { return layout_; }

    // One step, in place on the flat parameter buffer [n]. When the loss or the gradient is not
    // finite, the parameters and the state stay as they were and the result says so. When the
    // objective throws, the parameters are put back before the exception passes on.
    virtual StepResult step(const Tensor& parameters, double learning_rate,
                            const Objective& evaluate) = 0;
    // To be called when the objective or the parameters were changed between two steps (new points,
    // other loss weights): forgets remembered evaluations and a stop.
    virtual void objective_changed() {}

    // Views of the state, not copies: clone what must survive the next step. Loading it into a
    // fresh optimizer of the same configuration continues bit for bit.
    virtual OptimizerState state() const = 0;
    // Copies the values in. Throws Error(bad_input) that lists every missing, unexpected and
    // misshaped entry, and then has changed nothing.
    void load(const OptimizerState& state);

protected:
    // The state has the names, shapes and types of state() already.
    virtual void load_checked(const OptimizerState& state) = 0;

private:
    ParameterLayout layout_;
};

// The entry of a state that is known to be there.
const Tensor& tensor_of(const OptimizerState& state, std::string_view name);
double scalar_of(const OptimizerState& state, std::string_view name);

}  // namespace ralimp
