#include "core/parallel.h"

#include "core/error.h"

namespace ralimp {
namespace {
int& threads() {
    static int count = omp_get_max_threads();
    return count;
}
}  // namespace

int thread_count() { return threads(); }

void set_thread_count(int count) {
    check(count >= 1 && count <= 4096, "threads: {} is not between 1 and 4096", count);
    threads() = count;
}

}  // namespace ralimp
