// Stands in for CUDA's header of this name; see emulator.h. Declares what the project uses, with
// the types that CUDA has: what does not compile here would not compile there.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "emulator.h"

#define CUDA_EMULATOR 1
#define CUDART_VERSION 13000

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
// Blocks run one after the other. Not zero at the start of a block: what the one before left.
#define __shared__ static

// ---- Of kernels ----

constexpr int warpSize = 32;

inline void __syncthreads(emulator::Place place = emulator::Place::current()) {
    emulator::wait_for_block(place);
}
inline int __syncthreads_count(int value, emulator::Place place = emulator::Place::current()) {
    return emulator::count_in_block(value != 0, place);
}
inline int __syncthreads_or(int value, emulator::Place place = emulator::Place::current()) {
    return emulator::count_in_block(value != 0, place) > 0;
}
inline int __syncthreads_and(int value, emulator::Place place = emulator::Place::current()) {
    return emulator::count_in_block(value == 0, place) == 0;
}
inline void __syncwarp(unsigned mask = 0xFFFFFFFFu,
                       emulator::Place place = emulator::Place::current()) {
    emulator::wait_for_warp(mask, place);
}
inline unsigned __ballot_sync(unsigned mask, int value,
                              emulator::Place place = emulator::Place::current()) {
    return emulator::ballot(mask, value != 0, place);
}
inline int __any_sync(unsigned mask, int value,
                      emulator::Place place = emulator::Place::current()) {
    return emulator::ballot(mask, value != 0, place) != 0;
}
inline int __all_sync(unsigned mask, int value,
                      emulator::Place place = emulator::Place::current()) {
    return emulator::ballot(mask, value == 0, place) == 0;
}

namespace emulator {
template <class T>
constexpr bool shuffles =
    std::is_same_v<T, int> || std::is_same_v<T, unsigned> || std::is_same_v<T, long> ||
    std::is_same_v<T, unsigned long> || std::is_same_v<T, long long> ||
    std::is_same_v<T, unsigned long long> || std::is_same_v<T, float> || std::is_same_v<T, double>;
template <class T>
T shuffle_value(unsigned mask, T value, unsigned source, Place place) {
    static_assert(shuffles<T>, "CUDA has no shuffle of this type");
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    bits = shuffle(mask, bits, source, place);
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}
inline unsigned lane() { return thread_in_block() % 32; }
}  // namespace emulator

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              emulator::Place place = emulator::Place::current()) {
    const unsigned segment = emulator::lane() & ~static_cast<unsigned>(width - 1);
    return emulator::shuffle_value(
        mask, value, segment + (static_cast<unsigned>(source) & static_cast<unsigned>(width - 1)),
        place);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                  emulator::Place place = emulator::Place::current()) {
    const unsigned lane = emulator::lane(), source = lane ^ static_cast<unsigned>(lane_mask);
    const unsigned end = (lane & ~static_cast<unsigned>(width - 1)) + static_cast<unsigned>(width);
    return emulator::shuffle_value(mask, value, source < end ? source : lane, place);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   emulator::Place place = emulator::Place::current()) {
    const unsigned lane = emulator::lane();
    const unsigned end = (lane & ~static_cast<unsigned>(width - 1)) + static_cast<unsigned>(width);
    return emulator::shuffle_value(mask, value, lane + delta < end ? lane + delta : lane, place);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 emulator::Place place = emulator::Place::current()) {
    const unsigned lane = emulator::lane(), begin = lane & ~static_cast<unsigned>(width - 1);
    return emulator::shuffle_value(mask, value, lane >= begin + delta ? lane - delta : lane, place);
}

inline void __threadfence() {}
inline void __threadfence_block() {}
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>(uint64_t{a} * b >> 32);
}
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
template <class T>
T __ldg(const T* pointer) {
    return *pointer;
}

namespace emulator {
template <class T, class F>
T atomic(T* pointer, F&& next) {
    pause();
    const T old = *pointer;
    *pointer = next(old);
    pause();
    return old;
}
}  // namespace emulator

// The overloads that CUDA has, no others.
#define EMULATE_ATOMIC(name, T, result)                                                   \
    inline T name(T* pointer, T value) {                                                  \
        return emulator::atomic(                                                          \
            pointer, [value]([[maybe_unused]] T old) { return static_cast<T>(result); }); \
    }
EMULATE_ATOMIC(atomicAdd, int, static_cast<unsigned>(old) + static_cast<unsigned>(value))
EMULATE_ATOMIC(atomicAdd, unsigned, old + value)
EMULATE_ATOMIC(atomicAdd, unsigned long long, old + value)
EMULATE_ATOMIC(atomicAdd, float, old + value)
EMULATE_ATOMIC(atomicAdd, double, old + value)
EMULATE_ATOMIC(atomicMax, int, old > value ? old : value)
EMULATE_ATOMIC(atomicMax, unsigned, old > value ? old : value)
EMULATE_ATOMIC(atomicMax, long long, old > value ? old : value)
EMULATE_ATOMIC(atomicMax, unsigned long long, old > value ? old : value)
EMULATE_ATOMIC(atomicMin, int, old < value ? old : value)
EMULATE_ATOMIC(atomicMin, unsigned, old < value ? old : value)
EMULATE_ATOMIC(atomicMin, long long, old < value ? old : value)
EMULATE_ATOMIC(atomicMin, unsigned long long, old < value ? old : value)
EMULATE_ATOMIC(atomicExch, int, value)
EMULATE_ATOMIC(atomicExch, unsigned, value)
EMULATE_ATOMIC(atomicExch, unsigned long long, value)
EMULATE_ATOMIC(atomicExch, float, value)
EMULATE_ATOMIC(atomicOr, int, old | value)
EMULATE_ATOMIC(atomicOr, unsigned, old | value)
EMULATE_ATOMIC(atomicOr, unsigned long long, old | value)
EMULATE_ATOMIC(atomicAnd, int, old& value)
EMULATE_ATOMIC(atomicAnd, unsigned, old& value)
EMULATE_ATOMIC(atomicAnd, unsigned long long, old& value)
#undef EMULATE_ATOMIC
#define EMULATE_COMPARE_AND_SWAP(T)                                                       \
    inline T atomicCAS(T* pointer, T expected, T value) {                                 \
        return emulator::atomic(                                                          \
            pointer, [expected, value](T old) { return old == expected ? value : old; }); \
    }
EMULATE_COMPARE_AND_SWAP(int)
EMULATE_COMPARE_AND_SWAP(unsigned)
EMULATE_COMPARE_AND_SWAP(unsigned long long)
#undef EMULATE_COMPARE_AND_SWAP

// ---- Of host code ----

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
};
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

struct cudaDeviceProp {
    char name[256];
    std::size_t totalGlobalMem;
    std::size_t sharedMemPerBlock;
    std::size_t sharedMemPerBlockOptin;
    int multiProcessorCount;
    int major, minor;
};
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDriverGetVersion(int* version);

namespace emulator {
struct Stream;
struct Event;
}  // namespace emulator
using cudaStream_t = emulator::Stream*;
using cudaEvent_t = emulator::Event*;
constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0, cudaEventDisableTiming = 2;
constexpr unsigned cudaHostAllocDefault = 0;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
};
cudaError_t cudaMalloc(void** pointer, std::size_t bytes);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaMemcpyAsync(void* out, const void* in, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpyPeerAsync(void* out, int out_device, const void* in, int in_device,
                                std::size_t bytes, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* out, int value, std::size_t bytes, cudaStream_t stream);

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
struct cudaLaunchAttribute;
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    std::size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned numAttrs;
};

namespace emulator {

// From here on in the stream, only the first bytes of a block of device memory may be used. Nothing
// without AddressSanitizer.
void guard_block(void* pointer, std::size_t block_bytes, std::size_t usable_bytes,
                 cudaStream_t stream);

cudaError_t set_dynamic_shared_limit(const void* kernel, int bytes);
// What is wrong with a launch, before anything of it runs.
cudaError_t check_launch(const cudaLaunchConfig_t& config, const void* kernel);
// Throws Failure unless the pointer is null or points into, or at the end of, live memory of the
// stream's device.
void check_argument(const cudaLaunchConfig_t& config, int position, const void* pointer);
void enqueue(const cudaLaunchConfig_t& config, std::function<void()> body);

// What a kernel gets for an argument.
template <class T>
T argument(const cudaLaunchConfig_t& config, int position, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>, "kernel arguments are copied byte by byte");
    if constexpr (std::is_pointer_v<T>) {
        check_argument(config, position, value);
        return static_cast<T>(accessible(value));
    } else {
        return value;
    }
}

}  // namespace emulator

template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute, int bytes) {
    return emulator::set_dynamic_shared_limit(reinterpret_cast<const void*>(kernel), bytes);
}

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
    const cudaError_t error =
        emulator::check_launch(*config, reinterpret_cast<const void*>(kernel));
    if (error != cudaSuccess) return error;
    std::tuple<Parameters...> values = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple<Parameters...>{emulator::argument(
            *config, static_cast<int>(I) + 1, static_cast<const Parameters&>(arguments))...};
    }
    (std::index_sequence_for<Parameters...>{});
    emulator::enqueue(*config, [kernel, values] { std::apply(kernel, values); });
    return cudaSuccess;
}
