#include "core/allocator.h"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "core/error.h"

namespace ralimp {
namespace {

constexpr std::size_t alignment = 64;
// Cached memory is bounded: beyond this, freed blocks go back to the system.
constexpr int64_t cache_limit = int64_t{4} << 30;

// Requests are below this; a larger one is a mistake.
constexpr int size_bits = 46;
// Eight bins for each power of two, see bin_of().
constexpr int bins_count = size_bits * 8;

struct Pool {
    std::mutex mutex;
    std::vector<void*> bins[bins_count];
    MemoryStatistics statistics;
};

// Never destroyed: tensors with static lifetime may be freed after any static of this file.
Pool& cpu_pool() {
    static Pool* pool = new Pool;
    return *pool;
}

// Sizes are rounded up to an eighth of their power of two: at most 12.5 % is wasted and blocks of
// nearly equal size share a bin.
struct Bin {
    int index;
    std::size_t bytes;
};

constexpr Bin bin_of(std::size_t bytes) {
    bytes = std::max(bytes, alignment);
    const int exponent = std::bit_width(bytes - 1) - 1;  // 2^exponent < bytes <= 2^(exponent + 1)
    const int shift = exponent > 2 ? exponent - 3 : 0;
    const std::size_t steps = (bytes - 1) >> shift;  // in [8, 15] for bytes > 8
    const std::size_t rounded = (steps + 1) << shift;
    return {shift * 8 + static_cast<int>(steps & 7), (rounded + alignment - 1) & ~(alignment - 1)};
}
static_assert(bin_of((std::size_t{1} << size_bits) - 1).index < bins_count,
              "the largest request has its bin");

bool& poison() {
    static bool on = [] {
        const char* value = std::getenv("RALIMP_POISON_MEMORY");
        return value && std::strcmp(value, "1") == 0;
    }();
    return on;
}

}  // namespace

void* allocate(std::size_t bytes, Device device) {
    check(device.type == DeviceType::cpu, "allocate: this build has no backend for {}",
          to_string(device));
    if (bytes == 0) return nullptr;
    check(bytes < std::size_t{1} << size_bits, "allocate: {} bytes asked for; a size is wrong",
          bytes);
    const Bin bin = bin_of(bytes);
    Pool& pool = cpu_pool();
    void* pointer = nullptr;
    {
        std::lock_guard lock(pool.mutex);
        auto& blocks = pool.bins[bin.index];
        if (!blocks.empty()) {
            pointer = blocks.back();
            blocks.pop_back();
            pool.statistics.cached_bytes -= static_cast<int64_t>(bin.bytes);
        }
    }
    const bool fresh = !pointer;
    if (fresh) pointer = std::aligned_alloc(alignment, bin.bytes);
    if (!pointer) {
        release_cached_memory(device);
        pointer = std::aligned_alloc(alignment, bin.bytes);
    }
    std::lock_guard lock(pool.mutex);
    auto& statistics = pool.statistics;
    if (!pointer)
        fail("out of memory: {} bytes asked for, {} in use on {}", bytes, statistics.active_bytes,
             to_string(device));
    statistics.allocations += fresh;
    statistics.active_bytes += static_cast<int64_t>(bin.bytes);
    statistics.peak_bytes = std::max(statistics.peak_bytes, statistics.active_bytes);
    if (poison()) std::memset(pointer, 0xFF, bin.bytes);
    return pointer;
}

void deallocate(void* pointer, std::size_t bytes, Device) noexcept {
    if (!pointer) return;
    const Bin bin = bin_of(bytes);
    if (poison()) std::memset(pointer, 0xFF, bin.bytes);
    Pool& pool = cpu_pool();
    {
        std::lock_guard lock(pool.mutex);
        pool.statistics.active_bytes -= static_cast<int64_t>(bin.bytes);
        const int64_t cached = pool.statistics.cached_bytes + static_cast<int64_t>(bin.bytes);
        if (cached <= cache_limit) {
            try {
                pool.bins[bin.index].push_back(pointer);
                pool.statistics.cached_bytes = cached;
                return;
            } catch (const std::bad_alloc&) {
                // No memory even for the list: the block itself is given back below.
            }
        }
    }
    std::free(pointer);
}

MemoryStatistics memory_statistics(Device) {
    Pool& pool = cpu_pool();
    std::lock_guard lock(pool.mutex);
    return pool.statistics;
}

void release_cached_memory(Device) {
    Pool& pool = cpu_pool();
    std::lock_guard lock(pool.mutex);
    for (auto& blocks : pool.bins) {
        for (void* block : blocks) std::free(block);
        blocks.clear();
    }
    pool.statistics.cached_bytes = 0;
}

void reset_peak_memory(Device) {
    Pool& pool = cpu_pool();
    std::lock_guard lock(pool.mutex);
    pool.statistics.peak_bytes = pool.statistics.active_bytes;
}

void set_poison_memory(bool on) { poison() = on; }

}  // namespace ralimp
