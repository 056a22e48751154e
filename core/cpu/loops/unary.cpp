// Unary elementwise loops: each functor of scalar::Unary over packs.
#include "core/cpu/loops/pack_functions.h"
#include "core/cpu/loops/parts.h"

namespace ralimp::cpu::SIMD_LEVEL {
namespace {

template <class Op, class T>
void unary_rows(Extent extent, T* out, Stride out_stride, const T* in, Stride in_stride) {
    constexpr int width = Pack<T>::width;
    const int64_t count = extent.columns;
    for (int64_t row = 0; row < extent.rows; ++row) {
        int64_t i = 0;
        if (out_stride.column == 1 && in_stride.column == 1) {
            for (; i + width <= count; i += width) Op::value(Pack<T>::load(in + i)).store(out + i);
            if (i < count) Op::value(Pack<T>::load(in + i, count - i)).store(out + i, count - i);
        } else {
            for (; i < count; i += width) {
                const int64_t part = count - i < width ? count - i : width;
                const Pack<T> x =
                    Pack<T>::gather(in + i * in_stride.column, in_stride.column, part);
                Op::value(x).scatter(out + i * out_stride.column, out_stride.column, part);
            }
        }
        out += out_stride.row;
        in += in_stride.row;
    }
}

template <class T, class... Ops>
void add(TypedLoops<T>& loops, List<Ops...>) {
    ((loops.unary[index_in<Ops, scalar::Unary>] = unary_rows<Ops, T>), ...);
}

}  // namespace

void add_unary(Loops& loops) noexcept {
    add(loops.float32, scalar::Unary{});
    add(loops.float64, scalar::Unary{});
    add(loops.int64, scalar::UnaryWhole{});
    add(loops.int32, scalar::UnaryWhole{});
}

}  // namespace ralimp::cpu::SIMD_LEVEL
