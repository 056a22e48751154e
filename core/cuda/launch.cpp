#include "core/cuda/launch.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "core/error.h"

namespace ralimp::gpu {
namespace {

std::atomic<int64_t> launch_count{0};

}  // namespace

void check_cuda(cudaError_t error, const char* operation) {
    if (error != cudaSuccess) [[unlikely]]
        fail("{}: {} ({})", operation, cudaGetErrorString(error), cudaGetErrorName(error));
}

int64_t launches() { return launch_count.load(std::memory_order_relaxed); }

void launching::count() { launch_count.fetch_add(1, std::memory_order_relaxed); }

void launching::finish(const char* name, cudaError_t error, cudaStream_t stream) {
    static const bool synchronize = [] {
        const char* value = std::getenv("RALIMP_CUDA_SYNCHRONIZE");
        return value && std::strcmp(value, "1") == 0;
    }();
    check_cuda(error, name);
    if (synchronize) check_cuda(cudaStreamSynchronize(stream), name);
}

}  // namespace ralimp::gpu
