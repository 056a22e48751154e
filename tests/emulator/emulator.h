// Runs CUDA kernels on the CPU. The headers of this folder stand in for CUDA's, so that the files
// of core/cuda compile with g++ as they are; this one is what the headers and the tests use of it.
//
// Threads of a block are fibers of one host thread; blocks run one after the other. Which ready
// thread runs next, and which block, is drawn from a seed. What is asked of a stream waits until
// something synchronises, as late as a GPU could be. Refused, with the kernel's name and the place:
// barriers that not all threads of the block reach, or at different places; warp functions without
// all lanes of their mask, or that read a lane that does not take part; kernel arguments and copies
// that point outside live device memory. Host code cannot touch device memory (SIGSEGV, with a line
// that says so): it is open at other addresses, which only kernels get in place of those of their
// pointer arguments. With AddressSanitizer its ends, freed device memory and the ends of shared
// arrays are guarded.
//
// Not emulated: the memory model (a missing fence), pointers in structs or in memory, cooperative
// grids, textures, libraries.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <stdexcept>

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    constexpr dim3(unsigned x_size = 1, unsigned y_size = 1, unsigned z_size = 1)
        : x(x_size), y(y_size), z(z_size) {}
};

namespace emulator {

using Place = std::source_location;

// What a kernel or a call did that a GPU would punish with garbage, a hang or a crash.
class Failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Schedules are a function of the seed: 1, or the environment variable CUDA_EMULATOR_SEED.
uint64_t seed();
void set_seed(uint64_t seed);
// Devices the program sees, 0 to 2; 2 at the start.
void set_device_count(int count);
// Kernels that ran so far, and how often a thread was stopped in favour of another.
int64_t kernels_run();
int64_t switches();

struct Launch {
    const char* name = "";
    dim3 grid, block;
    std::size_t shared_bytes = 0;
    std::function<void()> body;
};
// Runs all blocks of a kernel, at once.
void run(const Launch& launch);

// Of the block that runs now, for cuda_runtime.h.
void wait_for_block(Place place);
// Sum over the block of a value of each thread; a barrier as well.
int count_in_block(bool value, Place place);
void wait_for_warp(unsigned mask, Place place);
uint64_t shuffle(unsigned mask, uint64_t value, unsigned source_lane, Place place);
unsigned ballot(unsigned mask, bool value, Place place);
unsigned thread_in_block();
// Lets another thread run now and then: a place where the order of threads may show.
void pause();
std::byte* dynamic_shared_memory();

// Memory of the emulated devices.
void* allocate(std::size_t bytes, int device);  // null when the device is full
bool deallocate(void* pointer);
std::size_t free_bytes(int device);
constexpr std::size_t device_bytes = std::size_t{4} << 30;
// Devices of less memory; at most device_bytes.
void set_device_limit(std::size_t bytes);
// Whether [pointer, pointer + bytes) is part of one live allocation of the device.
bool is_device_memory(const void* pointer, std::size_t bytes, int device);
// The device whose address range the pointer is in, live or not; -1 for host memory.
int device_of(const void* pointer);
// Where kernels and copies find the memory behind a device pointer: its own address is closed to
// everyone.
void* accessible(const void* pointer);

// The name of the next kernel that this thread launches; set by core/cuda/launch.h.
inline thread_local const char* next_kernel = "kernel";

}  // namespace emulator

inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;
