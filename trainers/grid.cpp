#include "trainers/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

namespace ralimp {

int64_t points_of(const Grid& grid) {
    return std::accumulate(grid.begin(), grid.end(), int64_t{1}, std::multiplies<>());
}

std::string to_string_of(const Grid& grid) { return fmt::format("{}", fmt::join(grid, "x")); }

Tensor grid_coordinates(const Grid& grid, int64_t begin, int64_t end, DType dtype) {
    const auto at = [](int64_t i, int64_t count) {
        return count == 1 ? 0.0 : -1 + 2 * static_cast<double>(i) / static_cast<double>(count - 1);
    };
    const auto axes = static_cast<int64_t>(grid.size());
    std::vector<double> points;
    points.reserve(static_cast<std::size_t>((end - begin) * axes));
    for (int64_t point = begin; point < end; ++point) {
        int64_t rest = point;
        for (auto count = grid.rbegin(); count != grid.rend(); ++count) {
            points.push_back(at(rest % *count, *count));
            rest /= *count;
        }
    }
    return to(Tensor::from(points, {end - begin, axes}), dtype);
}

double grid_step(const Grid& grid, int64_t coordinate) {
    const int64_t count = grid[grid.size() - 1 - static_cast<std::size_t>(coordinate)];
    return count == 1 ? 0 : 2 / static_cast<double>(count - 1);
}

Tensor grid_difference(const Tensor& values, const Grid& grid, int64_t coordinate, int order) {
    const std::size_t axis = grid.size() - 1 - static_cast<std::size_t>(coordinate);
    const int64_t count = grid[axis];
    const int64_t outer = points_of(Grid(grid.begin(), grid.begin() + static_cast<int64_t>(axis)));
    const Tensor lines = reshape(values, {outer, count, -1});
    const auto at = [&](int64_t first, int64_t last) { return slice(lines, 1, first, last + 1); };
    if (count <= order) return values * 0.0;
    Tensor result;
    if (order == 2) {
        const Tensor inner = at(2, count - 1) - at(1, count - 2) * 2.0 + at(0, count - 3);
        result =
            concatenate({slice(inner, 1, 0, 1), inner, slice(inner, 1, count - 3, count - 2)}, 1);
    } else if (count == 2) {
        const Tensor slope = at(1, 1) - at(0, 0);
        result = concatenate({slope, slope}, 1);
    } else {
        const Tensor inner = (at(2, count - 1) - at(0, count - 3)) * 0.5;
        const Tensor first = at(1, 1) * 2.0 - at(0, 0) * 1.5 - at(2, 2) * 0.5;
        const int64_t n = count - 1;
        const Tensor last = at(n, n) * 1.5 - at(n - 1, n - 1) * 2.0 + at(n - 2, n - 2) * 0.5;
        result = concatenate({first, inner, last}, 1);
    }
    return reshape(result, values.shape());
}

}  // namespace ralimp
