// Gathering and adding by indices along one axis.
#include "core/cpu/dispatch.h"
#include "core/cpu/iterate.h"

namespace ralimp::cpu {
namespace {

void check_index(const char* operation, int64_t index, int64_t size) {
    check(index >= 0 && index < size, "{}: index {} is outside an axis of {} elements", operation,
          index, size);
}

// One type per element size: gathering moves values and does not look at them.
template <class F>
void dispatch_size(DType dtype, F&& f) {
    switch (bytes_of(dtype)) {
        case 8:
            return f(uint64_t{});
        case 4:
            return f(uint32_t{});
        case 2:
            return f(uint16_t{});
        default:
            return f(uint8_t{});
    }
}

}  // namespace

void gather(const Tensor& out, const Tensor& in, const Tensor& index, int axis) {
    const int64_t size = in.shape()[axis], step = in.strides()[axis];
    Shape in_strides = in.strides();
    in_strides[axis] = 0;
    const auto layout =
        joined_layout<3>(out.shape(), {&out.strides(), &in_strides, &index.strides()});
    const Stride to_stride = layout.block_stride(0), from_stride = layout.block_stride(1);
    const Stride index_stride = layout.block_stride(2);
    dispatch_size(out.dtype(), [&]<class T>(T) {
        T* const out_data = static_cast<T*>(out.data());
        const T* const in_data = static_cast<const T*>(in.data());
        const int64_t* const index_data = index.data<int64_t>();
        constexpr auto bytes = static_cast<int64_t>(sizeof(T));
        const bool whole_rows =
            index_stride.column == 0 && to_stride.column == 1 && from_stride.column == 1;
        for_each_block(layout, [&](Extent extent, const int64_t(&offsets)[3]) {
            T* to = out_data + offsets[0];
            const T* from = in_data + offsets[1];
            const int64_t* position = index_data + offsets[2];
            if (whole_rows && from_stride.row == 0) {
                for (int64_t row = 0; row < extent.rows; ++row)
                    check_index("gather", position[row * index_stride.row], size);
                return loops().gather_rows(extent.rows, extent.columns * bytes,
                                           reinterpret_cast<uint8_t*>(to), to_stride.row * bytes,
                                           reinterpret_cast<const uint8_t*>(from), step * bytes,
                                           position, index_stride.row);
            }
            for (int64_t row = 0; row < extent.rows; ++row) {
                for (int64_t i = 0; i < extent.columns; ++i) {
                    const int64_t chosen = position[i * index_stride.column];
                    check_index("gather", chosen, size);
                    to[i * to_stride.column] = from[i * from_stride.column + chosen * step];
                }
                to += to_stride.row;
                from += from_stride.row;
                position += index_stride.row;
            }
        });
    });
}

void scatter_add(const Tensor& out, const Tensor& index, const Tensor& source, int axis) {
    const int64_t size = out.shape()[axis], step = out.strides()[axis];
    const int64_t length = source.shape()[axis];
    const int64_t index_step = index.strides()[axis], source_step = source.strides()[axis];
    if (source.elements() == 0) return;
    // Along the axis in order; the other axes are independent and shared by threads.
    Shape shape = source.shape(), out_strides = out.strides(), index_strides = index.strides(),
          source_strides = source.strides();
    for (Shape* each : {&shape, &out_strides, &index_strides, &source_strides}) each->erase(axis);
    const auto layout = joined_layout<3>(shape, {&out_strides, &index_strides, &source_strides});
    const int last = layout.dims - 1;
    const int64_t columns = layout.sizes[last], outer = layout.elements() / columns;
    const int64_t to_stride = layout.strides[0][last], from_stride = layout.strides[2][last];
    const int64_t index_stride = layout.strides[1][last];
    // Slices of the last axis: narrow enough for two threads to share, wide enough for packs.
    const int64_t slice = std::max<int64_t>(64, chunk_elements / length / 64 * 64);
    const int64_t slices = (columns + slice - 1) / slice;
    const int64_t task_elements = length * std::min(slice, columns);
    const int64_t grain = source.elements() <= serial_elements
                              ? outer * slices
                              : std::max<int64_t>(1, chunk_elements / task_elements);
    dispatch("scatter_add", out.dtype(), [&]<class T>(T) {
        T* const out_data = out.data<T>();
        const T* const source_data = source.data<T>();
        const int64_t* const index_data = index.data<int64_t>();
        const auto add = loops_of<T>().binary[index_in<scalar::Add, scalar::Binary>];
        const auto task = [&](int64_t number) {
            const int64_t first = number % slices * slice;
            const int64_t width = std::min(slice, columns - first);
            int64_t block = number / slices;
            T* to = out_data + first * to_stride;
            const int64_t* position = index_data + first * index_stride;
            const T* from = source_data + first * from_stride;
            for (int i = last - 1; i >= 0; --i) {
                const int64_t along = block % layout.sizes[i];
                block /= layout.sizes[i];
                to += along * layout.strides[0][i];
                position += along * layout.strides[1][i];
                from += along * layout.strides[2][i];
            }
            for (int64_t n = 0; n < length; ++n, position += index_step, from += source_step) {
                if (index_stride == 0 && width >= 8) {  // a whole row by one index
                    check_index("scatter_add", *position, size);
                    T* row = to + *position * step;
                    add({1, width}, row, {0, to_stride}, row, {0, to_stride}, from,
                        {0, from_stride});
                    continue;
                }
                for (int64_t i = 0; i < width; ++i) {
                    const int64_t chosen = position[i * index_stride];
                    check_index("scatter_add", chosen, size);
                    to[i * to_stride + chosen * step] += from[i * from_stride];
                }
            }
        };
        parallel_for(outer * slices, grain, [&](int64_t begin, int64_t end) {
            for (int64_t number = begin; number < end; ++number) task(number);
        });
    });
}

}  // namespace ralimp::cpu
