// The caching allocator: reuse, statistics, alignment, poison.
#include "core/allocator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/tensor.h"

namespace ralimp {
namespace {

constexpr Device cpu{};

class Allocator : public testing::Test {
protected:
    void SetUp() override { release_cached_memory(cpu); }
    void TearDown() override { set_poison_memory(false); }
};

TEST_F(Allocator, RefusesSizesThatNoMachineHas) {
    EXPECT_THROW(allocate(std::size_t{1} << 46, cpu), Error);
    EXPECT_THROW(allocate(std::numeric_limits<std::size_t>::max(), cpu), Error);
}

TEST_F(Allocator, HandsFreedBlocksOutAgain) {
    void* first = allocate(100'000, cpu);
    deallocate(first, 100'000, cpu);
    const int64_t before = memory_statistics(cpu).allocations;
    // Of nearly the same size: the same block.
    void* second = allocate(99'000, cpu);
    EXPECT_EQ(second, first);
    EXPECT_EQ(memory_statistics(cpu).allocations, before);
    void* third = allocate(99'000, cpu);
    EXPECT_NE(third, second);
    EXPECT_EQ(memory_statistics(cpu).allocations, before + 1);
    deallocate(second, 99'000, cpu);
    deallocate(third, 99'000, cpu);
}

TEST_F(Allocator, CountsActivePeakAndCachedBytes) {
    reset_peak_memory(cpu);
    const MemoryStatistics start = memory_statistics(cpu);
    EXPECT_EQ(start.cached_bytes, 0);
    void* block = allocate(1 << 20, cpu);
    const MemoryStatistics held = memory_statistics(cpu);
    EXPECT_GE(held.active_bytes - start.active_bytes, 1 << 20);
    EXPECT_LE(held.active_bytes - start.active_bytes, (1 << 20) * 9 / 8);
    EXPECT_EQ(held.peak_bytes, held.active_bytes);
    deallocate(block, 1 << 20, cpu);
    const MemoryStatistics freed = memory_statistics(cpu);
    EXPECT_EQ(freed.active_bytes, start.active_bytes);
    EXPECT_EQ(freed.peak_bytes, held.peak_bytes);
    EXPECT_EQ(freed.cached_bytes, held.active_bytes - start.active_bytes);
    release_cached_memory(cpu);
    EXPECT_EQ(memory_statistics(cpu).cached_bytes, 0);
    reset_peak_memory(cpu);
    EXPECT_EQ(memory_statistics(cpu).peak_bytes, start.active_bytes);
}

TEST_F(Allocator, EverySizeIsUsableAligned) {
    for (std::size_t bytes = 1; bytes < 5000; bytes += bytes < 300 ? 1 : 97) {
        void* block = allocate(bytes, cpu);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
        std::memset(block, 1, bytes);
        deallocate(block, bytes, cpu);
        // Its cached block is large enough for every size that shares its bin.
        for (std::size_t other : {bytes - bytes / 10, bytes + bytes / 10}) {
            void* reused = allocate(other, cpu);
            std::memset(reused, 2, other);
            deallocate(reused, other, cpu);
        }
    }
    EXPECT_EQ(allocate(0, cpu), nullptr);
    deallocate(nullptr, 0, cpu);
}

TEST_F(Allocator, AbsurdSizesAreErrors) {
    EXPECT_THROW(allocate(std::size_t{1} << 60, cpu), Error);
    EXPECT_THROW(allocate(64, Device{DeviceType::cuda, 0}), Error);
}

TEST_F(Allocator, PoisonShowsReadsOfUnwrittenMemory) {
    const void* kept = Tensor::ones({1000}).data();
    EXPECT_EQ(static_cast<const void*>(Tensor::empty({1000}).data()), kept);
    set_poison_memory(true);
    for (DType dtype : {DType::float32, DType::float64})
        for (double value : Tensor::empty({1000}, dtype).to_doubles())
            ASSERT_TRUE(std::isnan(value));
    // Freed memory is poisoned as well: a view that outlives its storage cannot be made from
    // tensors, so look at the block through the next, unpoisoned request.
    deallocate(std::memset(allocate(4000, cpu), 0, 4000), 4000, cpu);
    set_poison_memory(false);
    const Tensor reused = Tensor::empty({1000});
    EXPECT_TRUE(std::isnan(reused.to_doubles()[999]));
}

TEST_F(Allocator, ThreadsShareIt) {
    const int64_t active = memory_statistics(cpu).active_bytes;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([t] {
            for (int i = 0; i < 2000; ++i) {
                const auto bytes = static_cast<std::size_t>(64 + (i * 37 + t) % 3000);
                auto* block = static_cast<unsigned char*>(allocate(bytes, cpu));
                std::memset(block, t, bytes);
                for (std::size_t j : {std::size_t{0}, bytes - 1})
                    if (block[j] != t) std::abort();
                deallocate(block, bytes, cpu);
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(memory_statistics(cpu).active_bytes, active);
}

}  // namespace
}  // namespace ralimp
