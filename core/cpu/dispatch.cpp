#include "core/cpu/dispatch.h"

#include <cblas.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "core/cpu/flat.h"
#include "core/parallel.h"

namespace ralimp::cpu {
namespace {

bool supported(SimdLevel level) {
    switch (level) {
        case SimdLevel::baseline:
            return true;
#if defined(__x86_64__) && !defined(BASELINE_ONLY)
        case SimdLevel::avx2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        case SimdLevel::avx512:
            return supported(SimdLevel::avx2) && __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl");
#endif
        default:
            return false;
    }
}

const Loops& loops_at(SimdLevel level) {
#if defined(__x86_64__) && !defined(BASELINE_ONLY)
    if (level == SimdLevel::avx512) return avx512::loops();
    if (level == SimdLevel::avx2) return avx2::loops();
#endif
    return baseline::loops();
}

SimdLevel level_at_start() {
    const auto available = available_simd_levels();
    const char* wish = std::getenv("RALIMP_SIMD");
    if (!wish || !*wish) return available.back();
    std::string names;
    for (SimdLevel level : available) {
        if (name_of(level) == wish) return level;
        names += (names.empty() ? "" : ", ") + std::string(name_of(level));
    }
    fail("RALIMP_SIMD: '{}' is not an instruction set of this processor; use {}", wish, names);
}

struct State {
    SimdLevel level;
    const Loops* loops;

    State() : level(level_at_start()), loops(&loops_at(level)) {
        // Threads are ours: a product is split by shape alone, each part runs on one thread. With
        // OpenMP the call below also sets OpenMP's default, so the default is read first.
        thread_count();
        openblas_set_num_threads(1);
    }
};

State& state() {
    static State instance;
    return instance;
}

std::atomic<int64_t> launches{0};

// A kernel as an entry of the table: counts the call and passes the arguments on.
template <auto kernel, class Signature = decltype(kernel)>
struct Counted;
template <auto kernel, class... Args>
struct Counted<kernel, void (*)(Args...)> {
    static void run(Args... args) {
        launches.fetch_add(1, std::memory_order_relaxed);
        kernel(args...);
    }
};
template <auto kernel, std::size_t operation, class Signature = decltype(kernel)>
struct CountedOperation;
template <auto kernel, std::size_t operation, class... Args>
struct CountedOperation<kernel, operation, void (*)(std::size_t, Args...)> {
    static void run(Args... args) {
        launches.fetch_add(1, std::memory_order_relaxed);
        kernel(operation, args...);
    }
};

template <auto kernel, class Table>
void fill_table(Table& table) {
    [&]<std::size_t... operation>(std::index_sequence<operation...>) {
        ((table[operation] = CountedOperation<kernel, operation>::run), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Table>>());
}

Kernels make_kernels() {
    Kernels table{};
    fill_table<unary>(table.unary);
    fill_table<binary>(table.binary);
    fill_table<compare>(table.compare);
    table.where = Counted<where>::run;
    table.copy = Counted<copy>::run;
    table.fill = Counted<fill>::run;
    table.reduce = Counted<reduce>::run;
    table.arg_reduce = Counted<arg_reduce>::run;
    table.matmul = Counted<matmul>::run;
    table.gather = Counted<gather>::run;
    table.scatter_add = Counted<scatter_add>::run;
    table.cumulative_sum = Counted<cumulative_sum>::run;
    table.cumulative_product = Counted<cumulative_product>::run;
    table.softmax = Counted<softmax>::run;
    table.argsort = Counted<argsort>::run;
    table.searchsorted = Counted<searchsorted>::run;
    table.activation_forward = Counted<activation_forward>::run;
    table.activation_backward = Counted<activation_backward>::run;
    table.features_forward = Counted<features_forward>::run;
    table.features_backward = Counted<features_backward>::run;
    table.count_above = Counted<count_above>::run;
    table.chain_saved_elements = chain_saved_elements;
    table.chain_forward = Counted<chain_forward>::run;
    table.chain_backward = Counted<chain_backward>::run;
    table.packed_chain = Counted<packed_chain>::run;
    table.random_uniform = Counted<random_uniform>::run;
    table.random_normal = Counted<random_normal>::run;
    table.flat = flat_kernels;
    return table;
}

}  // namespace

std::string_view name_of(SimdLevel level) {
    constexpr std::string_view names[] = {"baseline", "avx2", "avx512"};
    return names[static_cast<int>(level)];
}

std::vector<SimdLevel> available_simd_levels() {
    std::vector<SimdLevel> levels;
    for (SimdLevel level : {SimdLevel::baseline, SimdLevel::avx2, SimdLevel::avx512})
        if (supported(level)) levels.push_back(level);
    return levels;
}

SimdLevel simd_level() { return state().level; }

void set_simd_level(SimdLevel level) {
    check(supported(level), "set_simd_level: this processor has no {}", name_of(level));
    state().level = level;
    state().loops = &loops_at(level);
}

const Loops& loops() { return *state().loops; }

const Kernels& kernels() {
    static const Kernels table = [] {
        state();
        return make_kernels();
    }();
    return table;
}

int64_t kernel_launches() { return launches.load(std::memory_order_relaxed); }

std::string description() {
    kernels();
    const std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACK …"
    const std::string version = config.substr(0, config.find(' ', config.find(' ') + 1));
    const int threads = thread_count();
    return fmt::format("cpu, {}, {} {}, {} thread{}", name_of(simd_level()), version,
                       openblas_get_corename(), threads, threads == 1 ? "" : "s");
}

}  // namespace ralimp::cpu
