// Softmax along rows. Short rows are shared among threads; long ones are cut into parts of fixed
// size, whose sums are joined in their order before a second pass writes the results.
#include <cmath>
#include <limits>
#include <vector>

#include "core/cpu/dispatch.h"
#include "core/cpu/iterate.h"

namespace ralimp::cpu {
namespace {

template <class T>
void long_row(T* out, const T* in, int64_t columns) {
    struct Part {
        T most;
        double sum;
    };
    std::vector<Part> parts(
        static_cast<std::size_t>((columns + chunk_elements - 1) / chunk_elements));
    parallel_for(columns, chunk_elements, [&](int64_t begin, int64_t end) {
        Part& part = parts[static_cast<std::size_t>(begin / chunk_elements)];
        loops_of<T>().softmax_sum(in + begin, end - begin, &part.most, &part.sum);
    });
    T most = -std::numeric_limits<T>::infinity();
    for (const Part& part : parts) most = std::max(most, part.most);
    const double shift = std::isfinite(most) ? static_cast<double>(most) : 0;
    double sum = 0;
    for (const Part& part : parts) {
        // An infinite maximum was not subtracted: the sum is 0, infinite or NaN, and stays so.
        const double own = std::isfinite(part.most) ? static_cast<double>(part.most) : shift;
        sum += part.sum * std::exp(own - shift);
    }
    parallel_for(columns, chunk_elements, [&](int64_t begin, int64_t end) {
        loops_of<T>().softmax_part(out + begin, in + begin, end - begin, most, sum);
    });
}

}  // namespace

void softmax(const Tensor& out, const Tensor& in) {
    dispatch_floating("softmax", in.dtype(), [&]<class T>(T) {
        const int64_t columns = in.dims() > 0 ? in.size(-1) : 1, rows = in.elements() / columns;
        T* const to = out.data<T>();
        const T* const from = in.data<T>();
        if (columns > serial_elements) {
            for (int64_t row = 0; row < rows; ++row)
                long_row(to + row * columns, from + row * columns, columns);
            return;
        }
        parallel_for(rows, std::max<int64_t>(1, chunk_elements / columns),
                     [&](int64_t begin, int64_t end) {
                         loops_of<T>().softmax_rows(to + begin * columns, from + begin * columns,
                                                    end - begin, columns);
                     });
    });
}

}  // namespace ralimp::cpu
