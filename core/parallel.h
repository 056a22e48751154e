// Work split into chunks of fixed size, so that no result depends on the number of threads.
#pragma once
#include <cstdint>
#include <exception>
#include <mutex>
#include <type_traits>

namespace ralimp {

// Threads a parallel loop uses: OMP_NUM_THREADS or the number of cores, or what was set here.
int thread_count();
void set_thread_count(int threads);

// Calls f(begin, end) for [0, grain), [grain, 2 grain), … up to count, on several threads when
// there is more than one chunk. Inside another parallel loop, and while another thread runs one, it
// runs on the calling thread. An exception thrown by f is rethrown here (the first one by chunk
// order).
template <class F>
void parallel_for(int64_t count, int64_t grain, F&& f);

namespace parallel {

// Calls run(context, chunk) for every chunk of 0 … chunks-1; run must not throw.
void run_chunks(int64_t chunks, void (*run)(void* context, int64_t chunk), void* context);

}  // namespace parallel

template <class F>
void parallel_for(int64_t count, int64_t grain, F&& f) {
    if (count <= 0) return;
    const int64_t chunks = (count + grain - 1) / grain;
    if (chunks == 1) return f(int64_t{0}, count);
    struct Context {
        std::remove_reference_t<F>& f;
        int64_t count, grain, failed_chunk;
        std::mutex mutex;
        std::exception_ptr error;
    } context{f, count, grain, chunks, {}, {}};
    const auto run = [](void* pointer, int64_t chunk) {
        auto& c = *static_cast<Context*>(pointer);
        const int64_t begin = chunk * c.grain;
        try {
            c.f(begin, begin + c.grain < c.count ? begin + c.grain : c.count);
        } catch (...) {
            std::lock_guard lock(c.mutex);
            if (chunk < c.failed_chunk) {
                c.failed_chunk = chunk;
                c.error = std::current_exception();
            }
        }
    };
    parallel::run_chunks(chunks, run, &context);
    if (context.error) std::rethrow_exception(context.error);
}

}  // namespace ralimp
