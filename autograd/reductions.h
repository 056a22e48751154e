// Shapes of a reduction over given axes, and the call of its kernel. For the files of this folder.
#pragma once
#include "autograd/apply.h"
#include "autograd/operations.h"

namespace ralimp {

struct ReducedShape {
    Shape kept;         // size 1 at the reduced axes
    Shape out;          // kept, or without them
    int64_t count = 1;  // values behind each result
};

// Axes {} means all. Throws for an axis out of range or named twice.
ReducedShape reduced_shape(const char* operation, const Tensor& x, const Axes& axes,
                           bool keep_dims);

// Without graph; the result has the shape `kept`.
Tensor run_reduce(Reduction reduction, const Tensor& x, const Shape& kept);

}  // namespace ralimp
