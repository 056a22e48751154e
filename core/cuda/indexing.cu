// Gathering and adding by indices along one axis. Both wait for the device: an index out of range
// is an error of the call.
#include <limits>

#include "core/cuda/elementwise.h"
#include "core/cuda/kernels.h"

namespace ralimp::gpu {
namespace {

// One type per element size: gathering moves values and does not look at them.
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

// Where in the memory of `index`, counted from its first element, the first index out of range
// stands. The place of each one that a kernel finds goes to report().
class WrongIndex {
public:
    explicit WrongIndex(const Tensor& index)
        : index_(index), place_(Tensor::full({1}, none, DType::int64, index.device())) {}

    long long* place() const { return static_cast<long long*>(place_.data()); }
    void check(const char* operation, int64_t size) const {
        const int64_t place = place_.to_vector<int64_t>()[0];
        if (place == std::numeric_limits<int64_t>::max()) return;
        const int64_t index = index_.strided_view({1}, {1}, place).to_vector<int64_t>()[0];
        fail("{}: index {} is outside an axis of {} elements", operation, index, size);
    }

private:
    static constexpr double none = 0x1p63;  // becomes the greatest number
    const Tensor& index_;
    const Tensor place_;
};

__device__ bool is_inside(int64_t index, int64_t size, int64_t place, long long* wrong) {
    if (index >= 0 && index < size) return true;
    atomicMin(wrong, static_cast<long long>(place));
    return false;
}

// Operands of the layout: out, in without the axis, index. `offset` is that of index[0].
template <class T>
__global__ void gather_elements(T* out, const T* in, const int64_t* index, long long* wrong,
                                StridedLayout<3> layout, int64_t step, int64_t size,
                                int64_t offset) {
    const uint32_t threads = gridDim.x * blockDim.x;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < layout.elements; i += threads) {
        const Offsets<3> offsets = layout.offsets(i);
        const int64_t chosen = index[offsets[2]];
        if (is_inside(chosen, size, offset + offsets[2], wrong))
            out[offsets[0]] = in[offsets[1] + chosen * step];
    }
}

// Along the axis, of which an operand may be repeated (step 0).
struct Steps {
    int64_t out, index, source, order;
};

// A thread per line, in the order of the line. Operands: out, index, source.
template <class T>
__global__ void add_lines(T* out, const int64_t* index, const T* source, long long* wrong,
                          StridedLayout<3> lines, Steps steps, int64_t length, int64_t size,
                          int64_t offset) {
    const uint32_t threads = gridDim.x * blockDim.x;
    for (uint32_t line = blockIdx.x * blockDim.x + threadIdx.x; line < lines.elements;
         line += threads) {
        const Offsets<3> offsets = lines.offsets(line);
        for (int64_t i = 0; i < length; ++i) {
            const int64_t place = offsets[1] + i * steps.index, chosen = index[place];
            if (!is_inside(chosen, size, offset + place, wrong)) continue;
            T& sum = out[offsets[0] + chosen * steps.out];
            sum = static_cast<T>(sum + source[offsets[2] + i * steps.source]);
        }
    }
}

// `order` sorts the indices of each line, equal ones in the order of the line: the thread that
// finds the first of a value adds up all of them. Operands: out, index, source, order.
template <class T>
__global__ void add_runs(T* out, const int64_t* index, const T* source, const int64_t* order,
                         long long* wrong, StridedLayout<4> lines, Steps steps, int64_t length,
                         int64_t size, int64_t offset) {
    const int64_t threads = int64_t{gridDim.x} * blockDim.x, items = lines.elements * length;
    for (int64_t item = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; item < items;
         item += threads) {
        const int64_t begin = item / lines.elements;
        const Offsets<4> offsets = lines.offsets(static_cast<uint32_t>(item % lines.elements));
        const auto position = [&](int64_t i) { return order[offsets[3] + i * steps.order]; };
        const auto place = [&](int64_t i) { return offsets[1] + position(i) * steps.index; };
        const int64_t chosen = index[place(begin)];
        if (begin > 0 && index[place(begin - 1)] == chosen) continue;
        if (!is_inside(chosen, size, offset + place(begin), wrong)) continue;
        T* const to = out + offsets[0] + chosen * steps.out;
        T sum = *to;
        for (int64_t i = begin; i < length && index[place(i)] == chosen; ++i)
            sum = static_cast<T>(sum + source[offsets[2] + position(i) * steps.source]);
        *to = sum;
    }
}

}  // namespace

void gather(const Tensor& out, const Tensor& in, const Tensor& index, int axis) {
    if (out.elements() == 0) return;
    const Device device = out.device();
    const CurrentDevice current(device);
    const int64_t size = in.shape()[axis], step = in.strides()[axis];
    Shape in_strides = in.strides();
    in_strides[axis] = 0;
    const auto layout =
        join_axes<3>(out.shape(), {&out.strides(), &in_strides, &index.strides()}, 0);
    const WrongIndex wrong(index);
    dispatch_size(out.dtype(), [&]<class T>(T) {
        const Operand<T> to{out}, from{in};
        for_each_part(layout, [&](const StridedLayout<3>& part, const Offsets<3>& offsets) {
            launch("gather", gather_elements<T>,
                   blocks_for(part.elements, elementwise_threads, device), elementwise_threads, 0,
                   stream_of(device), to.data() + offsets[0], from.data() + offsets[1],
                   index.data<int64_t>() + offsets[2], wrong.place(), part, step, size, offsets[2]);
        });
    });
    wrong.check("gather", size);
}

void scatter_add(const Tensor& out, const Tensor& index, const Tensor& source, int axis) {
    if (source.elements() == 0) return;
    const Device device = out.device();
    const CurrentDevice current(device);
    const int64_t size = out.shape()[axis], length = source.shape()[axis];
    const WrongIndex wrong(index);
    const int64_t lines = source.elements() / length;
    // Enough lines fill the device, and short ones are not worth sorting.
    const bool by_lines = length <= 16 || lines >= 32768;

    // Lines with the same indices are sorted once.
    Shape different = index.shape();
    for (int i = 0; i < index.dims(); ++i)
        if (i != axis && index.strides()[i] == 0) different[i] = 1;
    Tensor order = index;
    if (!by_lines) {
        order = Tensor::empty(different, DType::int64, device);
        argsort(order, index.strided_view(different, index.strides()), axis, false);
    }
    Shape shape = source.shape(), out_strides = out.strides(), index_strides = index.strides(),
          source_strides = source.strides(), order_strides = order.strides();
    for (int i = 0; i < order.dims(); ++i)
        if (i != axis && order.shape()[i] == 1) order_strides[i] = 0;
    const Steps steps{out_strides[axis], index_strides[axis], source_strides[axis],
                      order_strides[axis]};
    for (Shape* each : {&shape, &out_strides, &index_strides, &source_strides, &order_strides})
        each->erase(axis);

    dispatch("scatter_add", out.dtype(), [&]<class T>(T) {
        T* const out_data = out.data<T>();
        const T* const source_data = source.data<T>();
        const int64_t* const index_data = index.data<int64_t>();
        if (by_lines) {
            const auto layout =
                join_axes<3>(shape, {&out_strides, &index_strides, &source_strides}, 0);
            return for_each_part(
                layout, [&](const StridedLayout<3>& part, const Offsets<3>& offsets) {
                    launch("scatter_add", add_lines<T>,
                           blocks_for(part.elements, elementwise_threads, device),
                           elementwise_threads, 0, stream_of(device), out_data + offsets[0],
                           index_data + offsets[1], source_data + offsets[2], wrong.place(), part,
                           steps, length, size, offsets[1]);
                });
        }
        const auto layout =
            join_axes<4>(shape, {&out_strides, &index_strides, &source_strides, &order_strides}, 0);
        for_each_part(layout, [&](const StridedLayout<4>& part, const Offsets<4>& offsets) {
            launch("scatter_add", add_runs<T>,
                   blocks_for(part.elements * length, elementwise_threads, device),
                   elementwise_threads, 0, stream_of(device), out_data + offsets[0],
                   index_data + offsets[1], source_data + offsets[2],
                   order.data<int64_t>() + offsets[3], wrong.place(), part, steps, length, size,
                   offsets[1]);
        });
    });
    wrong.check("scatter_add", size);
}

}  // namespace ralimp::gpu
