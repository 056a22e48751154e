// The caching allocator of a CUDA device: reuse, statistics, limits, poison.
#include <gtest/gtest.h>

#include <cmath>

#include "core/allocator.h"
#include "core/tensor.h"
#include "tests/error_of.h"

namespace ralimp::testing {
namespace {

constexpr Device cuda{DeviceType::cuda, 0};

class DeviceMemory : public ::testing::Test {
protected:
    void SetUp() override { release_cached_memory(cuda); }
    void TearDown() override { set_poison_memory(false); }
};

TEST_F(DeviceMemory, HandsFreedBlocksOutAgain) {
    void* first = allocate(100'000, cuda);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 256, 0u);
    deallocate(first, 100'000, cuda);
    const int64_t before = memory_statistics(cuda).allocations;
    void* second = allocate(99'000, cuda);  // of nearly the same size: the same block
    EXPECT_EQ(second, first);
    EXPECT_EQ(memory_statistics(cuda).allocations, before);
    void* third = allocate(99'000, cuda);
    EXPECT_NE(third, second);
    EXPECT_EQ(memory_statistics(cuda).allocations, before + 1);
    deallocate(second, 99'000, cuda);
    deallocate(third, 99'000, cuda);
    EXPECT_EQ(allocate(0, cuda), nullptr);
    deallocate(nullptr, 0, cuda);
}

TEST_F(DeviceMemory, CountsActivePeakAndCachedBytes) {
    reset_peak_memory(cuda);
    const MemoryStatistics start = memory_statistics(cuda);
    EXPECT_EQ(start.cached_bytes, 0);
    EXPECT_EQ(start.peak_bytes, start.active_bytes);
    void* block = allocate(1'000'000, cuda);
    const MemoryStatistics held = memory_statistics(cuda);
    EXPECT_GE(held.active_bytes - start.active_bytes, 1'000'000);
    EXPECT_LE(held.active_bytes - start.active_bytes, 1'125'000);
    EXPECT_EQ(held.peak_bytes, held.active_bytes);
    deallocate(block, 1'000'000, cuda);
    const MemoryStatistics freed = memory_statistics(cuda);
    EXPECT_EQ(freed.active_bytes, start.active_bytes);
    EXPECT_EQ(freed.peak_bytes, held.peak_bytes);
    EXPECT_EQ(freed.cached_bytes, held.active_bytes - start.active_bytes);
    release_cached_memory(cuda);
    EXPECT_EQ(memory_statistics(cuda).cached_bytes, 0);
    // The CPU's are its own.
    EXPECT_NE(memory_statistics({}).allocations, memory_statistics(cuda).allocations);
}

TEST_F(DeviceMemory, ADeviceThatIsFullSaysSo) {
    const Thrown thrown = error_of([] { allocate(std::size_t{1} << 45, cuda); });
    EXPECT_EQ(thrown.text.substr(0, 15), "out of memory: ") << thrown.text;
    EXPECT_NE(thrown.text.find("on cuda:0"), std::string::npos) << thrown.text;
    EXPECT_THROW(allocate(std::size_t{1} << 60, cuda), Error);
    // Nothing is lost by it.
    EXPECT_EQ(Tensor::ones({10}, DType::float32, cuda).to_doubles(), std::vector<double>(10, 1));
}

TEST_F(DeviceMemory, PoisonShowsReadsOfUnwrittenMemory) {
    const void* kept = Tensor::ones({1000}, DType::float32, cuda).data();
    set_poison_memory(true);
    const Tensor reused = Tensor::empty({1000}, DType::float32, cuda);
    EXPECT_EQ(static_cast<const void*>(reused.data()), kept);
    for (double value : reused.to_doubles()) ASSERT_TRUE(std::isnan(value));
    // Freed memory too: the block is looked at through the next, unpoisoned request.
    deallocate(Tensor::ones({2}).data() ? allocate(4000, cuda) : nullptr, 4000, cuda);
    set_poison_memory(false);
    EXPECT_TRUE(std::isnan(Tensor::empty({1000}, DType::float32, cuda).to_doubles()[999]));
}

TEST_F(DeviceMemory, WhatIsQueuedKeepsItsMemory) {
    // Temporaries are freed, and their memory handed out again, before the device has come to them.
    Tensor sum = Tensor::zeros({5000}, DType::float32, cuda);
    for (int i = 1; i <= 20; ++i) {
        const Tensor next = Tensor::empty({5000}, DType::float32, cuda);
        const Tensor term = Tensor::full({5000}, i, DType::float32, cuda);
        next.copy_from(term);
        const Tensor longer = Tensor::full({5001}, -1, DType::float32, cuda);
        sum = next;
    }
    EXPECT_EQ(sum.to_doubles(), std::vector<double>(5000, 20));
}

}  // namespace
}  // namespace ralimp::testing
