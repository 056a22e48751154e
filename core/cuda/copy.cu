// Copies, conversions and fills of strided tensors.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bit>

#include "core/convert.h"
#include "core/cuda/elementwise.h"
#include "core/cuda/kernels.h"

namespace ralimp::gpu {
namespace {

struct Same {
    template <class T>
    __device__ T operator()(T x) const {
        return x;
    }
};

template <class To>
struct Convert {
    template <class From>
    __device__ To operator()(From x) const {
        return convert<To>(x);
    }
};
template <>
struct Convert<__half> {
    __device__ __half operator()(float x) const { return __float2half(x); }
};
template <>
struct Convert<__nv_bfloat16> {
    __device__ __nv_bfloat16 operator()(float x) const { return __float2bfloat16(x); }
};
struct Widen {
    __device__ float operator()(__half x) const { return __half2float(x); }
    __device__ float operator()(__nv_bfloat16 x) const { return __bfloat162float(x); }
};

template <class T>
struct Constant {
    T value;
    __device__ T operator()() const { return value; }
};

// The unsigned type of the size of an element: f(T{}).
template <class F>
void dispatch_size(DType dtype, F&& f) {
    switch (bytes_of(dtype)) {
        case 1:
            return f(uint8_t{});
        case 2:
            return f(uint16_t{});
        case 4:
            return f(uint32_t{});
        default:
            return f(uint64_t{});
    }
}

// False when neither type is float32 beside a storage type.
bool convert_storage_type(const Tensor& out, const Tensor& in) {
    const DType to = out.dtype(), from = in.dtype();
    if (to == DType::float16 && from == DType::float32)
        elementwise("copy", Convert<__half>{}, Operand<__half>{out}, Operand<float>{in});
    else if (to == DType::bfloat16 && from == DType::float32)
        elementwise("copy", Convert<__nv_bfloat16>{}, Operand<__nv_bfloat16>{out},
                    Operand<float>{in});
    else if (to == DType::float32 && from == DType::float16)
        elementwise("copy", Widen{}, Operand<float>{out}, Operand<__half>{in});
    else if (to == DType::float32 && from == DType::bfloat16)
        elementwise("copy", Widen{}, Operand<float>{out}, Operand<__nv_bfloat16>{in});
    else
        return false;
    return true;
}

}  // namespace

void copy(const Tensor& out, const Tensor& in) {
    if (out.dtype() == in.dtype())
        return dispatch_size(out.dtype(), [&]<class T>(T) {
            elementwise("copy", Same{}, Operand<T>{out}, Operand<T>{in});
        });
    if (convert_storage_type(out, in)) return;
    dispatch("copy", in.dtype(), [&]<class From>(From) {
        dispatch("copy", out.dtype(), [&]<class To>(To) {
            if constexpr (!std::is_same_v<To, From>)
                elementwise("copy", Convert<To>{}, Operand<To>{out}, Operand<From>{in});
        });
    });
}

void fill(const Tensor& out, double value) {
    dispatch("fill", out.dtype(), [&]<class T>(T) {
        dispatch_size(out.dtype(), [&]<class Bits>(Bits) {
            if constexpr (sizeof(Bits) == sizeof(T))
                elementwise("fill", Constant<Bits>{std::bit_cast<Bits>(convert<T>(value))},
                            Operand<Bits>{out});
        });
    });
}

}  // namespace ralimp::gpu
