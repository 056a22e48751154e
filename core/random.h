// Philox 4x32-10, the counter-based generator of Salmon et al., "Parallel random numbers: as easy
// as 1, 2, 3" (SC 2011). A draw is a pure function of (seed, stream, step, index): nothing is ever
// stored, resuming needs no state, and both backends give the same bits.
#pragma once
#include <cstdint>

#include "core/box_muller.h"

namespace ralimp {

// What a draw is for; keeps unrelated draws of one seed apart.
enum class RandomStream : uint32_t {
    parameters = 1,
    points = 2,
    batches = 3,
    projections = 4,
    noise = 5,
    user = 100,
};

struct RandomKey {
    uint64_t seed = 0;
    RandomStream stream = RandomStream::user;
    uint32_t step = 0;
};

struct PhiloxBlock {
    uint32_t words[4];
};

HOST_DEVICE inline PhiloxBlock philox(const RandomKey& key, uint64_t block) {
    uint32_t c0 = static_cast<uint32_t>(block), c1 = static_cast<uint32_t>(block >> 32);
    uint32_t c2 = key.step, c3 = static_cast<uint32_t>(key.stream);
    uint32_t k0 = static_cast<uint32_t>(key.seed), k1 = static_cast<uint32_t>(key.seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const uint64_t product0 = uint64_t{0xD2511F53u} * c0;
        const uint64_t product1 = uint64_t{0xCD9E8D57u} * c2;
        const uint32_t next0 = static_cast<uint32_t>(product1 >> 32) ^ c1 ^ k0;
        const uint32_t next2 = static_cast<uint32_t>(product0 >> 32) ^ c3 ^ k1;
        c1 = static_cast<uint32_t>(product1);
        c3 = static_cast<uint32_t>(product0);
        c0 = next0;
        c2 = next2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return {{c0, c1, c2, c3}};
}

HOST_DEVICE inline uint64_t block_bits(const PhiloxBlock& block, int half) {
    return block.words[2 * half] | static_cast<uint64_t>(block.words[2 * half + 1]) << 32;
}
HOST_DEVICE inline uint64_t random_bits(const RandomKey& key, uint64_t index) {
    return block_bits(philox(key, index / 2), static_cast<int>(index % 2));
}

// Uniform in [0, 1): 24 bits for float (four to a block), 53 bits for double (two to a block).
template <class T>
HOST_DEVICE T uniform_from_words(const PhiloxBlock& block, int element);
template <>
HOST_DEVICE inline float uniform_from_words<float>(const PhiloxBlock& block, int element) {
    return static_cast<float>(block.words[element] >> 8) * 0x1p-24f;
}
template <>
HOST_DEVICE inline double uniform_from_words<double>(const PhiloxBlock& block, int element) {
    return static_cast<double>(block_bits(block, element) >> 11) * 0x1p-53;
}
template <class T>
HOST_DEVICE T random_uniform(const RandomKey& key, uint64_t index) {
    constexpr uint64_t elements = 16 / sizeof(T);
    return uniform_from_words<T>(philox(key, index / elements), static_cast<int>(index % elements));
}

// Standard normal: elements 2i and 2i+1 come from one pair of uniforms.
template <class T>
HOST_DEVICE T random_normal(const RandomKey& key, uint64_t index) {
    const uint64_t even = index & ~uint64_t{1};
    T first = random_uniform<T>(key, even), second = random_uniform<T>(key, even + 1);
    box_muller::normal_pair<T>(first, second);
    return index & 1 ? second : first;
}

}  // namespace ralimp
