#include "core/denormals.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace ralimp {
namespace {

// In a thread of its own, as other tests look at denormal numbers.
TEST(FlushDenormals, OfThisThreadAndThoseItStarts) {
    const auto halved = [] {
        volatile double smallest = std::numeric_limits<double>::min(), half = 0.5;
        volatile float smallest_float = std::numeric_limits<float>::min(), half_float = 0.5f;
        return smallest * half + static_cast<double>(smallest_float * half_float) * 1e300;
    };
    const auto denormal_operand = [] {
        volatile float denormal = std::numeric_limits<float>::denorm_min(), large = 1e30f;
        return denormal * large;
    };
    EXPECT_GT(halved(), 0);
    EXPECT_GT(denormal_operand(), 0);
    double in_thread = -1, in_inner = -1;
    float operand = -1;
    std::thread([&] {
        flush_denormals();
        in_thread = halved();
        std::thread([&] {
            in_inner = halved();
            operand = denormal_operand();
        }).join();
    }).join();
#ifdef __SSE2__
    EXPECT_EQ(in_thread, 0);
    EXPECT_EQ(in_inner, 0);
    EXPECT_EQ(operand, 0);
#endif
    EXPECT_GT(halved(), 0);
}

}  // namespace
}  // namespace ralimp
