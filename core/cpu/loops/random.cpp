// Philox over SIMD registers, uniform and normal numbers; the values of core/random.h.
#include "core/box_muller.h"
#include "core/cpu/loops/pack_functions.h"
#include "core/cpu/loops/parts.h"

namespace ralimp::cpu::SIMD_LEVEL {
#if defined(__AVX2__)
// box_muller::split_exponent for packs, in the namespace of Pack, where it is looked up.
template <class T, class Whole, int digits>
static Pack<T> split_bits(Pack<T> x, Pack<T>& mantissa, Whole sqrt_half) {
    typedef Whole Bits __attribute__((vector_size(pack_bytes)));
    const Bits bits = reinterpret_cast<Bits>(x.values) - sqrt_half;
    mantissa = Pack<T>::of(reinterpret_cast<typename Pack<T>::Values>(
        (bits & ((Whole(1) << digits) - 1)) + sqrt_half));
    return Pack<T>::of(__builtin_convertvector(bits >> digits, typename Pack<T>::Values));
}
static Pack<float> split_exponent(Pack<float> x, Pack<float>& mantissa) {
    return split_bits<float, int32_t, 23>(x, mantissa, 0x3f3504f3);
}
static Pack<double> split_exponent(Pack<double> x, Pack<double>& mantissa) {
    return split_bits<double, int64_t, 52>(x, mantissa, 0x3fe6a09e667f3bcd);
}
#else
template <class T>
static Pack<T> split_exponent(Pack<T> x, Pack<T>& mantissa) {
    return Pack<T>(box_muller::split_exponent(x.values, mantissa.values));
}
#endif

namespace {

// One 32-bit counter word of a block in each 64-bit lane; the upper halves are never looked at.
constexpr int lanes = pack_bytes == 0 ? 1 : pack_bytes / 8;
#if defined(__AVX2__)
typedef uint64_t Words __attribute__((vector_size(pack_bytes)));
#else
using Words = uint64_t;
#endif

Words product(Words a, uint32_t b) {
#if defined(__AVX512F__)
    return reinterpret_cast<Words>(
        _mm512_maskz_mul_epu32(0xFF, reinterpret_cast<__m512i>(a), _mm512_set1_epi64(b)));
#elif defined(__AVX2__)
    return reinterpret_cast<Words>(
        _mm256_mul_epu32(reinterpret_cast<__m256i>(a), _mm256_set1_epi64x(b)));
#else
    return uint64_t{static_cast<uint32_t>(a)} * b;
#endif
}

// The blocks block … block+lanes-1: both halves, 64 random bits each, of every block in turn.
void random_words(const PhiloxKey& key, uint64_t block, uint64_t* out) {
    Words blocks = Words{} + block;
#if defined(__AVX2__)
    for (int i = 0; i < lanes; ++i) blocks[i] += static_cast<uint64_t>(i);
#endif
    Words c0 = blocks, c1 = blocks >> 32, c2 = Words{} + key.step, c3 = Words{} + key.stream;
    uint32_t k0 = static_cast<uint32_t>(key.seed), k1 = static_cast<uint32_t>(key.seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const Words product0 = product(c0, 0xD2511F53u), product1 = product(c2, 0xCD9E8D57u);
        c0 = (product1 >> 32) ^ c1 ^ (Words{} + k0);
        c2 = (product0 >> 32) ^ c3 ^ (Words{} + k1);
        c1 = product1;
        c3 = product0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    constexpr uint64_t low = 0xFFFFFFFFu;
    const Words first = (c0 & low) | (c1 << 32), second = (c2 & low) | (c3 << 32);
#if defined(__AVX2__)
    for (int i = 0; i < lanes; ++i) {
        out[2 * i] = first[i];
        out[2 * i + 1] = second[i];
    }
#else
    out[0] = first;
    out[1] = second;
#endif
}

float uniform_of(uint32_t bits) {
    return static_cast<float>(static_cast<int>(bits >> 8)) * 0x1p-24f;
}
double uniform_of(uint64_t bits) {
    return static_cast<double>(static_cast<int64_t>(bits >> 11)) * 0x1p-53;
}

template <class Bits, class T>
void uniform(const PhiloxKey& key, uint64_t block, int64_t blocks, T* out) {
    constexpr int words_per_block = 16 / sizeof(Bits);
    for (; blocks > 0; blocks -= lanes, block += lanes, out += lanes * words_per_block) {
        uint64_t words[2 * lanes];
        random_words(key, block, words);
        Bits bits[lanes * words_per_block];
        __builtin_memcpy(bits, words, sizeof(words));
        if (blocks >= lanes)
            for (int i = 0; i < lanes * words_per_block; ++i) out[i] = uniform_of(bits[i]);
        else
            for (int64_t i = 0; i < blocks * words_per_block; ++i) out[i] = uniform_of(bits[i]);
    }
}

template <class T>
void normal(T* values, int64_t count) {
    constexpr int width = Pack<T>::width;
    for (int64_t i = 0; i < count; i += 2 * width) {
        const int64_t pairs = (count - i < 2 * width ? count - i : 2 * width) / 2;
        T first[width] = {}, second[width] = {};
        for (int64_t j = 0; j < pairs; ++j) {
            first[j] = values[i + 2 * j];
            second[j] = values[i + 2 * j + 1];
        }
        Pack<T> cosines = Pack<T>::load(first), sines = Pack<T>::load(second);
        box_muller::normal_pair<T>(cosines, sines);
        cosines.store(first);
        sines.store(second);
        for (int64_t j = 0; j < pairs; ++j) {
            values[i + 2 * j] = first[j];
            values[i + 2 * j + 1] = second[j];
        }
    }
}

}  // namespace

void add_random(Loops& loops) noexcept {
    loops.uniform_float32 = uniform<uint32_t, float>;
    loops.uniform_float64 = uniform<uint64_t, double>;
    loops.normal_float32 = normal<float>;
    loops.normal_float64 = normal<double>;
}

}  // namespace ralimp::cpu::SIMD_LEVEL
