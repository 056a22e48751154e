// Comparisons to bytes, and the choice by bytes.
#include "core/cpu/loops/pack.h"
#include "core/cpu/loops/parts.h"

namespace ralimp::cpu::SIMD_LEVEL {
namespace {

template <class Op, class T>
void compare_rows(Extent extent, uint8_t* out, Stride out_stride, const T* a, Stride a_stride,
                  const T* b, Stride b_stride) {
    constexpr int width = Pack<T>::width;
    const bool plain = out_stride.column == 1 && a_stride.column == 1 && b_stride.column == 1;
    for (int64_t row = 0; row < extent.rows; ++row) {
        int64_t i = 0;
        if (plain)
            for (; i + width <= extent.columns; i += width)
                store_bytes(Op::value(Pack<T>::load(a + i), Pack<T>::load(b + i)), out + i, 1,
                            width);
        for (; i < extent.columns; i += width) {
            const int64_t part = extent.columns - i < width ? extent.columns - i : width;
            store_bytes(Op::value(Pack<T>::gather(a + i * a_stride.column, a_stride.column, part),
                                  Pack<T>::gather(b + i * b_stride.column, b_stride.column, part)),
                        out + i * out_stride.column, out_stride.column, part);
        }
        out += out_stride.row;
        a += a_stride.row;
        b += b_stride.row;
    }
}

template <class T>
void where_rows(Extent extent, T* out, Stride out_stride, const uint8_t* condition,
                Stride condition_stride, const T* a, Stride a_stride, const T* b, Stride b_stride) {
    constexpr int width = Pack<T>::width;
    const bool plain = out_stride.column == 1 && condition_stride.column == 1 &&
                       a_stride.column == 1 && b_stride.column == 1;
    for (int64_t row = 0; row < extent.rows; ++row) {
        int64_t i = 0;
        if (plain)
            for (; i + width <= extent.columns; i += width)
                select(load_bytes<T>(condition + i, 1, width), Pack<T>::load(a + i),
                       Pack<T>::load(b + i))
                    .store(out + i);
        for (; i < extent.columns; i += width) {
            const int64_t part = extent.columns - i < width ? extent.columns - i : width;
            const Mask<T> mask = load_bytes<T>(condition + i * condition_stride.column,
                                               condition_stride.column, part);
            select(mask, Pack<T>::gather(a + i * a_stride.column, a_stride.column, part),
                   Pack<T>::gather(b + i * b_stride.column, b_stride.column, part))
                .scatter(out + i * out_stride.column, out_stride.column, part);
        }
        out += out_stride.row;
        condition += condition_stride.row;
        a += a_stride.row;
        b += b_stride.row;
    }
}

template <class T, class... Ops>
void add(TypedLoops<T>& loops, List<Ops...>) {
    ((loops.compare[index_in<Ops, scalar::Compare>] = compare_rows<Ops, T>), ...);
    loops.where = where_rows<T>;
}

}  // namespace

void add_compare(Loops& loops) noexcept {
    add(loops.float32, scalar::Compare{});
    add(loops.float64, scalar::Compare{});
    add(loops.int64, scalar::Compare{});
    add(loops.int32, scalar::Compare{});
    add(loops.uint8, scalar::Compare{});
}

}  // namespace ralimp::cpu::SIMD_LEVEL
