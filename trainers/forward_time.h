// How long networks take for a forward pass, beside each other.
#pragma once
#include <functional>

#include "core/tensor.h"

namespace ralimp {

// Milliseconds of the fastest of several calls: other work on the machine only adds time.
double fastest_milliseconds(const std::function<void()>& f);

// Inputs of that many rows, those of x [some, inputs] again and again.
Tensor repeated_rows(const Tensor& x, int64_t rows);

}  // namespace ralimp
