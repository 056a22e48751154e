// Caching allocator: freed blocks are kept by size and handed out again, so that a steady training
// step makes no system call.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/device.h"

namespace ralimp {

struct MemoryStatistics {
    int64_t active_bytes = 0;  // handed out now
    int64_t peak_bytes = 0;    // most that was ever active
    int64_t cached_bytes = 0;  // freed by tensors, kept for the next ones
    int64_t allocations = 0;   // requests that had to go to the system
};

// Both are safe to call from any thread. A request of 0 bytes returns a null pointer. The result is
// aligned to 64 bytes. Throws Error when the system has no memory left.
void* allocate(std::size_t bytes, Device device);
void deallocate(void* pointer, std::size_t bytes, Device device) noexcept;

MemoryStatistics memory_statistics(Device device);
void release_cached_memory(Device device);
void reset_peak_memory(Device device);

// Debug mode: fresh and freed floating-point memory is filled with NaN patterns (0xFF bytes), so
// that a read before the first write or after the last use shows in the result. Also switched on by
// the environment variable RALIMP_POISON_MEMORY=1.
void set_poison_memory(bool on);
bool poison_memory();

}  // namespace ralimp
