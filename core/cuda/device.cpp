#include "core/cuda/device.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "core/cuda/launch.h"
#include "core/error.h"

namespace ralimp::gpu {
namespace {

constexpr int most_devices = 64;

// Made on first use and never destroyed: the driver may be gone before the statics of a program.
struct DeviceState {
    std::once_flag once;
    DeviceProperties properties;
    cudaStream_t stream = nullptr;
};

DeviceState& state_of(Device device) {
    static auto* states = new std::array<DeviceState, most_devices>;
    DeviceState& state = (*states)[static_cast<std::size_t>(device.index)];
    std::call_once(state.once, [&] {
        cudaDeviceProp found;
        check_cuda(cudaGetDeviceProperties(&found, device.index), "device properties");
        state.properties = {found.name,  found.multiProcessorCount, found.major,
                            found.minor, found.totalGlobalMem,      found.sharedMemPerBlockOptin};
        const CurrentDevice current(device);
        check_cuda(cudaStreamCreateWithFlags(&state.stream, cudaStreamNonBlocking),
                   "making a stream");
    });
    return state;
}

}  // namespace

int device_count() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        static_cast<void>(cudaGetLastError());  // no driver is no error
        return 0;
    }
    return std::min(count, most_devices);
}

CurrentDevice::CurrentDevice(Device device) {
    check_cuda(cudaGetDevice(&before_), "asking for the device");
    if (before_ != device.index) check_cuda(cudaSetDevice(device.index), to_string(device).c_str());
}

CurrentDevice::~CurrentDevice() { static_cast<void>(cudaSetDevice(before_)); }

const DeviceProperties& properties(Device device) { return state_of(device).properties; }

cudaStream_t stream_of(Device device) { return state_of(device).stream; }

Event::Event(Device device) {
    const CurrentDevice current(device);
    check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event");
}

Event::~Event() {
    if (event_) static_cast<void>(cudaEventDestroy(event_));
}

void Event::record(cudaStream_t stream) {
    check_cuda(cudaEventRecord(event_, stream), "recording an event");
}

void Event::wait() const { check_cuda(cudaEventSynchronize(event_), "waiting for an event"); }

void Event::hold_back(cudaStream_t stream) const {
    check_cuda(cudaStreamWaitEvent(stream, event_, 0), "waiting for an event");
}

unsigned blocks_for(int64_t items, unsigned threads, Device device) {
    const int64_t needed = (items + threads - 1) / threads;
    return static_cast<unsigned>(
        std::clamp<int64_t>(needed, 1, int64_t{32} * properties(device).multiprocessors));
}

}  // namespace ralimp::gpu
