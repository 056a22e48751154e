// The devices of this machine, their streams and events. Host code.
#pragma once
#include <cuda_runtime.h>

#include <string>

#include "core/device.h"

namespace ralimp::gpu {

// 0 without a device or a driver.
int device_count();

// Makes a device the current one of this thread for its lifetime. CUDA calls and launches are meant
// for the current device.
class CurrentDevice {
public:
    explicit CurrentDevice(Device device);
    ~CurrentDevice();
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

private:
    int before_;
};

struct DeviceProperties {
    std::string name;
    int multiprocessors;
    int major, minor;               // compute capability
    std::size_t memory;             // bytes
    std::size_t most_shared_bytes;  // of one block, when asked for
};
const DeviceProperties& properties(Device device);

// The stream of every kernel and copy of the device: they happen in the order they are asked for.
cudaStream_t stream_of(Device device);

// A place in a stream, to wait for.
class Event {
public:
    explicit Event(Device device);
    ~Event();
    Event(Event&& other) noexcept : event_(other.event_) { other.event_ = nullptr; }
    Event& operator=(Event&&) = delete;

    void record(cudaStream_t stream);
    // The host waits until the stream has passed the place; at once when nothing was recorded.
    void wait() const;
    // What the stream is asked to do from now on waits.
    void hold_back(cudaStream_t stream) const;

private:
    cudaEvent_t event_;
};

// Blocks of `threads` threads that share `items` pieces of work, each thread taking every
// (blocks · threads)-th: enough to fill the device several times, no more than there is work.
unsigned blocks_for(int64_t items, unsigned threads, Device device);

}  // namespace ralimp::gpu
