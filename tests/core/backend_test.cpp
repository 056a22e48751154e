// What the CPU backend says of itself, and a program without another one.
#include "core/backend.h"

#include <gtest/gtest.h>

#include "core/kernels.h"
#include "core/parallel.h"
#include "core/tensor.h"
#include "tests/error_of.h"

namespace ralimp::testing {
namespace {

TEST(Backend, DescribesItselfAndCountsLaunches) {
    const std::string text = backend_description({});
    EXPECT_EQ(text.substr(0, 5), "cpu, ");
    EXPECT_NE(text.find("OpenBLAS"), std::string::npos);
    // llm.c#691: a program that ran on one core did not say so.
    const int threads = thread_count();
    for (const int used : {1, 3}) {
        set_thread_count(used);
        EXPECT_NE(backend_description({}).find(fmt::format(", {} thread", used)), std::string::npos)
            << backend_description({});
    }
    set_thread_count(threads);
    const Tensor x = Tensor::zeros({3});
    const int64_t before = kernel_launches({});
    kernels({}).unary[0](x, x);
    EXPECT_EQ(kernel_launches({}), before + 1);
}

TEST(Backend, ProgramsWithoutCudaSaySo) {
    constexpr Device cuda{DeviceType::cuda, 0};
    EXPECT_EQ(device_count(DeviceType::cpu), 1);
    EXPECT_EQ(device_count(DeviceType::cuda), 0);
    for (const Thrown& error :
         {error_of([&] { kernels(cuda); }), error_of([&] { Tensor::zeros({2}).to(cuda); }),
          error_of([&] { memory_statistics(cuda); })})
        EXPECT_EQ(error.text, "this build has no backend for cuda:0; see docs/cuda.md");
}

}  // namespace
}  // namespace ralimp::testing
