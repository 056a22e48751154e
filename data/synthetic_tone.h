// The sound that the program makes itself when none is given: plucked notes of a major chord, each
// with overtones that die away, so that it is worth fitting.
#pragma once
#include "data/wav.h"

namespace ralimp {

// Mono, 16 bits meant, within ±0.9; depends on nothing but its arguments.
Sound synthetic_tone(double seconds, int64_t rate);

}  // namespace ralimp
