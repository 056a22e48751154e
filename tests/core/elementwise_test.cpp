// Elementwise kernels against plain double code: every operation, type and layout.
#include <limits>

#include "tests/core/kernel_testing.h"

namespace ralimp::testing {
namespace {

template <class F, class... Ops>
void for_each_op(List<Ops...>, F&& f) {
    (f(Ops{}), ...);
}

// Inputs between these bounds suit a unary operation in float32.
struct Domain {
    double low, high;
};
template <class Op>
Domain domain_of() {
    if constexpr (std::is_same_v<Op, scalar::Log> || std::is_same_v<Op, scalar::Sqrt> ||
                  std::is_same_v<Op, scalar::Rsqrt> || std::is_same_v<Op, scalar::Reciprocal>)
        return {1e-3, 50};
    else if constexpr (std::is_same_v<Op, scalar::Log1p>)
        return {-0.999, 50};
    else
        return {-10, 10};
}

class Elementwise : public EachTarget {};
INSTANTIATE_EACH_TARGET(Elementwise);

// Largest error, in roundings (half units of the last place) of the value, or of 1 if that is more.
double error_of(const Tensor& result, const std::vector<double>& expected) {
    const double precision = result.dtype() == DType::float32 ? 0x1p-24 : 0x1p-53;
    const std::vector<double> values = plain_doubles(result);
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double scale = std::max(1.0, std::abs(expected[i])) * precision;
        worst = std::max(worst, std::abs(values[i] - expected[i]) / scale);
    }
    return worst;
}

TEST_P(Elementwise, UnaryMatchesDoubleCodeAtOddSizes) {
    for_each_op(scalar::Unary{}, [&]<class Op>(Op) {
        for (DType dtype : {DType::float32, DType::float64})
            for (int64_t size : odd_sizes) {
                const auto [low, high] = domain_of<Op>();
                const Tensor x = random_values({size}, dtype, low, high, 1);
                const Tensor out = empty({size}, dtype);
                table().unary[index_in<Op, scalar::Unary>](out, x);
                std::vector<double> expected;
                for (double value : plain_doubles(x)) expected.push_back(Op::value(value));
                EXPECT_LE(error_of(out, expected), 12)
                    << Op::name << " " << name_of(dtype) << " " << size;
            }
    });
}

TEST_P(Elementwise, UnaryOfViewsHasTheBitsOfContiguousTensors) {
    for_each_op(scalar::Unary{}, [&]<class Op>(Op) {
        for (DType dtype : {DType::float32, DType::float64}) {
            const auto [low, high] = domain_of<Op>();
            const auto kernel = table().unary[index_in<Op, scalar::Unary>];
            const Tensor x = random_values({5, 37, 3}, dtype, low, high, 2);
            const Tensor plain = empty(x.shape(), dtype);
            kernel(plain, x);
            const Tensor from_view = empty(x.shape(), dtype);
            kernel(from_view, scattered_copy(x));
            const Tensor to_view = scattered_copy(zeros(x.shape(), dtype));
            kernel(to_view, x);
            const Tensor in_place = x.clone();
            kernel(in_place, in_place);
            EXPECT_TRUE(same_bits(plain, from_view)) << Op::name;
            EXPECT_TRUE(same_bits(plain, to_view)) << Op::name;
            EXPECT_TRUE(same_bits(plain, in_place)) << Op::name;
        }
    });
}

TEST_P(Elementwise, UnaryOfWholeNumbers) {
    for_each_op(scalar::UnaryWhole{}, [&]<class Op>(Op) {
        for (DType dtype : {DType::int64, DType::int32})
            for (int64_t size : odd_sizes) {
                const Tensor x = random_values({size}, dtype, -1000, 1000, 3);
                const Tensor out = empty({size}, dtype);
                table().unary[index_in<Op, scalar::Unary>](out, x);
                std::vector<double> expected;
                for (double value : plain_doubles(x)) expected.push_back(Op::value(value) + 0.0);
                EXPECT_EQ(plain_doubles(out), expected) << Op::name;
            }
    });
    const Tensor x = ones({3}, DType::int32);
    const auto exp = table().unary[index_in<scalar::Exp, scalar::Unary>];
    EXPECT_THROW(exp(x, x), Error);
}

TEST_P(Elementwise, BinaryMatchesDoubleCode) {
    for_each_op(scalar::Binary{}, [&]<class Op>(Op) {
        const auto kernel = table().binary[index_in<Op, scalar::Binary>];
        constexpr bool floating_only =
            std::is_same_v<Op, scalar::Divide> || std::is_same_v<Op, scalar::Power>;
        for (DType dtype : computing_types) {
            if (floating_only && !is_floating(dtype)) {
                const Tensor x = ones({3}, dtype);
                EXPECT_THROW(kernel(x, x, x), Error);
                continue;
            }
            for (int64_t size : odd_sizes) {
                // Products and differences of uint8 stay in range.
                const Tensor a = random_values({size}, dtype, 8, 15.9, 4);
                const Tensor b = random_values({size}, dtype, 1, 7.9, 5);
                const Tensor out = empty({size}, dtype);
                kernel(out, a, b);
                const auto x = plain_doubles(a), y = plain_doubles(b);
                std::vector<double> expected;
                for (std::size_t i = 0; i < x.size(); ++i)
                    expected.push_back(Op::value(x[i], y[i]));
                if (is_floating(dtype))
                    EXPECT_LE(error_of(out, expected), 2.1) << Op::name << size;
                else
                    EXPECT_EQ(plain_doubles(out), expected) << Op::name << size;
            }
        }
    });
}

TEST_P(Elementwise, BinaryOfExpandedAndStridedOperands) {
    for_each_op(scalar::Binary{}, [&]<class Op>(Op) {
        const auto kernel = table().binary[index_in<Op, scalar::Binary>];
        for (DType dtype : {DType::float32, DType::float64}) {
            const Tensor row = random_values({45}, dtype, 1, 5, 6);
            const Tensor column = random_values({19, 1}, dtype, 1, 5, 7);
            const Tensor full = random_values({19, 45}, dtype, 1, 5, 8);
            const Tensor operands[] = {full, row.strided_view({19, 45}, {0, 1}),
                                       column.strided_view({19, 45}, {1, 0}), scattered_copy(full)};
            for (const Tensor& a : operands)
                for (const Tensor& b : operands) {
                    const Tensor expected = empty({19, 45}, dtype);
                    kernel(expected, a.clone(), b.clone());
                    const Tensor out = empty({19, 45}, dtype);
                    kernel(out, a, b);
                    EXPECT_TRUE(same_bits(out, expected)) << Op::name;
                }
        }
    });
}

TEST_P(Elementwise, MaximumAndMinimumPassNanOn) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Tensor a = from(std::vector<double>{nan, 1, nan, 2}, {4});
    const Tensor b = from(std::vector<double>{1, nan, nan, 3}, {4});
    const Tensor out = empty({4}, DType::float64);
    for (auto index :
         {index_in<scalar::Maximum, scalar::Binary>, index_in<scalar::Minimum, scalar::Binary>}) {
        table().binary[index](out, a, b);
        const auto values = plain_doubles(out);
        EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[1]) && std::isnan(values[2]));
        EXPECT_FALSE(std::isnan(values[3]));
    }
}

TEST_P(Elementwise, ComparisonsAndWhere) {
    for (DType dtype : computing_types)
        for (int64_t size : odd_sizes) {
            const Tensor a = random_values({size}, dtype, 0, 4, 9);
            const Tensor b = a.clone();
            if (size > 2) b.strided_view({size / 2}, {2}).fill(2);
            const auto x = plain_doubles(a), y = plain_doubles(b);
            for_each_op(scalar::Compare{}, [&]<class Op>(Op) {
                const auto kernel = table().compare[index_in<Op, scalar::Compare>];
                const Tensor out = empty({size}, DType::uint8);
                kernel(out, a, b);
                std::vector<double> expected;
                for (std::size_t i = 0; i < x.size(); ++i)
                    expected.push_back(Op::value(x[i], y[i]));
                EXPECT_EQ(plain_doubles(out), expected) << Op::name;
                const Tensor view = scattered_copy(out);
                view.fill(7);
                kernel(view, scattered_copy(a), b);
                EXPECT_EQ(plain_doubles(view), expected) << Op::name;
            });
            // Any byte but 0 counts as true.
            const Tensor condition = random_values({size}, DType::uint8, 0, 3, 10);
            const Tensor out = empty({size}, dtype);
            table().where(out, condition, a, b);
            const auto chosen = plain_doubles(condition);
            std::vector<double> expected;
            for (std::size_t i = 0; i < x.size(); ++i)
                expected.push_back(chosen[i] != 0 ? x[i] : y[i]);
            EXPECT_EQ(plain_doubles(out), expected);
            out.fill(7);
            table().where(out, scattered_copy(condition), a, scattered_copy(b));
            EXPECT_EQ(plain_doubles(out), expected);
        }
}

TEST_P(Elementwise, NothingComparesToNan) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Tensor a = from(std::vector<double>{nan, 1, nan}, {3});
    const Tensor b = from(std::vector<double>{nan, nan, 1}, {3});
    const Tensor out = empty({3}, DType::uint8);
    for_each_op(scalar::Compare{}, [&]<class Op>(Op) {
        table().compare[index_in<Op, scalar::Compare>](out, a, b);
        const double expected = std::is_same_v<Op, scalar::NotEqual>;
        EXPECT_EQ(plain_doubles(out), std::vector<double>(3, expected)) << Op::name;
    });
}

TEST_P(Elementwise, ThreadsDoNotChangeTheBits) {
    const Tensor x = random_values({7, 31, 1003}, DType::float32, -3, 3, 11);
    const Tensor y = random_values({31, 1}, DType::float32, 1, 3, 12);
    const Tensor expanded = y.strided_view(x.shape(), {0, 1, 0});
    Tensor results[2];
    for (int threads : {1, 2}) {
        set_thread_count(threads);
        results[threads - 1] = empty(x.shape());
        table().binary[index_in<scalar::Power, scalar::Binary>](results[threads - 1], expanded, x);
    }
    EXPECT_TRUE(same_bits(results[0], results[1]));
}

}  // namespace
}  // namespace ralimp::testing
