// Unary elementwise kernels: each functor of scalar::Unary.
#include "core/cuda/elementwise.h"
#include "core/cuda/kernels.h"

namespace ralimp::gpu {
namespace {

template <class Op>
struct Unary {
    template <class T>
    __device__ T operator()(T x) const {
        return Op::value(x);
    }
};

template <class Op>
void unary(const Tensor& out, const Tensor& in) {
    const auto run = [&]<class T>(T) {
        elementwise(Op::name, Unary<Op>{}, Operand<T>{out}, Operand<T>{in});
    };
    if constexpr (is_in<Op, scalar::UnaryWhole>) {
        if (in.dtype() == DType::int64) return run(int64_t{});
        if (in.dtype() == DType::int32) return run(int32_t{});
    }
    dispatch_floating(Op::name, in.dtype(), run);
}

// nvcc 13 does not expand {&unary<Ops>...}.
template <class Op>
constexpr Kernels::UnaryKernel kernel_of() {
    return &unary<Op>;
}
template <class... Ops>
std::array<Kernels::UnaryKernel, sizeof...(Ops)> table_of(List<Ops...>) {
    return {kernel_of<Ops>()...};
}

}  // namespace

std::array<Kernels::UnaryKernel, scalar::Unary::size> unary_kernels() {
    return table_of(scalar::Unary{});
}

}  // namespace ralimp::gpu
