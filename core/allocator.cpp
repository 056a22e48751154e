#include "core/allocator.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "core/backend.h"
#include "core/error.h"
#include "core/size_bins.h"

namespace ralimp {
namespace {

constexpr std::size_t alignment = 64;
// Cached memory is bounded: beyond this, freed blocks go back to the system.
constexpr int64_t cache_limit = int64_t{4} << 30;

struct Pool {
    std::mutex mutex;
    std::vector<void*> bins[size_bins::count];
    MemoryStatistics statistics;
};

// Never destroyed: tensors with static lifetime may be freed after any static of this file.
Pool& cpu_pool() {
    static Pool* pool = new Pool;
    return *pool;
}

bool& poison() {
    static bool on = [] {
        const char* value = std::getenv("RALIMP_POISON_MEMORY");
        return value && std::strcmp(value, "1") == 0;
    }();
    return on;
}

}  // namespace

void* allocate(std::size_t bytes, Device device) {
    if (device.type != DeviceType::cpu) return backend(device).allocate(bytes, device);
    if (bytes == 0) return nullptr;
    check(bytes <= size_bins::largest, "allocate: {} bytes asked for; a size is wrong", bytes);
    const SizeBin bin = size_bins::of(bytes, alignment);
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

void deallocate(void* pointer, std::size_t bytes, Device device) noexcept {
    if (!pointer) return;
    if (device.type != DeviceType::cpu) return backend(device).deallocate(pointer, bytes, device);
    const SizeBin bin = size_bins::of(bytes, alignment);
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

MemoryStatistics memory_statistics(Device device) {
    if (device.type != DeviceType::cpu) return backend(device).memory_statistics(device);
    Pool& pool = cpu_pool();
    std::lock_guard lock(pool.mutex);
    return pool.statistics;
}

void release_cached_memory(Device device) {
    if (device.type != DeviceType::cpu) return backend(device).release_cached_memory(device);
    Pool& pool = cpu_pool();
    std::lock_guard lock(pool.mutex);
    for (auto& blocks : pool.bins) {
        for (void* block : blocks) std::free(block);
        blocks.clear();
    }
    pool.statistics.cached_bytes = 0;
}

void reset_peak_memory(Device device) {
    if (device.type != DeviceType::cpu) return backend(device).reset_peak_memory(device);
    Pool& pool = cpu_pool();
    std::lock_guard lock(pool.mutex);
    pool.statistics.peak_bytes = pool.statistics.active_bytes;
}

void set_poison_memory(bool on) { poison() = on; }
bool poison_memory() { return poison(); }

}  // namespace ralimp
