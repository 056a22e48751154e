// The parts from which loops() assembles the table of one instruction set; each is in its own file.
#pragma once
#include "core/cpu/loops/loops.h"

namespace ralimp::cpu::SIMD_LEVEL {

void add_unary(Loops& loops);
void add_binary(Loops& loops);
void add_compare(Loops& loops);
void add_reduce(Loops& loops);
void add_convert(Loops& loops);
void add_activation(Loops& loops);
void add_exponential_features(Loops& loops);

}  // namespace ralimp::cpu::SIMD_LEVEL
