// The only way to start a kernel: launch(), which names it, counts it and checks the result. No
// <<<>>> anywhere. Dynamic shared memory comes from dynamic_shared() alone. The same code compiles
// against the emulator in tests/emulator.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace ralimp::gpu {

// Throws Error "operation: what CUDA says" unless it is a success.
void check_cuda(cudaError_t error, const char* operation);

// Kernels started since the start of the program, on all devices.
int64_t launches();

namespace launching {
void count();
// With RALIMP_CUDA_SYNCHRONIZE=1 waits for the kernel, so that what failed in it is told of it and
// not of a later call.
void finish(const char* name, cudaError_t error, cudaStream_t stream);
constexpr std::size_t shared_bytes_without_asking = 48 << 10;
}  // namespace launching

// The arguments are converted to the parameters of the kernel. Pointers are arguments of their own,
// not members of structs, so that the emulator can check each.
template <class... Parameters, class... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
            std::size_t shared_bytes, cudaStream_t stream, const Arguments&... arguments) {
    if (shared_bytes > launching::shared_bytes_without_asking)
        check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(shared_bytes)),
                   name);
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
#if defined(CUDA_EMULATOR)
    emulator::next_kernel = name;
#endif
    launching::count();
    launching::finish(
        name, cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), stream);
}

// The dynamic shared memory of the block, aligned to 16 bytes; of kernels only.
template <class T>
__device__ T* dynamic_shared() {
#if defined(CUDA_EMULATOR)
    return reinterpret_cast<T*>(emulator::dynamic_shared_memory());
#else
    extern __shared__ __align__(16) unsigned char dynamic_shared_bytes[];
    return reinterpret_cast<T*>(dynamic_shared_bytes);
#endif
}

}  // namespace ralimp::gpu
