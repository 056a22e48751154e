// Work split into chunks of fixed size, so that no result depends on the number of threads.
#pragma once
#include <cstdint>

namespace ralimp {

// Threads a parallel loop uses: OMP_NUM_THREADS or the number of cores, or what was set here.
int thread_count();
void set_thread_count(int threads);

// Calls f(begin, end) for [0, grain), [grain, 2 grain), … up to count, on several threads when
// there is more than one chunk. Inside another parallel loop it runs on the calling thread. An
// exception thrown by f is rethrown here (the first one by chunk order).
template <class F>
void parallel_for(int64_t count, int64_t grain, F&& f);

}  // namespace ralimp

#include <omp.h>

#include <exception>

namespace ralimp {

template <class F>
void parallel_for(int64_t count, int64_t grain, F&& f) {
    if (count <= 0) return;
    const int64_t chunks = (count + grain - 1) / grain;
    if (chunks == 1 || thread_count() == 1 || omp_in_parallel()) {
        for (int64_t begin = 0; begin < count; begin += grain)
            f(begin, begin + grain < count ? begin + grain : count);
        return;
    }
    std::exception_ptr error;
    int64_t failed_chunk = chunks;
#pragma omp parallel for schedule(static) num_threads(thread_count())
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        const int64_t begin = chunk * grain;
        try {
            f(begin, begin + grain < count ? begin + grain : count);
        } catch (...) {
#pragma omp critical(ralimp_parallel_error)
            if (chunk < failed_chunk) {
                failed_chunk = chunk;
                error = std::current_exception();
            }
        }
    }
    if (error) std::rethrow_exception(error);
}

}  // namespace ralimp
