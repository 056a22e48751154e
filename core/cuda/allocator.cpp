#include "core/cuda/allocator.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "core/cuda/device.h"
#include "core/cuda/launch.h"
#include "core/error.h"
#include "core/size_bins.h"

namespace ralimp::gpu {
namespace {

constexpr std::size_t alignment = 256;

struct Block {
    cudaStream_t stream;
    std::vector<cudaStream_t> others;  // that use it too
};

struct Pool {
    std::mutex mutex;
    std::map<cudaStream_t, std::array<std::vector<void*>, size_bins::count>> cached;
    std::unordered_map<void*, Block> active;
    MemoryStatistics statistics;
};

// Never destroyed: tensors with static lifetime may be freed after any static of this file.
Pool& pool_of(Device device) {
    static auto* pools = new std::map<int, Pool>;
    static auto* mutex = new std::mutex;
    const std::lock_guard lock(*mutex);
    return (*pools)[device.index];
}

void* from_device(std::size_t bytes) {
    void* pointer = nullptr;
    const cudaError_t error = cudaMalloc(&pointer, bytes);
    if (error == cudaErrorMemoryAllocation) {
        static_cast<void>(cudaGetLastError());
        return nullptr;
    }
    check_cuda(error, "allocate");
    return pointer;
}

// The pool is locked.
void release(Pool& pool) {
    check_cuda(cudaDeviceSynchronize(), "releasing memory");
    for (auto& [stream, bins] : pool.cached)
        for (auto& blocks : bins) {
            for (void* block : blocks) check_cuda(cudaFree(block), "releasing memory");
            blocks.clear();
        }
    pool.statistics.cached_bytes = 0;
}

void poison(void* pointer, std::size_t bytes, cudaStream_t stream) {
    if (poison_memory())
        check_cuda(cudaMemsetAsync(pointer, 0xFF, bytes, stream), "poisoning memory");
}

// In the emulator with AddressSanitizer the rest of a block is out of bounds from here on in the
// stream.
void limit([[maybe_unused]] void* pointer, [[maybe_unused]] std::size_t block_bytes,
           [[maybe_unused]] std::size_t usable_bytes, [[maybe_unused]] cudaStream_t stream) {
#if defined(CUDA_EMULATOR)
    emulator::guard_block(pointer, block_bytes, usable_bytes, stream);
#endif
}

}  // namespace

void* allocate(std::size_t bytes, Device device, cudaStream_t stream) {
    if (bytes == 0) return nullptr;
    check(bytes <= size_bins::largest, "allocate: {} bytes asked for; a size is wrong", bytes);
    const CurrentDevice current(device);
    const SizeBin bin = size_bins::of(bytes, alignment);
    Pool& pool = pool_of(device);
    const std::lock_guard lock(pool.mutex);
    MemoryStatistics& statistics = pool.statistics;
    auto& blocks = pool.cached[stream][static_cast<std::size_t>(bin.index)];
    void* pointer;
    if (!blocks.empty()) {
        pointer = blocks.back();
        blocks.pop_back();
        statistics.cached_bytes -= static_cast<int64_t>(bin.bytes);
    } else {
        pointer = from_device(bin.bytes);
        if (!pointer) {
            release(pool);
            pointer = from_device(bin.bytes);
        }
        check(pointer, "out of memory: {} bytes asked for, {} in use on {} of {}", bytes,
              statistics.active_bytes, to_string(device), properties(device).memory);
        ++statistics.allocations;
    }
    pool.active[pointer] = {stream, {}};
    statistics.active_bytes += static_cast<int64_t>(bin.bytes);
    statistics.peak_bytes = std::max(statistics.peak_bytes, statistics.active_bytes);
    limit(pointer, bin.bytes, bytes, stream);
    poison(pointer, bytes, stream);
    return pointer;
}

void* allocate(std::size_t bytes, Device device) {
    return allocate(bytes, device, stream_of(device));
}

void deallocate(void* pointer, std::size_t bytes, Device device) noexcept {
    if (!pointer) return;
    // What can throw here is a device that failed: the next call that may throw says so.
    try {
        const CurrentDevice current(device);
        const SizeBin bin = size_bins::of(bytes, alignment);
        Pool& pool = pool_of(device);
        const std::lock_guard lock(pool.mutex);
        const auto found = pool.active.find(pointer);
        const Block block = std::move(found->second);
        pool.active.erase(found);
        pool.statistics.active_bytes -= static_cast<int64_t>(bin.bytes);
        for (cudaStream_t other : block.others) {
            Event event(device);
            event.record(other);
            event.hold_back(block.stream);
        }
        poison(pointer, bytes, block.stream);
        limit(pointer, bin.bytes, 0, block.stream);
        pool.cached[block.stream][static_cast<std::size_t>(bin.index)].push_back(pointer);
        pool.statistics.cached_bytes += static_cast<int64_t>(bin.bytes);
    } catch (const std::exception&) {}
}

void also_used_by(void* pointer, Device device, cudaStream_t stream) {
    Pool& pool = pool_of(device);
    const std::lock_guard lock(pool.mutex);
    const auto found = pool.active.find(pointer);
    check(found != pool.active.end(), "also_used_by: the block is not in use");
    Block& block = found->second;
    if (stream != block.stream && std::ranges::find(block.others, stream) == block.others.end())
        block.others.push_back(stream);
}

MemoryStatistics memory_statistics(Device device) {
    Pool& pool = pool_of(device);
    const std::lock_guard lock(pool.mutex);
    return pool.statistics;
}

void release_cached_memory(Device device) {
    const CurrentDevice current(device);
    Pool& pool = pool_of(device);
    const std::lock_guard lock(pool.mutex);
    release(pool);
}

void reset_peak_memory(Device device) {
    Pool& pool = pool_of(device);
    const std::lock_guard lock(pool.mutex);
    pool.statistics.peak_bytes = pool.statistics.active_bytes;
}

}  // namespace ralimp::gpu
