// The thread pool behind parallel_for: every chunk once, exceptions, nesting, several callers.
#include "core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"

namespace ralimp {
namespace {

class Parallel : public testing::Test {
protected:
    void TearDown() override { set_thread_count(threads_); }

private:
    int threads_ = thread_count();
};

TEST_F(Parallel, EveryElementOnceInChunksOfTheGrain) {
    for (int threads : {1, 2, 3, 8})
        for (int64_t count : {0, 1, 5, 64, 1000, 4097})
            for (int64_t grain : {1, 7, 64, 5000}) {
                set_thread_count(threads);
                std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
                parallel_for(count, grain, [&](int64_t begin, int64_t end) {
                    EXPECT_EQ(begin % grain, 0);
                    EXPECT_EQ(end, std::min(begin + grain, count));
                    for (int64_t i = begin; i < end; ++i) ++calls[static_cast<std::size_t>(i)];
                });
                for (const auto& called : calls) ASSERT_EQ(called, 1);
            }
}

TEST_F(Parallel, ManyShortLoops) {
    set_thread_count(4);
    std::vector<int64_t> sums(16);
    for (int loop = 0; loop < 20'000; ++loop) {
        const auto size = static_cast<int64_t>(2 + loop % 15);
        parallel_for(size, 1, [&](int64_t begin, int64_t) {
            sums[static_cast<std::size_t>(begin)] += begin + loop;
        });
    }
    int64_t expected = 0;
    for (int loop = 0; loop < 20'000; ++loop)
        for (int64_t i = 0; i < 2 + loop % 15; ++i) expected += i + loop;
    EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), int64_t{0}), expected);
}

TEST_F(Parallel, TheFirstExceptionByChunkIsRethrown) {
    for (int threads : {1, 4}) {
        set_thread_count(threads);
        for (int repeat = 0; repeat < 100; ++repeat) {
            std::atomic<int> calls = 0;
            try {
                parallel_for(50, 1, [&](int64_t begin, int64_t) {
                    ++calls;
                    if (begin % 10 == 7) fail("chunk {}", begin);
                });
                FAIL();
            } catch (const Error& error) {
                EXPECT_STREQ(error.what(), "chunk 7");
            }
            EXPECT_EQ(calls, 50);
        }
    }
}

TEST_F(Parallel, NestedLoopsRunOnTheirThread) {
    set_thread_count(4);
    std::atomic<int> calls = 0;
    parallel_for(8, 1, [&](int64_t, int64_t) {
        const auto thread = std::this_thread::get_id();
        parallel_for(8, 1, [&](int64_t, int64_t) {
            EXPECT_EQ(std::this_thread::get_id(), thread);
            ++calls;
        });
    });
    EXPECT_EQ(calls, 64);
}

TEST_F(Parallel, SeveralCallersAtOnce) {
    set_thread_count(3);
    std::atomic<int64_t> total = 0;
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
        callers.emplace_back([&] {
            for (int repeat = 0; repeat < 500; ++repeat)
                parallel_for(100, 9, [&](int64_t begin, int64_t end) { total += end - begin; });
        });
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(total, 4 * 500 * 100);
}

TEST_F(Parallel, SeveralThreadsReallyWork) {
    set_thread_count(2);
    // Each of the two chunks waits for the other one to have begun.
    std::atomic<int> begun = 0;
    parallel_for(2, 1, [&](int64_t, int64_t) {
        ++begun;
        while (begun < 2) std::this_thread::yield();
    });
    EXPECT_EQ(begun, 2);
}

TEST_F(Parallel, CountsOutOfRangeAreRefused) {
    EXPECT_THROW(set_thread_count(0), Error);
    EXPECT_THROW(set_thread_count(257), Error);
}

}  // namespace
}  // namespace ralimp
