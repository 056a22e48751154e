#include "core/cuda/transfer.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "core/cuda/device.h"
#include "core/cuda/launch.h"

namespace ralimp::gpu {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

// A piece of pinned memory, and the place in the stream where its last use ends.
struct Piece {
    void* memory = nullptr;
    Event used;

    explicit Piece(Device device) : used(device) {
        check_cuda(cudaHostAlloc(&memory, piece_bytes, cudaHostAllocDefault),
                   "allocating pinned memory");
    }
};

// Two pieces, used in turn. Made on first use and never destroyed, as the stream is.
struct Staging {
    std::mutex mutex;
    Piece pieces[2];
    int next = 0;

    explicit Staging(Device device) : pieces{Piece(device), Piece(device)} {}
    Piece& take() {
        Piece& piece = pieces[next];
        next ^= 1;
        piece.used.wait();
        return piece;
    }
};

Staging& staging_of(Device device) {
    static auto* all = new std::map<int, std::unique_ptr<Staging>>;
    static auto* mutex = new std::mutex;
    const std::lock_guard lock(*mutex);
    auto& staging = (*all)[device.index];
    if (!staging) staging = std::make_unique<Staging>(device);
    return *staging;
}

}  // namespace

void copy_from_host(void* out, Device device, const void* host, std::size_t bytes) {
    const CurrentDevice current(device);
    cudaStream_t stream = stream_of(device);
    Staging& staging = staging_of(device);
    const std::lock_guard lock(staging.mutex);
    for (std::size_t done = 0; done < bytes; done += piece_bytes) {
        const std::size_t part = std::min(piece_bytes, bytes - done);
        Piece& piece = staging.take();
        std::memcpy(piece.memory, static_cast<const std::byte*>(host) + done, part);
        check_cuda(cudaMemcpyAsync(static_cast<std::byte*>(out) + done, piece.memory, part,
                                   cudaMemcpyHostToDevice, stream),
                   "copying to the device");
        piece.used.record(stream);
    }
}

void copy_to_host(void* host, const void* in, Device device, std::size_t bytes) {
    const CurrentDevice current(device);
    cudaStream_t stream = stream_of(device);
    Staging& staging = staging_of(device);
    const std::lock_guard lock(staging.mutex);
    // One piece is on its way while the one before is copied out.
    Piece* before = nullptr;
    std::size_t before_part = 0;
    for (std::size_t done = 0; done < bytes || before; done += piece_bytes) {
        Piece* piece = nullptr;
        std::size_t part = 0;
        if (done < bytes) {
            part = std::min(piece_bytes, bytes - done);
            piece = &staging.take();
            check_cuda(cudaMemcpyAsync(piece->memory, static_cast<const std::byte*>(in) + done,
                                       part, cudaMemcpyDeviceToHost, stream),
                       "copying to the host");
            piece->used.record(stream);
        }
        if (before) {
            before->used.wait();
            std::memcpy(static_cast<std::byte*>(host) + done - piece_bytes, before->memory,
                        before_part);
        }
        before = piece;
        before_part = part;
    }
}

void copy_between(void* out, Device out_device, const void* in, Device in_device,
                  std::size_t bytes) {
    cudaStream_t out_stream = stream_of(out_device), in_stream = stream_of(in_device);
    // What fills `in` comes before; what reuses the memory of `in` or reads `out`, after.
    Event filled(in_device), copied(out_device);
    filled.record(in_stream);
    filled.hold_back(out_stream);
    const CurrentDevice current(out_device);
    check_cuda(cudaMemcpyPeerAsync(out, out_device.index, in, in_device.index, bytes, out_stream),
               "copying between devices");
    copied.record(out_stream);
    copied.hold_back(in_stream);
}

}  // namespace ralimp::gpu
