// Stands in for CUDA's header of this name: float16 as a storage type. See emulator.h.
#pragma once
#include <bit>
#include <cstdint>

struct __half {
    uint16_t bits;

    __half() = default;
    // Rounds to the nearest, ties to even.
    __half(float x) {
        const uint32_t word = std::bit_cast<uint32_t>(x), magnitude = word & 0x7FFFFFFFu;
        uint32_t result;
        if (magnitude > 0x7F800000u) {
            result = 0x7FFF;  // NaN
        } else if (magnitude >= 0x477FF000u) {
            result = 0x7C00;  // 65520 and more
        } else if (magnitude < 0x38800000u) {
            // Below 2^-14: in units of 2^-24, which adding 1/2 leaves in the last bits of a float.
            const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
            result = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f);
        } else {
            result = (magnitude - 0x38000000u + 0xFFFu + (magnitude >> 13 & 1u)) >> 13;
        }
        bits = static_cast<uint16_t>(result | (word >> 16 & 0x8000u));
    }
    operator float() const {
        const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
        const uint32_t exponent = bits >> 10 & 31u, mantissa = bits & 0x3FFu;
        if (exponent == 0) {
            const float size = static_cast<float>(mantissa) * 0x1p-24f;
            return sign ? -size : size;
        }
        const uint32_t high = exponent == 31 ? 0xFFu : exponent + 112;
        return std::bit_cast<float>(sign | high << 23 | mantissa << 13);
    }
};

inline float __half2float(__half x) { return x; }
inline __half __float2half(float x) { return x; }
