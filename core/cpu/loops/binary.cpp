// Binary elementwise loops: each functor of scalar::Binary over packs.
#include "core/cpu/loops/pack_functions.h"
#include "core/cpu/loops/parts.h"

namespace ralimp::cpu::SIMD_LEVEL {
namespace {

template <class Op, class T>
void binary_rows(Extent extent, T* out, Stride out_stride, const T* a, Stride a_stride, const T* b,
                 Stride b_stride) {
    constexpr int width = Pack<T>::width;
    const int64_t count = extent.columns;
    const auto rest = [&](int64_t i) { return count - i < width ? count - i : width; };
    for (int64_t row = 0; row < extent.rows; ++row) {
        int64_t i = 0;
        if (out_stride.column == 1 && a_stride.column == 1 && b_stride.column == 1) {
            for (; i + width <= count; i += width)
                Op::value(Pack<T>::load(a + i), Pack<T>::load(b + i)).store(out + i);
            if (i < count)
                Op::value(Pack<T>::load(a + i, count - i), Pack<T>::load(b + i, count - i))
                    .store(out + i, count - i);
        } else if (out_stride.column == 1 && a_stride.column == 1 && b_stride.column == 0) {
            const Pack<T> constant(*b);
            for (; i + width <= count; i += width)
                Op::value(Pack<T>::load(a + i), constant).store(out + i);
            if (i < count)
                Op::value(Pack<T>::load(a + i, count - i), constant).store(out + i, count - i);
        } else if (out_stride.column == 1 && a_stride.column == 0 && b_stride.column == 1) {
            const Pack<T> constant(*a);
            for (; i + width <= count; i += width)
                Op::value(constant, Pack<T>::load(b + i)).store(out + i);
            if (i < count)
                Op::value(constant, Pack<T>::load(b + i, count - i)).store(out + i, count - i);
        } else {
            for (; i < count; i += width) {
                const int64_t part = rest(i);
                Op::value(Pack<T>::gather(a + i * a_stride.column, a_stride.column, part),
                          Pack<T>::gather(b + i * b_stride.column, b_stride.column, part))
                    .scatter(out + i * out_stride.column, out_stride.column, part);
            }
        }
        out += out_stride.row;
        a += a_stride.row;
        b += b_stride.row;
    }
}

template <class T, class... Ops>
void add(TypedLoops<T>& loops, List<Ops...>) {
    ((loops.binary[index_in<Ops, scalar::Binary>] = binary_rows<Ops, T>), ...);
}

}  // namespace

void add_binary(Loops& loops) noexcept {
    add(loops.float32, scalar::Binary{});
    add(loops.float64, scalar::Binary{});
    add(loops.int64, scalar::BinaryWhole{});
    add(loops.int32, scalar::BinaryWhole{});
    add(loops.uint8, scalar::BinaryWhole{});
}

}  // namespace ralimp::cpu::SIMD_LEVEL
