// Helpers of the kernel tests: inputs of every type and layout, every instruction set of the CPU
// and other devices.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/cpu/dispatch.h"
#include "core/kernels.h"
#include "core/parallel.h"
#include "core/tensor.h"

namespace ralimp::testing {

inline const std::vector<int64_t> odd_sizes = {0, 1, 2, 3, 7, 17, 33, 257, 1000, 100003};
inline const std::vector<DType> computing_types = {DType::float32, DType::float64, DType::int64,
                                                   DType::int32, DType::uint8};

// Runs a test once for each instruction set of this processor.
class EachSimdLevel : public ::testing::TestWithParam<cpu::SimdLevel> {
protected:
    void SetUp() override { cpu::set_simd_level(GetParam()); }
    void TearDown() override {
        cpu::set_simd_level(cpu::available_simd_levels().back());
        set_thread_count(threads_);
    }

private:
    int threads_ = thread_count();
};
#define INSTANTIATE_EACH_SIMD_LEVEL(suite)                                                        \
    INSTANTIATE_TEST_SUITE_P(EachLevel, suite, ::testing::ValuesIn(cpu::available_simd_levels()), \
                             [](const ::testing::TestParamInfo<cpu::SimdLevel>& i) {              \
                                 return std::string(cpu::name_of(i.param));                       \
                             })

// Where the kernels of a test run: the CPU with an instruction set, or another device.
struct Target {
    Device device;
    cpu::SimdLevel level = cpu::SimdLevel::baseline;
};
inline std::string name_of(const Target& target) {
    return std::string(target.device.type == DeviceType::cpu ? cpu::name_of(target.level) : "cuda");
}
// Those of the test program: each program that has EachTarget tests defines it.
std::vector<Target> targets();

// The device of the test that runs, and its table.
inline Device& device() {
    static Device current;
    return current;
}
inline const Kernels& table() { return kernels(device()); }
inline Tensor empty(const Shape& shape, DType dtype = DType::float32) {
    return Tensor::empty(shape, dtype, device());
}
inline Tensor zeros(const Shape& shape, DType dtype = DType::float32) {
    return Tensor::zeros(shape, dtype, device());
}
inline Tensor ones(const Shape& shape, DType dtype = DType::float32) {
    return Tensor::ones(shape, dtype, device());
}
template <class T>
Tensor from(const std::vector<T>& values, const Shape& shape) {
    return Tensor::from(values, shape).to(device());
}

// Runs a test once for each target of the program. Its tensors are made by the functions above.
class EachTarget : public ::testing::TestWithParam<Target> {
protected:
    void SetUp() override {
        device() = GetParam().device;
        if (device().type == DeviceType::cpu) return cpu::set_simd_level(GetParam().level);
        launches_ = kernel_launches(device());
    }
    // No test may pass without the kernels of its device.
    void TearDown() override {
        if (device().type != DeviceType::cpu) {
            EXPECT_GT(kernel_launches(device()), launches_);
        }
        device() = {};
        cpu::set_simd_level(cpu::available_simd_levels().back());
        set_thread_count(threads_);
    }

private:
    int threads_ = thread_count();
    int64_t launches_ = 0;
};
#define INSTANTIATE_EACH_TARGET(suite)                                    \
    INSTANTIATE_TEST_SUITE_P(Each, suite, ::testing::ValuesIn(targets()), \
                             [](const auto& i) { return name_of(i.param); })

// Uniform values between low and high, a function of the seed; whole numbers for whole types.
inline Tensor random_values(const Shape& shape, DType dtype, double low, double high,
                            uint64_t seed) {
    const Tensor result = Tensor::empty(shape, dtype);
    dispatch("random_values", dtype, [&]<class T>(T) {
        T* data = result.data<T>();
        for (int64_t i = 0; i < result.elements(); ++i) {
            const double uniform = ralimp::random_uniform<double>({seed}, static_cast<uint64_t>(i));
            data[i] = static_cast<T>(low + (high - low) * uniform);
        }
    });
    return result.to(device());
}

// The last two axes exchanged, as a view.
inline Tensor transposed(const Tensor& x) {
    Shape shape = x.shape(), strides = x.strides();
    std::swap(shape[x.dims() - 2], shape[x.dims() - 1]);
    std::swap(strides[x.dims() - 2], strides[x.dims() - 1]);
    return x.strided_view(shape, strides);
}

// The same values in memory that is laid out with gaps and the axes in reverse order.
inline Tensor scattered_copy(const Tensor& x) {
    Shape reversed;
    for (int axis = x.dims() - 1; axis >= 0; --axis) reversed.push_back(x.shape()[axis] * 2);
    const Tensor memory = Tensor::zeros(reversed, x.dtype(), x.device());
    Shape strides;
    for (int axis = x.dims() - 1; axis >= 0; --axis) strides.push_back(2 * memory.strides()[axis]);
    const Tensor view = memory.strided_view(x.shape(), strides, x.elements() > 0 ? 1 : 0);
    view.copy_from(x);
    return view;
}

// The same view of a copy of all its memory on the host.
inline Tensor on_host(const Tensor& x) {
    if (x.device().type == DeviceType::cpu) return x;
    const auto count = static_cast<int64_t>(x.storage()->size() / bytes_of(x.dtype()));
    const Tensor memory = x.strided_view({count}, {1}, -x.offset()).to(Device{});
    return memory.strided_view(x.shape(), x.strides(), x.offset());
}

// Element by element in row-major order, without any kernel that copies views.
inline std::vector<double> plain_doubles(const Tensor& view) {
    const Tensor x = on_host(view);
    std::vector<double> values;
    dispatch("plain_doubles", x.dtype(), [&]<class T>(T) {
        for (int64_t i = 0; i < x.elements(); ++i) {
            int64_t offset = 0, rest = i;
            for (int axis = x.dims() - 1; axis >= 0; --axis) {
                offset += rest % x.shape()[axis] * x.strides()[axis];
                rest /= x.shape()[axis];
            }
            values.push_back(static_cast<double>(x.data<T>()[offset]));
        }
    });
    return values;
}

// Bit for bit the same, NaN and the sign of zero included.
inline bool same_bits(const Tensor& a, const Tensor& b) {
    if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
    const Tensor left = on_host(a).contiguous(), right = on_host(b).contiguous();
    return a.elements() == 0 ||
           std::memcmp(left.data(), right.data(),
                       static_cast<std::size_t>(a.elements()) * bytes_of(a.dtype())) == 0;
}

}  // namespace ralimp::testing
