// Conversion between the element types, for all backends.
#pragma once
#include <cstdint>
#include <type_traits>

#include "core/scalar.h"

namespace ralimp {

// To whole numbers toward zero, to the nearest end of the range outside it, NaN to 0. Always
// inline: core/cpu/loops must leave no copy of it that other processors cannot run.
template <class To, class From>
[[gnu::always_inline]] HOST_DEVICE inline To convert(From x) {
    if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
        constexpr int bits = sizeof(To) * 8 - std::is_signed_v<To>;
        constexpr From end = From(2) * From(uint64_t{1} << (bits - 1));  // one above the largest
        constexpr To largest = static_cast<To>(~uint64_t{0} >> (64 - bits));
        constexpr To smallest = std::is_signed_v<To> ? static_cast<To>(-largest - 1) : To(0);
        if (x >= end) return largest;
        if (x <= From(smallest)) return smallest;
        return x == x ? static_cast<To>(x) : To(0);
    } else {
        return static_cast<To>(x);
    }
}

}  // namespace ralimp
