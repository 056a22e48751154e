// Comparisons, and the choice between two tensors by a third.
#include "core/cuda/elementwise.h"
#include "core/cuda/kernels.h"

namespace ralimp::gpu {
namespace {

template <class Op>
struct Compare {
    template <class T>
    __device__ uint8_t operator()(T a, T b) const {
        return Op::value(a, b) ? 1 : 0;
    }
};

template <class Op>
void compare(const Tensor& out, const Tensor& a, const Tensor& b) {
    dispatch(Op::name, a.dtype(), [&]<class T>(T) {
        elementwise(Op::name, Compare<Op>{}, Operand<uint8_t>{out}, Operand<T>{a}, Operand<T>{b});
    });
}

template <class Op>
constexpr Kernels::BinaryKernel kernel_of() {
    return &compare<Op>;
}
template <class... Ops>
std::array<Kernels::BinaryKernel, sizeof...(Ops)> table_of(List<Ops...>) {
    return {kernel_of<Ops>()...};
}

struct Choose {
    template <class T>
    __device__ T operator()(uint8_t condition, T a, T b) const {
        return condition ? a : b;
    }
};

template <class T>
void choose(const Tensor& out, const Tensor& condition, const Tensor& a, const Tensor& b) {
    elementwise("where", Choose{}, Operand<T>{out}, Operand<uint8_t>{condition}, Operand<T>{a},
                Operand<T>{b});
}

}  // namespace

std::array<Kernels::BinaryKernel, scalar::Compare::size> compare_kernels() {
    return table_of(scalar::Compare{});
}

void where(const Tensor& out, const Tensor& condition, const Tensor& a, const Tensor& b) {
    switch (bytes_of(a.dtype())) {
        case 1:
            return choose<uint8_t>(out, condition, a, b);
        case 2:
            return choose<uint16_t>(out, condition, a, b);
        case 4:
            return choose<uint32_t>(out, condition, a, b);
        default:
            return choose<uint64_t>(out, condition, a, b);
    }
}

}  // namespace ralimp::gpu
