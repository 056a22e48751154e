// Copies and conversions of every type and layout, and fills.
#include <limits>

#include "tests/core/kernel_testing.h"

namespace ralimp::testing {
namespace {

class Copy : public EachTarget {};
INSTANTIATE_EACH_TARGET(Copy);

// What conversion makes of values in range.
std::vector<double> converted(std::vector<double> values, DType to) {
    for (double& value : values) {
        if (!is_floating(to)) value = std::trunc(value);
        if (to == DType::float32) value = static_cast<float>(value);
    }
    return values;
}

TEST_P(Copy, ConvertsBetweenAllTypes) {
    for (DType from : computing_types)
        for (DType to : computing_types)
            for (int64_t size : odd_sizes) {
                const Tensor x = random_values({size}, from, 0, 255.9, 13);
                const Tensor out = empty({size}, to);
                table().copy(out, x);
                EXPECT_EQ(plain_doubles(out), converted(plain_doubles(x), to))
                    << name_of(from) << name_of(to);
            }
}

TEST_P(Copy, ViewsOfEveryLayout) {
    for (DType from : computing_types)
        for (DType to : computing_types) {
            const Tensor x = random_values({6, 5, 70}, from, 0, 100, 14);
            const Tensor turned = transposed(x).contiguous();
            const Tensor inputs[] = {
                x,
                transposed(turned),
                x.strided_view({6, 5, 70}, {0, 70, 1}),
                x.strided_view({6, 5, 70}, {350, 1, 0}),
                x.strided_view({6, 5, 70}, {-350, 70, -1}, 350 * 5 + 69),
            };
            for (const Tensor& in : inputs) {
                const std::vector<double> expected = converted(plain_doubles(in), to);
                const Tensor plain = empty(in.shape(), to);
                table().copy(plain, in);
                EXPECT_EQ(plain_doubles(plain), expected) << name_of(from) << name_of(to);
                const Tensor memory = zeros({70, 5, 6}, to);
                const Tensor view = memory.strided_view({6, 5, 70}, {1, 6, 30});
                table().copy(view, in);
                EXPECT_EQ(plain_doubles(view), expected) << name_of(from) << name_of(to);
            }
        }
}

TEST_P(Copy, LargeTranspositions) {
    for (DType dtype : computing_types)
        for (const Shape& shape : {Shape{257, 301}, Shape{3, 100, 130}, Shape{1000, 2}}) {
            const Tensor x = random_values(shape, dtype, 0, 100, 15);
            const Tensor out = empty(transposed(x).shape(), dtype);
            table().copy(out, transposed(x));
            EXPECT_EQ(plain_doubles(out), plain_doubles(transposed(x))) << name_of(dtype);
        }
}

TEST_P(Copy, OutOfRangeGoesToTheNearestWholeNumberAndNanToZero) {
    const double inf = std::numeric_limits<double>::infinity();
    const Tensor x =
        from(std::vector<double>{-inf, -1e30, -2.9, -0.5, 2.9, 300, 1e30, inf, std::nan("")}, {9});
    for (DType from : {DType::float64, DType::float32}) {
        const Tensor in = empty({9}, from);
        table().copy(in, x);
        Tensor out = empty({9}, DType::uint8);
        table().copy(out, in);
        EXPECT_EQ(out.to_vector<uint8_t>(),
                  (std::vector<uint8_t>{0, 0, 0, 0, 2, 255, 255, 255, 0}));
        out = empty({9}, DType::int32);
        table().copy(out, in);
        EXPECT_EQ(out.to_vector<int32_t>(), (std::vector<int32_t>{INT32_MIN, INT32_MIN, -2, 0, 2,
                                                                  300, INT32_MAX, INT32_MAX, 0}));
        out = empty({9}, DType::int64);
        table().copy(out, in);
        EXPECT_EQ(out.to_vector<int64_t>(), (std::vector<int64_t>{INT64_MIN, INT64_MIN, -2, 0, 2,
                                                                  300, INT64_MAX, INT64_MAX, 0}));
    }
}

TEST_P(Copy, Fill) {
    for (DType dtype : computing_types)
        for (int64_t size : odd_sizes) {
            const Tensor x = empty({size}, dtype);
            table().fill(x, 7);
            EXPECT_EQ(plain_doubles(x), std::vector<double>(static_cast<std::size_t>(size), 7));
        }
    const Tensor x = zeros({3, 4});
    x.strided_view({2, 2}, {4, 2}, 1).fill(-1.5);
    EXPECT_EQ(plain_doubles(x),
              (std::vector<double>{0, -1.5, 0, -1.5, 0, -1.5, 0, -1.5, 0, 0, 0, 0}));
}

TEST_P(Copy, StorageTypesAreCopiedAsTheyAre) {
    const Tensor host = Tensor::empty({2, 3}, DType::bfloat16);
    auto* bits = static_cast<uint16_t*>(host.data());
    for (int i = 0; i < 6; ++i) bits[i] = static_cast<uint16_t>(1000 + i);
    const Tensor out = transposed(host.to(device())).clone().to(Device{});
    const auto* copied = static_cast<const uint16_t*>(out.data());
    EXPECT_EQ(std::vector<uint16_t>(copied, copied + 6),
              (std::vector<uint16_t>{1000, 1003, 1001, 1004, 1002, 1005}));
}

}  // namespace
}  // namespace ralimp::testing
