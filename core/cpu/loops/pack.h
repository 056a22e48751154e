// Pack<T>: as many values as one SIMD register of the instruction set being compiled holds (one
// value at the baseline), with loads, stores and arithmetic; pack_functions.h adds exp and the
// like. Loads and stores of a part of a pack let the end of a row run through the same instructions
// as its body.
#pragma once
#if defined(__AVX2__)
#include <immintrin.h>
#endif
#include <cstdint>

#include "core/scalar.h"

namespace ralimp::cpu::SIMD_LEVEL {

#if defined(__AVX512F__)
constexpr int pack_bytes = 64;
#elif defined(__AVX2__)
constexpr int pack_bytes = 32;
#else
constexpr int pack_bytes = 0;  // one value
#endif

template <class T, int bytes>
struct RegisterOf {
    static constexpr int width = bytes / static_cast<int>(sizeof(T));
    typedef T Values __attribute__((vector_size(bytes)));
    typedef uint8_t Bytes __attribute__((vector_size(width)));
    using Mask = decltype(Values{} < Values{});
};
template <class T>
struct RegisterOf<T, 0> {
    static constexpr int width = 1;
    using Values = T;
    using Bytes = uint8_t;
    using Mask = bool;
};

// The result of a comparison of packs of T: all bits set, or none, per value.
template <class T>
struct Mask {
    typename RegisterOf<T, pack_bytes>::Mask bits;
};

template <class T>
struct Pack {
    using Register = RegisterOf<T, pack_bytes>;
    using Values = typename Register::Values;
    static constexpr int width = Register::width;

    Values values;

    Pack() = default;
    explicit Pack(T value) {
        if constexpr (pack_bytes == 0)
            values = value;
        else
            values = value - Values{};  // x - 0 is x, also for -0
    }
    static Pack of(Values values) {
        Pack pack;
        pack.values = values;
        return pack;
    }

    static Pack load(const T* from) {
        Pack pack;
        __builtin_memcpy(&pack.values, from, sizeof(Values));
        return pack;
    }
    void store(T* to) const { __builtin_memcpy(to, &values, sizeof(Values)); }

    // The first `count` < width values; the others are those of `rest`, by default 0.
    static Pack load(const T* from, int64_t count, Pack rest) {
        Pack pack = rest;
#if defined(__AVX512F__)
        if constexpr (sizeof(T) == 4)
            pack.values = reinterpret_cast<Values>(
                _mm512_mask_loadu_epi32(reinterpret_cast<__m512i>(rest.values),
                                        static_cast<__mmask16>((1u << count) - 1), from));
        else if constexpr (sizeof(T) == 8)
            pack.values = reinterpret_cast<Values>(
                _mm512_mask_loadu_epi64(reinterpret_cast<__m512i>(rest.values),
                                        static_cast<__mmask8>((1u << count) - 1), from));
        else
            pack.values = reinterpret_cast<Values>(_mm512_mask_loadu_epi8(
                reinterpret_cast<__m512i>(rest.values), (uint64_t{1} << count) - 1, from));
#elif defined(__AVX2__)
        if constexpr (sizeof(T) >= 4) {
            const __m256i mask = lanes_below(count);
            pack.values = reinterpret_cast<Values>(
                _mm256_blendv_epi8(reinterpret_cast<__m256i>(rest.values),
                                   reinterpret_cast<__m256i>(load(from, count).values), mask));
        } else {
            __builtin_memcpy(&pack.values, from, count * sizeof(T));
        }
#else
        if (count > 0) pack.values = *from;
#endif
        return pack;
    }
    static Pack load(const T* from, int64_t count) {
        Pack pack(T(0));
#if defined(__AVX512F__)
        if constexpr (sizeof(T) == 4)
            pack.values = reinterpret_cast<Values>(
                _mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << count) - 1), from));
        else if constexpr (sizeof(T) == 8)
            pack.values = reinterpret_cast<Values>(
                _mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << count) - 1), from));
        else
            pack.values =
                reinterpret_cast<Values>(_mm512_maskz_loadu_epi8((uint64_t{1} << count) - 1, from));
#elif defined(__AVX2__)
        if constexpr (sizeof(T) == 4)
            pack.values = reinterpret_cast<Values>(
                _mm256_maskload_epi32(reinterpret_cast<const int*>(from), lanes_below(count)));
        else if constexpr (sizeof(T) == 8)
            pack.values = reinterpret_cast<Values>(_mm256_maskload_epi64(
                reinterpret_cast<const long long*>(from), lanes_below(count)));
        else
            __builtin_memcpy(&pack.values, from, count * sizeof(T));
#else
        if (count > 0) pack.values = *from;
#endif
        return pack;
    }
    void store(T* to, int64_t count) const {
#if defined(__AVX512F__)
        const __m512i bits = reinterpret_cast<__m512i>(values);
        if constexpr (sizeof(T) == 4)
            _mm512_mask_storeu_epi32(to, static_cast<__mmask16>((1u << count) - 1), bits);
        else if constexpr (sizeof(T) == 8)
            _mm512_mask_storeu_epi64(to, static_cast<__mmask8>((1u << count) - 1), bits);
        else
            _mm512_mask_storeu_epi8(to, (uint64_t{1} << count) - 1, bits);
#elif defined(__AVX2__)
        const __m256i bits = reinterpret_cast<__m256i>(values);
        if constexpr (sizeof(T) == 4)
            _mm256_maskstore_epi32(reinterpret_cast<int*>(to), lanes_below(count), bits);
        else if constexpr (sizeof(T) == 8)
            _mm256_maskstore_epi64(reinterpret_cast<long long*>(to), lanes_below(count), bits);
        else
            __builtin_memcpy(to, &values, count * sizeof(T));
#else
        if (count > 0) *to = values;
#endif
    }

    // `count` <= width values at any stride; stride 0 repeats one value.
    static Pack gather(const T* from, int64_t stride, int64_t count) {
        if (stride == 0) return Pack(*from);
        if (stride == 1) return count == width ? load(from) : load(from, count);
        T buffer[width] = {};
        for (int64_t i = 0; i < count; ++i) buffer[i] = from[i * stride];
        return load(buffer);
    }
    void scatter(T* to, int64_t stride, int64_t count) const {
        if (stride == 1) return count == width ? store(to) : store(to, count);
        T buffer[width];
        store(buffer);
        for (int64_t i = 0; i < count; ++i) to[i * stride] = buffer[i];
    }

    friend Pack operator-(Pack a) { return of(static_cast<Values>(-a.values)); }
    friend Pack operator+(Pack a, Pack b) { return of(static_cast<Values>(a.values + b.values)); }
    friend Pack operator-(Pack a, Pack b) { return of(static_cast<Values>(a.values - b.values)); }
    friend Pack operator*(Pack a, Pack b) { return of(static_cast<Values>(a.values * b.values)); }
    friend Pack operator/(Pack a, Pack b) { return of(static_cast<Values>(a.values / b.values)); }
    friend Mask<T> operator==(Pack a, Pack b) { return {a.values == b.values}; }
    friend Mask<T> operator!=(Pack a, Pack b) { return {a.values != b.values}; }
    friend Mask<T> operator<(Pack a, Pack b) { return {a.values < b.values}; }
    friend Mask<T> operator<=(Pack a, Pack b) { return {a.values <= b.values}; }
    friend Mask<T> operator>(Pack a, Pack b) { return {a.values > b.values}; }
    friend Mask<T> operator>=(Pack a, Pack b) { return {a.values >= b.values}; }
    friend Pack select(Mask<T> mask, Pack a, Pack b) { return of(mask.bits ? a.values : b.values); }

#if defined(__AVX2__) && !defined(__AVX512F__)
private:
    static __m256i lanes_below(int64_t count) {
        if constexpr (sizeof(T) == 8)
            return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                                  _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    }
#endif
};

// Masks as bytes, 0 or 1, and back (any byte but 0 is true); `count` <= width of them.
template <class T>
void store_bytes(Mask<T> mask, uint8_t* to, int64_t stride, int64_t count) {
    using Register = RegisterOf<T, pack_bytes>;
    if constexpr (pack_bytes == 0) {
        if (count > 0) *to = mask.bits;
    } else {
        using Bytes = typename Register::Bytes;
        const Bytes bytes = __builtin_convertvector(mask.bits, Bytes) & 1;
        if (stride == 1 && count == Register::width)
            __builtin_memcpy(to, &bytes, sizeof(bytes));
        else
            for (int64_t i = 0; i < count; ++i) to[i * stride] = bytes[i];
    }
}
template <class T>
Mask<T> load_bytes(const uint8_t* from, int64_t stride, int64_t count) {
    using Register = RegisterOf<T, pack_bytes>;
    if constexpr (pack_bytes == 0) {
        return {count > 0 && *from != 0};
    } else {
        typename Register::Bytes bytes{};
        if (stride == 1 && count == Register::width)
            __builtin_memcpy(&bytes, from, sizeof(bytes));
        else
            for (int64_t i = 0; i < count; ++i) bytes[i] = from[i * stride];
        return {__builtin_convertvector(bytes, typename Register::Mask) != 0};
    }
}

// `count` <= width values.
template <class T>
inline Pack<T> load_pack(const T* from, int64_t count) {
    return count == Pack<T>::width ? Pack<T>::load(from) : Pack<T>::load(from, count);
}
template <class T>
inline void store_pack(Pack<T> value, T* to, int64_t count) {
    count == Pack<T>::width ? value.store(to) : value.store(to, count);
}

// Calls f(i, left) for each pack of `count` values: its place and how many of its values count, a
// constant for whole packs.
template <class T>
struct WholePack {
    constexpr operator int64_t() const { return Pack<T>::width; }
};
template <class T, class F>
inline void for_packs(int64_t count, F&& f) {
    int64_t i = 0;
    for (; i + Pack<T>::width <= count; i += Pack<T>::width) f(i, WholePack<T>{});
    if (i < count) f(i, count - i);
}

// The lanes moved down by `places`; the upper ones are of no meaning.
template <int places, class T>
Pack<T> moved_down(Pack<T> pack) {
    if constexpr (pack_bytes == 0) {
        return pack;
    } else {
        using Index = typename RegisterOf<T, pack_bytes>::Mask;
        Index index;
        for (int i = 0; i < Pack<T>::width; ++i)
            index[i] = static_cast<decltype(+index[0])>((i + places) % Pack<T>::width);
        return Pack<T>::of(__builtin_shuffle(pack.values, index));
    }
}
template <class T>
T first(Pack<T> pack) {
    if constexpr (pack_bytes == 0)
        return pack.values;
    else
        return pack.values[0];
}
template <class T>
bool any(Mask<T> mask) {
#if defined(__AVX512F__)
    const __m512i bits = reinterpret_cast<__m512i>(mask.bits);
    return _mm512_test_epi32_mask(bits, bits) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_epi8(reinterpret_cast<__m256i>(mask.bits)) != 0;
#else
    return mask.bits;
#endif
}

}  // namespace ralimp::cpu::SIMD_LEVEL
