// Tensors on a CUDA device: made, filled, copied to and from, read; nothing crosses devices
// unasked.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "autograd/exponential_features.h"
#include "autograd/jet.h"
#include "autograd/layer_chain.h"
#include "autograd/operations.h"
#include "core/backend.h"
#include "core/kernels.h"
#include "core/tensor.h"
#include "tests/error_of.h"

namespace ralimp::testing {
namespace {

constexpr Device cpu{}, cuda{DeviceType::cuda, 0};

Tensor ramp(const Shape& shape, DType dtype = DType::float32) {
    return Tensor::arange(shape.elements(), dtype).strided_view(shape, row_major_strides(shape));
}

TEST(DeviceTensor, CopiesThereAndBackOfEverySize) {
    // Around the pieces of 1 MiB that copies are cut into.
    for (const int64_t bytes : {0, 1, 2, 255, 256, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1,
                                (3 << 20) - 5, (4 << 20) + 3}) {
        const Tensor host = Tensor::empty({bytes}, DType::uint8);
        for (int64_t i = 0; i < bytes; ++i)
            host.data<uint8_t>()[i] = static_cast<uint8_t>(i * 37 + i / 1000);
        const Tensor there = host.to(cuda);
        EXPECT_EQ(there.device(), cuda);
        EXPECT_EQ(there.to(cpu).device(), cpu);
        EXPECT_EQ(there.to_vector<uint8_t>(), host.to_vector<uint8_t>()) << bytes;
    }
}

TEST(DeviceTensor, ToTheSameDeviceIsTheSameMemory) {
    const Tensor x = ramp({3}).to(cuda);
    EXPECT_EQ(x.to(cuda).data(), x.data());
    EXPECT_NE(x.clone().data(), x.data());
    EXPECT_EQ(x.clone().device(), cuda);
}

TEST(DeviceTensor, ViewsBecomeRowMajorOnTheirWay) {
    const Tensor x = ramp({4, 6});
    const Tensor turned = x.strided_view({6, 4}, {1, 6});
    const Tensor there = turned.to(cuda);
    EXPECT_TRUE(there.is_contiguous());
    EXPECT_EQ(there.to_doubles(), turned.to_doubles());
    const Tensor view = x.to(cuda).strided_view({6, 4}, {1, 6});
    EXPECT_FALSE(view.is_contiguous());
    EXPECT_EQ(view.to(cpu).to_doubles(), turned.to_doubles());
    EXPECT_EQ(view.contiguous().to_doubles(), turned.to_doubles());
    EXPECT_EQ(view.to_doubles(), turned.to_doubles());
    const Tensor part = x.to(cuda).strided_view({2, 3}, {-12, 2}, 13);
    EXPECT_EQ(part.to_doubles(), (std::vector<double>{13, 15, 17, 1, 3, 5}));
}

TEST(DeviceTensor, IsMadeFilledAndReadThere) {
    for (const DType dtype :
         {DType::float32, DType::float64, DType::int64, DType::int32, DType::uint8}) {
        const int64_t before = kernel_launches(cuda);
        EXPECT_EQ(Tensor::full({3, 5}, 7, dtype, cuda).to_doubles(), std::vector<double>(15, 7));
        EXPECT_GT(kernel_launches(cuda), before);
        EXPECT_EQ(Tensor::scalar(9, dtype, cuda).item(), 9);
        EXPECT_EQ(ramp({40}, dtype).to(cuda).strided_view({}, {}, 23).item(), 23);
    }
    EXPECT_EQ(Tensor::zeros({0, 4}, DType::float32, cuda).to_vector<float>().size(), 0u);
    EXPECT_THROW(Tensor::ones({2}, DType::float32, cuda).item(), Error);
    EXPECT_THROW(Tensor::ones({2}, DType::float32, cuda).to_vector<double>(), Error);
}

TEST(DeviceTensor, CopyFromCrossesDevicesBroadcastsAndConverts) {
    const Tensor there = Tensor::zeros({2, 3}, DType::int32, cuda);
    there.copy_from(Tensor::from(std::vector<double>{1.9, -2.9, 3}, {3}));
    EXPECT_EQ(there.to_vector<int32_t>(), (std::vector<int32_t>{1, -2, 3, 1, -2, 3}));
    there.copy_from(ramp({2, 3}, DType::int32));
    EXPECT_EQ(there.to_vector<int32_t>(), (std::vector<int32_t>{0, 1, 2, 3, 4, 5}));
    there.strided_view({3, 2}, {1, 3}).copy_from(ramp({3, 2}, DType::int32));
    EXPECT_EQ(there.to_vector<int32_t>(), (std::vector<int32_t>{0, 2, 4, 1, 3, 5}));
    const Tensor here = Tensor::zeros({2, 3});
    here.copy_from(there);
    EXPECT_EQ(here.to_vector<float>(), (std::vector<float>{0, 2, 4, 1, 3, 5}));
    here.strided_view({3, 2}, {1, 3}).copy_from(ramp({3, 1}).to(cuda));
    EXPECT_EQ(here.to_vector<float>(), (std::vector<float>{0, 1, 2, 0, 1, 2}));
    EXPECT_THROW(here.copy_from(Tensor::zeros({4}, DType::float32, cuda)), Error);
}

TEST(DeviceTensor, BetweenTwoDevices) {
    if (device_count(DeviceType::cuda) < 2) GTEST_SKIP() << "this machine has one CUDA device";
    constexpr Device second{DeviceType::cuda, 1};
    const Tensor x = ramp({5, 70001});
    const Tensor sum = add(x.to(cuda), x.to(cuda)).to(second);
    EXPECT_EQ(sum.device(), second);
    EXPECT_EQ(add(sum, x.to(second)).to_doubles(), multiply(x, Tensor::scalar(3)).to_doubles());
    const Tensor target = Tensor::zeros({2}, DType::float64, cuda);
    target.copy_from(Tensor::full({1}, 4, DType::float32, second));
    EXPECT_EQ(target.to_doubles(), (std::vector<double>{4, 4}));
}

// The nearest number of `digits` binary digits (ties to even) that is a multiple of 2^lowest and at
// most `largest`.
float rounded(double value, int digits, int lowest, double largest) {
    if (value == 0 || std::isinf(value)) return static_cast<float>(value);
    const int unit = std::max(std::ilogb(value) + 1 - digits, lowest);
    const double result = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
    const double limited = std::abs(result) > largest ? std::copysign(INFINITY, value) : result;
    return static_cast<float>(limited);
}

TEST(DeviceTensor, StorageTypesConvertToAndFromFloat32) {
    // Plain, halfway, the ends of float16's range and of bfloat16's, denormal, not finite.
    std::vector<float> values{0,           1,       -2.5f,     1 + 0x1p-11f, 1 + 0x3p-11f,
                              1 + 0x1p-8f, 65504,   65519,     65520,        1e30f,
                              3.4e38f,     6e-8f,   0x1p-25f,  0x1.8p-25f,   1e-5f,
                              0x1p-14f,    6.1e-5f, 0x1p-133f, INFINITY};
    for (int i = 0; i < 1000; ++i)
        values.push_back(std::ldexp(1 + static_cast<float>(i * 7919 % 1000) / 1000, i % 60 - 30));
    for (std::size_t i = 0, count = values.size(); i < count; ++i) values.push_back(-values[i]);
    const auto size = static_cast<int64_t>(values.size());
    const Tensor x = Tensor::from(values, {size}).to(cuda);
    for (const DType dtype : {DType::float16, DType::bfloat16}) {
        const Tensor narrow = Tensor::empty({size}, dtype, cuda);
        const Tensor wide = Tensor::empty({size}, DType::float32, cuda);
        narrow.copy_from(x);
        wide.copy_from(narrow);
        const std::vector<float> result = wide.to_vector<float>();
        for (std::size_t i = 0; i < values.size(); ++i)
            EXPECT_EQ(result[i], dtype == DType::float16 ? rounded(values[i], 11, -24, 65504)
                                                         : rounded(values[i], 8, -133, 0x1.FEp127))
                << name_of(dtype) << " of " << values[i];
        EXPECT_THROW(Tensor::empty({size}, DType::float64, cuda).copy_from(narrow), Error);
        narrow.copy_from(Tensor::full({}, std::nan(""), DType::float32, cuda));
        wide.copy_from(narrow);
        for (const float value : wide.to_vector<float>()) ASSERT_TRUE(std::isnan(value));
    }
}

TEST(DeviceTensor, OperationsRefuseTensorsOfTwoDevices) {
    const Tensor here = ramp({3, 3}), there = here.to(cuda);
    const Tensor rows = Tensor::zeros({3, 3}, DType::int64);
    const Tensor condition = Tensor::ones({3, 3}, DType::uint8);
    const std::vector<ChainLayer> layers{{.weight = here}};
    const Tensor blocks = feature_blocks({{0, 0, 3}}, 3, 3);
    const Tensor table = Tensor::ones({feature_table::rows, 3});
    const std::pair<const char*, std::function<void()>> calls[] = {
        {"add", [&] { add(here, there); }},
        {"maximum", [&] { maximum(there, here); }},
        {"less", [&] { less(here, there); }},
        {"where", [&] { where(condition, there, there); }},
        {"where", [&] { where(condition.to(cuda), here, there); }},
        {"matmul", [&] { matmul(here, there); }},
        {"gather", [&] { gather(there, 0, rows); }},
        {"concatenate",
         [&] {
             concatenate({here, there}, 0);
         }},
        {"stack",
         [&] {
             stack({there, here}, 0);
         }},
        {"searchsorted", [&] { searchsorted(here, there); }},
        {"scatter_add", [&] { scatter_add(there, 0, rows.to(cuda), here); }},
        {"layer_chain", [&] { layer_chain(Jet::value_only(there), layers); }},
        {"packed_chain", [&] { PackedChain(layers).forward(there); }},
        {"exponential_features",
         [&] { exponential_features(Jet::value_only(there), nullptr, blocks, table, false); }},
        {"clamp_exponent",
         [&] {
             clamp_exponent(there, {20, Tensor::zeros({2}, DType::int64)});
         }},
    };
    for (const auto& [name, call] : calls) {
        const std::string text = error_of(call).text;
        EXPECT_EQ(text.substr(0, std::string(name).size() + 1), std::string(name) + ":") << text;
        EXPECT_NE(text.find("cuda:0"), std::string::npos) << name << ": " << text;
    }
}

TEST(DeviceTensor, DevicesThatAreNotThereAreRefused) {
    const int count = device_count(DeviceType::cuda);
    for (const int index : {-1, count, 100}) {
        const Device device{DeviceType::cuda, static_cast<int16_t>(index)};
        EXPECT_EQ(error_of([&] { ramp({2}).to(device); }).text,
                  fmt::format("there is no cuda:{}: this machine has {} device{}", index, count,
                              count == 1 ? "" : "s"));
    }
}

TEST(DeviceTensor, TheBackendDescribesItself) {
    const std::string text = backend_description(cuda);
    EXPECT_EQ(text.substr(0, 8), "cuda:0, ") << text;
    EXPECT_NE(text.find("compute capability "), std::string::npos) << text;
}

}  // namespace
}  // namespace ralimp::testing
