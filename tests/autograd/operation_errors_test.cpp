// What the operations say when shapes, types or arguments do not fit.
#include <gtest/gtest.h>

#include <functional>

#include "autograd/operations.h"

namespace ralimp {
namespace {

struct Wrong {
    std::function<Tensor()> operation;
    const char* message;
};

Tensor of(const Shape& shape, DType dtype = DType::float32) { return Tensor::ones(shape, dtype); }

TEST(OperationErrors, SayWhatToDo) {
    const Tensor x = of({3, 5}), y = of({3, 5}, DType::float64), n = of({3}, DType::int64);
    const std::vector<Wrong> list = {
        {[&] { return x + y; }, "add: the types float32 and float64 differ; convert one with to()"},
        {[&] { return x * of({4}); },
         "multiply: shapes [3, 5] and [4] do not broadcast: sizes 5 and 4 stand at the same axis"},
        {[&] { return exp(n); }, "exp: int64 values are not supported; convert with to() first"},
        {[&] { return neg(of({2}, DType::uint8)); },
         "neg: uint8 values are not supported; convert with to() first"},
        {[&] { return n / n; }, "divide: int64 values are not supported; convert with to() first"},
        {[&] { return n * 2.5; },
         "multiply: the constant 2.5 is not a value of the tensor's type int64; convert the tensor "
         "with to() first"},
        {[&] { return of({2}, DType::uint8) + 256.0; },
         "add: the constant 256 is not a value of the tensor's type uint8; convert the tensor with "
         "to() first"},
        {[&] { return clamp(x, 1, 0); }, "clamp: the lower bound 1 is not below the upper bound 0"},
        {[&] { return where(x, x, x); },
         "where: the condition holds float32; compare to get uint8"},
        {[&] { return matmul(x, x); },
         "matmul: inner sizes differ: [3, 5] x [3, 5]; transpose the second?"},
        {[&] {
             return matmul(x, of({4, 2}));
         },
         "matmul: inner sizes differ: [3, 5] x [4, 2]"},
        {[&] { return matmul(x, of({5})); },
         "matmul: [3, 5] x [5]: both need two axes or more; unsqueeze the vector"},
        {[&] {
             return matmul(of({2, 3, 5}), of({3, 5, 2}));
         },
         "matmul: shapes [2] and [3] do not broadcast: sizes 2 and 3 stand at the same axis"},
        {[&] {
             return reshape(x, {4, -1});
         },
         "reshape: [3, 5] has 15 elements, [4, -1] does not fit them"},
        {[&] {
             return reshape(x, {-1, -1});
         },
         "reshape: [-1, -1] has more than one size -1"},
        {[&] {
             return expand(x, {3, 4});
         },
         "expand: shapes [3, 5] and [3, 4] do not broadcast: sizes 5 and 4 stand at the same axis"},
        {[&] {
             return expand(x, {1, 5});
         },
         "expand: [3, 5] does not broadcast to [1, 5]"},
        {[&] {
             return permute(x, {0, 0});
         },
         "permute: axis 0 appears twice"},
        {[&] { return permute(x, {0}); }, "permute: 1 axes for the tensor [3, 5]"},
        {[&] { return slice(x, 0, 0, 2, 0); }, "slice: the step 0 is not positive"},
        {[&] { return slice(x, 2, 0, 1); }, "slice: axis 2 is outside a tensor of 2 axes"},
        {[&] {
             return pad_slice(x, {3, 6}, 1, 2);
         },
         "pad_slice: [3, 5] from 2 in steps of 1 along axis 1 does not fit into [3, 6]"},
        {[&] { return select(x, 1, 5); }, "select: index 5 is outside axis 1 of [3, 5]"},
        {[&] { return squeeze(x, 0); }, "squeeze: axis 0 of [3, 5] has not size 1"},
        {[&] {
             return sum(x, {0, -2});
         },
         "sum: axis -2 appears twice"},
        {[&] { return sum(of({2}, DType::uint8)); },
         "sum: uint8 values would overflow; convert with to(x, DType::int64) first"},
        {[&] {
             return max(of({0, 2}), {0});
         },
         "max: of no values; the tensor is [0, 2]"},
        {[&] {
             return argmax(of({2, 0}), 1);
         },
         "argmax: of no values; axis 1 of [2, 0] is empty"},
        {[&] { return mean(of({0})); }, "mean: of no values; the tensor is [0]"},
        {[&] { return variance(of({1}), {}, false, 1); },
         "variance: 1 values with correction 1 leave no divisor"},
        {[&] { return sum_to(x, {4}); },
         "sum_to: shapes [3, 5] and [4] do not broadcast: sizes 5 and 4 stand at the same axis"},
        {[&] { return concatenate({}); }, "concatenate: of no tensors"},
        {[&] {
             return concatenate({x, of({2, 4})});
         },
         "concatenate: [3, 5] and [2, 4] differ at axis 1"},
        {[&] {
             return stack({x, y});
         },
         "stack: the types float32 and float64 differ; convert one with to()"},
        {[&] {
             return split(x, {1, 1}, 0)[0];
         },
         "split: the sizes add up to 2, axis 0 of [3, 5] has 3"},
        {[&] {
             return gather(x, 0, of({2, 2}));
         },
         "gather: the index holds float32, it must hold int64; convert with to()"},
        {[&] {
             return gather(x, 0, of({2, 6}, DType::int64));
         },
         "gather: the index [2, 6] is larger than the tensor [3, 5] at axis 1"},
        {[&] {
             return scatter_add(x, 0, of({2, 5}, DType::int64), of({1, 5}));
         },
         "scatter_add: the source [1, 5] and the index [2, 5] differ"},
        {[&] {
             return index_select(x, 0, of({2, 2}, DType::int64));
         },
         "index_select: the index [2, 2] must have one axis"},
        {[&] {
             return index_add(x, 0, n, of({2, 5}));
         },
         "index_add: the source is [2, 5], it must be [3, 5]"},
        {[&] { return random_uniform({2}, {}, DType::float32, 2, 1); },
         "random_uniform: the bounds 2 and 1 are in the wrong order"},
        {[&] { return random_normal({2}, {}, DType::float32, 0, -1); },
         "random_normal: the deviation -1 is negative"},
        {[&] { return random_uniform({2}, {}, DType::int64); },
         "random_uniform: int64 values are not supported; convert with to() first"},
        {[&] { return softmax(n, 0); },
         "softmax: int64 values are not supported; convert with to() first"},
    };
    for (const Wrong& wrong : list) {
        try {
            wrong.operation();
            ADD_FAILURE() << "no error: " << wrong.message;
        } catch (const Error& error) {
            EXPECT_STREQ(error.what(), wrong.message);
        }
    }
}

TEST(OperationErrors, IndicesOutOfRange) {
    const Tensor x = of({3, 5});
    for (int64_t index : {int64_t{3}, int64_t{-1}, int64_t{1} << 60}) {
        const Tensor bad = Tensor::full({2}, static_cast<double>(index), DType::int64);
        EXPECT_THROW(index_select(x, 0, bad), Error) << index;
        EXPECT_THROW(index_add(x, 0, bad, of({2, 5})), Error) << index;
        EXPECT_THROW(gather(x, 0, expand(bad, {1, 2})), Error) << index;
    }
}

TEST(OperationErrors, UndefinedTensors) {
    EXPECT_THROW(Tensor() + Tensor(), Error);
    EXPECT_THROW(exp(Tensor()), Error);
}

}  // namespace
}  // namespace ralimp
