// Stands in for CUDA's header of this name: bfloat16 as a storage type. See emulator.h.
#pragma once
#include <bit>
#include <cstdint>

struct __nv_bfloat16 {
    uint16_t bits;

    __nv_bfloat16() = default;
    // Rounds to the nearest, ties to even.
    __nv_bfloat16(float x) {
        const uint32_t word = std::bit_cast<uint32_t>(x);
        bits = (word & 0x7FFFFFFFu) > 0x7F800000u
                   ? uint16_t{0x7FFF}  // NaN
                   : static_cast<uint16_t>((word + 0x7FFFu + (word >> 16 & 1u)) >> 16);
    }
    operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

inline float __bfloat162float(__nv_bfloat16 x) { return x; }
inline __nv_bfloat16 __float2bfloat16(float x) { return x; }
