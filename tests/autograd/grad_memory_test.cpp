// Deep graphs are walked and freed by loops; memory is given back; no more is kept than needed.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "autograd/operations.h"
#include "core/allocator.h"

namespace ralimp {
namespace {

int64_t active_bytes() { return memory_statistics(Device{}).active_bytes; }

Tensor big(double value = 0.5) { return Tensor::full({64, 1024}, value, DType::float32); }
constexpr int64_t big_bytes = 64 * 1024 * 4;

// Enough for a recursion per node to overflow any stack; also under the sanitizers.
TEST(SlowGradMemory, AMillionNodes) {
    const auto start = std::chrono::steady_clock::now();
    const int64_t before = active_bytes();
    {
        const Tensor x = requires_grad(Tensor::full({1}, 1.0, DType::float64));
        Tensor y = x;
        for (int i = 0; i < 1000000; ++i) y = y + x;
        EXPECT_EQ(grad(y, x).item(), 1000001.0);
        Tensor z = x;
        for (int i = 0; i < 200000; ++i) z = sin(z);
        // sin iterated n times tends to sqrt(3/n); what matters is that the walk ends.
        EXPECT_NEAR(z.item(), std::sqrt(3 / 200000.0), 1e-5);
        EXPECT_GT(grad(z, x).item(), 0);
        // A graph of the walk itself, twice as deep.
        const Tensor slope = grad(z, x, true);
        EXPECT_TRUE(slope.requires_grad());
    }
    EXPECT_EQ(active_bytes(), before);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_LT(seconds.count(), 120);
}

// A wide graph: nodes with two parents each, whose number of paths is 2^60.
TEST(GradMemory, SharedNodesAreWalkedOnce) {
    const Tensor x = requires_grad(Tensor::full({1}, 1.0, DType::float64));
    Tensor y = x;
    for (int i = 0; i < 60; ++i) y = y + y;
    EXPECT_EQ(grad(y, x).item(), std::pow(2.0, 60));
}

TEST(GradMemory, ReturnsToTheLevelBefore) {
    const int64_t before = active_bytes();
    {
        const Tensor x = requires_grad(big()), w = requires_grad(Tensor::ones({1024, 8}));
        for (int step = 0; step < 3; ++step) {
            const int64_t at_start = active_bytes();
            {
                const Tensor loss = mean(square(tanh(matmul(x, w)) - 0.25));
                const Tensors gradients = grad({loss}, {x, w});
                const Tensor curvature =
                    grad(sum(square(grad(loss, w, true))), w);  // through a graph of a graph
                EXPECT_GT(active_bytes(), at_start);
            }
            EXPECT_EQ(active_bytes(), at_start);
        }
    }
    EXPECT_EQ(active_bytes(), before);
}

TEST(GradMemory, ReturnsAfterAnError) {
    const int64_t before = active_bytes();
    {
        const Tensor x = requires_grad(big());
        const Tensor y = record("failing", x.clone(), {x}, Keep::inputs,
                                [](const VjpContext&) -> Tensors { fail("a derivative fails"); });
        EXPECT_THROW(grad(sum(exp(y)), x), Error);
    }
    EXPECT_EQ(active_bytes(), before);
}

// Bytes that live on after f(x) has returned, with its result dropped to a sum.
int64_t kept_by(const std::function<Tensor(const Tensor&)>& f) {
    const Tensor x = requires_grad(big());
    const Tensor input = x * 1.0;  // inside the graph, and dropped below
    const int64_t before = active_bytes();
    Tensor result;
    {
        Tensor y = f(input);
        result = sum(y);
    }
    return (active_bytes() - before) / big_bytes;
}

TEST(GradMemory, NothingIsKeptThatTheDerivativeDoesNotRead) {
    EXPECT_EQ(kept_by([](const Tensor& x) { return x + 1.0; }), 0);
    EXPECT_EQ(kept_by([](const Tensor& x) { return (x * 2.0 + 1.0) * 3.0 - 5.0; }), 0);
    EXPECT_EQ(kept_by([](const Tensor& x) { return -(x / 2.0); }), 0);
    EXPECT_EQ(kept_by([](const Tensor& x) { return tanh(x); }), 1);       // its output
    EXPECT_EQ(kept_by([](const Tensor& x) { return sin(x); }), 0);        // its input, alive anyway
    EXPECT_EQ(kept_by([](const Tensor& x) { return sin(x + 1.0); }), 1);  // its input
    EXPECT_EQ(kept_by([](const Tensor& x) { return exp(x + 1.0); }), 1);  // its output
    EXPECT_EQ(kept_by([](const Tensor& x) { return concatenate({x, x}); }), 0);
    EXPECT_EQ(kept_by([](const Tensor& x) { return softmax(x); }), 1);
    EXPECT_EQ(kept_by([](const Tensor& x) { return maximum(x, Tensor::zeros({})); }), 0);
    // A constant factor is kept, the variable beside it is not.
    EXPECT_EQ(kept_by([](const Tensor& x) { return (x + 1.0) * big(3); }), 1);
}

TEST(GradMemory, ViewsShareMemory) {
    const Tensor x = requires_grad(big());
    const int64_t before = active_bytes();
    const Tensors views{transpose(x),      slice(x, 0, 3, 60, 2), reshape(x, {32, 2, 1024}),
                        select(x, 1, 5),   unsqueeze(x, 0),       expand(x, {9, 64, 1024}),
                        permute(x, {1, 0})};
    for (const Tensor& view : views) EXPECT_EQ(view.storage(), x.storage());
    EXPECT_EQ(active_bytes(), before);
    const Tensor copied = reshape(transpose(x), {64, 1024});
    EXPECT_NE(copied.storage(), x.storage());
}

TEST(GradMemory, ConstantsAllocateNoBigTensor) {
    const Tensor x = big();
    reset_peak_memory(Device{});
    const int64_t before = active_bytes();
    { const Tensor y = x * 2.0; }
    EXPECT_LE(memory_statistics(Device{}).peak_bytes - before, big_bytes + 4096);
}

}  // namespace
}  // namespace ralimp
