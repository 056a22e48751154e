// Sorting and searching along an axis. NaN is greater than every number.
#include <algorithm>
#include <vector>

#include "core/cpu/dispatch.h"
#include "core/cpu/lines.h"

namespace ralimp::cpu {
namespace {

template <class T>
bool below(T a, T b) {
    return a < b || (b != b && a == a);
}

template <class T>
struct Entry {
    T key;
    int64_t position;
};

}  // namespace

void argsort(const Tensor& out, const Tensor& in, int axis, bool descending) {
    if (out.elements() == 0) return;
    const int64_t length = in.shape()[axis];
    dispatch("argsort", in.dtype(), [&]<class T>(T) {
        int64_t* const out_data = out.data<int64_t>();
        const T* const in_data = in.data<T>();
        // A comparison sort does some twenty times the work of a copy.
        for_each_line<2>({&out, &in}, axis, 16 * length, [&](const int64_t(&offsets)[2]) {
            std::vector<Entry<T>> entries(static_cast<std::size_t>(length));
            for (int64_t i = 0; i < length; ++i)
                entries[static_cast<std::size_t>(i)] = {
                    in_data[offsets[1] + i * in.strides()[axis]], i};
            // NaN stays last when the order is descending.
            if (descending)
                std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
                    return a.key > b.key || (b.key != b.key && a.key == a.key);
                });
            else
                std::stable_sort(entries.begin(), entries.end(),
                                 [](const auto& a, const auto& b) { return below(a.key, b.key); });
            for (int64_t i = 0; i < length; ++i)
                out_data[offsets[0] + i * out.strides()[axis]] =
                    entries[static_cast<std::size_t>(i)].position;
        });
    });
}

void searchsorted(const Tensor& out, const Tensor& sorted, const Tensor& values, bool right) {
    if (out.elements() == 0) return;
    const int axis = out.dims() - 1;
    const int64_t length = sorted.shape()[axis], count = values.shape()[axis];
    const int64_t step = sorted.strides()[axis];
    dispatch("searchsorted", sorted.dtype(), [&]<class T>(T) {
        int64_t* const out_data = out.data<int64_t>();
        const T* const sorted_data = sorted.data<T>();
        const T* const values_data = values.data<T>();
        for_each_line<3>(
            {&out, &sorted, &values}, axis, 8 * count, [&](const int64_t(&offsets)[3]) {
                const T* line = sorted_data + offsets[1];
                for (int64_t i = 0; i < count; ++i) {
                    const T value = values_data[offsets[2] + i * values.strides()[axis]];
                    int64_t low = 0, high = length;
                    while (low < high) {
                        const int64_t middle = low + (high - low) / 2;
                        const T entry = line[middle * step];
                        if (right ? !below(value, entry) : below(entry, value))
                            low = middle + 1;
                        else
                            high = middle;
                    }
                    out_data[offsets[0] + i * out.strides()[axis]] = low;
                }
            });
    });
}

}  // namespace ralimp::cpu
