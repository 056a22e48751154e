// Tensors as views of shared memory: bounds, sharing, copies, types.
#include "core/tensor.h"

#include "tests/core/kernel_testing.h"

namespace ralimp::testing {
namespace {

Tensor ramp(const Shape& shape) {
    return Tensor::arange(shape.elements(), DType::float32)
        .strided_view(shape, row_major_strides(shape));
}

TEST(Tensor, MakesFillsAndReads) {
    EXPECT_EQ(Tensor::zeros({2, 2}).to_vector<float>(), std::vector<float>(4, 0));
    EXPECT_EQ(Tensor::full({3}, 2.5, DType::float64).to_vector<double>(),
              std::vector<double>(3, 2.5));
    EXPECT_EQ(Tensor::scalar(7, DType::int32).item(), 7);
    EXPECT_EQ(Tensor::scalar(7).shape(), Shape{});
    EXPECT_EQ(Tensor::arange(4).to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 2, 3}));
    EXPECT_EQ(Tensor::from(std::vector<uint8_t>{1, 2}, {2, 1}).dtype(), DType::uint8);
    EXPECT_THROW(Tensor::from(std::vector<float>{1, 2, 3}, {2, 2}), Error);
    EXPECT_THROW(Tensor::empty({2, -1}), Error);
    EXPECT_THROW(Tensor::ones({2}).item(), Error);
}

TEST(Tensor, UndefinedAndPlaceholdersHaveNoValues) {
    EXPECT_FALSE(Tensor().defined());
    EXPECT_THROW(Tensor().data(), Error);
    const Tensor placeholder = Tensor::ones({2, 3}).without_values();
    EXPECT_TRUE(placeholder.defined());
    EXPECT_FALSE(placeholder.has_values());
    EXPECT_EQ(placeholder.shape(), (Shape{2, 3}));
    EXPECT_THROW(placeholder.data(), Error);
}

TEST(Tensor, TypedAccessChecksTheType) {
    const Tensor x = Tensor::ones({2});
    EXPECT_EQ(x.data<float>()[1], 1);
    EXPECT_THROW(x.data<double>(), Error);
    EXPECT_THROW(x.to_vector<int32_t>(), Error);
    EXPECT_EQ(x.to_doubles(), (std::vector<double>{1, 1}));
}

TEST(Tensor, SizesCountFromBothEnds) {
    const Tensor x = ramp({2, 3, 4});
    EXPECT_EQ(x.size(0), 2);
    EXPECT_EQ(x.size(-1), 4);
    EXPECT_THROW(x.size(3), Error);
}

TEST(Tensor, ViewsShareMemory) {
    const Tensor x = ramp({3, 4});
    const Tensor middle = x.strided_view({3, 2}, {4, 1}, 1);
    EXPECT_EQ(middle.to_vector<float>(), (std::vector<float>{1, 2, 5, 6, 9, 10}));
    middle.fill(-1);
    EXPECT_EQ(x.to_vector<float>(),
              (std::vector<float>{0, -1, -1, 3, 4, -1, -1, 7, 8, -1, -1, 11}));
    // A view of a view counts from the view's first element.
    EXPECT_EQ(middle.strided_view({2}, {8}, -1).to_vector<float>(), (std::vector<float>{0, 8}));
    const Tensor alive = [] { return ramp({5}).strided_view({2}, {2}, 1); }();
    EXPECT_EQ(alive.to_vector<float>(), (std::vector<float>{1, 3}));
}

TEST(Tensor, ViewsStayInsideTheirMemory) {
    const Tensor x = ramp({3, 4});
    EXPECT_NO_THROW(x.strided_view({12}, {1}));
    EXPECT_THROW(x.strided_view({13}, {1}), Error);
    EXPECT_THROW(x.strided_view({12}, {1}, 1), Error);
    EXPECT_THROW(x.strided_view({2}, {1}, -1), Error);
    EXPECT_THROW(x.strided_view({2}, {-1}), Error);
    EXPECT_NO_THROW(x.strided_view({12}, {-1}, 11));
    EXPECT_NO_THROW(x.strided_view({1000}, {0}, 11));
    EXPECT_NO_THROW(x.strided_view({0}, {1}, 1000));
    EXPECT_THROW(x.strided_view({2, 2}, {1}), Error);
    EXPECT_THROW(x.strided_view({-2}, {1}), Error);
}

TEST(Tensor, ContiguousCopiesOnlyWhenNeeded) {
    const Tensor x = ramp({3, 4});
    EXPECT_EQ(x.contiguous().data(), x.data());
    EXPECT_TRUE(x.strided_view({1, 4}, {77, 1}).is_contiguous());
    EXPECT_TRUE(x.strided_view({0, 4}, {77, 3}).is_contiguous());
    const Tensor turned = transposed(x);
    EXPECT_FALSE(turned.is_contiguous());
    const Tensor copy = turned.contiguous();
    EXPECT_NE(copy.data(), x.data());
    EXPECT_TRUE(copy.is_contiguous());
    EXPECT_EQ(copy.to_vector<float>(), (std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
    EXPECT_EQ(turned.to_vector<float>(), copy.to_vector<float>());
    EXPECT_NE(x.clone().data(), x.data());
}

TEST(Tensor, CopyFromBroadcastsAndConverts) {
    const Tensor x = Tensor::zeros({2, 3}, DType::int32);
    x.copy_from(Tensor::from(std::vector<double>{1.9, -2.9, 3}, {3}));
    EXPECT_EQ(x.to_vector<int32_t>(), (std::vector<int32_t>{1, -2, 3, 1, -2, 3}));
    x.copy_from(Tensor::from(std::vector<float>{5, 6}, {2, 1}));
    EXPECT_EQ(x.to_vector<int32_t>(), (std::vector<int32_t>{5, 5, 5, 6, 6, 6}));
    x.copy_from(Tensor::scalar(8));
    EXPECT_EQ(x.to_doubles(), std::vector<double>(6, 8));
    EXPECT_THROW(x.copy_from(Tensor::zeros({3, 3})), Error);
    EXPECT_THROW(x.copy_from(Tensor::zeros({4, 2, 3})), Error);
    Tensor::zeros({0}).copy_from(Tensor::scalar(1));
}

TEST(Tensor, DeviceWithoutBackendIsRefused) {
    EXPECT_THROW(Tensor::zeros({2}, DType::float32, {DeviceType::cuda, 0}), Error);
}

TEST(DTypes, NamesAndSizes) {
    EXPECT_EQ(name_of(DType::float32), "float32");
    EXPECT_EQ(name_of(DType::float16), "float16");
    for (DType dtype : computing_types)
        dispatch("test", dtype, [&]<class T>(T) {
            EXPECT_EQ(bytes_of(dtype), sizeof(T));
            EXPECT_EQ(dtype_of<T>(), dtype);
        });
    EXPECT_EQ(bytes_of(DType::bfloat16), 2u);
    EXPECT_THROW(dispatch("test", DType::bfloat16, [](auto) {}), Error);
    EXPECT_THROW(dispatch_floating("test", DType::int32, [](auto) {}), Error);
}

}  // namespace
}  // namespace ralimp::testing
