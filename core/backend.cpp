#include "core/backend.h"

#include "core/cpu/dispatch.h"
#include "core/error.h"
#include "core/kernels.h"

namespace ralimp {

const Backend& backend(Device device) {
    const Backend* cuda = device.type == DeviceType::cuda ? gpu::backend() : nullptr;
    check(cuda, "this build has no backend for {}; see docs/cuda.md", to_string(device));
    const int count = cuda->device_count();
    check(device.index >= 0 && device.index < count, "there is no {}: this machine has {} device{}",
          to_string(device), count, count == 1 ? "" : "s");
    return *cuda;
}

int device_count(DeviceType type) {
    if (type == DeviceType::cpu) return 1;
    const Backend* cuda = gpu::backend();
    return cuda ? cuda->device_count() : 0;
}

void synchronize(Device device) {
    if (device.type != DeviceType::cpu) backend(device).synchronize(device);
}

const Kernels& kernels(Device device) {
    return device.type == DeviceType::cpu ? cpu::kernels() : backend(device).kernels();
}

int64_t kernel_launches(Device device) {
    return device.type == DeviceType::cpu ? cpu::kernel_launches()
                                          : backend(device).kernel_launches();
}

std::string backend_description(Device device) {
    return device.type == DeviceType::cpu ? cpu::description()
                                          : backend(device).description(device);
}

}  // namespace ralimp
