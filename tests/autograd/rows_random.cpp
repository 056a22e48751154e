// Rows of the random operations. Their references draw from Philox one element at a time.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.h"
#include "operation_table.h"

namespace ralimp::testing {
namespace {

const RandomKey key{12345678901234ull, RandomStream::noise, 7};

// The input only carries shape, type and device.
Row row(const char* name, std::function<Tensor(const Tensor&)> operation,
        std::function<double(DType, uint64_t index)> reference) {
    Row result{
        .name = name, .cases = {}, .tolerance_float32 = 4e-6, .floor = 1, .differentiable = false};
    for (const Shape& shape : elementwise_shapes())
        result.cases.push_back({{{shape}},
                                [=](const Tensors& x) { return operation(x[0]); },
                                [=](const Arrays& x) {
                                    uint64_t index = 0;
                                    return generate(x[0].shape, [&](const Shape&) {
                                        return reference(x[0].dtype, index++);
                                    });
                                }});
    return result;
}

double uniform(DType dtype, uint64_t index) {
    if (dtype == DType::float32)
        return std::ldexp(philox(key, index / 4).words[index % 4] >> 8, -24);
    const PhiloxBlock block = philox(key, index / 2);
    const uint64_t low = block.words[index % 2 * 2], high = block.words[index % 2 * 2 + 1];
    return std::ldexp(static_cast<double>((high << 32 | low) >> 11), -53);
}

double normal(DType dtype, uint64_t index) {
    const double u = 1 - uniform(dtype, index - index % 2);
    const double angle = 2 * M_PI * uniform(dtype, index - index % 2 + 1);
    return std::sqrt(-2 * std::log(u)) * (index % 2 ? std::sin(angle) : std::cos(angle));
}

Row permutation_row() {
    Row result{.name = "random_permutation",
               .cases = {},
               .tolerance_float32 = 0,
               .tolerance_float64 = 0,
               .differentiable = false,
               .result = DType::int64};
    for (int64_t count : {0, 1, 2, 7, 1031, 70001})
        result.cases.push_back(
            {{{{count}}},
             [](const Tensors& x) {
                 return random_permutation(x[0].elements(), key, x[0].device());
             },
             [count](const Arrays&) {
                 std::vector<double> order(static_cast<std::size_t>(count));
                 std::iota(order.begin(), order.end(), 0.0);
                 std::stable_sort(order.begin(), order.end(), [](double a, double b) {
                     return uniform(DType::float64, static_cast<uint64_t>(a)) <
                            uniform(DType::float64, static_cast<uint64_t>(b));
                 });
                 return Array{{count}, order};
             }});
    return result;
}

}  // namespace

Rows random_rows() {
    return {row(
                "random_uniform",
                [](const Tensor& x) {
                    return random_uniform(x.shape(), key, x.dtype(), -1, 3, x.device());
                },
                [](DType dtype, uint64_t i) { return -1 + 4 * uniform(dtype, i); }),
            row(
                "random_normal",
                [](const Tensor& x) {
                    return random_normal(x.shape(), key, x.dtype(), 2, 0.5, x.device());
                },
                [](DType dtype, uint64_t i) { return 2 + 0.5 * normal(dtype, i); }),
            permutation_row()};
}

}  // namespace ralimp::testing
