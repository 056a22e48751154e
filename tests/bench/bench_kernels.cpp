// Times the kernels of this build, one line per case: name, microseconds. tests/bench/kernels.py
// times the same cases in PyTorch and prints both side by side. usage: bench_kernels [FILTER]
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

#include "core/kernels.h"

namespace ralimp {
namespace {

std::string filter;

// The best of repeated runs, in batches that last long enough for the clock: other work on the
// machine only ever adds time.
template <class F>
void time_case(const std::string& name, F&& f) {
    using Clock = std::chrono::steady_clock;
    if (name.find(filter) == std::string::npos) return;
    const auto seconds = [&](int64_t runs) {
        const auto start = Clock::now();
        for (int64_t i = 0; i < runs; ++i) f();
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    seconds(1);
    int64_t runs = 1;
    while (seconds(runs) < 1e-3) runs *= 2;
    double best = 1e9, total = 0;
    for (int repeat = 0; total < 0.15 || repeat < 5; ++repeat) {
        const double time = seconds(runs);
        best = std::min(best, time);
        total += time;
    }
    fmt::print("{} {:.3f}\n", name, best / static_cast<double>(runs) * 1e6);
    std::fflush(stdout);
}

Tensor normal(const Shape& shape, DType dtype) {
    const Tensor x = Tensor::empty(shape, dtype);
    kernels({}).random_normal(x, {1}, 0);
    return x;
}

template <class... Ops>
void time_unary(List<Ops...>, const Tensor& x, const std::string& suffix) {
    (time_case(std::string(Ops::name) + suffix,
               [&] {
                   const Tensor out = Tensor::empty(x.shape(), x.dtype());
                   kernels({}).unary[index_in<Ops, scalar::Unary>](out, x);
               }),
     ...);
}

template <class... Ops>
void time_binary(List<Ops...>, const Tensor& a, const Tensor& b, const std::string& suffix) {
    (time_case(std::string(Ops::name) + suffix,
               [&] {
                   const Tensor out = Tensor::empty(a.shape(), a.dtype());
                   kernels({}).binary[index_in<Ops, scalar::Binary>](out, a, b);
               }),
     ...);
}

Tensor transposed(const Tensor& x) {
    return x.strided_view({x.size(1), x.size(0)}, {x.strides()[1], x.strides()[0]});
}

void time_reduce(const std::string& name, Reduction reduction, const Tensor& x, const Shape& out) {
    time_case(name, [&] { kernels({}).reduce(reduction, Tensor::empty(out, x.dtype()), x); });
}

void time_matmul(const std::string& name, const Tensor& a, const Tensor& b) {
    Shape shape = a.shape();
    shape[a.dims() - 1] = b.size(-1);
    time_case(name, [&] { kernels({}).matmul(Tensor::empty(shape, a.dtype()), a, b); });
}

void time_elementwise(DType dtype, const std::string& type) {
    for (int64_t size : {1000, 100'000, 1'000'000}) {
        const std::string suffix = fmt::format("/{}/{}", type, size);
        const Tensor x = normal({size}, dtype), y = normal({size}, dtype);
        const Tensor positive = Tensor::empty({size}, dtype);
        kernels({}).unary[index_in<scalar::Square, scalar::Unary>](positive, x);
        using namespace scalar;
        time_unary(List<Neg, Square, Relu, Exp, Expm1, Reciprocal, Sin, Cos, Sinh, Tanh, Erf,
                        Sigmoid, Softplus, Gelu>{},
                   x, suffix);
        time_unary(List<Log, Log1p, Sqrt, Rsqrt>{}, positive, suffix);
        time_binary(List<Add, Multiply, Divide, Maximum>{}, x, y, suffix);
        time_binary(List<Power>{}, positive, y, suffix);
        time_case("less" + suffix, [&] {
            kernels({}).compare[index_in<Less, Compare>](Tensor::empty({size}, DType::uint8), x, y);
        });
        const Tensor condition = Tensor::empty({size}, DType::uint8);
        kernels({}).compare[index_in<Less, Compare>](condition, x, y);
        time_case("where" + suffix,
                  [&] { kernels({}).where(Tensor::empty({size}, dtype), condition, x, y); });
        time_case("copy" + suffix, [&] { kernels({}).copy(Tensor::empty({size}, dtype), x); });
        time_case("convert" + suffix, [&] {
            kernels({}).copy(
                Tensor::empty({size}, dtype == DType::float32 ? DType::float64 : DType::float32),
                x);
        });
        time_case("fill" + suffix, [&] { kernels({}).fill(Tensor::empty({size}, dtype), 3); });
        time_case("cumulative_sum" + suffix,
                  [&] { kernels({}).cumulative_sum(Tensor::empty({size}, dtype), x, 0, false); });
        time_case("argsort" + suffix,
                  [&] { kernels({}).argsort(Tensor::empty({size}, DType::int64), x, 0, false); });
        time_case("uniform" + suffix,
                  [&] { kernels({}).random_uniform(Tensor::empty({size}, dtype), {1}, 0); });
        time_case("normal" + suffix,
                  [&] { kernels({}).random_normal(Tensor::empty({size}, dtype), {1}, 0); });
        time_reduce("sum" + suffix, Reduction::sum, x, {1});
        time_reduce("max" + suffix, Reduction::maximum, x, {1});
        time_case("argmax" + suffix,
                  [&] { kernels({}).arg_reduce(true, Tensor::empty({1}, DType::int64), x, 0); });
    }
    const Tensor rows = normal({40'000, 20}, dtype), row = normal({20}, dtype);
    time_binary(List<scalar::Add>{}, rows, row.strided_view({40'000, 20}, {0, 1}),
                "/" + type + "/40000x20+20");
    time_reduce("sum/" + type + "/40000x20-down", Reduction::sum, rows, {1, 20});
    time_reduce("sum/" + type + "/40000x20-along", Reduction::sum, rows, {40'000, 1});
    const Tensor square = normal({1000, 1000}, dtype);
    time_reduce("sum/" + type + "/1000x1000-down", Reduction::sum, square, {1, 1000});
    time_reduce("sum/" + type + "/1000x1000-along", Reduction::sum, square, {1000, 1});
    time_case("transpose/" + type + "/1000x1000", [&] {
        kernels({}).copy(Tensor::empty({1000, 1000}, dtype), transposed(square));
    });
    time_case("transpose/" + type + "/40000x20", [&] {
        kernels({}).copy(Tensor::empty({20, 40'000}, dtype), transposed(rows));
    });
    const Tensor index = Tensor::empty({40'000}, DType::int64);
    for (int64_t i = 0; i < 40'000; ++i)
        index.data<int64_t>()[i] =
            static_cast<int64_t>(random_bits({1}, static_cast<uint64_t>(i)) % 10'000);
    const Tensor table = normal({10'000, 20}, dtype);
    time_case("index_select/" + type + "/10000x20", [&] {
        kernels({}).gather(Tensor::empty({40'000, 20}, dtype), table,
                           index.strided_view({40'000, 20}, {1, 0}), 0);
    });
    time_case("index_add/" + type + "/10000x20", [&] {
        kernels({}).scatter_add(table, index.strided_view({40'000, 20}, {1, 0}), rows, 0);
    });
}

void time_products(DType dtype, const std::string& type) {
    const std::array<int64_t, 3> sizes[] = {
        {100, 20, 20},   {1000, 20, 2},   {1000, 20, 20},     {10'000, 20, 20}, {10'000, 64, 64},
        {10'000, 1, 20}, {256, 256, 256}, {1000, 1000, 1000}, {1, 1000, 1000},  {1000, 1, 1000}};
    for (const auto [m, n, k] : sizes)
        time_matmul(fmt::format("matmul/{}/{}x{}x{}", type, m, n, k), normal({m, k}, dtype),
                    normal({k, n}, dtype));
    for (const auto [m, n, k] : sizes) {
        // The two products of a backward pass: with the weights and with the input transposed.
        time_matmul(fmt::format("matmul_nt/{}/{}x{}x{}", type, m, n, k), normal({m, n}, dtype),
                    transposed(normal({k, n}, dtype)));
        time_matmul(fmt::format("matmul_tn/{}/{}x{}x{}", type, m, n, k),
                    transposed(normal({m, k}, dtype)), normal({m, n}, dtype));
    }
    time_matmul("matmul_batch/" + type + "/500x20x20x20", normal({500, 20, 20}, dtype),
                normal({500, 20, 20}, dtype));
    time_matmul("matmul_batch/" + type + "/16x256x64x256", normal({16, 256, 64}, dtype),
                normal({16, 64, 256}, dtype));
}

}  // namespace
}  // namespace ralimp

int main(int argc, char** argv) {
    using namespace ralimp;
    if (argc > 1) filter = argv[1];
    fmt::print(stderr, "{}\n", backend_description({}));
    for (const auto& [dtype, type] :
         {std::pair(DType::float32, "float32"), std::pair(DType::float64, "float64")}) {
        time_elementwise(dtype, type);
        time_products(dtype, type);
    }
}
