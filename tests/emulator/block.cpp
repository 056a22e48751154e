// Blocks of threads as fibers.
#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "emulator.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace emulator {
namespace {

constexpr std::size_t stack_bytes = 256 << 10, guard_bytes = 4096;
constexpr unsigned warp_size = 32;

void fiber_main();

// A stack of its own on which threads run, one after the other.
#if defined(__x86_64__)
// Saves the registers that a call preserves and the stack pointer, and goes on where `to` stopped.
extern "C" void emulator_switch_stack(void** from, void* to);
asm(R"(
.text
.type emulator_switch_stack, @function
emulator_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size emulator_switch_stack, .-emulator_switch_stack
)");

class Context {
public:
    void start(char* stack) {
        // Six registers, the function that ret goes to, and the return address it would find.
        void** top = reinterpret_cast<void**>(stack + stack_bytes);
        top[-1] = nullptr;
        top[-2] = reinterpret_cast<void*>(&fiber_main);
        std::fill(top - 8, top - 2, nullptr);
        pointer_ = top - 8;
    }
    void switch_to(Context& next) { emulator_switch_stack(&pointer_, next.pointer_); }

private:
    void* pointer_ = nullptr;
};
#else
class Context {
public:
    void start(char* stack) {
        getcontext(&context_);
        context_.uc_stack = {stack, 0, stack_bytes};
        context_.uc_link = nullptr;
        makecontext(&context_, fiber_main, 0);
    }
    void switch_to(Context& next) { swapcontext(&context_, &next.context_); }

private:
    ucontext_t context_;
};
#endif

struct Fiber {
    Context context;
    char* stack;
    void* fake_stack = nullptr;  // of AddressSanitizer

    // Never given back: the pool of them lives as long as the program.
    Fiber() {
        void* memory = mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        mprotect(memory, guard_bytes, PROT_NONE);
        stack = static_cast<char*>(memory) + guard_bytes;
        start();
    }
    void start() {
#if defined(__SANITIZE_ADDRESS__)
        __asan_unpoison_memory_region(stack, stack_bytes);  // frames of a thread that was given up
#endif
        context.start(stack);
        fake_stack = nullptr;
    }
};

struct Thread {
    enum State : uint8_t { ready, at_block, at_warp, done };
    enum Kind : uint8_t { synchronise, exchange, vote };

    State state = ready;
    Kind kind = synchronise;  // of the warp function
    uint8_t source = 0;       // lane to read from
    unsigned mask = 0;
    uint64_t value = 0, result = 0;
    Place place;
    Fiber* fiber = nullptr;
};

uint64_t mixed(uint64_t x) {  // SplitMix64
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

struct Block {
    const Launch* launch = nullptr;
    std::vector<Thread> threads;
    std::vector<unsigned> ready;
    unsigned current = 0, waiting = 0, returned = 0;
    int counted = 0, count = 0;
    std::exception_ptr error;
    uint64_t random_state = 0;
    std::byte* shared = nullptr;

    std::vector<std::unique_ptr<Fiber>> fibers;
    std::vector<Fiber*> idle;
    Context host;
    const void* host_bottom = nullptr;
    std::size_t host_size = 0;
    void* host_fake_stack = nullptr;

    unsigned draw(unsigned end) {
        return static_cast<unsigned>((mixed(++random_state) >> 32) * end >> 32);
    }
};

Block block;
uint64_t seed_in_use = [] {
    const char* text = std::getenv("CUDA_EMULATOR_SEED");
    return text ? std::strtoull(text, nullptr, 10) : 1;
}();
int64_t kernel_count = 0, switch_count = 0;

std::string place_text(const Place& place) {
    const std::string file = place.file_name();
    return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), place.line());
}

bool same(const Place& a, const Place& b) {
    return a.line() == b.line() && a.column() == b.column() &&
           (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

[[noreturn]] void fail(const std::string& what) {
    throw Failure(fmt::format("{}: block ({}, {}, {}): {}", block.launch->name, blockIdx.x,
                              blockIdx.y, blockIdx.z, what));
}

[[noreturn]] void fail_in_thread(const Place& place, const std::string& what) {
    fail(fmt::format("thread ({}, {}, {}): {}: {}", threadIdx.x, threadIdx.y, threadIdx.z,
                     place_text(place), what));
}

void to_fiber(Fiber& fiber) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&block.host_fake_stack, fiber.stack, stack_bytes);
#endif
    block.host.switch_to(fiber.context);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(block.host_fake_stack, nullptr, nullptr);
#endif
}

void to_host(Fiber& fiber) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&fiber.fake_stack, block.host_bottom, block.host_size);
#endif
    fiber.context.switch_to(block.host);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fiber.fake_stack, &block.host_bottom, &block.host_size);
#endif
}

// Each round is one thread of a block from its start to its end.
void fiber_main() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &block.host_bottom, &block.host_size);
#endif
    for (;;) {
        try {
            block.launch->body();
        } catch (...) {
            block.error = std::current_exception();
        }
        Thread& thread = block.threads[block.current];
        thread.state = Thread::done;
        ++block.returned;
        to_host(*thread.fiber);
    }
}

Thread& me() { return block.threads[block.current]; }

void release(unsigned thread) {
    block.threads[thread].state = Thread::ready;
    block.ready.push_back(thread);
}

void stop() {
    ++switch_count;
    to_host(*me().fiber);
}

// Lets the block go on when its last thread has come to the barrier.
void open_block_barrier() {
    for (const Thread& thread : block.threads)
        if (!same(thread.place, block.threads[0].place))
            fail(fmt::format("its threads wait at different barriers, {} and {}",
                             place_text(block.threads[0].place), place_text(thread.place)));
    block.waiting = 0;
    block.count = block.counted;
    block.counted = 0;
    for (unsigned i = 0; i < block.threads.size(); ++i) release(i);
}

// Joins a warp function; returns when all lanes of the mask are there.
uint64_t join_warp(Thread::Kind kind, unsigned mask, uint64_t value, unsigned source,
                   const Place& place) {
    Thread& thread = me();
    const unsigned first = block.current / warp_size * warp_size, lane = block.current % warp_size;
    if (!(mask >> lane & 1))
        fail_in_thread(place, fmt::format("lane {} is not in its own mask {:#x}", lane, mask));
    thread.kind = kind;
    thread.mask = mask;
    thread.value = value;
    thread.source = static_cast<uint8_t>(source);
    thread.place = place;
    thread.state = Thread::at_warp;

    unsigned present = 0;
    for (unsigned i = 0; i < warp_size && first + i < block.threads.size(); ++i) {
        if (!(mask >> i & 1)) continue;
        const Thread& other = block.threads[first + i];
        if (other.state == Thread::done) continue;  // the others do not wait for it
        if (other.state != Thread::at_warp || other.mask != mask) {
            stop();
            return me().result;
        }
        present |= 1u << i;
    }
    unsigned votes = 0;
    for (unsigned i = 0; i < warp_size; ++i) {
        if (!(present >> i & 1)) continue;
        const Thread& other = block.threads[first + i];
        if (other.kind != kind || !same(other.place, place))
            fail_in_thread(place, fmt::format("lane {} of the same mask is at {}", i,
                                              place_text(other.place)));
        if (other.value) votes |= 1u << i;
    }
    for (unsigned i = 0; i < warp_size; ++i) {
        if (!(present >> i & 1)) continue;
        Thread& other = block.threads[first + i];
        if (kind == Thread::exchange) {
            if (!(present >> other.source & 1))
                fail_in_thread(place, fmt::format("lane {} reads lane {}, which does not take part",
                                                  i, int{other.source}));
            other.result = block.threads[first + other.source].value;
        } else {
            other.result = votes;
        }
        release(first + i);
    }
    stop();
    return me().result;
}

void fail_without_ready_threads() {
    std::string text;
    for (const auto& [state, function] : {std::pair{Thread::at_block, "a barrier of the block"},
                                          std::pair{Thread::at_warp, "a function of the warp"}}) {
        const auto is_there = [&](const Thread& thread) { return thread.state == state; };
        const auto count = std::count_if(block.threads.begin(), block.threads.end(), is_there);
        if (count == 0) continue;
        const auto first = std::find_if(block.threads.begin(), block.threads.end(), is_there);
        text += fmt::format("{} of {} threads wait at {} ({}), ", count, block.threads.size(),
                            function, place_text(first->place));
    }
    fail(fmt::format("{}{} have returned", text, block.returned));
}

void run_threads() {
    while (!block.ready.empty()) {
        const unsigned at = block.draw(static_cast<unsigned>(block.ready.size()));
        const unsigned next = block.ready[at];
        block.ready[at] = block.ready.back();
        block.ready.pop_back();
        block.current = next;
        const dim3& size = block.launch->block;
        threadIdx = {next % size.x, next / size.x % size.y, next / (size.x * size.y)};
        Thread& thread = block.threads[next];
        if (!thread.fiber) {
            if (block.idle.empty()) {
                block.fibers.push_back(std::make_unique<Fiber>());
                block.idle.push_back(block.fibers.back().get());
            }
            thread.fiber = block.idle.back();
            block.idle.pop_back();
        }
        to_fiber(*thread.fiber);
        if (thread.state == Thread::done) block.idle.push_back(thread.fiber);
        if (block.error) std::rethrow_exception(block.error);
    }
    if (block.returned != block.threads.size()) fail_without_ready_threads();
}

// After a failure threads are left in the middle of the kernel: their stacks start afresh.
void give_up() {
    block.idle.clear();
    for (const auto& fiber : block.fibers) {
        fiber->start();
        block.idle.push_back(fiber.get());
    }
    block.error = nullptr;
}

struct FreeShared {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{128}); }
};

}  // namespace

uint64_t seed() { return seed_in_use; }
void set_seed(uint64_t value) { seed_in_use = value; }
int64_t kernels_run() { return kernel_count; }
int64_t switches() { return switch_count; }

void run(const Launch& launch) {
    ++kernel_count;
    block.launch = &launch;
    blockDim = launch.block;
    gridDim = launch.grid;
    const unsigned count = launch.block.x * launch.block.y * launch.block.z;
    // Of the size asked for, so that AddressSanitizer sees what is beyond it.
    const std::unique_ptr<std::byte, FreeShared> shared(
        static_cast<std::byte*>(::operator new (launch.shared_bytes, std::align_val_t{128})));
    block.shared = shared.get();

    std::vector<uint64_t> order(uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z);
    for (uint64_t i = 0; i < order.size(); ++i) order[i] = i;
    block.random_state = mixed(seed_in_use);
    for (uint64_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[mixed(++block.random_state) % i]);
    try {
        for (const uint64_t index : order) {
            blockIdx = {static_cast<unsigned>(index % launch.grid.x),
                        static_cast<unsigned>(index / launch.grid.x % launch.grid.y),
                        static_cast<unsigned>(index / launch.grid.x / launch.grid.y)};
            block.threads.assign(count, Thread{});
            block.ready.resize(count);
            for (unsigned i = 0; i < count; ++i) block.ready[i] = i;
            block.waiting = block.returned = 0;
            block.counted = block.count = 0;
            if (launch.shared_bytes > 0) std::memset(block.shared, 0xFF, launch.shared_bytes);
            run_threads();
        }
    } catch (...) {
        give_up();
        throw;
    }
}

int count_in_block(bool value, Place place) {
    Thread& thread = me();
    thread.state = Thread::at_block;
    thread.place = place;
    block.counted += value;
    if (++block.waiting == block.threads.size()) open_block_barrier();
    stop();
    return block.count;
}
void wait_for_block(Place place) { count_in_block(false, place); }

void wait_for_warp(unsigned mask, Place place) {
    join_warp(Thread::synchronise, mask, 0, 0, place);
}
uint64_t shuffle(unsigned mask, uint64_t value, unsigned source_lane, Place place) {
    return join_warp(Thread::exchange, mask, value, source_lane, place);
}
unsigned ballot(unsigned mask, bool value, Place place) {
    return static_cast<unsigned>(join_warp(Thread::vote, mask, value, 0, place));
}
unsigned thread_in_block() { return block.current; }

void pause() {
    if (block.draw(4) != 0) return;
    block.ready.push_back(block.current);
    stop();
}

std::byte* dynamic_shared_memory() { return block.shared; }

}  // namespace emulator
