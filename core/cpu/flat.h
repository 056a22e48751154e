// The CPU's kernels over flat buffers (core/flat_kernels.h), for the table of the backend.
#pragma once
#include "core/flat_kernels.h"

namespace ralimp::cpu {

extern const FlatKernels flat_kernels;

}  // namespace ralimp::cpu
