// The tests of the CUDA backend, on device cuda:0: the emulated one or the machine's own.
#include <gtest/gtest.h>

#include <cstdio>

#include "core/backend.h"
#include "tests/autograd/operation_checks.h"
#include "tests/core/kernel_testing.h"

namespace ralimp::testing {

std::vector<Target> targets() { return {{{DeviceType::cuda, 0}}}; }
Device operation_device() { return {DeviceType::cuda, 0}; }

}  // namespace ralimp::testing

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (!testing::GTEST_FLAG(list_tests) && ralimp::device_count(ralimp::DeviceType::cuda) == 0) {
        std::puts("skipped: this machine has no CUDA device");
        return 77;
    }
    return RUN_ALL_TESTS();
}
