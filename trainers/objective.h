// The loss of a task and its gradient, summed over the parts of the batch.
#pragma once
#include "layers/parameters.h"
#include "optim/optimizer.h"
#include "trainers/task.h"

namespace ralimp {

// "loss", then its terms, in the task's order.
NamedValues loss_values(const Task& task);

// The same and the gradient. Parts run on several threads; their results are added in the order of
// the parts, in float64, so that the bits do not depend on threads.
struct ObjectiveValues {
    NamedValues loss;
    Tensor gradient;  // [parameters.count()]
};
ObjectiveValues evaluate_objective(const Task& task, const Parameters& parameters);

}  // namespace ralimp
