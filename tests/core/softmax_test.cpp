// The softmax kernel against float64, at sizes around packs, warps, parts and whole rows.
#include <algorithm>
#include <limits>

#include "tests/core/kernel_testing.h"

namespace ralimp::testing {
namespace {

class Softmax : public EachTarget {};
INSTANTIATE_EACH_TARGET(Softmax);

std::vector<double> softmax_of(const std::vector<double>& x, int64_t columns) {
    std::vector<double> out(x.size());
    for (std::size_t row = 0; row < x.size(); row += static_cast<std::size_t>(columns)) {
        const auto begin = x.begin() + static_cast<std::ptrdiff_t>(row), end = begin + columns;
        const double most = *std::max_element(begin, end);
        long double sum = 0;
        for (auto i = begin; i != end; ++i) sum += std::exp(*i - most);
        for (auto i = begin; i != end; ++i)
            out[static_cast<std::size_t>(i - x.begin())] =
                static_cast<double>(std::exp(*i - most) / sum);
    }
    return out;
}

Tensor run(const Tensor& x) {
    const Tensor out = empty(x.shape(), x.dtype());
    table().softmax(out, x);
    return out;
}

TEST_P(Softmax, AgreesWithDoublePrecision) {
    for (DType dtype : {DType::float32, DType::float64})
        for (const Shape& shape :
             {Shape{1, 1}, Shape{3, 2}, Shape{5, 17}, Shape{4, 1000}, Shape{9, 1025},
              Shape{100, 257}, Shape{2, 32'769}, Shape{1, 100'003}}) {
            const Tensor x = random_values(shape, dtype, -30, 30, 3);
            const std::vector<double> found = run(x).to_doubles();
            const std::vector<double> exact = softmax_of(x.to_doubles(), shape[1]);
            // The differences from the maximum, up to 60, are rounded.
            const double tolerance = dtype == DType::float32 ? 60 * 0x1p-23 : 60 * 0x1p-52;
            for (std::size_t i = 0; i < exact.size(); ++i)
                ASSERT_NEAR(found[i], exact[i], tolerance * exact[i] + 1e-40)
                    << to_string(shape) << " element " << i;
        }
}

TEST_P(Softmax, ThreadsDoNotChangeTheBits) {
    for (const Shape& shape : {Shape{300, 257}, Shape{2, 100'003}}) {
        const Tensor x = random_values(shape, DType::float32, -5, 5, 3);
        set_thread_count(1);
        const std::vector<float> one = run(x).to_vector<float>();
        set_thread_count(3);
        EXPECT_EQ(run(x).to_vector<float>(), one) << to_string(shape);
    }
}

// A row is not a number where its result is none; its neighbours do not notice.
TEST_P(Softmax, InfiniteAndMissingNumbers) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (const int64_t columns : {3, 40, 40'000}) {
        const Tensor host = Tensor::zeros({5, columns});
        float* const values = host.data<float>();
        for (int64_t i = 0; i < columns; ++i) values[i] = -infinity;  // row 0: all
        values[columns] = -infinity;                                  // row 1: one
        values[2 * columns + 1] = infinity;
        values[3 * columns + 2] = std::numeric_limits<float>::quiet_NaN();
        const std::vector<float> y = run(host.to(device())).to_vector<float>();
        for (int64_t i = 0; i < columns; ++i) {
            EXPECT_TRUE(std::isnan(y[i]));
            EXPECT_NEAR(y[columns + i], i == 0 ? 0 : 1 / double(columns - 1), 1e-6);
            if (i == 1)
                EXPECT_TRUE(std::isnan(y[2 * columns + i]));
            else
                EXPECT_EQ(y[2 * columns + i], 0);
            EXPECT_TRUE(std::isnan(y[3 * columns + i]));
            EXPECT_NEAR(y[4 * columns + i], 1 / double(columns), 1e-6);
        }
    }
}

// A part of a long row that is all -∞ adds nothing, however small the other numbers are.
TEST_P(Softmax, PartsOfMinusInfinityAddNothing) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (DType dtype : {DType::float32, DType::float64})
        for (const double value : {-1e4, -720.0, 0.0, 1e4}) {
            const Tensor x = Tensor::full({2, 40'000}, -infinity, dtype, device());
            x.strided_view({2, 4}, {40'000, 1}, 35'000).fill(value);
            const std::vector<double> y = run(x).to_doubles();
            for (std::size_t i = 0; i < y.size(); ++i)
                ASSERT_EQ(y[i], i % 40'000 >= 35'000 && i % 40'000 < 35'004 ? 0.25 : 0) << i;
        }
}

}  // namespace
}  // namespace ralimp::testing
