#include "core/parallel.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "core/error.h"

namespace ralimp {
namespace {

constexpr int most_threads = 256;

int& threads() {
    static int count = std::clamp(omp_get_max_threads(), 1, most_threads);
    return count;
}

thread_local bool inside = false;  // a parallel loop

void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

// Waits until the value changes: for some microseconds awake, since loops follow each other closely
// in training, then asleep, so that a busy machine loses nothing.
void wait_while(const std::atomic<int32_t>& value, int32_t old) {
    for (int i = 0; i < 1000; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
        pause_briefly();
    }
    value.wait(old, std::memory_order_acquire);
}

// Worker threads that take chunks beside the caller. Every thread has a range of its own, the same
// one in every loop of that size, so that its caches stay useful; whoever has finished takes
// chunks from the end of the others' ranges. Nobody waits for a thread that was not given a
// processor: unlike in OpenMP the caller then does all the work itself.
class Pool {
public:
    // One loop at a time; a caller that finds the pool busy works alone.
    std::mutex busy;

    void run(int64_t chunks, void (*chunk_of)(void*, int64_t), void* context) {
        const auto parties = static_cast<int>(std::min<int64_t>(threads(), chunks));
        while (static_cast<int>(workers_.size()) + 1 < parties) {
            const int number = static_cast<int>(workers_.size()) + 1;
            workers_.emplace_back([this, number] { work(number); });
        }
        run_ = chunk_of;
        context_ = context;
        chunks_ = static_cast<int32_t>(chunks);
        finished_.store(0, std::memory_order_relaxed);
        parties_.store(parties, std::memory_order_relaxed);
        for (int party = 0; party < parties; ++party)
            ranges_[party].value.store(
                range(chunks * party / parties, chunks * (party + 1) / parties),
                std::memory_order_release);
        loops_.fetch_add(1, std::memory_order_release);
        loops_.notify_all();
        take_chunks(0);
        for (;;) {
            const int32_t finished = finished_.load(std::memory_order_acquire);
            if (finished == chunks_) return;
            wait_while(finished_, finished);
        }
    }

private:
    // The chunks of a range that nobody has taken yet: begin and end in one word. A thread that
    // changes a range has taken a chunk of the loop that runs now, even when it believes to be in
    // an earlier one: it reads what to do after that.
    struct alignas(64) Range {
        std::atomic<uint64_t> value{0};
    };
    static uint64_t range(int64_t begin, int64_t end) {
        return static_cast<uint64_t>(begin) << 32 | static_cast<uint64_t>(end);
    }

    // A chunk from the beginning of the range, or from its end for another thread; -1: none left.
    static int64_t take(Range& range, bool own) {
        uint64_t value = range.value.load(std::memory_order_acquire);
        for (;;) {
            const auto begin = static_cast<int64_t>(value >> 32);
            const auto end = static_cast<int64_t>(value & 0xFFFFFFFFu);
            if (begin >= end) return -1;
            const uint64_t rest = own ? Pool::range(begin + 1, end) : Pool::range(begin, end - 1);
            if (range.value.compare_exchange_weak(value, rest, std::memory_order_acq_rel,
                                                  std::memory_order_acquire))
                return own ? begin : end - 1;
        }
    }

    void take_chunks(int number) {
        const int parties = parties_.load(std::memory_order_relaxed);
        for (int i = 0; i < parties; ++i) {
            Range& range = ranges_[(number + i) % parties];
            for (;;) {
                const int64_t chunk = take(range, i == 0);
                if (chunk < 0) break;
                // The loop cannot end before this chunk is counted.
                const int32_t chunks = chunks_;
                run_(context_, chunk);
                if (finished_.fetch_add(1, std::memory_order_acq_rel) + 1 == chunks)
                    finished_.notify_all();
            }
        }
    }

    void work(int number) {
        inside = true;
        int32_t seen = 0;
        for (;;) {
            wait_while(loops_, seen);
            seen = loops_.load(std::memory_order_acquire);
            if (number < parties_.load(std::memory_order_relaxed)) take_chunks(number);
        }
    }

    std::vector<std::thread> workers_;
    Range ranges_[most_threads];
    std::atomic<int32_t> loops_{0};  // started so far
    std::atomic<int32_t> finished_{0};
    std::atomic<int32_t> parties_{0};
    // Of the running loop; they change only while no chunk is taken.
    void (*run_)(void*, int64_t) = nullptr;
    void* context_ = nullptr;
    int32_t chunks_ = 0;
};

// Never destroyed: its threads sleep in it until the process ends.
Pool& pool() {
    static Pool* instance = new Pool;
    return *instance;
}

}  // namespace

int thread_count() { return threads(); }

void set_thread_count(int count) {
    check(count >= 1 && count <= most_threads, "threads: {} is not between 1 and {}", count,
          most_threads);
    threads() = count;
}

namespace parallel {

void run_chunks(int64_t chunks, void (*run)(void* context, int64_t chunk), void* context) {
    constexpr int64_t most_chunks = INT32_MAX;
    if (chunks > 1 && threads() > 1 && !inside && chunks <= most_chunks) {
        std::unique_lock lock(pool().busy, std::try_to_lock);
        if (lock) {
            inside = true;
            pool().run(chunks, run, context);
            inside = false;
            return;
        }
    }
    for (int64_t chunk = 0; chunk < chunks; ++chunk) run(context, chunk);
}

}  // namespace parallel
}  // namespace ralimp
