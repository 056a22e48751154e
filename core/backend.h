// What a backend does for the tensors of its devices, beside its table of kernels. The seam between
// core and the hardware: everything else asks through core/kernels.h, core/allocator.h and Tensor.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/allocator.h"
#include "core/device.h"

namespace ralimp {

struct Kernels;

// The functions are as those of core/allocator.h and core/kernels.h. Copies are of bytes, ordered
// with the kernels of the device and done with host memory when they return.
struct Backend {
    int (*device_count)();
    const Kernels& (*kernels)();
    int64_t (*kernel_launches)();
    std::string (*description)(Device device);

    void* (*allocate)(std::size_t bytes, Device device);
    void (*deallocate)(void* pointer, std::size_t bytes, Device device) noexcept;
    MemoryStatistics (*memory_statistics)(Device device);
    void (*release_cached_memory)(Device device);
    void (*reset_peak_memory)(Device device);

    void (*copy_from_host)(void* out, Device device, const void* host, std::size_t bytes);
    void (*copy_to_host)(void* host, const void* in, Device device, std::size_t bytes);
    void (*copy_between)(void* out, Device out_device, const void* in, Device in_device,
                         std::size_t bytes);
    // Waits for everything that was started on the device; throws the Error of what failed there.
    void (*synchronize)(Device device);
};

// The backend of a device that is not the CPU. Throws Error when this build has none, or the
// machine no such device.
const Backend& backend(Device device);

// How many devices of the type there are; 0 without a backend for it.
int device_count(DeviceType type);

void synchronize(Device device);

namespace gpu {
// Null in a program that was linked without core/cuda: core/without_cuda.cpp is taken only where
// nothing else defines this.
const Backend* backend();
}  // namespace gpu

}  // namespace ralimp
