// Memory of the emulated devices: for each a range of addresses that nobody can touch, for the
// pointers that the program sees, and the same range open elsewhere, for kernels and copies.
#include <fmt/core.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>

#include "emulator.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) (static_cast<void>(0))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) (static_cast<void>(0))
#endif

namespace emulator {
namespace {

constexpr int most_devices = 2;
constexpr std::size_t alignment = 256;

struct Arena {
    std::byte* base = nullptr;
    std::byte* open = nullptr;
    std::size_t end = 0;  // nothing was ever allocated from here on
    std::size_t active = 0;
    std::map<std::size_t, std::size_t> live, unused;  // bytes by offset, guards not counted
};

Arena arenas[most_devices];
std::size_t limit = device_bytes;

#if !defined(__SANITIZE_ADDRESS__)
struct sigaction previous_action;

// Only calls that a signal handler may make.
void explain_fault(int signal, siginfo_t* info, void* context) {
    if (device_of(info->si_addr) >= 0) {
        const char text[] =
            "cuda emulator: device memory was touched by host code, which must copy it first, or "
            "by a "
            "kernel through a pointer that is not an argument of its own\n";
        [[maybe_unused]] const auto written = write(STDERR_FILENO, text, sizeof(text) - 1);
    }
    if (previous_action.sa_flags & SA_SIGINFO)
        return previous_action.sa_sigaction(signal, info, context);
    sigaction(signal, &previous_action, nullptr);  // the instruction faults again, as if untouched
}
#endif

Arena& arena_of(int device) {
    Arena& arena = arenas[device];
    if (arena.base) return arena;
    const int file = memfd_create("cuda emulator", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(device_bytes)) != 0) throw std::bad_alloc();
    void* base =
        mmap(nullptr, device_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void* open =
        mmap(nullptr, device_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    close(file);
    if (base == MAP_FAILED || open == MAP_FAILED) throw std::bad_alloc();
    arena.base = static_cast<std::byte*>(base);
    arena.open = static_cast<std::byte*>(open);
#if !defined(__SANITIZE_ADDRESS__)
    static const bool installed = [] {
        struct sigaction action {};
        action.sa_sigaction = explain_fault;
        action.sa_flags = SA_SIGINFO;
        return sigaction(SIGSEGV, &action, &previous_action) == 0;
    }();
    static_cast<void>(installed);
#endif
    return arena;
}

}  // namespace

void* accessible(const void* pointer) {
    const int device = device_of(pointer);
    if (device < 0) return const_cast<void*>(pointer);
    const Arena& arena = arenas[device];
    return arena.open + (static_cast<const std::byte*>(pointer) - arena.base);
}

int device_of(const void* pointer) {
    const auto* address = static_cast<const std::byte*>(pointer);
    for (int device = 0; device < most_devices; ++device) {
        const Arena& arena = arenas[device];
        if (arena.base && address >= arena.base && address < arena.base + device_bytes)
            return device;
    }
    return -1;
}

void* allocate(std::size_t bytes, int device) {
    Arena& arena = arena_of(device);
    if (bytes > device_bytes) return nullptr;
    // Each block is followed by a guard of the size of the alignment.
    const std::size_t taken = (bytes + alignment - 1) / alignment * alignment + alignment;
    if (arena.active + taken > limit) return nullptr;
    const auto hole = std::find_if(arena.unused.begin(), arena.unused.end(),
                                   [&](const auto& block) { return block.second >= taken; });
    std::size_t offset;
    if (hole != arena.unused.end()) {
        offset = hole->first;
        const std::size_t rest = hole->second - taken;
        arena.unused.erase(hole);
        if (rest > 0) arena.unused[offset + taken] = rest;
    } else {
        if (arena.end + taken > device_bytes) return nullptr;
        offset = arena.end;
        arena.end += taken;
    }
    arena.live[offset] = bytes;
    arena.active += taken;
    std::byte* memory = arena.open + offset;
    ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
    ASAN_POISON_MEMORY_REGION(memory + bytes, taken - bytes);
    std::memset(memory, 0xFF, bytes);
    return arena.base + offset;
}

bool deallocate(void* pointer) {
    const int device = device_of(pointer);
    if (device < 0) return false;
    Arena& arena = arenas[device];
    const auto block =
        arena.live.find(static_cast<std::size_t>(static_cast<std::byte*>(pointer) - arena.base));
    if (block == arena.live.end()) return false;
    std::size_t offset = block->first;
    std::size_t bytes = (block->second + alignment - 1) / alignment * alignment + alignment;
    arena.live.erase(block);
    arena.active -= bytes;
    ASAN_POISON_MEMORY_REGION(arena.open + offset, bytes);
    // Joined with its unused neighbours.
    const auto after = arena.unused.find(offset + bytes);
    if (after != arena.unused.end()) {
        bytes += after->second;
        arena.unused.erase(after);
    }
    auto before = arena.unused.lower_bound(offset);
    if (before != arena.unused.begin() && (--before)->first + before->second == offset)
        before->second += bytes;
    else
        arena.unused[offset] = bytes;
    return true;
}

void set_device_limit(std::size_t bytes) { limit = bytes; }

std::size_t free_bytes(int device) { return limit - arena_of(device).active; }

bool is_device_memory(const void* pointer, std::size_t bytes, int device) {
    const Arena& arena = arenas[device];
    if (device_of(pointer) != device) return false;
    const auto offset =
        static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - arena.base);
    auto block = arena.live.upper_bound(offset);
    if (block == arena.live.begin()) return false;
    --block;
    return offset + bytes <= block->first + block->second;
}

}  // namespace emulator
