// Binary elementwise kernels: each functor of scalar::Binary.
#include "core/cuda/elementwise.h"
#include "core/cuda/kernels.h"

namespace ralimp::gpu {
namespace {

template <class Op>
struct Binary {
    template <class T>
    __device__ T operator()(T a, T b) const {
        return Op::value(a, b);
    }
};

template <class Op>
void binary(const Tensor& out, const Tensor& a, const Tensor& b) {
    const auto run = [&]<class T>(T) {
        elementwise(Op::name, Binary<Op>{}, Operand<T>{out}, Operand<T>{a}, Operand<T>{b});
    };
    if constexpr (is_in<Op, scalar::BinaryWhole>)
        dispatch(Op::name, a.dtype(), run);
    else
        dispatch_floating(Op::name, a.dtype(), run);
}

template <class Op>
constexpr Kernels::BinaryKernel kernel_of() {
    return &binary<Op>;
}
template <class... Ops>
std::array<Kernels::BinaryKernel, sizeof...(Ops)> table_of(List<Ops...>) {
    return {kernel_of<Ops>()...};
}

}  // namespace

std::array<Kernels::BinaryKernel, scalar::Binary::size> binary_kernels() {
    return table_of(scalar::Binary{});
}

}  // namespace ralimp::gpu
