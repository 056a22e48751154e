// The picture that the program draws itself when none is given: a bay at sunset, with smooth
// gradients, sharp edges and texture of many frequencies, so that it is worth fitting.
#pragma once
#include <cstdint>

#include "data/image.h"

namespace ralimp {

// RGB of any size, 8 bits meant; the same scene at every resolution, cut or widened at the sides to
// the aspect. Depends on nothing but its arguments.
Image synthetic_picture(int64_t height, int64_t width);

}  // namespace ralimp
