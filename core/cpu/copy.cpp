// Copies, conversions and fills of strided tensors.
#include <bit>
#include <cstring>

#include "core/cpu/dispatch.h"
#include "core/cpu/iterate.h"

namespace ralimp::cpu {
namespace {

// Moves elements of one type; `in` may be a single value with stride 0.
void copy_bytes(const Layout<2>& layout, std::size_t element, std::byte* out, const std::byte* in) {
    const auto loop = loops().copy[std::countr_zero(element)];
    const auto size = static_cast<int64_t>(element);
    for_each_block(layout, [&](Extent extent, const int64_t(&offsets)[2]) {
        loop(extent, out + offsets[0] * size, layout.block_stride(0), in + offsets[1] * size,
             layout.block_stride(1));
    });
}

}  // namespace

void copy(const Tensor& out, const Tensor& in) {
    const auto layout = joined_layout<2>(out.shape(), {&out.strides(), &in.strides()});
    if (out.dtype() == in.dtype())
        return copy_bytes(layout, bytes_of(out.dtype()), static_cast<std::byte*>(out.data()),
                          static_cast<const std::byte*>(in.data()));
    dispatch("copy", in.dtype(), [&]<class From>(From) {
        dispatch("copy", out.dtype(), [&]<class To>(To) {
            const auto loop = loops_of<From>().convert[static_cast<int>(out.dtype())];
            To* const out_data = out.data<To>();
            const From* const in_data = in.data<From>();
            for_each_block(layout, [&](Extent extent, const int64_t(&offsets)[2]) {
                loop(extent, out_data + offsets[0], layout.block_stride(0), in_data + offsets[1],
                     layout.block_stride(1));
            });
        });
    });
}

void fill(const Tensor& out, double value) {
    dispatch("fill", out.dtype(), [&]<class T>(T) {
        T converted;
        loops().float64.convert[static_cast<int>(out.dtype())]({1, 1}, &converted, {0, 1}, &value,
                                                               {0, 1});
        const Shape zero = Shape::filled(out.dims(), 0);
        copy_bytes(joined_layout<2>(out.shape(), {&out.strides(), &zero}), sizeof(T),
                   reinterpret_cast<std::byte*>(out.data<T>()),
                   reinterpret_cast<const std::byte*>(&converted));
    });
}

}  // namespace ralimp::cpu
