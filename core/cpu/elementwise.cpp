// Elementwise kernels: one value of the result from one value of each operand.
#include "core/cpu/dispatch.h"
#include "core/cpu/iterate.h"

namespace ralimp::cpu {
namespace {

template <class... Ops>
const char* name_in(List<Ops...>, std::size_t index) {
    const char* const names[] = {Ops::name...};
    return names[index];
}

template <class OpList>
[[noreturn]] void fail_type(std::size_t operation, DType dtype) {
    fail("{}: {} is not supported; convert to float32 or float64", name_in(OpList{}, operation),
         name_of(dtype));
}

}  // namespace

void unary(std::size_t operation, const Tensor& out, const Tensor& in) {
    dispatch(name_in(scalar::Unary{}, operation), in.dtype(), [&]<class T>(T) {
        const auto loop = loops_of<T>().unary[operation];
        if (!loop) fail_type<scalar::Unary>(operation, in.dtype());
        T* const out_data = out.data<T>();
        const T* const in_data = in.data<T>();
        const auto layout = joined_layout<2>(out.shape(), {&out.strides(), &in.strides()});
        for_each_block(layout, [&](Extent extent, const int64_t(&offsets)[2]) {
            loop(extent, out_data + offsets[0], layout.block_stride(0), in_data + offsets[1],
                 layout.block_stride(1));
        });
    });
}

void binary(std::size_t operation, const Tensor& out, const Tensor& a, const Tensor& b) {
    dispatch(name_in(scalar::Binary{}, operation), a.dtype(), [&]<class T>(T) {
        const auto loop = loops_of<T>().binary[operation];
        if (!loop) fail_type<scalar::Binary>(operation, a.dtype());
        T* const out_data = out.data<T>();
        const T* const a_data = a.data<T>();
        const T* const b_data = b.data<T>();
        const auto layout =
            joined_layout<3>(out.shape(), {&out.strides(), &a.strides(), &b.strides()});
        for_each_block(layout, [&](Extent extent, const int64_t(&offsets)[3]) {
            loop(extent, out_data + offsets[0], layout.block_stride(0), a_data + offsets[1],
                 layout.block_stride(1), b_data + offsets[2], layout.block_stride(2));
        });
    });
}

void compare(std::size_t operation, const Tensor& out, const Tensor& a, const Tensor& b) {
    dispatch(name_in(scalar::Compare{}, operation), a.dtype(), [&]<class T>(T) {
        const auto loop = loops_of<T>().compare[operation];
        uint8_t* const out_data = out.data<uint8_t>();
        const T* const a_data = a.data<T>();
        const T* const b_data = b.data<T>();
        const auto layout =
            joined_layout<3>(out.shape(), {&out.strides(), &a.strides(), &b.strides()});
        for_each_block(layout, [&](Extent extent, const int64_t(&offsets)[3]) {
            loop(extent, out_data + offsets[0], layout.block_stride(0), a_data + offsets[1],
                 layout.block_stride(1), b_data + offsets[2], layout.block_stride(2));
        });
    });
}

void where(const Tensor& out, const Tensor& condition, const Tensor& a, const Tensor& b) {
    dispatch("where", a.dtype(), [&]<class T>(T) {
        const auto loop = loops_of<T>().where;
        T* const out_data = out.data<T>();
        const uint8_t* const condition_data = condition.data<uint8_t>();
        const T* const a_data = a.data<T>();
        const T* const b_data = b.data<T>();
        const auto layout = joined_layout<4>(
            out.shape(), {&out.strides(), &condition.strides(), &a.strides(), &b.strides()});
        for_each_block(layout, [&](Extent extent, const int64_t(&offsets)[4]) {
            loop(extent, out_data + offsets[0], layout.block_stride(0), condition_data + offsets[1],
                 layout.block_stride(1), a_data + offsets[2], layout.block_stride(2),
                 b_data + offsets[3], layout.block_stride(3));
        });
    });
}

}  // namespace ralimp::cpu
