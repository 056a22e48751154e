// The caching allocator of a device. A freed block goes back to the stream it was allocated for and
// may be handed out again at once: what is still queued on that stream comes before whatever uses
// it next. Host code; the interface of core/allocator.h.
#pragma once
#include <cuda_runtime.h>

#include "core/allocator.h"

namespace ralimp::gpu {

// On the device's own stream, aligned to 256 bytes.
void* allocate(std::size_t bytes, Device device);
void deallocate(void* pointer, std::size_t bytes, Device device) noexcept;
// Of another stream.
void* allocate(std::size_t bytes, Device device, cudaStream_t stream);
// The block is used by another stream than its own as well: when it is freed, its own waits for
// what the other was asked until then.
void also_used_by(void* pointer, Device device, cudaStream_t stream);

MemoryStatistics memory_statistics(Device device);
// Waits for the device first.
void release_cached_memory(Device device);
void reset_peak_memory(Device device);

}  // namespace ralimp::gpu
