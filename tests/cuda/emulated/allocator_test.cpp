// Memory that two streams use, and errors that come late.
#include "core/cuda/allocator.h"

#include <gtest/gtest.h>

#include "core/backend.h"
#include "core/cuda/device.h"
#include "core/cuda/launch.h"
#include "core/tensor.h"
#include "tests/error_of.h"

namespace ralimp::testing {
namespace {

using gpu::launch;

constexpr Device cuda{DeviceType::cuda, 0};

__global__ void copy_values(float* out, const float* in) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void set_values(float* out, float value) { out[threadIdx.x] = value; }

// What a second stream reads of a block that was freed while its copy was queued, and that the
// first stream has been handed out again.
double read_by_second_stream(bool declared) {
    const gpu::CurrentDevice current(cuda);
    cudaStream_t first = gpu::stream_of(cuda), second = nullptr;
    gpu::check_cuda(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), "stream");
    const Tensor result = Tensor::zeros({32}, DType::float32, cuda);
    auto* block = static_cast<float*>(gpu::allocate(128, cuda, first));
    launch("set_values", set_values, 1, 32, 0, first, block, 1.0f);
    synchronize(cuda);
    launch("copy_values", copy_values, 1, 32, 0, second, result.data<float>(), block);
    if (declared) gpu::also_used_by(block, cuda, second);
    gpu::deallocate(block, 128, cuda);
    auto* again = static_cast<float*>(gpu::allocate(128, cuda, first));
    EXPECT_EQ(again, block);
    launch("set_values", set_values, 1, 32, 0, first, again, 2.0f);
    gpu::check_cuda(cudaStreamSynchronize(first), "first");
    gpu::check_cuda(cudaStreamSynchronize(second), "second");
    gpu::deallocate(again, 128, cuda);
    gpu::check_cuda(cudaStreamDestroy(second), "stream");
    return result.to_doubles()[5];
}

TEST(DeviceAllocator, ABlockWaitsForTheOtherStreamsThatUseIt) {
    EXPECT_EQ(read_by_second_stream(true), 1);
    EXPECT_EQ(read_by_second_stream(false), 2);  // which is what it is there for
}

TEST(DeviceAllocator, BlocksStayWithTheirStream) {
    const gpu::CurrentDevice current(cuda);
    cudaStream_t second = nullptr;
    gpu::check_cuda(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), "stream");
    void* block = gpu::allocate(5000, cuda, second);
    gpu::deallocate(block, 5000, cuda);
    void* other = gpu::allocate(5000, cuda);
    EXPECT_NE(other, block);
    void* same = gpu::allocate(5000, cuda, second);
    EXPECT_EQ(same, block);
    gpu::deallocate(other, 5000, cuda);
    gpu::deallocate(same, 5000, cuda);
    release_cached_memory(cuda);
    EXPECT_EQ(memory_statistics(cuda).cached_bytes, 0);
    gpu::check_cuda(cudaStreamDestroy(second), "stream");
    EXPECT_THROW(gpu::also_used_by(block, cuda, second), Error);
}

TEST(DeviceAllocator, ReleasesItsCacheBeforeItGivesUp) {
    release_cached_memory(cuda);
    constexpr std::size_t megabyte = 1 << 20;
    const std::size_t in_use = emulator::device_bytes - emulator::free_bytes(0);
    emulator::set_device_limit(in_use + 3 * megabyte);
    gpu::deallocate(gpu::allocate(2 * megabyte, cuda), 2 * megabyte, cuda);
    EXPECT_EQ(memory_statistics(cuda).cached_bytes, 2 * megabyte);
    void* larger = gpu::allocate(5 * megabyte / 2, cuda);  // only without the cached block
    EXPECT_EQ(memory_statistics(cuda).cached_bytes, 0);
    const Thrown thrown = error_of([&] { gpu::allocate(megabyte, cuda); });
    EXPECT_EQ(thrown.text.substr(0, 38), "out of memory: 1048576 bytes asked for") << thrown.text;
    gpu::deallocate(larger, 5 * megabyte / 2, cuda);
    emulator::set_device_limit(emulator::device_bytes);
}

}  // namespace
}  // namespace ralimp::testing
