// Programs without the CUDA backend. Alone in its file: the linker takes this member of the library
// only when no object of the program defines the function, as core/cuda/backend.cpp does.
#include "core/backend.h"

namespace ralimp::gpu {

const Backend* backend() { return nullptr; }

}  // namespace ralimp::gpu
