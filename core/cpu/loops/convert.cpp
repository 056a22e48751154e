// Copies, and conversions between the element types.
#include "core/convert.h"
#include "core/cpu/loops/pack.h"
#include "core/cpu/loops/parts.h"

namespace ralimp::cpu::SIMD_LEVEL {
namespace {

template <class To, class From>
void convert_rows(Extent extent, void* out_memory, Stride out_stride, const From* in,
                  Stride in_stride) {
    To* out = static_cast<To*>(out_memory);
    for (int64_t row = 0; row < extent.rows; ++row) {
        if (out_stride.column == 1 && in_stride.column == 1) {
            for (int64_t i = 0; i < extent.columns; ++i) out[i] = convert<To>(in[i]);
        } else if (out_stride.column == 1 && in_stride.column == 0) {
            const To value = convert<To>(*in);
            for (int64_t i = 0; i < extent.columns; ++i) out[i] = value;
        } else {
            for (int64_t i = 0; i < extent.columns; ++i)
                out[i * out_stride.column] = convert<To>(in[i * in_stride.column]);
        }
        out += out_stride.row;
        in += in_stride.row;
    }
}

template <class T>
void copy_rows(Extent extent, void* out_memory, Stride out_stride, const void* in_memory,
               Stride in_stride) {
    const T* in = static_cast<const T*>(in_memory);
    if (out_stride.column != 1 || in_stride.column != 1)
        return convert_rows<T>(extent, out_memory, out_stride, in, in_stride);
    T* out = static_cast<T*>(out_memory);
    for (int64_t row = 0; row < extent.rows; ++row) {
        __builtin_memmove(out, in, extent.columns * sizeof(T));
        out += out_stride.row;
        in += in_stride.row;
    }
}

// Memory in units of T: short rows need no call of memcpy.
template <class T>
void copy_units(uint8_t* to, const uint8_t* from, int64_t units) {
    constexpr int width = Pack<T>::width;
    T* out = reinterpret_cast<T*>(to);
    const T* in = reinterpret_cast<const T*>(from);
    int64_t i = 0;
    for (; i + width <= units; i += width) Pack<T>::load(in + i).store(out + i);
    if (i < units) Pack<T>::load(in + i, units - i).store(out + i, units - i);
}

void gather_rows(int64_t rows, int64_t bytes, uint8_t* out, int64_t out_stride, const uint8_t* in,
                 int64_t step, const int64_t* position, int64_t position_stride) {
    for (int64_t row = 0; row < rows; ++row) {
        const uint8_t* from = in + position[row * position_stride] * step;
        if (pack_bytes == 0 || bytes > 1024)
            __builtin_memcpy(out, from, bytes);
        else if (bytes % 4 == 0)
            copy_units<int32_t>(out, from, bytes / 4);
        else
            copy_units<uint8_t>(out, from, bytes);
        out += out_stride;
    }
}

// In the order of DType.
template <class From>
void add(TypedLoops<From>& loops) {
    loops.convert[0] = convert_rows<float, From>;
    loops.convert[1] = convert_rows<double, From>;
    loops.convert[2] = convert_rows<int64_t, From>;
    loops.convert[3] = convert_rows<int32_t, From>;
    loops.convert[4] = convert_rows<uint8_t, From>;
}

}  // namespace

void add_convert(Loops& loops) noexcept {
    add(loops.float32);
    add(loops.float64);
    add(loops.int64);
    add(loops.int32);
    add(loops.uint8);
    loops.gather_rows = gather_rows;
    loops.copy[0] = copy_rows<uint8_t>;
    loops.copy[1] = copy_rows<uint16_t>;
    loops.copy[2] = copy_rows<uint32_t>;
    loops.copy[3] = copy_rows<uint64_t>;
}

}  // namespace ralimp::cpu::SIMD_LEVEL
