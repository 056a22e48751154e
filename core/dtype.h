// Element types. bfloat16 and float16 are storage types: they can be named, stored and loaded, but
// the CPU backend computes in float32 and float64 only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.h"

namespace ralimp {

enum class DType : uint8_t { float32, float64, int64, int32, uint8, bfloat16, float16 };

constexpr std::size_t bytes_of(DType dtype) {
    switch (dtype) {
        case DType::float64:
        case DType::int64:
            return 8;
        case DType::float32:
        case DType::int32:
            return 4;
        case DType::bfloat16:
        case DType::float16:
            return 2;
        case DType::uint8:
            return 1;
    }
    return 0;
}

constexpr std::string_view name_of(DType dtype) {
    constexpr std::string_view names[] = {"float32", "float64",  "int64",  "int32",
                                          "uint8",   "bfloat16", "float16"};
    return names[static_cast<int>(dtype)];
}

constexpr bool is_floating(DType dtype) {
    return dtype != DType::int64 && dtype != DType::int32 && dtype != DType::uint8;
}

template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<float>() {
    return DType::float32;
}
template <>
constexpr DType dtype_of<double>() {
    return DType::float64;
}
template <>
constexpr DType dtype_of<int64_t>() {
    return DType::int64;
}
template <>
constexpr DType dtype_of<int32_t>() {
    return DType::int32;
}
template <>
constexpr DType dtype_of<uint8_t>() {
    return DType::uint8;
}

// Calls f with a value of the C++ type that stands behind the dtype: dispatch(d, [&](auto zero) {
// using T = decltype(zero); … }). The float forms accept float32 and float64 only.
template <class F>
decltype(auto) dispatch(const char* operation, DType dtype, F&& f) {
    switch (dtype) {
        case DType::float32:
            return f(float{});
        case DType::float64:
            return f(double{});
        case DType::int64:
            return f(int64_t{});
        case DType::int32:
            return f(int32_t{});
        case DType::uint8:
            return f(uint8_t{});
        default:
            fail("{}: {} is a storage type; convert it to float32 first", operation,
                 name_of(dtype));
    }
}

template <class F>
decltype(auto) dispatch_floating(const char* operation, DType dtype, F&& f) {
    switch (dtype) {
        case DType::float32:
            return f(float{});
        case DType::float64:
            return f(double{});
        default:
            fail("{}: {} is not supported; convert to float32 or float64", operation,
                 name_of(dtype));
    }
}

}  // namespace ralimp
