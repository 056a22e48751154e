// The kernel tests of this program run on the CPU with every instruction set.
#include "tests/core/kernel_testing.h"

namespace ralimp::testing {

std::vector<Target> targets() {
    std::vector<Target> all;
    for (const cpu::SimdLevel level : cpu::available_simd_levels())
        all.push_back({Device{}, level});
    return all;
}

}  // namespace ralimp::testing
