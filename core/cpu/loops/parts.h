// The parts from which loops() assembles the table of one instruction set; each is in its own file.
#pragma once
#include "core/cpu/loops/loops.h"

namespace ralimp::cpu::SIMD_LEVEL {

void add_unary(Loops& loops) noexcept;
void add_binary(Loops& loops) noexcept;
void add_compare(Loops& loops) noexcept;
void add_reduce(Loops& loops) noexcept;
void add_convert(Loops& loops) noexcept;
void add_random(Loops& loops) noexcept;
void add_activation(Loops& loops) noexcept;
void add_exponential_features(Loops& loops) noexcept;
void add_layer_chain(Loops& loops) noexcept;
void add_packed_chain(Loops& loops) noexcept;
void add_softmax(Loops& loops) noexcept;

}  // namespace ralimp::cpu::SIMD_LEVEL
