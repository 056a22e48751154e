// Helpers of the kernel tests: inputs of every type and layout, and every instruction set.
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
    return result;
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
    const Tensor memory = Tensor::zeros(reversed, x.dtype());
    Shape strides;
    for (int axis = x.dims() - 1; axis >= 0; --axis) strides.push_back(2 * memory.strides()[axis]);
    const Tensor view = memory.strided_view(x.shape(), strides, x.elements() > 0 ? 1 : 0);
    view.copy_from(x);
    return view;
}

// Element by element in row-major order, without any kernel.
inline std::vector<double> plain_doubles(const Tensor& x) {
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
    const Tensor left = a.contiguous(), right = b.contiguous();
    return a.elements() == 0 ||
           std::memcmp(left.data(), right.data(),
                       static_cast<std::size_t>(a.elements()) * bytes_of(a.dtype())) == 0;
}

}  // namespace ralimp::testing
