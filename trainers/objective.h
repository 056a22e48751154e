// A loss, such as that of a task, and its gradient, summed over the parts of the batch.
#pragma once
#include "layers/parameters.h"
#include "optim/optimizer.h"
#include "trainers/task.h"

namespace ralimp {

// A loss as the sum over its parts, term by term: see Task::loss().
struct LossParts {
    int64_t count;
    std::function<Loss(int64_t part)> loss;
};
inline LossParts parts_of(const Task& task) {
    return {task.parts(), [&task](int64_t part) { return task.loss(part); }};
}

// "loss", then its terms, in the order of the first part.
NamedValues loss_values(const LossParts& parts);
inline NamedValues loss_values(const Task& task) { return loss_values(parts_of(task)); }

// The same and the gradient. Parts run on several threads; their results are added in the order of
// the parts, in float64, so that the bits do not depend on threads.
struct ObjectiveValues {
    NamedValues loss;
    Tensor gradient;  // [parameters.count()]
};
ObjectiveValues evaluate_objective(const LossParts& parts, const Parameters& parameters);
inline ObjectiveValues evaluate_objective(const Task& task, const Parameters& parameters) {
    return evaluate_objective(parts_of(task), parameters);
}

}  // namespace ralimp
