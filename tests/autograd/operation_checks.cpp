#include "operation_checks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "autograd/gradcheck.h"
#include "core/kernels.h"
#include "core/parallel.h"

namespace ralimp::testing {
namespace {

constexpr int64_t most_for_views = 2000, most_for_gradients = 40;

std::string describe(const Row& row, const Case& c, DType dtype) {
    std::string text = row.name + " " + std::string(name_of(dtype)) + " of";
    for (const Input& input : c.inputs) text += " " + to_string(input.shape);
    return text;
}

int64_t largest_input(const Case& c) {
    int64_t most = 0;
    for (const Input& input : c.inputs) most = std::max(most, input.shape.elements());
    return most;
}

// The values of floating inputs are apart from each other and from 0, in a shuffled order, so that
// no kink lies near a point of the gradient check; whole-number types get them rounded.
Array input_values(const Input& input, DType dtype, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    Array result{input.shape, std::vector<double>(static_cast<std::size_t>(input.shape.elements())),
                 dtype};
    const double count = static_cast<double>(result.values.size());
    const double range = input.high - input.low;
    for (std::size_t i = 0; i < result.values.size(); ++i)
        result.values[i] =
            input.low + range * (static_cast<double>(i) + 0.1 + 0.3 * uniform(generator)) / count;
    std::shuffle(result.values.begin(), result.values.end(), generator);
    for (double& value : result.values) {
        if (input.kind == Kind::index)
            value = std::floor(input.low + range * uniform(generator));
        else if (input.kind == Kind::condition)
            value = uniform(generator) < 0.5;
        else if (!is_floating(dtype))
            value = std::round(value);
        else if (dtype == DType::float32)
            value = static_cast<float>(value);
    }
    return result;
}

DType type_of(const Input& input, DType dtype) {
    return input.kind == Kind::value   ? dtype
           : input.kind == Kind::index ? DType::int64
                                       : DType::uint8;
}

Arrays all_values(const Case& c, DType dtype) {
    Arrays result;
    for (std::size_t i = 0; i < c.inputs.size(); ++i)
        result.push_back(
            input_values(c.inputs[i], type_of(c.inputs[i], dtype), static_cast<unsigned>(17 + i)));
    return result;
}

// A tensor over a copy of `memory` on the device.
Tensor placed(const std::vector<double>& memory, DType dtype, Device device) {
    return dispatch("placed", dtype, [&](auto zero) {
        using T = decltype(zero);
        std::vector<T> typed;
        for (double value : memory) typed.push_back(static_cast<T>(value));
        return Tensor::from(typed, {static_cast<int64_t>(typed.size())}).to(device);
    });
}

enum class Layout { row_major, transposed, stepped, expanded };

std::string name(Layout layout) {
    const char* names[] = {"row-major", "transposed", "stepped", "expanded"};
    return names[static_cast<int>(layout)];
}

// The array as a view of the given layout over memory that holds foreign values elsewhere. For
// `expanded` the values must repeat along the first axis.
Tensor tensor_of(const Array& x, Layout layout, Device device) {
    Shape memory = x.shape, strides;
    int64_t offset = 0;
    if (layout == Layout::transposed) {
        strides = Shape::filled(x.shape.dims(), 1);
        for (int axis = 1; axis < x.shape.dims(); ++axis)
            strides[axis] = strides[axis - 1] * std::max<int64_t>(x.shape[axis - 1], 1);
    } else {
        if (layout == Layout::stepped)
            for (int64_t& size : memory) size = 2 * size + 1;
        strides = row_major_strides(memory);
        if (layout == Layout::stepped)
            for (int64_t& stride : strides) {
                offset += stride;
                stride *= 2;
            }
        if (layout == Layout::expanded && x.shape.dims() > 0) strides[0] = 0;
    }
    std::vector<double> values(static_cast<std::size_t>(memory.elements()), 77);
    std::size_t next = 0;
    for_each_index(x.shape, [&](const Shape& index) {
        int64_t position = offset;
        for (int axis = 0; axis < index.dims(); ++axis) position += index[axis] * strides[axis];
        values[static_cast<std::size_t>(position)] = x.values[next++];
    });
    return placed(values, x.dtype, device).strided_view(x.shape, strides, offset);
}

Tensors tensors_of(const Arrays& inputs, Layout layout, Device device) {
    Tensors result;
    for (const Array& input : inputs) result.push_back(tensor_of(input, layout, device));
    return result;
}

void expect_equal(const Tensor& actual, const Array& expected, double tolerance, double floor) {
    ASSERT_EQ(to_string(actual.shape()), to_string(expected.shape));
    const std::vector<double> values = actual.to_doubles();
    int wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double allowed = tolerance * std::max(floor, std::abs(expected.values[i]));
        if (std::abs(values[i] - expected.values[i]) <= allowed || values[i] == expected.values[i])
            continue;
        if (++wrong <= 3)
            ADD_FAILURE() << "element " << i << " is " << fmt::format("{:.17g}", values[i])
                          << ", expected " << fmt::format("{:.17g}", expected.values[i]);
    }
    EXPECT_EQ(wrong, 0) << "of " << values.size();
}

// Returns the number of kernels that the operation started.
int64_t expect_values(const Row& row, const Case& c, const Arrays& inputs, DType dtype,
                      Layout layout, Device device) {
    SCOPED_TRACE(describe(row, c, dtype) + ", " + name(layout));
    const Tensors tensors = tensors_of(inputs, layout, device);
    const int64_t before = kernel_launches(device);
    const Tensor actual = c.apply(tensors);
    const int64_t launches = kernel_launches(device) - before;
    EXPECT_EQ(actual.device(), device);
    EXPECT_EQ(name_of(actual.dtype()), name_of(row.result.value_or(dtype)));
    const double tolerance = dtype == DType::float32   ? row.tolerance_float32
                             : dtype == DType::float64 ? row.tolerance_float64
                                                       : 0;
    expect_equal(actual, c.reference(inputs), tolerance, row.floor);
    return launches;
}

std::vector<DType> types_of(const Row& row) {
    std::vector<DType> types{DType::float32, DType::float64};
    if (row.whole_numbers) {
        types.push_back(DType::int32);
        types.push_back(DType::int64);
    }
    return types;
}

// The first slice, repeated along the first axis.
Array repeated(const Array& x) {
    if (x.shape.dims() == 0) return x;
    Array result = generate(x.shape, [&](const Shape& i) { return x(replaced(i, 0, 0)); });
    result.dtype = x.dtype;
    return result;
}

Tensors gradients_of(const Case& c, const Tensors& inputs) {
    Tensors leaves = inputs, wanted;
    for (Tensor& leaf : leaves)
        if (is_floating(leaf.dtype())) wanted.push_back(leaf = requires_grad(leaf));
    const Tensor output = c.apply(leaves);
    const RandomKey key{3};
    const Tensor weights = random_uniform(output.shape(), key, output.dtype());
    return grad({output}, wanted, {weights.to(output.device())});
}

}  // namespace

void check_values(const Row& row, Device device) {
    int64_t launches = 0;
    for (const Case& c : row.cases)
        for (DType dtype : types_of(row))
            launches +=
                expect_values(row, c, all_values(c, dtype), dtype, Layout::row_major, device);
    EXPECT_TRUE(row.view || launches > 0) << "no kernel ran on the device";
}

void check_views(const Row& row, Device device) {
    for (const Case& c : row.cases) {
        if (largest_input(c) > most_for_views) continue;
        for (Layout layout : {Layout::transposed, Layout::stepped, Layout::expanded}) {
            for (DType dtype : types_of(row)) {
                Arrays inputs = all_values(c, dtype);
                if (layout == Layout::expanded)
                    for (Array& input : inputs) input = repeated(input);
                expect_values(row, c, inputs, dtype, layout, device);
                if (!row.differentiable || dtype != DType::float64) continue;
                SCOPED_TRACE(describe(row, c, dtype) + ", gradients, " + name(layout));
                const Tensors plain =
                    gradients_of(c, tensors_of(inputs, Layout::row_major, device));
                const Tensors viewed = gradients_of(c, tensors_of(inputs, layout, device));
                for (std::size_t i = 0; i < plain.size(); ++i)
                    expect_equal(viewed[i], {plain[i].shape(), plain[i].to_doubles()}, 1e-12, 1);
            }
        }
    }
}

namespace {

void check_derivatives(const Row& row, Device device, int order) {
    if (!row.differentiable) return;
    int checked = 0;
    for (const Case& c : row.cases) {
        if (largest_input(c) > most_for_gradients) continue;
        SCOPED_TRACE(describe(row, c, DType::float64));
        const Tensors inputs = tensors_of(all_values(c, DType::float64), Layout::row_major, device);
        const auto function = [&](const Tensors& x) { return Tensors{c.apply(x)}; };
        EXPECT_EQ(order == 1 ? gradcheck(function, inputs) : gradgradcheck(function, inputs), "");
        checked += largest_input(c) > 0;
    }
    EXPECT_GT(checked, 0) << row.name << " has no case small enough for differences";
}

}  // namespace

void check_gradients(const Row& row, Device device) { check_derivatives(row, device, 1); }
void check_second_gradients(const Row& row, Device device) { check_derivatives(row, device, 2); }

void check_repeatable(const Row& row, Device device) {
    const int threads_before = thread_count();
    for (const Case& c : row.cases)
        for (DType dtype : {DType::float32, DType::float64}) {
            SCOPED_TRACE(describe(row, c, dtype));
            const Tensors inputs = tensors_of(all_values(c, dtype), Layout::row_major, device);
            std::vector<std::vector<double>> results;
            for (int threads : {1, 1, 2}) {
                set_thread_count(threads);
                std::vector<double> values = c.apply(inputs).to_doubles();
                if (row.differentiable)
                    for (const Tensor& gradient : gradients_of(c, inputs)) {
                        const std::vector<double> more = gradient.to_doubles();
                        values.insert(values.end(), more.begin(), more.end());
                    }
                results.push_back(std::move(values));
            }
            set_thread_count(threads_before);
            const std::size_t bytes = results[0].size() * sizeof(double);
            if (bytes == 0) continue;
            EXPECT_EQ(std::memcmp(results[0].data(), results[1].data(), bytes), 0) << "second run";
            EXPECT_EQ(std::memcmp(results[0].data(), results[2].data(), bytes), 0) << "two threads";
        }
}

}  // namespace ralimp::testing
