// Devices, streams, events, copies and launches. A call that a GPU would answer with an error code
// returns it; what a GPU would not notice throws Failure.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <vector>

#include "cuda_runtime.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace emulator {

struct Stream {
    int device = 0;
    uint64_t submitted = 0, completed = 0;
    std::deque<std::function<void()>> queue;
};

struct Event {
    Stream* stream = nullptr;
    uint64_t position = 0;  // complete when the stream has done so many tasks
    std::chrono::steady_clock::time_point time;
    bool timed = true;
};

namespace {

constexpr std::size_t shared_bytes = 48 << 10, most_shared_bytes = 163 << 10;  // of sm_80

std::recursive_mutex mutex;
int count = 2;
thread_local int current = 0;
std::set<Stream*> streams;
std::map<const std::byte*, std::size_t> pinned;
std::map<const void*, int> shared_limits;

bool is_known(Stream* stream) { return streams.contains(stream); }

// Tasks run as late as they may; a failure leaves nothing behind.
void run_until(Stream& stream, uint64_t position) {
    while (stream.completed < position && !stream.queue.empty()) {
        const auto task = std::move(stream.queue.front());
        stream.queue.pop_front();
        ++stream.completed;
        try {
            task();
        } catch (...) {
            stream.completed = stream.submitted;
            stream.queue.clear();
            throw;
        }
    }
}

void run_all(int device) {
    for (Stream* stream : streams)
        if (stream->device == device) run_until(*stream, stream->submitted);
}

void submit(Stream& stream, std::function<void()> task) {
    // CUDA_EMULATOR_EAGER=1: at once, so that a debugger shows who asked.
    static const bool eager = [] {
        const char* text = std::getenv("CUDA_EMULATOR_EAGER");
        return text && std::string(text) == "1";
    }();
    stream.queue.push_back(std::move(task));
    ++stream.submitted;
    if (eager || stream.queue.size() > 1000) run_until(stream, stream.submitted);
}

bool is_pinned(const void* pointer, std::size_t bytes) {
    const auto* address = static_cast<const std::byte*>(pointer);
    auto block = pinned.upper_bound(address);
    if (block == pinned.begin()) return false;
    --block;
    return address + bytes <= block->first + block->second;
}

void check_copy_end(const char* call, const void* pointer, std::size_t bytes, int device) {
    if (device < 0 && device_of(pointer) >= 0)
        throw Failure(fmt::format("{}: {} is device memory, given as host memory", call, pointer));
    if (device >= 0 && !is_device_memory(pointer, bytes, device))
        throw Failure(fmt::format("{}: {} bytes at {} are not in live memory of device {}", call,
                                  bytes, pointer, device));
}

cudaError_t last_error = cudaSuccess;
cudaError_t result(cudaError_t error) {
    if (error != cudaSuccess) last_error = error;
    return error;
}

}  // namespace

void set_device_count(int devices) { count = devices; }

void guard_block([[maybe_unused]] void* pointer, [[maybe_unused]] std::size_t block_bytes,
                 [[maybe_unused]] std::size_t usable_bytes, [[maybe_unused]] cudaStream_t stream) {
#if defined(__SANITIZE_ADDRESS__)
    const std::lock_guard lock(mutex);
    submit(*stream, [=, block = accessible(pointer)] {
        __asan_unpoison_memory_region(block, usable_bytes);
        __asan_poison_memory_region(static_cast<std::byte*>(block) + usable_bytes,
                                    block_bytes - usable_bytes);
    });
#endif
}

cudaError_t set_dynamic_shared_limit(const void* kernel, int bytes) {
    const std::lock_guard lock(mutex);
    if (bytes < 0 || static_cast<std::size_t>(bytes) > most_shared_bytes)
        return result(cudaErrorInvalidValue);
    shared_limits[kernel] = bytes;
    return cudaSuccess;
}

cudaError_t check_launch(const cudaLaunchConfig_t& config, const void* kernel) {
    const std::lock_guard lock(mutex);
    // The default stream is nobody's: kernels name the one they are ordered with.
    if (!is_known(config.stream) || config.stream->device != current)
        return result(cudaErrorInvalidResourceHandle);
    const dim3 &grid = config.gridDim, &block = config.blockDim;
    const uint64_t threads = uint64_t{block.x} * block.y * block.z;
    if (threads == 0 || threads > 1024 || block.z > 64 || uint64_t{grid.x} * grid.y * grid.z == 0 ||
        grid.x > 0x7FFFFFFFu || grid.y > 0xFFFFu || grid.z > 0xFFFFu)
        return result(cudaErrorInvalidConfiguration);
    const auto limit = shared_limits.find(kernel);
    const std::size_t most =
        limit == shared_limits.end() ? shared_bytes : static_cast<std::size_t>(limit->second);
    if (config.dynamicSmemBytes > std::max(most, shared_bytes))
        return result(cudaErrorInvalidValue);
    return cudaSuccess;
}

void check_argument(const cudaLaunchConfig_t& config, int position, const void* pointer) {
    const std::lock_guard lock(mutex);
    if (pointer && !is_device_memory(pointer, 0, config.stream->device))
        throw Failure(fmt::format("{}: argument {} ({}) does not point to live memory of device {}",
                                  next_kernel, position, pointer, config.stream->device));
}

void enqueue(const cudaLaunchConfig_t& config, std::function<void()> body) {
    const std::lock_guard lock(mutex);
    Launch launch{next_kernel, config.gridDim, config.blockDim, config.dynamicSmemBytes,
                  std::move(body)};
    submit(*config.stream, [launch = std::move(launch)] { run(launch); });
}

}  // namespace emulator

using namespace emulator;
using Lock = std::lock_guard<std::recursive_mutex>;

const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
        case cudaSuccess:
            return "cudaSuccess";
        case cudaErrorInvalidValue:
            return "cudaErrorInvalidValue";
        case cudaErrorMemoryAllocation:
            return "cudaErrorMemoryAllocation";
        case cudaErrorInvalidConfiguration:
            return "cudaErrorInvalidConfiguration";
        case cudaErrorNoDevice:
            return "cudaErrorNoDevice";
        case cudaErrorInvalidDevice:
            return "cudaErrorInvalidDevice";
        case cudaErrorInvalidResourceHandle:
            return "cudaErrorInvalidResourceHandle";
        case cudaErrorNotReady:
            return "cudaErrorNotReady";
    }
    return "unknown";
}

const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
        case cudaSuccess:
            return "no error";
        case cudaErrorInvalidValue:
            return "invalid argument";
        case cudaErrorMemoryAllocation:
            return "out of memory";
        case cudaErrorInvalidConfiguration:
            return "invalid configuration argument";
        case cudaErrorNoDevice:
            return "no CUDA-capable device is detected";
        case cudaErrorInvalidDevice:
            return "invalid device ordinal";
        case cudaErrorInvalidResourceHandle:
            return "invalid resource handle";
        case cudaErrorNotReady:
            return "device not ready";
    }
    return "unknown";
}

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaGetDeviceCount(int* devices) {
    *devices = count;
    return count > 0 ? cudaSuccess : result(cudaErrorNoDevice);
}
cudaError_t cudaGetDevice(int* device) {
    *device = current;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= count) return result(cudaErrorInvalidDevice);
    current = device;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (device < 0 || device >= count) return result(cudaErrorInvalidDevice);
    *properties = {"CUDA emulator", device_bytes, shared_bytes, most_shared_bytes, 4, 8, 0};
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
    const Lock lock(mutex);
    run_all(current);
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    const Lock lock(mutex);
    *stream = new Stream{current, 0, 0, {}};
    streams.insert(*stream);
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    const Lock lock(mutex);
    if (!is_known(stream)) return result(cudaErrorInvalidResourceHandle);
    run_until(*stream, stream->submitted);
    streams.erase(stream);
    delete stream;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    const Lock lock(mutex);
    if (!is_known(stream)) return result(cudaErrorInvalidResourceHandle);
    run_until(*stream, stream->submitted);
    return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    const Lock lock(mutex);
    if (!is_known(stream)) return result(cudaErrorInvalidResourceHandle);
    return stream->completed == stream->submitted ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    const Lock lock(mutex);
    if (!is_known(stream)) return result(cudaErrorInvalidResourceHandle);
    if (Stream* other = event->stream; other && other != stream)
        submit(*stream, [other, position = event->position] {
            if (is_known(other)) run_until(*other, position);
        });
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    *event = new Event;
    (*event)->timed = !(flags & cudaEventDisableTiming);
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    const Lock lock(mutex);
    if (!is_known(stream)) return result(cudaErrorInvalidResourceHandle);
    event->stream = stream;
    event->position = stream->submitted;
    event->time = std::chrono::steady_clock::now();
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    const Lock lock(mutex);
    if (event->stream && is_known(event->stream)) run_until(*event->stream, event->position);
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    const Lock lock(mutex);
    return event->stream && is_known(event->stream) && event->stream->completed < event->position
               ? cudaErrorNotReady
               : cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
    if (!start->timed || !end->timed) return result(cudaErrorInvalidResourceHandle);
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return cudaSuccess;
}

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
    const Lock lock(mutex);
    *pointer = bytes == 0 ? nullptr : allocate(bytes, current);
    return *pointer || bytes == 0 ? cudaSuccess : result(cudaErrorMemoryAllocation);
}
cudaError_t cudaFree(void* pointer) {
    const Lock lock(mutex);
    if (!pointer) return cudaSuccess;
    const int device = device_of(pointer);
    if (device < 0) return result(cudaErrorInvalidValue);
    run_all(device);
    return deallocate(pointer) ? cudaSuccess : result(cudaErrorInvalidValue);
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    const Lock lock(mutex);
    *free = free_bytes(current);
    *total = device_bytes;
    return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
    const Lock lock(mutex);
    *pointer = ::operator new(bytes);
    pinned[static_cast<std::byte*>(*pointer)] = bytes;
    return cudaSuccess;
}
cudaError_t cudaFreeHost(void* pointer) {
    const Lock lock(mutex);
    if (pinned.erase(static_cast<std::byte*>(pointer)) == 0) return result(cudaErrorInvalidValue);
    ::operator delete(pointer);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* out, const void* in, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    const Lock lock(mutex);
    if (!is_known(stream)) return result(cudaErrorInvalidResourceHandle);
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    check_copy_end("cudaMemcpyAsync", out, bytes, to_device ? stream->device : -1);
    check_copy_end("cudaMemcpyAsync", in, bytes, from_device ? stream->device : -1);
    submit(*stream,
           [to = accessible(out), from = accessible(in), bytes] { std::memmove(to, from, bytes); });
    // Copies of memory that is not pinned are over when the call returns.
    if ((!to_device && !is_pinned(out, bytes)) || (!from_device && !is_pinned(in, bytes)))
        run_until(*stream, stream->submitted);
    return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* out, int out_device, const void* in, int in_device,
                                std::size_t bytes, cudaStream_t stream) {
    const Lock lock(mutex);
    if (!is_known(stream)) return result(cudaErrorInvalidResourceHandle);
    check_copy_end("cudaMemcpyPeerAsync", out, bytes, out_device);
    check_copy_end("cudaMemcpyPeerAsync", in, bytes, in_device);
    submit(*stream,
           [to = accessible(out), from = accessible(in), bytes] { std::memmove(to, from, bytes); });
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* out, int value, std::size_t bytes, cudaStream_t stream) {
    const Lock lock(mutex);
    if (!is_known(stream)) return result(cudaErrorInvalidResourceHandle);
    check_copy_end("cudaMemsetAsync", out, bytes, stream->device);
    submit(*stream, [to = accessible(out), value, bytes] { std::memset(to, value, bytes); });
    return cudaSuccess;
}
