// Copies of bytes between the host and devices, ordered with the kernels of the device. Host memory
// goes through pinned pieces, so that the copy of one piece runs beside the transfer of another; it
// may be anything, and is done with when a function returns. Host code.
#pragma once
#include <cstddef>

#include "core/device.h"

namespace ralimp::gpu {

void copy_from_host(void* out, Device device, const void* host, std::size_t bytes);
// Waits for what the device was asked before.
void copy_to_host(void* host, const void* in, Device device, std::size_t bytes);
// Both devices' later work waits for it.
void copy_between(void* out, Device out_device, const void* in, Device in_device,
                  std::size_t bytes);

}  // namespace ralimp::gpu
