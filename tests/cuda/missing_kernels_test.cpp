// What the CUDA backend does not have yet.
#include <gtest/gtest.h>

#include "core/backend.h"
#include "core/kernels.h"
#include "core/tensor.h"
#include "tests/error_of.h"

namespace ralimp::gpu {
const std::vector<std::string>& missing_kernels();  // core/cuda/kernels.h
}

namespace ralimp::testing {
namespace {

constexpr Device cuda{DeviceType::cuda, 0};

// Whoever writes a kernel takes its name from this list, and adds its tests in
// tests/CMakeLists.txt.
TEST(MissingKernels, AreThese) {
    EXPECT_EQ(
        gpu::missing_kernels(),
        (std::vector<std::string>{
            "matmul", "activation_forward", "activation_backward", "features_forward",
            "features_backward", "count_above", "chain_saved_elements", "chain_forward",
            "chain_backward", "packed_chain", "flat.sgd", "flat.adam", "flat.dot",
            "flat.sum_of_magnitudes", "flat.largest_magnitude", "flat.combine", "flat.rank_two"}));
}

TEST(MissingKernels, SaySo) {
    if (gpu::missing_kernels().empty()) return;
    const Tensor x = Tensor::ones({3}, DType::float32, cuda);
    EXPECT_EQ(error_of([&] { kernels(cuda).count_above(x, x, 0); }).text,
              "not on cuda yet: count_above");
}

// No entry may be null: every pointer of the table is a function. The table is nothing but
// pointers.
TEST(MissingKernels, EveryEntryIsAFunction) {
    const auto* entries = reinterpret_cast<void* const*>(&kernels(cuda));
    for (std::size_t i = 0; i < sizeof(Kernels) / sizeof(void*); ++i)
        EXPECT_NE(entries[i], nullptr) << "entry " << i;
}

}  // namespace
}  // namespace ralimp::testing
