// Compares the gradients of a function of tensors with central differences. For tests, and for
// whoever writes a derivative.
#pragma once
#include <functional>
#include <string>

#include "autograd/graph.h"

namespace ralimp {

struct GradcheckOptions {
    double step = 3e-4;       // times max(1, |x|)
    double tolerance = 1e-7;  // of |difference| / max(1, |analytic|, |numeric|)
    int reported = 5;         // elements listed in the message
    uint64_t seed = 0;        // of the weights of the outputs
};

using TensorFunction = std::function<Tensors(const Tensors& inputs)>;

// The gradient of Σ outputs·weights, for random weights, with respect to every element of the
// inputs, against the central difference of fourth order
// f' ≈ (8 f(x+h) - 8 f(x-h) - f(x+2h) + f(x-2h)) / 12h.
// Returns "" when they agree, else one line for each wrong element: input, index, both values.
// The inputs must be float64; those that do not require a gradient are constants, and when none
// does, all floating ones are checked. Stay away from kinks by more than two steps.
std::string gradcheck(const TensorFunction& function, const Tensors& inputs,
                      const GradcheckOptions& options = {});

// The same for the gradient itself: checks second derivatives, with respect to the inputs and to
// the weights.
std::string gradgradcheck(const TensorFunction& function, const Tensors& inputs,
                          const GradcheckOptions& options = {});

}  // namespace ralimp
