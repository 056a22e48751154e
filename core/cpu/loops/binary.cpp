// Binary elementwise loops: each functor of scalar::Binary over packs.
#include "core/cpu/loops/pack_functions.h"
#include "core/cpu/loops/parts.h"

namespace ralimp::cpu::SIMD_LEVEL {
namespace {

// How an operand runs along a row.
enum class Along { values, constant };

template <Along along, class T>
Pack<T> read(const T* from, int64_t i, int64_t part) {
    if constexpr (along == Along::constant) return Pack<T>(*from);
    return part == Pack<T>::width ? Pack<T>::load(from + i) : Pack<T>::load(from + i, part);
}

// Rows of neighbouring results from neighbouring values or one constant.
template <class Op, Along a_along, Along b_along, class T>
void plain_rows(Extent extent, T* out, int64_t out_row, const T* a, int64_t a_row, const T* b,
                int64_t b_row) {
    constexpr int width = Pack<T>::width;
    const int64_t whole = extent.columns / width * width, rest = extent.columns - whole;
    for (int64_t row = 0; row < extent.rows; ++row) {
        for (int64_t i = 0; i < whole; i += width)
            Op::value(read<a_along>(a, i, width), read<b_along>(b, i, width)).store(out + i);
        if (rest > 0)
            Op::value(read<a_along>(a, whole, rest), read<b_along>(b, whole, rest))
                .store(out + whole, rest);
        out += out_row;
        a += a_row;
        b += b_row;
    }
}

template <class Op, class T>
void binary_rows(Extent extent, T* out, Stride out_stride, const T* a, Stride a_stride, const T* b,
                 Stride b_stride) {
    constexpr auto values = Along::values, constant = Along::constant;
    const int64_t a_step = a_stride.column, b_step = b_stride.column;
    if (out_stride.column == 1 && a_step == 1 && b_step == 1)
        return plain_rows<Op, values, values>(extent, out, out_stride.row, a, a_stride.row, b,
                                              b_stride.row);
    if (out_stride.column == 1 && a_step == 1 && b_step == 0)
        return plain_rows<Op, values, constant>(extent, out, out_stride.row, a, a_stride.row, b,
                                                b_stride.row);
    if (out_stride.column == 1 && a_step == 0 && b_step == 1)
        return plain_rows<Op, constant, values>(extent, out, out_stride.row, a, a_stride.row, b,
                                                b_stride.row);
    constexpr int width = Pack<T>::width;
    for (int64_t row = 0; row < extent.rows; ++row) {
        for (int64_t i = 0; i < extent.columns; i += width) {
            const int64_t part = extent.columns - i < width ? extent.columns - i : width;
            Op::value(Pack<T>::gather(a + i * a_step, a_step, part),
                      Pack<T>::gather(b + i * b_step, b_step, part))
                .scatter(out + i * out_stride.column, out_stride.column, part);
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
