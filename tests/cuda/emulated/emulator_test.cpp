// The emulator itself: right kernels run as on a GPU under every schedule, broken ones are found.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/allocator.h"
#include "core/backend.h"
#include "core/cuda/device.h"
#include "core/cuda/launch.h"
#include "core/tensor.h"

namespace ralimp::testing {
namespace {

using gpu::launch;

constexpr Device cuda{DeviceType::cuda, 0};

Tensor zeros(int64_t count, DType dtype = DType::float32) {
    return Tensor::zeros({count}, dtype, cuda);
}
Tensor ramp(int64_t count) { return Tensor::arange(count, DType::float32).to(cuda); }

// What a launch, or waiting for it, is refused with; empty when it goes well.
template <class F>
std::string failure_of(F&& f) {
    try {
        f();
        synchronize(cuda);
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

// Calls f under many schedules.
template <class F>
void for_each_seed(F&& f) {
    const uint64_t before = emulator::seed();
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        emulator::set_seed(seed);
        f();
    }
    emulator::set_seed(before);
}

void expect_mentioned(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts)
        EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' in: " << text;
}

__global__ void write_indices(int* out) {
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned index = block * blockDim.x * blockDim.y * blockDim.z + thread;
    out[index] += static_cast<int>(index) + 1;
}

TEST(Emulator, RunsEveryThreadOfEveryBlockOnce) {
    const Tensor out = zeros(4 * 3 * 2 * 5 * 6 * 7, DType::int32);
    launch("write_indices", write_indices, dim3(4, 3, 2), dim3(5, 6, 7), 0, gpu::stream_of(cuda),
           out.data<int32_t>());
    const std::vector<int32_t> values = out.to_vector<int32_t>();
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], static_cast<int>(i) + 1);
}

// ---- A sum over the block, right and without one of its barriers ----

template <bool with_barrier>
__global__ void sum_of_block(float* out, const float* in) {
    float* partial = gpu::dynamic_shared<float>();
    partial[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        if (with_barrier) __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

double sum_by(void (*kernel)(float*, const float*)) {
    const Tensor in = ramp(128), out = zeros(1);
    launch("sum_of_block", kernel, 1, 128, 128 * sizeof(float), gpu::stream_of(cuda),
           out.data<float>(), in.data<float>());
    return out.item();
}

TEST(Emulator, ARightKernelIsRightUnderEverySchedule) {
    for_each_seed([] { EXPECT_EQ(sum_by(sum_of_block<true>), 127 * 64); });
}

TEST(Emulator, ShufflingFindsARemovedBarrier) {
    int wrong = 0;
    for_each_seed([&] { wrong += sum_by(sum_of_block<false>) != 127 * 64; });
    EXPECT_GE(wrong, 19);
}

__global__ void read_neighbour(int* out, int n) {
    __shared__ int values[64];
    values[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    // A race: the neighbour may have been overwritten, or not.
    const int next = values[(threadIdx.x + 1) % n];
    values[threadIdx.x] = 100 + next;
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x];
}

TEST(Emulator, ShufflingMakesARaceShow) {
    std::set<std::vector<int32_t>> results;
    for_each_seed([&] {
        const Tensor out = zeros(64, DType::int32);
        launch("read_neighbour", read_neighbour, 1, 64, 0, gpu::stream_of(cuda),
               out.data<int32_t>(), 64);
        results.insert(out.to_vector<int32_t>());
    });
    EXPECT_GT(results.size(), 10u);
}

TEST(Emulator, ASeedIsASchedule) {
    for (int round = 0; round < 2; ++round) {
        std::vector<std::vector<int32_t>> results;
        for_each_seed([&] {
            const Tensor out = zeros(64, DType::int32);
            launch("read_neighbour", read_neighbour, 1, 64, 0, gpu::stream_of(cuda),
                   out.data<int32_t>(), 64);
            results.push_back(out.to_vector<int32_t>());
        });
        static std::vector<std::vector<int32_t>> first;
        if (round == 0) first = results;
        EXPECT_EQ(results, first);
    }
}

// ---- Barriers that not all threads reach ----

__global__ void leave_before_the_barrier(int threads) {
    if (static_cast<int>(threadIdx.x) >= threads) return;
    __syncthreads();
}

TEST(Emulator, FindsABarrierThatSomeThreadsDoNotReach) {
    EXPECT_EQ(failure_of([] {
                  launch("leave", leave_before_the_barrier, 2, 64, 0, gpu::stream_of(cuda), 64);
              }),
              "");
    const std::string text = failure_of(
        [] { launch("leave", leave_before_the_barrier, 1, 64, 0, gpu::stream_of(cuda), 40); });
    expect_mentioned(text, {"leave: block (0, 0, 0)", "40 of 64 threads wait at a barrier",
                            "emulator_test.cpp", "24 have returned"});
    // What was left in the middle of the kernel does not disturb the next.
    EXPECT_EQ(sum_by(sum_of_block<true>), 127 * 64);
}

__global__ void wait_at_two_places() {
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();
}

TEST(Emulator, FindsBarriersAtDifferentPlaces) {
    const std::string text = failure_of(
        [] { launch("two_places", wait_at_two_places, 1, 64, 0, gpu::stream_of(cuda)); });
    expect_mentioned(text, {"two_places", "different barriers"});
}

__global__ void votes(int* out) {
    const int thread = static_cast<int>(threadIdx.x);
    out[3 * thread] = __syncthreads_count(thread % 3 == 0);
    out[3 * thread + 1] = __syncthreads_or(thread == 77);
    out[3 * thread + 2] = __syncthreads_and(thread < 77);
}

TEST(Emulator, CountsInABlock) {
    const Tensor out = zeros(300, DType::int32);
    launch("votes", votes, 1, 100, 0, gpu::stream_of(cuda), out.data<int32_t>());
    const std::vector<int32_t> values = out.to_vector<int32_t>();
    for (std::size_t i = 0; i < 100; ++i)
        EXPECT_EQ((std::vector<int32_t>(values.begin() + 3 * i, values.begin() + 3 * i + 3)),
                  (std::vector<int32_t>{34, 1, 0}));
}

// ---- Warps ----

constexpr unsigned all = 0xFFFFFFFFu;

__global__ void warp_functions(double* out, unsigned* bits) {
    const unsigned thread = threadIdx.x;
    double sum = thread;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(all, sum, step);
    float down = static_cast<float>(thread);
    for (unsigned step = 16; step > 0; step /= 2) down += __shfl_down_sync(all, down, step);
    int64_t scan = 1;
    for (unsigned step = 1; step < 32; step *= 2) {
        const int64_t other = __shfl_up_sync(all, scan, step);
        if (thread % 32 >= step) scan += other;
    }
    out[4 * thread] = sum;
    out[4 * thread + 1] = __shfl_sync(all, down, 0);
    out[4 * thread + 2] = static_cast<double>(scan);
    out[4 * thread + 3] = __shfl_xor_sync(all, static_cast<int>(thread), 3, 8);
    bits[3 * thread] = __ballot_sync(all, thread % 4 == 1);
    bits[3 * thread + 1] = static_cast<unsigned>(__any_sync(all, thread == 40));
    bits[3 * thread + 2] = static_cast<unsigned>(__all_sync(all, thread < 32));
}

TEST(Emulator, WarpFunctionsExchangeTheirValues) {
    for_each_seed([] {
        const Tensor out = zeros(4 * 64, DType::float64), bits = zeros(3 * 64, DType::int32);
        launch("warp_functions", warp_functions, 1, 64, 0, gpu::stream_of(cuda), out.data<double>(),
               reinterpret_cast<unsigned*>(bits.data<int32_t>()));
        const std::vector<double> values = out.to_vector<double>();
        const std::vector<int32_t> votes = bits.to_vector<int32_t>();
        for (std::size_t i = 0; i < 64; ++i) {
            const double first = i < 32 ? 0 : 32, sum = 32 * first + 496;
            ASSERT_EQ(values[4 * i], sum);
            ASSERT_EQ(values[4 * i + 1], sum);
            ASSERT_EQ(values[4 * i + 2], static_cast<double>(i % 32 + 1));
            ASSERT_EQ(values[4 * i + 3], static_cast<double>(i ^ 3));
            ASSERT_EQ(votes[3 * i], 0x22222222);
            ASSERT_EQ(votes[3 * i + 1], i >= 32);
            ASSERT_EQ(votes[3 * i + 2], i < 32);
        }
    });
}

__global__ void half_of_a_warp(int* out) {
    const unsigned lane = threadIdx.x;
    if (lane < 16) out[lane] = __shfl_xor_sync(0xFFFFu, static_cast<int>(lane), 1);
}
__global__ void lane_without_its_mask() { __syncwarp(threadIdx.x == 5 ? 1u : all); }
__global__ void reads_a_lane_that_left(int* out) {
    if (threadIdx.x == 3) return;
    out[threadIdx.x] = __shfl_sync(all, 1, 3);
}
__global__ void not_all_lanes_come() {
    if (threadIdx.x < 20) __syncwarp();
    __syncthreads();
}
__global__ void different_functions(int* out) {
    if (threadIdx.x < 16)
        __syncwarp();
    else
        out[0] = __shfl_sync(all, 1, 20);
}

TEST(Emulator, ChecksTheMasksOfWarpFunctions) {
    const Tensor out = zeros(64, DType::int32);
    int32_t* memory = out.data<int32_t>();
    cudaStream_t stream = gpu::stream_of(cuda);
    EXPECT_EQ(failure_of([&] { launch("half", half_of_a_warp, 1, 32, 0, stream, memory); }), "");
    EXPECT_EQ(out.to_vector<int32_t>()[15], 14);
    expect_mentioned(failure_of([&] { launch("mask", lane_without_its_mask, 1, 32, 0, stream); }),
                     {"mask: block (0, 0, 0)", "lane 5 is not in its own mask 0x1"});
    expect_mentioned(
        failure_of([&] { launch("left", reads_a_lane_that_left, 1, 32, 0, stream, memory); }),
        {"reads lane 3, which does not take part"});
    expect_mentioned(failure_of([&] { launch("some", not_all_lanes_come, 1, 32, 0, stream); }),
                     {"12 of 32 threads wait at a barrier of the block",
                      "20 of 32 threads wait at a function of the warp"});
    expect_mentioned(
        failure_of([&] { launch("mixed", different_functions, 1, 32, 0, stream, memory); }),
        {"of the same mask is at emulator_test.cpp"});
}

// ---- Memory ----

__global__ void add_one(float* out, const float* in, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = in[i] + 1;
}
// Forgets the elements behind the last whole block.
__global__ void without_tail(float* out, const float* in, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count / 32 * 32) out[i] = in[i] + 1;
}

TEST(Emulator, APoisonedResultShowsAMissingTail) {
    for (const auto& [kernel, right] :
         {std::pair{&add_one, true}, std::pair{&without_tail, false}}) {
        set_poison_memory(true);
        const Tensor in = Tensor::ones({100}, DType::float32, cuda);
        const Tensor out = Tensor::empty({100}, DType::float32, cuda);
        set_poison_memory(false);
        launch("tail", kernel, 4, 32, 0, gpu::stream_of(cuda), out.data<float>(), in.data<float>(),
               100);
        const std::vector<float> values = out.to_vector<float>();
        EXPECT_EQ(std::all_of(values.begin(), values.end(), [](float x) { return x == 2; }), right);
    }
}

TEST(Emulator, HostPointersAndFreedMemoryAreRefused) {
    const Tensor there = ramp(64), here = Tensor::zeros({64});
    cudaStream_t stream = gpu::stream_of(cuda);
    const std::string text = failure_of([&] {
        launch("add_one", add_one, 2, 32, 0, stream, there.data<float>(), here.data<float>(), 64);
    });
    expect_mentioned(text, {"add_one: argument 2", "does not point to live memory of device 0"});
    void* block = nullptr;
    ASSERT_EQ(cudaMalloc(&block, 256), cudaSuccess);
    ASSERT_EQ(cudaFree(block), cudaSuccess);
    float* freed = static_cast<float*>(block);
    expect_mentioned(
        failure_of([&] { launch("add_one", add_one, 2, 32, 0, stream, freed, freed, 64); }),
        {"argument 1"});
    const Tensor second = there.to({DeviceType::cuda, 1});
    expect_mentioned(failure_of([&] {
                         launch("add_one", add_one, 2, 32, 0, stream, there.data<float>(),
                                second.data<float>(), 64);
                     }),
                     {"argument 2", "device 0"});
    expect_mentioned(failure_of([&] {
                         static_cast<void>(cudaMemcpyAsync(here.data(), there.data(), 256,
                                                           cudaMemcpyHostToDevice, stream));
                     }),
                     {"cudaMemcpyAsync", "not in live memory"});
    EXPECT_EQ(there.to_doubles()[63], 63);
}

using EmulatorDeathTest = ::testing::Test;

TEST(EmulatorDeathTest, HostCodeCannotTouchDeviceMemory) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const Tensor x = ramp(10);
    volatile float* memory = x.data<float>();
    EXPECT_DEATH(static_cast<void>(memory[3]), "device memory|SEGV");
    EXPECT_DEATH(memory[3] = 1, "device memory|SEGV");
}

#if defined(__SANITIZE_ADDRESS__)
__global__ void beyond_shared(float* out, int index) {
    float* values = gpu::dynamic_shared<float>();
    values[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x + index];
}
__global__ void beyond_static_shared(float* out, int index) {
    __shared__ float values[32];
    values[threadIdx.x] = 1;
    __syncthreads();
    const float* pointer = values;
    out[threadIdx.x] = pointer[threadIdx.x + index];
}

TEST(EmulatorDeathTest, AddressSanitizerSeesTheEndsOfArrays) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const Tensor in = ramp(100), out = zeros(100);
    cudaStream_t stream = gpu::stream_of(cuda);
    const auto run = [&](int count) {
        launch("add_one", add_one, 4, 32, 0, stream, out.data<float>(), in.data<float>(), count);
        synchronize(cuda);
    };
    run(100);
    EXPECT_DEATH(run(101), "use-after-poison");
    for (const auto kernel : {beyond_shared, beyond_static_shared}) {
        const auto shared = [&](int index) {
            launch("beyond", kernel, 1, 32, 32 * sizeof(float), stream, out.data<float>(), index);
            synchronize(cuda);
        };
        shared(0);
        EXPECT_DEATH(shared(1), "buffer-overflow|insufficient space");
    }
}
#endif

TEST(Emulator, StreamsRunAsLateAsTheyMay) {
    const gpu::CurrentDevice current(cuda);
    cudaStream_t first = gpu::stream_of(cuda), second = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), cudaSuccess);
    const Tensor a = zeros(4), b = zeros(4);
    synchronize(cuda);
    const int64_t before = emulator::kernels_run();
    launch("add_one", add_one, 1, 32, 0, first, a.data<float>(), a.data<float>(), 4);
    EXPECT_EQ(emulator::kernels_run(), before);
    // Without waiting for the event the second stream would read zeros.
    for (const bool waits : {false, true}) {
        gpu::Event event(cuda);
        event.record(first);
        if (waits) event.hold_back(second);
        launch("add_one", add_one, 1, 32, 0, second, b.data<float>(), a.data<float>(), 4);
        ASSERT_EQ(cudaStreamSynchronize(second), cudaSuccess);
        EXPECT_EQ(emulator::kernels_run(), before + (waits ? 3 : 1));
    }
    EXPECT_EQ(b.to_doubles()[0], 2);
    ASSERT_EQ(cudaStreamDestroy(second), cudaSuccess);
}

__global__ void count_atomically(int* counts, float* sums, int* last) {
    const int thread = static_cast<int>(threadIdx.x);
    if (atomicAdd(&counts[0], 1) == static_cast<int>(gridDim.x * blockDim.x) - 1) *last = 1;
    atomicAdd(&sums[0], 0.5f);
    atomicMax(&counts[1], thread);
    atomicMin(&counts[2], -thread);
    int seen = counts[3];
    for (int old; (old = atomicCAS(&counts[3], seen, seen + 2)) != seen;) seen = old;
}

TEST(Emulator, AtomicsLoseNothing) {
    for_each_seed([] {
        const Tensor counts = zeros(4, DType::int32), sums = zeros(1),
                     last = zeros(1, DType::int32);
        const int64_t switches = emulator::switches();
        launch("count_atomically", count_atomically, 3, 100, 0, gpu::stream_of(cuda),
               counts.data<int32_t>(), sums.data<float>(), last.data<int32_t>());
        EXPECT_EQ(counts.to_vector<int32_t>(), (std::vector<int32_t>{300, 99, -99, 600}));
        EXPECT_EQ(sums.item(), 150);
        EXPECT_EQ(last.item(), 1);
        EXPECT_GT(emulator::switches(), switches);  // in the middle of them
    });
}

// ---- Launches ----

TEST(Launch, NamesTheKernelAndCounts) {
    cudaStream_t stream = gpu::stream_of(cuda);
    const Tensor x = zeros(4);
    const int64_t before = gpu::launches();
    const std::string text = failure_of([&] {
        launch("too_many_threads", add_one, 1, 1025, 0, stream, x.data<float>(), x.data<float>(),
               4);
    });
    EXPECT_EQ(text,
              "too_many_threads: invalid configuration argument "
              "(cudaErrorInvalidConfiguration)");
    expect_mentioned(failure_of([&] {
                         launch("no_blocks", add_one, 0, 32, 0, stream, x.data<float>(),
                                x.data<float>(), 4);
                     }),
                     {"no_blocks: "});
    expect_mentioned(failure_of([&] {
                         launch("no_stream", add_one, 1, 32, 0, nullptr, x.data<float>(),
                                x.data<float>(), 4);
                     }),
                     {"no_stream: invalid resource handle"});
    EXPECT_EQ(gpu::launches(), before + 3);
    static_cast<void>(cudaGetLastError());
}

__global__ void fill_shared(float* out, int count) {
    float* values = gpu::dynamic_shared<float>();
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
        values[i] = static_cast<float>(i);
    __syncthreads();
    out[threadIdx.x] = values[count - 1 - static_cast<int>(threadIdx.x)];
}

TEST(Launch, AsksForMuchSharedMemory) {
    const Tensor out = zeros(32);
    const auto run = [&](int kibibytes) {
        return failure_of([&] {
            launch("fill_shared", fill_shared, 1, 32, static_cast<std::size_t>(kibibytes) << 10,
                   gpu::stream_of(cuda), out.data<float>(), kibibytes * 256);
        });
    };
    EXPECT_EQ(run(160), "");
    EXPECT_EQ(out.to_doubles()[0], 160 * 256 - 1);
    expect_mentioned(run(164), {"fill_shared: invalid argument"});
}

TEST(Launch, ProgramsWithoutADeviceSaySo) {
    emulator::set_device_count(0);
    EXPECT_EQ(gpu::device_count(), 0);
    expect_mentioned(failure_of([] { Tensor::zeros({1}).to(cuda); }),
                     {"there is no cuda:0: this machine has 0 devices"});
    emulator::set_device_count(2);
}

}  // namespace
}  // namespace ralimp::testing
